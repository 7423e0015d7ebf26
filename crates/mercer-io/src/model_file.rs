//! The model file: a safetensors container whose metadata holds the header under the key `mercer`.
//!
//! | part | content |
//! |---|---|
//! | metadata `mercer` | [`Header`] as JSON: format version, resolved spec, classes, names, seed |
//! | `learner.weights` | n_components × n_outputs |
//! | `learner.intercept` | 1 × n_outputs |
//! | `preprocess.shift`, `preprocess.scale` | 1 × n_inputs, where the inputs are scaled by column |
//! | `map.landmarks` | n_landmarks × n_inputs, or the stored values of sparse rows |
//! | `map.landmarks.columns`, `map.landmarks.starts` | of sparse rows (I64): the input of each value, and where rows begin |
//! | `map.whitening` | n_landmarks × n_components, upper triangular for the Nyström method |
//! | `map.offset` | what is added to the features of principal components |
//!
//! All tensors but places have the type that the spec names (F32 or F64), little-endian. Random parts are stored as their seed.
//! Loading checks everything and runs nothing from the file; any safetensors reader (NumPy, torch) can open it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;

use mercer::dataset::Table;
use mercer::model::{AnyPipeline, Header, Model, Tensor, TensorValues};
use mercer::pipeline::Pipeline;
use mercer::{Dtype, Scalar};
use ndarray::Array2;
use safetensors::{SafeTensors, tensor::TensorView};

use crate::output::{OutputFile, write_error};
use crate::{Error, Result};

const METADATA_KEY: &str = "mercer";

/// The bytes of a model's file.
///
/// # Errors
/// [`Error::Model`] when a header cannot be written, which no fitted model causes.
pub fn model_to_bytes(model: &Model) -> Result<Vec<u8>> {
    match model.pipeline() {
        AnyPipeline::Float32(pipeline) => to_bytes(&model.header(), pipeline, f32::to_le_bytes),
        AnyPipeline::Float64(pipeline) => to_bytes(&model.header(), pipeline, f64::to_le_bytes),
    }
}

/// Writes a model: the file appears whole or not at all.
///
/// # Errors
/// [`Error::Write`] with the path.
pub fn save_model(path: &Path, model: &Model) -> Result<u64> {
    let bytes = model_to_bytes(model)?;
    let mut file = OutputFile::create(path)?;
    file.write_all(&bytes).map_err(|source| write_error(path, source))?;
    file.finish()?;
    Ok(bytes.len() as u64)
}

/// Reads a model.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Io`], or [`Error::Model`] with what is wrong with the file.
pub fn load_model(path: &Path) -> Result<Model> {
    model_from_bytes(&path.display().to_string(), &read(path)?)
}

/// The model that a file of these bytes holds; `name` is for messages. What is allocated is in proportion to `bytes`,
/// whatever they declare.
///
/// # Errors
/// [`Error::Model`] with what is wrong with the bytes.
pub fn model_from_bytes(name: &str, bytes: &[u8]) -> Result<Model> {
    let wrong = |reason: String| Error::Model { file: name.to_owned(), reason };
    let (header, tensors) = parse(bytes).map_err(wrong)?;
    let built = match header.spec.dtype {
        Dtype::Float32 => decode(&tensors, f32::from_le_bytes).map(|tensors| Model::from_parts(header, tensors)),
        Dtype::Float64 => decode(&tensors, f64::from_le_bytes).map(|tensors| Model::from_parts(header, tensors)),
    };
    built.map_err(wrong)?.map_err(|error| wrong(error.to_string()))
}

/// Whether a file begins as a model does: the length of a JSON header that the file has room for, and its brace.
pub fn is_model(path: &Path) -> bool {
    let mut head = [0; 9];
    let read = std::fs::File::open(path).and_then(|mut file| {
        let len = file.metadata()?;
        file.read_exact(&mut head)?;
        Ok(if len.is_file() { len.len() } else { 0 })
    });
    let [length @ .., brace] = head;
    read.is_ok_and(|len| brace == b'{' && u64::from_le_bytes(length) < len)
}

/// The name and shape of every tensor, by name.
pub type TensorShapes = Vec<(String, Vec<usize>)>;

/// Reads the header of a model alone, with the shape of every tensor.
///
/// # Errors
/// As [`load_model`].
pub fn read_model_header(path: &Path) -> Result<(Header, TensorShapes)> {
    let bytes = read(path)?;
    let (header, tensors) =
        parse(&bytes).map_err(|reason| Error::Model { file: path.display().to_string(), reason })?;
    let mut shapes: Vec<_> = tensors.iter().map(|(name, view)| (name.to_owned(), view.shape().to_vec())).collect();
    shapes.sort();
    Ok((header, shapes))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let file = || path.display().to_string();
    if path.is_dir() {
        return Err(Error::Directory { file: file() });
    }
    std::fs::read(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::NotFound { file: file() },
        _ => Error::Io { file: file(), source },
    })
}

fn to_bytes<T: Scalar + Stored, const N: usize>(
    header: &Header,
    pipeline: &Pipeline<T>,
    encode: fn(T) -> [u8; N],
) -> Result<Vec<u8>> {
    let failed = |reason: String| Error::Model { file: "model".to_owned(), reason };
    let tensors = pipeline.tensors();
    let stored: Vec<_> = tensors
        .iter()
        .map(|tensor| match &tensor.values {
            TensorValues::Floats(x) => {
                (T::STORED, x.shape().to_vec(), x.iter().flat_map(|&x| encode(x)).collect::<Vec<u8>>())
            }
            TensorValues::Integers(x) => {
                (safetensors::Dtype::I64, x.shape().to_vec(), x.iter().flat_map(|x| x.to_le_bytes()).collect())
            }
        })
        .collect();
    let views = tensors.iter().zip(&stored).map(|(tensor, (dtype, shape, bytes))| {
        let view = TensorView::new(*dtype, shape.clone(), bytes).expect("bytes of this shape");
        (tensor.name.as_str(), view)
    });
    let header = serde_json::to_string(header).map_err(|error| failed(error.to_string()))?;
    let metadata = HashMap::from([(METADATA_KEY.to_owned(), header)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| failed(error.to_string()))
}

fn parse(bytes: &[u8]) -> std::result::Result<(Header, SafeTensors<'_>), String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| format!("no safetensors file ({error})"))?;
    let header = metadata.metadata().as_ref().and_then(|metadata| metadata.get(METADATA_KEY));
    let header = header.ok_or("a safetensors file that mercer did not write")?;
    check_version(header)?;
    let header = serde_json::from_str(header).map_err(|error| format!("a damaged header ({error})"))?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| format!("damaged tensors ({error})"))?;
    Ok((header, tensors))
}

/// The version first: a later header may have fields that this version does not know.
fn check_version(header: &str) -> std::result::Result<(), String> {
    #[derive(serde::Deserialize)]
    struct Version {
        format_version: u32,
    }
    let Version { format_version: got } =
        serde_json::from_str(header).map_err(|error| format!("a damaged header ({error})"))?;
    let known = mercer::model::FORMAT_VERSION;
    if got == known { Ok(()) } else { Err(format!("format version {got}; this mercer reads version {known}")) }
}

fn decode<T: Scalar + Stored, const N: usize>(
    tensors: &SafeTensors<'_>,
    decode: fn([u8; N]) -> T,
) -> std::result::Result<Vec<Tensor<T>>, String> {
    let one = |(name, view): (&str, TensorView<'_>)| {
        let &[rows, columns] = view.shape() else { return Err(format!("tensor {name} is no matrix")) };
        if view.dtype() == safetensors::Dtype::I64 {
            let values = view.data().as_chunks::<8>().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect();
            let values = Array2::from_shape_vec((rows, columns), values).map_err(|error| format!("{name}: {error}"))?;
            return Ok(Tensor { name: name.to_owned(), values: TensorValues::Integers(values) });
        }
        if view.dtype() != T::STORED {
            return Err(format!("tensor {name} is {:?}, the spec says {}", view.dtype(), T::DTYPE));
        }
        let (values, _) = view.data().as_chunks::<N>();
        let values = values.iter().map(|&bytes| decode(bytes)).collect();
        let values = Array2::from_shape_vec((rows, columns), values).map_err(|error| format!("{name}: {error}"))?;
        Ok(Tensor { name: name.to_owned(), values: values.into() })
    };
    tensors.iter().map(one).collect()
}

/// The container's name of a type.
trait Stored {
    const STORED: safetensors::Dtype;
}

impl Stored for f32 {
    const STORED: safetensors::Dtype = safetensors::Dtype::F32;
}

impl Stored for f64 {
    const STORED: safetensors::Dtype = safetensors::Dtype::F64;
}

/// Checks that `table` has the columns that a model was trained on, naming both numbers.
///
/// # Errors
/// [`Error::Data`] when it has not.
pub fn check_inputs(expected: usize, table: &Table) -> Result<()> {
    let got = table.n_inputs();
    let sparse = table.info().layout == mercer::dataset::Layout::Sparse;
    if got == expected || (sparse && got < expected) {
        return Ok(());
    }
    let reason = format!("has {got} inputs in a row, the model was trained on {expected}");
    Err(Error::Data { file: table.info().name.clone(), reason })
}
