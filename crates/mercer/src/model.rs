//! A fitted pipeline of either float type, and the parts of which a file is made.
//!
//! A model is a [`Header`] (JSON) and a few named tensors: `learner.weights`, `learner.intercept`, where the
//! inputs are scaled by column `preprocess.shift` and `preprocess.scale`, and where the map has landmarks `map.landmarks`,
//! `map.whitening` and, of principal components, `map.offset`; sparse landmarks are their stored values, `map.landmarks.columns` and `map.landmarks.starts`. Random parts
//! are in the header as seeds.

use mercer_simd::{Dtype, Scalar};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::dataset::{CsrMatrix, CsrView, Dataset, Encoding, PanelRows, Rows};
use crate::driver::Driver;
use crate::feature_maps::Landmarks;
use crate::learners::{LinearModel, Link};
use crate::metrics::ApproximationReport;
use crate::pipeline::{Evaluation, Features, FitReport, Outputs, Pipeline, PipelineSpec, ResolvedSpec};
use crate::preprocess::Preprocess;
use crate::{Error, Result};

/// The version of the header and of the tensors' names.
pub const FORMAT_VERSION: u32 = 1;

/// All of a model that is not a tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT_VERSION`]
    pub format_version: u32,
    /// the version of mercer that wrote it
    pub mercer_version: String,
    /// the pipeline in numbers
    pub spec: ResolvedSpec,
    /// what it predicts
    pub outputs: Outputs,
    /// how words and missing values become numbers, where the data may have any
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// names of the columns that are inputs, where the data had them
    pub input_names: Vec<String>,
    /// names of the targets, where the data had them
    pub target_names: Vec<String>,
}

/// A named matrix of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T> {
    /// one of the names in the module's head
    pub name: String,
    /// vectors are one row
    pub values: TensorValues<T>,
}

/// The values of a [`Tensor`].
#[derive(Clone, Debug, PartialEq)]
pub enum TensorValues<T> {
    /// In the type of the model.
    Floats(Array2<T>),
    /// Places.
    Integers(Array2<i64>),
}

impl<T> TensorValues<T> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Floats(values) => values.is_empty(),
            Self::Integers(values) => values.is_empty(),
        }
    }
}

impl<T> From<Array2<T>> for TensorValues<T> {
    fn from(values: Array2<T>) -> Self {
        Self::Floats(values)
    }
}

/// A fitted pipeline with the names of its columns.
pub struct Model {
    pipeline: AnyPipeline,
    encoding: Option<Encoding>,
    input_names: Vec<String>,
    target_names: Vec<String>,
}

/// A pipeline of either type: where the type is chosen, once.
pub enum AnyPipeline {
    /// of f32
    Float32(Pipeline<f32>),
    /// of f64
    Float64(Pipeline<f64>),
}

/// Runs `$body` with `$pipeline` bound to the pipeline of whichever type.
macro_rules! with_pipeline {
    ($any:expr, $pipeline:ident => $body:expr) => {
        match $any {
            AnyPipeline::Float32($pipeline) => $body,
            AnyPipeline::Float64($pipeline) => $body,
        }
    };
}

impl Header {
    /// Columns of the data that are inputs: as many as the map's, unless they are encoded.
    pub fn n_columns(&self) -> usize {
        self.encoding.as_ref().map_or(self.spec.map.n_inputs(), |encoding| encoding.columns().len())
    }
}

impl Model {
    /// Fits `spec` in the type `dtype` to all rows of `dataset`.
    ///
    /// # Errors
    /// As [`Pipeline::fit`].
    pub fn fit(dataset: &Dataset, spec: &PipelineSpec, dtype: Dtype, driver: &Driver<'_>) -> Result<(Self, FitReport)> {
        Self::fit_around(dataset, spec, dtype, driver, None)
    }

    /// [`Model::fit`], with these rows as landmarks where there are any.
    ///
    /// # Errors
    /// As [`Pipeline::fit_around`].
    pub fn fit_around(
        dataset: &Dataset,
        spec: &PipelineSpec,
        dtype: Dtype,
        driver: &Driver<'_>,
        landmarks: Option<&Dataset>,
    ) -> Result<(Self, FitReport)> {
        let (pipeline, report) = match dtype {
            Dtype::Float32 => {
                let (pipeline, report) = Pipeline::fit_around(dataset, spec, driver, landmarks)?;
                (AnyPipeline::Float32(pipeline), report)
            }
            Dtype::Float64 => {
                let (pipeline, report) = Pipeline::fit_around(dataset, spec, driver, landmarks)?;
                (AnyPipeline::Float64(pipeline), report)
            }
        };
        Ok((Self::of_dataset(pipeline, dataset), report))
    }

    /// A model with the names and the encoding of the rows it was fitted to.
    pub(crate) fn of_dataset(pipeline: impl Into<AnyPipeline>, dataset: &Dataset) -> Self {
        let (input_names, target_names) = (dataset.info().input_names.clone(), dataset.info().target_names.clone());
        Self { pipeline: pipeline.into(), encoding: dataset.encoding().cloned(), input_names, target_names }
    }

    /// A model of rows whose columns have no names and are numbers.
    pub fn new(pipeline: impl Into<AnyPipeline>) -> Self {
        Self { pipeline: pipeline.into(), encoding: None, input_names: Vec::new(), target_names: Vec::new() }
    }

    /// Another pipeline of the same columns: this model, after it learned more.
    ///
    /// # Errors
    /// [`Error::Model`] when it has another number of inputs or other outputs.
    pub fn with_pipeline(self, pipeline: impl Into<AnyPipeline>) -> Result<Self> {
        let before = self.header();
        let after = Self { pipeline: pipeline.into(), ..self };
        let header = after.header();
        if header.spec.map.n_inputs() != before.spec.map.n_inputs() || header.outputs != before.outputs {
            return Err(Error::Model("a pipeline of other inputs or outputs than the model's".to_owned()));
        }
        Ok(after)
    }

    /// The same model, its inputs being called so.
    ///
    /// # Errors
    /// [`Error::Model`] when there are names, but not one for each column.
    pub fn with_input_names(self, input_names: Vec<String>) -> Result<Self> {
        let n_columns = self.header().n_columns();
        if !input_names.is_empty() && input_names.len() != n_columns {
            return Err(Error::Model(format!("{} names for {n_columns} columns", input_names.len())));
        }
        Ok(Self { input_names, ..self })
    }

    /// The pipeline.
    pub fn pipeline(&self) -> &AnyPipeline {
        &self.pipeline
    }

    /// The header of its file.
    pub fn header(&self) -> Header {
        let (spec, outputs) = with_pipeline!(&self.pipeline, p => (p.spec().clone(), p.outputs().clone()));
        Header {
            format_version: FORMAT_VERSION,
            mercer_version: env!("CARGO_PKG_VERSION").to_owned(),
            spec,
            outputs,
            encoding: self.encoding.clone(),
            input_names: self.input_names.clone(),
            target_names: self.target_names.clone(),
        }
    }

    /// How well its map approximates its kernel on a sample of rows: see [`crate::pipeline::Features::approximation`].
    ///
    /// # Errors
    /// As [`crate::pipeline::Features::approximation`].
    pub fn approximation(&self, driver: &Driver<'_>, dataset: &Dataset) -> Result<Option<ApproximationReport>> {
        with_pipeline!(&self.pipeline, p => p.features().approximation(dataset, p.spec().seed, driver))
    }

    /// Compares predictions with the targets of `dataset`.
    ///
    /// # Errors
    /// As [`Pipeline::evaluate`].
    pub fn evaluate(&self, driver: &Driver<'_>, dataset: &Dataset) -> Result<Evaluation> {
        with_pipeline!(&self.pipeline, p => p.evaluate(driver, dataset))
    }

    /// Hands `each` the scores of every panel of rows, in order, in f64 (exact): see [`Pipeline::for_each_scores`].
    ///
    /// # Errors
    /// As [`Pipeline::for_each_scores`].
    pub fn for_each_scores(
        &self,
        driver: &Driver<'_>,
        dataset: &Dataset,
        mut each: impl FnMut(ArrayView2<'_, f64>) -> Result<()> + Send,
    ) -> Result<()> {
        with_pipeline!(&self.pipeline, p => {
            p.for_each_scores(driver, dataset, false, |scores, _| each(scores.mapv(Scalar::to_f64).view()))
        })
    }

    /// The true and the predicted values of all rows, both rows × targets: see [`Pipeline::true_and_predicted`].
    ///
    /// # Errors
    /// As [`Pipeline::true_and_predicted`].
    pub fn true_and_predicted(&self, driver: &Driver<'_>, dataset: &Dataset) -> Result<(Array2<f64>, Array2<f64>)> {
        with_pipeline!(&self.pipeline, p => p.true_and_predicted(driver, dataset))
    }

    /// How its scores become probabilities: see [`Pipeline::link`].
    ///
    /// # Errors
    /// As [`Pipeline::link`].
    pub fn link(&self) -> Result<Link> {
        with_pipeline!(&self.pipeline, p => p.link())
    }

    /// Hands `each` the probabilities of all classes for every panel of rows, in order: see
    /// [`Pipeline::for_each_probabilities`].
    ///
    /// # Errors
    /// As [`Pipeline::for_each_probabilities`].
    pub fn for_each_probabilities(
        &self,
        driver: &Driver<'_>,
        dataset: &Dataset,
        mut each: impl FnMut(ArrayView2<'_, f64>) -> Result<()> + Send,
    ) -> Result<()> {
        with_pipeline!(&self.pipeline, p => {
            p.for_each_probabilities(driver, dataset, false, |probabilities, _| each(probabilities))
        })
    }

    /// A model from the header and tensors of a file; everything is checked.
    ///
    /// # Errors
    /// [`Error::Model`] when a part is missing, superfluous or does not fit.
    pub fn from_parts<T: Scalar>(header: Header, tensors: Vec<Tensor<T>>) -> Result<Self>
    where
        AnyPipeline: From<Pipeline<T>>,
    {
        if header.format_version != FORMAT_VERSION {
            let (got, known) = (header.format_version, FORMAT_VERSION);
            return Err(Error::Model(format!("format version {got}; this mercer reads version {known}")));
        }
        let mut tensors = Tensors(tensors);
        let n_inputs = header.spec.map.n_inputs();
        let (shift, scale) = (tensors.vector("preprocess.shift")?, tensors.vector("preprocess.scale")?);
        let preprocess = Preprocess::from_parts(header.spec.preprocess, n_inputs, shift, scale)?;
        let weights = tensors.take("learner.weights")?.ok_or_else(|| Error::Model("no learner.weights".to_owned()))?;
        let landmarks = tensors.landmarks(n_inputs)?;
        let model = LinearModel::new(weights, tensors.vector("learner.intercept")?)?;
        tensors.none_left()?;
        check_columns(&header)?;
        let n_targets = if let Outputs::Regression { n_targets } = header.outputs { n_targets } else { 1 };
        if !header.target_names.is_empty() && header.target_names.len() != n_targets {
            return Err(Error::Model(format!("{} target names for {n_targets} targets", header.target_names.len())));
        }
        let Header { encoding, input_names, target_names, .. } = header;
        let features = Features::from_parts(preprocess, header.spec.map.clone(), landmarks)?;
        let pipeline = Pipeline::from_parts(header.spec, header.outputs, features, model)?.into();
        Ok(Self { pipeline, encoding, input_names, target_names })
    }
}

fn check_columns(header: &Header) -> Result<()> {
    let (n_inputs, n_columns) = (header.spec.map.n_inputs(), header.n_columns());
    if let Some(encoding) = &header.encoding {
        encoding.validate()?;
        if encoding.n_outputs() != n_inputs {
            let got = encoding.n_outputs();
            return Err(Error::Model(format!("the encoding gives {got} inputs, the map has {n_inputs}")));
        }
    }
    if !header.input_names.is_empty() && header.input_names.len() != n_columns {
        return Err(Error::Model(format!("{} input names for {n_columns} columns", header.input_names.len())));
    }
    Ok(())
}

impl From<Pipeline<f32>> for AnyPipeline {
    fn from(pipeline: Pipeline<f32>) -> Self {
        Self::Float32(pipeline)
    }
}

impl From<Pipeline<f64>> for AnyPipeline {
    fn from(pipeline: Pipeline<f64>) -> Self {
        Self::Float64(pipeline)
    }
}

impl<T: Scalar> Pipeline<T> {
    /// The learned tensors, in the order of a file.
    pub fn tensors(&self) -> Vec<Tensor<T>> {
        let vector = |name: &str, values: &[T]| Tensor { name: name.to_owned(), values: row(values.to_vec()).into() };
        let mut tensors = vec![
            Tensor { name: "learner.weights".to_owned(), values: self.model().weights().to_owned().into() },
            vector("learner.intercept", self.model().intercept()),
            vector("preprocess.shift", self.features().preprocess().shift()),
            vector("preprocess.scale", self.features().preprocess().scale()),
        ];
        tensors.extend(self.features().landmarks().map(Landmarks::tensors).unwrap_or_default());
        tensors.retain(|tensor| !tensor.values.is_empty() || tensor.name.starts_with("map."));
        tensors
    }
}

fn row<V>(values: Vec<V>) -> Array2<V> {
    Array2::from_shape_vec((1, values.len()), values).expect("one row")
}

impl<T: Scalar> Landmarks<T> {
    /// The learned tensors, in the order of a file.
    pub fn tensors(&self) -> Vec<Tensor<T>> {
        let tensor = |name: &str, values: TensorValues<T>| Tensor { name: name.to_owned(), values };
        let mut tensors = vec![tensor("map.whitening", self.whitening().to_owned().into())];
        if !self.offset().is_empty() {
            tensors.push(tensor("map.offset", row(self.offset().to_vec()).into()));
        }
        match self.rows() {
            Rows::Dense(x) => tensors.push(tensor("map.landmarks", x.to_owned().into())),
            Rows::Sparse(x) => {
                let (mut columns, mut values, mut starts) = (Vec::new(), Vec::new(), vec![0]);
                for i in 0..x.n_rows() {
                    for (column, value) in x.row(i) {
                        columns.push(column as i64);
                        values.push(value);
                    }
                    starts.push(values.len() as i64);
                }
                tensors.push(tensor("map.landmarks", row(values).into()));
                tensors.push(tensor("map.landmarks.columns", TensorValues::Integers(row(columns))));
                tensors.push(tensor("map.landmarks.starts", TensorValues::Integers(row(starts))));
            }
        }
        tensors
    }

    /// Landmarks of so many inputs from [`Landmarks::tensors`].
    ///
    /// # Errors
    /// [`Error::Model`] when a part is missing, superfluous or does not fit.
    pub fn from_tensors(n_inputs: usize, tensors: Vec<Tensor<T>>) -> Result<Self> {
        let mut tensors = Tensors(tensors);
        let landmarks = tensors.landmarks(n_inputs)?.ok_or_else(|| Error::Model("no map.whitening".to_owned()))?;
        tensors.none_left().map(|()| landmarks)
    }
}

/// Tensors not used yet.
struct Tensors<T>(Vec<Tensor<T>>);

impl<T: Scalar> Tensors<T> {
    fn none_left(&self) -> Result<()> {
        match self.0.as_slice() {
            [] => Ok(()),
            [tensor, ..] => Err(Error::Model(format!("unknown tensor {:?}", tensor.name))),
        }
    }

    fn find(&mut self, name: &str) -> Option<TensorValues<T>> {
        let at = self.0.iter().position(|tensor| tensor.name == name)?;
        Some(self.0.swap_remove(at).values)
    }

    fn take(&mut self, name: &str) -> Result<Option<Array2<T>>> {
        match self.find(name) {
            None => Ok(None),
            Some(TensorValues::Floats(values)) => Ok(Some(values)),
            Some(TensorValues::Integers(_)) => Err(Error::Model(format!("{name} is of integers"))),
        }
    }

    fn integers(&mut self, name: &str) -> Result<Option<Vec<i64>>> {
        match self.find(name) {
            None => Ok(None),
            Some(TensorValues::Integers(values)) if values.nrows() == 1 => Ok(Some(values.into_iter().collect())),
            Some(_) => Err(Error::Model(format!("{name} is no vector of integers"))),
        }
    }

    /// Landmarks and their whitening, where there are any.
    fn landmarks(&mut self, n_inputs: usize) -> Result<Option<Landmarks<T>>> {
        let Some(whitening) = self.take("map.whitening")? else { return Ok(None) };
        let rows = self.take("map.landmarks")?.ok_or_else(|| Error::Model("no map.landmarks".to_owned()))?;
        let rows = match (self.integers("map.landmarks.columns")?, self.integers("map.landmarks.starts")?) {
            (None, None) => PanelRows::Dense(rows),
            (Some(columns), Some(starts)) if rows.nrows() == 1 => {
                let values: Vec<T> = rows.into_iter().collect();
                let view = CsrView::new(n_inputs, starts.as_slice(), columns.as_slice(), &values);
                let view = view.map_err(|error| Error::Model(format!("map.landmarks: {error}")))?;
                let mut rows = CsrMatrix::new(n_inputs);
                rows.push_rows_of(view);
                PanelRows::Sparse(rows)
            }
            _ => return Err(Error::Model("sparse landmarks without columns or starts".to_owned())),
        };
        let offset = self.vector("map.offset")?;
        Landmarks::from_parts(rows, whitening, offset).map(Some)
    }

    /// The values of a vector; empty where there is none.
    fn vector(&mut self, name: &str) -> Result<Vec<T>> {
        match self.take(name)? {
            None => Ok(Vec::new()),
            Some(values) if values.nrows() == 1 => Ok(values.into_iter().collect()),
            Some(values) => Err(Error::Model(format!("{name} has {} rows, must be a vector", values.nrows()))),
        }
    }
}
