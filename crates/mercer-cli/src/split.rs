//! `mercer split`: training and test rows as files.

use std::io::Write;

use mercer::dataset::Split;
use mercer_io::Schema;
use serde_json::json;

use crate::args::SplitArgs;
use crate::data::{load, refuse_overwriting, table_options};
use crate::failure::Failure;
use crate::output::{TableFile, all_in_json, listed, written_paths};
use crate::progress::{Bar, for_each_block};
use crate::text::count;

pub(crate) fn run(args: &SplitArgs) -> Result<(), Failure> {
    let bar = Bar::new(args.report.quiet);
    let inputs = || args.data.iter().chain(&args.labels);
    refuse_overwriting(&[&args.train, &args.test], inputs())?;
    for output in [&args.train, &args.test] {
        mercer_io::holds_one_array(output)?;
    }
    let options = table_options(&args.reading, &args.columns, !args.labels.is_empty(), None);
    let table = load(&args.data, &args.labels, &options, &args.reading, &bar)?;
    let split = Split { test_size: args.test_size, stratify: !args.no_stratify, task: None, seed: args.seed };
    let mut plan = split.plan(&table)?;
    let n_test = plan.n_test();
    let n_train = table.n_rows() - n_test;
    let schema = Schema::of_table(&table);
    refuse_overwriting(
        &[written_paths(&args.train, &schema)?, written_paths(&args.test, &schema)?].concat(),
        inputs(),
    )?;
    let mut train = TableFile::create(Some(&args.train), &Schema { n_rows: n_train, ..schema.clone() })?;
    let mut test = TableFile::create(Some(&args.test), &Schema { n_rows: n_test, ..schema })?;
    for_each_block(&bar, "write", &table, |block| {
        let (training, testing) = plan.divide(block)?;
        train.write(&block.select(&training))?;
        Ok(test.write(&block.select(&testing))?)
    })?;
    let (train, test) = (train.finish()?, test.finish()?);
    let mut out = std::io::stdout().lock();
    if args.report.json {
        let report = json!({
            "command": "split",
            "n_train": n_train,
            "n_test": n_test,
            "train": all_in_json(&train),
            "test": all_in_json(&test),
        });
        writeln!(out, "{report:#}")?;
    } else if !args.report.quiet {
        writeln!(out, "{} training rows written to {}", count(n_train), listed(&train))?;
        writeln!(out, "{} test rows written to {}", count(n_test), listed(&test))?;
    }
    Ok(())
}
