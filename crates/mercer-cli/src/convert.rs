//! `mercer convert`: rows and targets in another format.

use std::io::Write;

use mercer_io::Schema;
use serde_json::json;

use crate::args::ConvertArgs;
use crate::data::{load, refuse_overwriting, table_options};
use crate::failure::Failure;
use crate::output::{TableFile, listed};
use crate::progress::Bar;
use crate::text::count;

pub(crate) fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let bar = Bar::new(args.quiet);
    refuse_overwriting(&args.output, args.data.iter().chain(&args.labels))?;
    // A name without a format is said before the work.
    mercer_io::holds_one_array(&args.output)?;
    let options = table_options(&args.reading, &args.columns, !args.labels.is_empty(), args.dtype.map(Into::into));
    let table = load(&args.data, &args.labels, &options, &args.reading, &bar)?;
    let mut file = TableFile::create(Some(&args.output), &Schema::of_table(&table))?;
    crate::progress::for_each_block(&bar, "write", &table, |block| Ok(file.write(block)?))?;
    let paths = file.finish()?;
    let mut out = std::io::stdout().lock();
    let (n_rows, n_inputs) = (table.n_rows(), table.n_inputs());
    if args.json {
        let report = json!({ "command": "convert", "n_rows": n_rows, "n_inputs": n_inputs, "outputs": paths });
        writeln!(out, "{report:#}")?;
    } else if !args.quiet {
        let (rows, inputs) = (count(n_rows), count(n_inputs as u64));
        writeln!(out, "{rows} rows of {inputs} inputs written to {}", listed(&paths))?;
    }
    Ok(())
}
