//! The summary of a training that a person reads.

use std::io::{self, Write};

use mercer::dataset::{ColumnEncoding, Layout, TargetEncoder, Task};
use mercer::feature_maps::{Distance, Gamma};
use mercer::learners::Lambda;
use mercer::pipeline::Outputs;
use mercer::preprocess::PreprocessSpec;

use super::{Trained, cross_validation};
use crate::args::TrainArgs;
use crate::memory::peak_bytes;
use crate::progress::interrupted;
use crate::report::written;
use crate::text::{bytes, count, kernel, learner, number, parameters, percent, real_values, scores, tables};

pub(super) fn write(out: &mut impl Write, trained: &Trained, args: &TrainArgs) -> io::Result<()> {
    for (name, words) in facts(trained, args) {
        writeln!(out, "{name:<12}{words}")?;
    }
    if let Some(test) = &trained.test {
        writeln!(out, "test        {}", scores(test))?;
        write!(out, "{}", tables(test, trained.model.header().outputs.classes()))?;
    }
    writeln!(out)?;
    for (name, words) in costs(trained, args) {
        writeln!(out, "{name:<12}{words}")?;
    }
    write!(out, "{}", written("report", args.report.as_ref()))
}

/// A name, empty where the line continues the one before, and what there is to say.
pub(super) type Fact = (String, String);

fn fact(name: &str, words: impl Into<String>) -> Fact {
    (name.to_owned(), words.into())
}

/// The data, and what is done to it.
pub(super) fn facts(trained: &Trained, args: &TrainArgs) -> Vec<Fact> {
    let mut facts = vec![fact("data", data(trained)), fact("", target(trained, args))];
    facts.extend(encoding(trained));
    let has_test = trained.test.is_some();
    facts.extend(trained.search.iter().flat_map(|(search, _)| crate::auto::facts(search, has_test)));
    facts.push(fact("preprocess", preprocess(trained, args)));
    facts.extend(map(trained, args));
    facts.extend(learner_lines(trained, args));
    if let (Some(k), Some(choice)) = (args.learner.cv, &trained.report.lambda) {
        facts.push((format!("{k}-fold cv"), fold_scores(&cross_validation(&choice.folds))));
    }
    facts
}

/// Time, memory and the size of the model.
pub(super) fn costs(trained: &Trained, args: &TrainArgs) -> Vec<Fact> {
    let mut facts = vec![fact("time", times(trained))];
    facts.extend(peak_bytes().map(|peak| fact("memory", format!("{} at the peak", bytes(peak)))));
    let size = bytes(trained.model_bytes);
    facts.push(match &args.output {
        Some(path) => fact("model", format!("{} ({size})", path.display())),
        None => fact("model", format!("{size} (not saved: add -o model.mercer)")),
    });
    facts
}

fn fold_scores(scores: &serde_json::Value) -> String {
    let value = |name: &str| scores[name].as_f64().unwrap_or(0.0);
    if scores["accuracy"].is_null() {
        return format!("RMSE {} ± {}", number(value("rmse")), number(value("rmse_deviation")));
    }
    format!("accuracy {} ± {}", percent(value("accuracy")), percent(value("accuracy_deviation")))
}

fn data(trained: &Trained) -> String {
    let (dataset, info) = (&trained.dataset, trained.dataset.info());
    let (rows, inputs) = (count(dataset.n_rows()), count(dataset.n_inputs() as u64));
    let kind = match info.layout {
        Layout::Bytes => "bytes".to_owned(),
        Layout::Dense => "dense".to_owned(),
        Layout::Sparse => {
            let share = dataset.n_stored() as f64 / (dataset.n_rows() as f64 * dataset.n_inputs() as f64);
            format!("sparse, {} stored", percent(share))
        }
    };
    let place = if dataset.is_in_memory() { "" } else { ", read again at every pass" };
    // Of what is bundled the name says all.
    let format = if info.format == "memory" { String::new() } else { format!(" ({})", info.format) };
    format!("{}{format}: {rows} rows × {inputs} inputs, {kind}{place}", info.name)
}

fn target(trained: &Trained, args: &TrainArgs) -> String {
    let names = trained.dataset.info().target_names.join(", ");
    let of = if names.is_empty() { String::new() } else { format!(" of {names}") };
    let why = if args.learner.task.is_some() { "" } else { ", as the targets show" };
    match &trained.model.header().outputs {
        Outputs::Classification { classes } => {
            let balance = balance(trained);
            format!("classification{of}: {} classes{balance}{why}", classes.len())
        }
        Outputs::Regression { n_targets } => format!("regression{of}: {}{why}", real_values(*n_targets)),
    }
}

/// The share of the rarest and the most frequent class.
fn balance(trained: &Trained) -> String {
    let encoder = trained.dataset.targets().and_then(|targets| targets.encoder(Some(Task::Classification)).ok());
    let Some(TargetEncoder::Classes { counts, .. }) = encoder else { return String::new() };
    let rows = trained.dataset.n_rows() as f64;
    let share = |n: Option<&u64>| percent(n.map_or(0.0, |&n| n as f64 / rows));
    format!(" ({} to {} of the rows each)", share(counts.iter().min()), share(counts.iter().max()))
}

/// What became of words and missing values.
fn encoding(trained: &Trained) -> Vec<Fact> {
    let Some(encoding) = trained.dataset.encoding() else { return Vec::new() };
    let table = trained.dataset.table();
    let mut parts: Vec<String> = Vec::new();
    for (input, column) in encoding.columns().iter().enumerate() {
        let ColumnEncoding::Categorical { levels, other, .. } = column else { continue };
        let name = table.info().input_names.get(input).cloned().unwrap_or_else(|| format!("column {}", input + 1));
        let all = count(table.levels(input).len() as u64);
        parts.push(if *other {
            format!("{name} (the {} most frequent of {all} levels, and other)", levels.len())
        } else {
            format!("{name} ({all} levels)")
        });
    }
    const SHOWN: usize = 4;
    let (n, more) = (parts.len(), parts.len().saturating_sub(SHOWN));
    parts.truncate(SHOWN);
    let more = if more > 0 { format!(", … {more} more") } else { String::new() };
    let mut lines = Vec::new();
    if n > 0 {
        let into = count(encoding.n_indicators() as u64);
        let words = format!("{n} columns of words into {into} inputs: {}{more}", parts.join(", "));
        lines.push(fact("categories", words));
    }
    let missing: u64 = table.n_missing().iter().sum();
    if missing > 0 {
        let columns = table.n_missing().iter().filter(|n| **n > 0).count();
        lines.push(fact("missing", format!("{} values in {columns} columns filled in", count(missing))));
    }
    lines
}

fn preprocess(trained: &Trained, args: &TrainArgs) -> String {
    let spec = trained.model.header().spec.preprocess;
    let what = match spec {
        PreprocessSpec::Auto | PreprocessSpec::None => "the inputs as they are",
        PreprocessSpec::Bytes => "bytes divided by 255",
        PreprocessSpec::Standardize => "columns to zero mean and unit variance",
        PreprocessSpec::MinMax => "columns into [0, 1]",
        PreprocessSpec::MaxAbs => "columns divided by their largest absolute value, zeros kept",
        PreprocessSpec::UnitNorm => "rows to length 1",
    };
    let default = args.map.preprocess == crate::args::Preprocess::Auto && trained.search.is_none();
    let why = if default { " (the default for this layout)" } else { "" };
    match trained.report.n_constant_inputs {
        0 => format!("{what}{why}"),
        n => format!("{what}{why}; {} constant columns ignored", count(n as u64)),
    }
}

fn map(trained: &Trained, args: &TrainArgs) -> Vec<Fact> {
    let map = trained.model.header().spec.map;
    let features = count(map.n_components() as u64);
    let rule = match (args.map.kernel.gamma(), map.spec.distance()) {
        _ if map.spec.gamma().is_none() || trained.search.is_some() => "",
        (Gamma::Scale, Distance::SquaredL2) => " (scale: 1 / (inputs × variance))",
        (Gamma::Scale, Distance::L1) => " (scale: 1 / (inputs × standard deviation))",
        (Gamma::Median, Distance::SquaredL2) => " (median: 1 / (2 · median distance²))",
        (Gamma::Median, Distance::L1) => " (median: 1 / median distance)",
        (Gamma::Value(_), _) => "",
    };
    let kernel = kernel(map.kernel());
    let mut lines = vec![fact("map", format!("{}: {features} features of {kernel}{rule}", map.name()))];
    let parameters = parameters(&map.spec);
    if !parameters.is_empty() {
        lines.push(fact("", parameters.join("; ")));
    }
    if let Some(report) = trained.report.landmarks.filter(|report| report.rank < report.asked) {
        let (rank, asked) = (count(report.rank as u64), count(report.asked as u64));
        let what = if map.name() == "kernel_pca" { "components" } else { "landmarks" };
        lines.push(fact("", format!("rank {rank} of {asked} {what}: the others add nothing and are left out")));
    }
    if let Some(report) = &trained.approximation {
        let (error, distortion) = (number(report.kernel.rmse), percent(report.distances.mean));
        let rows = count(report.n_rows);
        let words = format!("kernel error {error} rms, distances distorted by {distortion}, on {rows} rows");
        lines.push(fact("", words));
    }
    lines
}

/// The learner, how an iteration ended, and where probabilities come from.
fn learner_lines(trained: &Trained, args: &TrainArgs) -> Vec<Fact> {
    let mut lines = vec![fact("learner", chosen(trained, args))];
    if let Some(end) = &trained.report.convergence {
        let state = match (end.converged, interrupted()) {
            (true, _) => "converged",
            (false, true) => "NOT converged: ended by Ctrl-C",
            (false, false) => "NOT converged (see --max-iter and --tol)",
        };
        let (passes, objective) = (count(end.iterations as u64), number(end.objective));
        let gradient = end.gradient_norm.map_or(String::new(), |norm| format!(", gradient {}", number(norm)));
        let gap = end.gap.map_or(String::new(), |gap| format!(", at most {} above the least", number(gap)));
        let words = format!("{state} after {passes} passes: objective {objective}{gradient}{gap}");
        lines.push(fact("", words));
    }
    if let Some(n) = trained.report.calibration_rows {
        let words = format!("probabilities by a sigmoid of the scores of {} rows held out", count(n));
        lines.push(fact("", words));
    }
    lines
}

fn chosen(trained: &Trained, args: &TrainArgs) -> String {
    let text = learner(&trained.model.header().spec.learner);
    let Some(choice) = &trained.report.lambda else {
        let auto = args.learner.lambda() == Lambda::Auto && trained.search.is_none();
        return if auto { format!("{text}, too few rows to try others") } else { text };
    };
    let judges: u64 = choice.folds.iter().map(|fold| fold.n_rows).sum();
    let best = choice.candidates.iter().find(|candidate| candidate.lambda == choice.lambda);
    let score = best.map_or(String::new(), |best| match (best.error_rate, best.loss) {
        (Some(error), _) => format!(", error {}", percent(error)),
        (None, Some(loss)) => format!(", loss {}", number(loss)),
        (None, None) => String::new(),
    });
    let tried = choice.candidates.iter().filter(|candidate| candidate.loss.is_some()).count();
    match (args.learner.cv, tried) {
        (_, 1) => text,
        (Some(k), n) => format!("{text}, the best of {n} in {k}-fold cross-validation"),
        (None, n) => format!("{text}, the best of {n} on {} rows held out{score}", count(judges)),
    }
}

fn times(trained: &Trained) -> String {
    let mut text: Vec<String> = trained
        .seconds
        .iter()
        .filter(|(_, time)| *time >= 0.005)
        .map(|(stage, time)| format!("{stage} {time:.2}"))
        .collect();
    text.push(format!("total {:.2} s", trained.total_seconds));
    let threads = if trained.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", trained.threads) };
    format!("{} ({threads})", text.join(" · "))
}
