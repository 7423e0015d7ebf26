//! `mercer convert`: rows and targets in another format.

use std::io::Write;

use mercer::Dtype;
use mercer::dataset::{Block, BlockRows, Layout};
use mercer_io::Schema;
use serde_json::json;

use crate::args::ConvertArgs;
use crate::data::{load, refuse_overwriting, table_options};
use crate::failure::Failure;
use crate::output::{TableFile, all_in_json, listed, written_paths};
use crate::progress::Bar;
use crate::text::count;

pub(crate) fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let bar = Bar::new(args.report.quiet);
    let inputs = || args.data.iter().chain(&args.labels);
    refuse_overwriting(&[&args.output], inputs())?;
    // A name without a format is said before the work.
    mercer_io::holds_one_array(&args.output)?;
    let dtype: Option<Dtype> = args.dtype.map(Into::into);
    let options = table_options(&args.reading, &args.columns, !args.labels.is_empty(), dtype);
    let table = load(&args.data, &args.labels, &options, &args.reading, &bar)?;
    let mut schema = Schema::of_table(&table);
    // Bytes are read as bytes, whatever type is asked for.
    let floats = dtype.filter(|_| schema.layout == Layout::Bytes);
    if let Some(dtype) = floats {
        (schema.layout, schema.dtype) = (Layout::Dense, dtype);
    }
    refuse_overwriting(&written_paths(&args.output, &schema)?, inputs())?;
    let mut file = TableFile::create(Some(&args.output), &schema)?;
    crate::progress::for_each_block(&bar, "write", &table, |block| match floats {
        Some(dtype) => Ok(file.write(&as_floats(block, dtype))?),
        None => Ok(file.write(block)?),
    })?;
    let paths = file.finish()?;
    let mut out = std::io::stdout().lock();
    let (n_rows, n_inputs) = (table.n_rows(), table.n_inputs());
    if args.report.json {
        let outputs = all_in_json(&paths);
        let report = json!({ "command": "convert", "n_rows": n_rows, "n_inputs": n_inputs, "outputs": outputs });
        writeln!(out, "{report:#}")?;
    } else if !args.report.quiet {
        let (rows, inputs) = (count(n_rows), count(n_inputs as u64));
        writeln!(out, "{rows} rows of {inputs} inputs written to {}", listed(&paths))?;
    }
    Ok(())
}

fn as_floats(block: &Block, dtype: Dtype) -> Block {
    let rows = match (&block.rows, dtype) {
        (BlockRows::Bytes(x), Dtype::Float32) => BlockRows::Dense32(x.mapv(f32::from)),
        (BlockRows::Bytes(x), Dtype::Float64) => BlockRows::Dense64(x.mapv(f64::from)),
        (other, _) => other.clone(),
    };
    Block::new(rows, block.targets.clone())
}
