//! `mercer evaluate`: scores of a saved model on rows with known targets.

use std::io::Write;
use std::time::Instant;

use mercer::Driver;
use serde_json::json;

use crate::args::EvaluateArgs;
use crate::data::{TrainedColumns, load, model_options};
use crate::failure::Failure;
use crate::memory::peak_bytes;
use crate::progress::Bar;
use crate::text::{scores, tables};

pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let start = Instant::now();
    let model = mercer_io::load_model(&args.model)?;
    let header = model.header();
    let bar = Bar::new(args.run.report.quiet);
    let driver = Driver::new(args.run.threads, &bar)?;
    let columns = TrainedColumns::of_model(&header);
    let options = model_options(&args.reading, &columns, &args.target);
    let table = driver.time("load", || load(&args.data, &args.labels, &options, &args.reading, &bar))?;
    let dataset = columns.encode(table, args.run.report.quiet)?;
    if dataset.targets().is_none() {
        let name = &dataset.info().name;
        let text = format!("{name} has no targets to compare with; give --labels FILE or --target COLUMN");
        return Err(Failure::Usage(text));
    }
    let evaluation = model.evaluate(&driver, &dataset)?;
    let mut out = std::io::stdout().lock();
    if args.run.report.json {
        let mut seconds: serde_json::Map<_, _> =
            driver.seconds().into_iter().map(|(stage, time)| (stage.to_owned(), json!(time))).collect();
        seconds.insert("total".to_owned(), json!(start.elapsed().as_secs_f64()));
        let object = json!({
            "command": "evaluate",
            "data": args.data,
            "classes": header.outputs.classes(),
            "test": evaluation,
            "seconds": seconds,
            "peak_memory_bytes": peak_bytes(),
        });
        writeln!(out, "{object:#}")?;
    } else {
        writeln!(out, "{}", scores(&evaluation))?;
        write!(out, "{}", tables(&evaluation, header.outputs.classes()))?;
    }
    Ok(())
}
