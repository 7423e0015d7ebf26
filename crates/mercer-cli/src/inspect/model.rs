//! What a saved model is.

use std::io::Write;
use std::path::Path;

use mercer::model::Header;
use mercer::pipeline::Outputs;
use serde_json::json;

use crate::failure::Failure;
use crate::text::{count, kernel, learner, parameters, real_values, shortened};

pub(super) fn run(path: &Path, json: bool) -> Result<(), Failure> {
    let (header, tensors) = mercer_io::read_model_header(path)?;
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut out = std::io::stdout().lock();
    if json {
        let tensors: serde_json::Map<_, _> = tensors.into_iter().map(|(name, shape)| (name, json!(shape))).collect();
        let report = json!({ "command": "inspect", "model_bytes": bytes, "header": header, "tensors": tensors });
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    writeln!(out, "{}", path.display())?;
    describe(&mut out, &header)?;
    for (name, shape) in tensors {
        let shape: Vec<_> = shape.iter().map(|&n| count(n as u64)).collect();
        writeln!(out, "tensor      {name}  {}", shape.join(" × "))?;
    }
    writeln!(
        out,
        "size        {} bytes, format {}, mercer {}",
        count(bytes),
        header.format_version,
        header.mercer_version
    )?;
    Ok(())
}

fn describe(out: &mut impl Write, header: &Header) -> Result<(), Failure> {
    let spec = &header.spec;
    writeln!(out, "inputs      {} ({})", count(spec.map.n_inputs() as u64), spec.dtype)?;
    if !header.input_names.is_empty() {
        writeln!(out, "            {}", shortened(&header.input_names))?;
    }
    match &header.outputs {
        Outputs::Classification { classes } => {
            let labels: Vec<_> = classes.iter().map(ToString::to_string).collect();
            writeln!(out, "predicts    one of {} classes: {}", labels.len(), shortened(&labels))?;
        }
        Outputs::Regression { n_targets } => writeln!(out, "predicts    {}", real_values(*n_targets))?,
    }
    if !header.target_names.is_empty() {
        writeln!(out, "target      {}", shortened(&header.target_names))?;
    }
    if let Some(encoding) = &header.encoding {
        let (columns, indicators) = (encoding.categorical().len(), count(encoding.n_indicators() as u64));
        let filled = if encoding.imputes() { "; missing values filled in" } else { "" };
        writeln!(out, "encoding    {columns} columns of words into {indicators} inputs{filled}")?;
    }
    writeln!(out, "preprocess  {}", spec.preprocess.name())?;
    let kernel = kernel(spec.map.kernel());
    writeln!(out, "map         {}: {} features of {kernel}", spec.map.name(), count(spec.map.n_components() as u64))?;
    let parameters = parameters(&spec.map.spec);
    if !parameters.is_empty() {
        writeln!(out, "            {}", parameters.join("; "))?;
    }
    writeln!(out, "learner     {}", learner(&spec.learner))?;
    if spec.calibration.is_some() {
        writeln!(out, "            probabilities by a sigmoid of each score")?;
    }
    writeln!(out, "seed        {}", spec.seed)?;
    Ok(())
}
