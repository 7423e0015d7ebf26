//! Rows of real data, chosen by a seed.

use std::path::Path;

use mercer::dataset::{Dataset, PanelTargets, Panels, Rows, Selection, TargetUse, Task};
use mercer::feature_maps::MapSpec;
use mercer::random::{Purpose, sample};
use mercer_io::{ReadOptions, TargetChoice};
use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

/// A file of `MERCER_DATA`; LIBSVM files have targets.
pub(crate) fn load(file: &str, target: TargetChoice) -> Result<Dataset, String> {
    let options = ReadOptions { target, ..ReadOptions::default() };
    let source = mercer_io::open(&place(file)?, &options).map_err(|error| error.to_string())?;
    Dataset::scan(source, usize::MAX).map_err(|error| error.to_string())
}

/// A file of `MERCER_DATA` whose targets are in another.
pub(crate) fn load_labelled(file: &str, labels: &str) -> Result<Dataset, String> {
    let source = mercer_io::open_with_labels(&[place(file)?], &[place(labels)?], &ReadOptions::default());
    Dataset::scan(source.map_err(|error| error.to_string())?, usize::MAX).map_err(|error| error.to_string())
}

fn place(file: &str) -> Result<String, String> {
    let folder =
        std::env::var("MERCER_DATA").map_err(|_| "MERCER_DATA does not name the folder of the data".to_owned())?;
    Ok(Path::new(&folder).join(file).to_string_lossy().into_owned())
}

/// Dense rows and the numbers of their classes.
pub(crate) struct Labelled {
    pub(crate) x: Array2<f32>,
    pub(crate) classes: Vec<u32>,
}

impl Labelled {
    /// A file of `MERCER_DATA` that has its targets, or another file that has them.
    pub(crate) fn load(file: &str, labels: Option<&str>) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let dataset = match labels {
            None => load(file, TargetChoice::Auto)?,
            Some(labels) => load_labelled(file, labels)?,
        };
        let targets = dataset.targets().ok_or_else(|| format!("{file} has no targets"))?;
        let encoder = targets.encoder(Some(Task::Classification)).map_err(|error| text(&error))?;
        let d = dataset.n_inputs();
        let panels = Panels::<f32>::new(&dataset, d, TargetUse::Encoded(&encoder), Selection::All);
        let mut panels = panels.map_err(|error| text(&error))?;
        let (mut x, mut classes) = (Array2::zeros((dataset.n_rows() as usize, d)), Vec::new());
        while let Some(panel) = panels.next_panel().map_err(|error| text(&error))? {
            let rows = panel.rows.view();
            rows.write_dense(x.slice_mut(s![classes.len()..classes.len() + rows.n_rows(), ..]));
            if let PanelTargets::Classes(of_panel) = panel.targets {
                classes.extend(of_panel);
            }
        }
        Ok(Self { x, classes })
    }

    /// Of the absolute values.
    pub(crate) fn largest(&self) -> f32 {
        self.x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
    }

    /// The rows of these classes, numbered anew.
    pub(crate) fn only(&self, kept: &[u32]) -> Self {
        let chosen: Vec<usize> = (0..self.classes.len()).filter(|&i| kept.contains(&self.classes[i])).collect();
        let number = |class| kept.iter().position(|&other| other == class).unwrap_or(0) as u32;
        let classes = chosen.iter().map(|&i| number(self.classes[i])).collect();
        Self { x: self.x.select(Axis(0), &chosen), classes }
    }

    /// One class is 1, the others 0.
    pub(crate) fn against_rest(mut self, class: u32) -> Self {
        for other in &mut self.classes {
            *other = u32::from(*other == class);
        }
        self
    }

    /// Every column into [0, 1].
    pub(crate) fn scaled_to_unit(mut self) -> Self {
        for mut column in self.x.columns_mut() {
            let least = column.iter().copied().fold(f32::INFINITY, f32::min);
            let largest = column.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            column.mapv_inplace(|x| if largest > least { (x - least) / (largest - least) } else { 0.0 });
        }
        self
    }

    /// Four fifths and one fifth of the rows, by chance.
    pub(crate) fn split(&self) -> (Self, Self) {
        let n = self.classes.len();
        let mut test = sample(0, Purpose::Sample, n as u64, n / 5);
        test.sort_unstable();
        let is_test = |i: usize| test.binary_search(&(i as u64)).is_ok();
        let part = |wanted: bool| {
            let chosen: Vec<usize> = (0..n).filter(|&i| is_test(i) == wanted).collect();
            let classes = chosen.iter().map(|&i| self.classes[i]).collect();
            Self { x: self.x.select(Axis(0), &chosen), classes }
        };
        (part(false), part(true))
    }
}

/// What is done with rows that were divided by the largest of their values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// nothing
    AsTheyAre,
    /// [0, 1] becomes [−1, 1]
    Symmetric,
}

/// All rows of a file of `MERCER_DATA`, densely, without their targets.
pub(crate) fn load_dense(file: &str, target: TargetChoice) -> Result<Array2<f32>, String> {
    let dataset = load(file, target)?;
    let d = dataset.n_inputs();
    let panels = Panels::<f32>::new(&dataset, d, TargetUse::None, Selection::All);
    let mut panels = panels.map_err(|error| error.to_string())?;
    let (mut out, mut filled) = (Array2::zeros((dataset.n_rows() as usize, d)), 0);
    while let Some(panel) = panels.next_panel().map_err(|error| error.to_string())? {
        let rows = panel.rows.view();
        rows.write_dense(out.slice_mut(s![filled..filled + rows.n_rows(), ..]));
        filled += rows.n_rows();
    }
    Ok(out)
}

/// `n` rows, divided by the largest of their values.
pub(crate) fn some_rows(all: &Array2<f32>, n: usize, range: Range, seed: u64) -> Array2<f32> {
    let mut chosen: Vec<usize> =
        sample(seed, Purpose::Sample, all.nrows() as u64, n).into_iter().map(|i| i as usize).collect();
    chosen.sort_unstable();
    let mut out = all.select(Axis(0), &chosen);
    let largest = out.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    match range {
        Range::AsTheyAre => out.mapv_inplace(|x| x / largest),
        Range::Symmetric => out.mapv_inplace(|x| 2.0 * x / largest - 1.0),
    }
    out
}

/// The features of rows, on all threads: a row's do not depend on its neighbours.
pub(crate) fn features(spec: &MapSpec, gamma: f64, rows: &Array2<f32>, seed: u64) -> Result<Array2<f32>, String> {
    let map = spec.resolve(gamma, rows.ncols(), seed).build::<f32>().map_err(|error| error.to_string())?;
    let mut out = Array2::zeros((rows.nrows(), map.n_components()));
    let share = rows.nrows().div_ceil(rayon::current_num_threads());
    let parts: Vec<_> = out.axis_chunks_iter_mut(Axis(0), share).zip(rows.axis_chunks_iter(Axis(0), share)).collect();
    parts.into_par_iter().try_for_each(|(out, rows)| {
        let mut scratch = vec![0.0; map.scratch_len(rows.nrows())];
        map.transform_into(Rows::Dense(rows), out, &mut scratch).map_err(|error| error.to_string())
    })?;
    Ok(out)
}
