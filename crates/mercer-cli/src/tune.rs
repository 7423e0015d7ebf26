//! `mercer tune`: which pipeline to train.

use std::io::Write;
use std::time::Instant;

use mercer::Driver;
use mercer::selection::SearchSpec;
use serde_json::json;

use crate::args::TuneArgs;
use crate::auto::{self, memory_left};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::rows::{TrainingRows, described};
use crate::text::percent;

pub(crate) fn run(args: &TuneArgs) -> Result<(), Failure> {
    let start = Instant::now();
    let bar = Bar::new(args.run.report.quiet);
    let driver = Driver::new(args.run.threads, &bar)?;
    let (task, dtype) = (args.task.map(Into::into), args.dtype.into());
    let rows = TrainingRows {
        files: &args.rows,
        reading: &args.reading,
        columns: &args.columns,
        encoding: &args.encoding,
        test_size: None,
        stratify: true,
        task,
        seed: args.seed,
        dtype,
        quiet: args.run.report.quiet,
        bar: &bar,
    };
    let (dataset, _) = rows.with_targets(&driver)?;
    let spec = SearchSpec {
        contenders: args.space.contenders(args.seed, args.limits.trials).map_err(Failure::Usage)?,
        strategy: args.space.strategy(),
        objective: args.limits.objective.map(Into::into),
        task,
        trials: args.limits.trials,
        memory: memory_left(args.memory, args.limits.time.is_some(), &dataset),
        confirm: true,
        probabilities: false,
        seed: args.seed,
    };
    let deadline = args.limits.time.map(|time| start + time);
    let (pipeline, search) = mercer::selection::tune(&dataset, &spec, dtype, deadline, &driver)?;
    let flags = auto::flags(&pipeline);
    let mut out = std::io::stdout().lock();
    if args.run.report.json {
        let object = json!({
            "command": "tune",
            "dataset": described(&dataset),
            "search": search,
            "spec": pipeline,
            "flags": flags,
            "seconds": start.elapsed().as_secs_f64(),
        });
        writeln!(out, "{object:#}")?;
        return Ok(());
    }
    for (name, words) in auto::facts(&search, false) {
        writeln!(out, "{name:<12}{words}")?;
    }
    let failed: Vec<_> = search.trials.iter().filter_map(|t| t.failure.as_ref().map(|f| (&t.description, f))).collect();
    for (description, failure) in &failed {
        writeln!(out, "failed      {description}: {failure}")?;
    }
    if !failed.is_empty() {
        writeln!(out, "            {} of the trials", percent(failed.len() as f64 / search.trials.len() as f64))?;
    }
    writeln!(out, "\n{}", auto::command(&pipeline))?;
    Ok(())
}
