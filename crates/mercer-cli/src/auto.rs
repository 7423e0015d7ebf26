//! `--auto`: a pipeline found by trials.

use std::time::Instant;

use mercer::Driver;
use mercer::dataset::{Dataset, Task};
use mercer::feature_maps::{Gamma, MapSpec, SpectralKernel};
use mercer::kernels::KernelFamily;
use mercer::learners::{ClassWeight, Loss, Solver};
use mercer::metrics::{Interval, wilson};
use mercer::pipeline::PipelineSpec;
use mercer::selection::{Confirmation, Found, Objective, SearchReport, SearchSpec, Strategy, Training, Trial, search};

use crate::args::LimitArgs;
use crate::failure::Failure;
use crate::memory::half_of_available;
use crate::report::{Axis, Block, Cell, Figure, Panel, Point, Section, Series, Style, Table, command_line_of};
use crate::text::{count, number, percent};

/// Of the time, what is left for scoring, saving and reporting.
const RESERVE: f64 = 0.06;
/// Bytes of the program and its threads.
const PROGRAM: u64 = 64 << 20;
/// Bytes for a search where nothing says more.
const DEFAULT: u64 = 2 << 30;
/// Trials shown of a search.
const SHOWN: usize = 8;

/// What the search is told beside its limits.
pub(crate) struct Asked {
    pub(crate) task: Option<Task>,
    pub(crate) probabilities: bool,
    /// bytes for all of the process
    pub(crate) memory: Option<u64>,
    /// whether there are rows to test the model on
    pub(crate) has_test: bool,
    pub(crate) seed: u64,
    pub(crate) dtype: mercer::Dtype,
    pub(crate) start: Instant,
}

/// Searches within the limits.
pub(crate) fn find(
    dataset: &Dataset,
    limits: &LimitArgs,
    asked: &Asked,
    driver: &Driver<'_>,
) -> Result<Found, Failure> {
    let spec = SearchSpec {
        contenders: Vec::new(),
        strategy: Strategy::Halving,
        objective: limits.objective.map(Into::into),
        task: asked.task,
        trials: limits.trials,
        memory: memory_left(asked.memory, limits.time.is_some(), dataset),
        confirm: !asked.has_test,
        probabilities: asked.probabilities,
        seed: asked.seed,
    };
    let deadline = limits.time.map(|time| asked.start + time.mul_f64(1.0 - RESERVE));
    Ok(search(dataset, &spec, asked.dtype, deadline, driver)?)
}

/// Bytes that a search may take: of a limit for all, or half of what is free. Without a time nothing may depend on the machine.
pub(crate) fn memory_left(limit: Option<u64>, has_time: bool, dataset: &Dataset) -> u64 {
    match limit {
        // Reading takes about what is read once more, and the allocator keeps some.
        Some(limit) => limit.saturating_sub(2 * dataset.table().memory() + PROGRAM) / 10 * 9,
        None if has_time => half_of_available().unwrap_or(DEFAULT),
        None => DEFAULT,
    }
}

/// The flags of `mercer train` for a pipeline that a search found.
pub(crate) fn flags(spec: &PipelineSpec) -> String {
    let mut flags = vec![format!("--preprocess {}", spec.preprocess.name().replace('_', "-"))];
    flags.push(format!("--map {}", spec.map.name().replace('_', "-")));
    let kernel = match &spec.map {
        MapSpec::Spectral(map) => Some(match map.kernel {
            SpectralKernel::Rbf => "rbf".to_owned(),
            SpectralKernel::Laplace => "laplace".to_owned(),
            SpectralKernel::Matern { nu } => format!("matern --nu {nu}"),
            SpectralKernel::Cauchy => "cauchy".to_owned(),
            SpectralKernel::RationalQuadratic { alpha } => format!("rational-quadratic --alpha {alpha}"),
        }),
        MapSpec::TensorSrht(map) => Some(format!("poly --degree {} --coef0 {}", map.degree, map.c)),
        MapSpec::Landmark(map) => Some(match map.kernel {
            KernelFamily::Polynomial { degree, c } => format!("poly --degree {degree} --coef0 {c}"),
            KernelFamily::Matern { nu } => format!("matern --nu {nu}"),
            KernelFamily::RationalQuadratic { alpha } => format!("rational-quadratic --alpha {alpha}"),
            KernelFamily::ArcCosine { degree } => format!("arc-cosine --degree {degree}"),
            KernelFamily::Rbf => "rbf".to_owned(),
            KernelFamily::Laplace => "laplace".to_owned(),
            KernelFamily::Cauchy => "cauchy".to_owned(),
            KernelFamily::Linear => "linear".to_owned(),
            KernelFamily::Exponential => "exponential".to_owned(),
            KernelFamily::AdditiveChi2 => "additive-chi2".to_owned(),
            KernelFamily::SkewedChi2 { skewedness } => format!("skewed-chi2 --skewedness {skewedness}"),
            KernelFamily::ExponentialChi2 => "chi2".to_owned(),
            KernelFamily::Tanimoto => "tanimoto".to_owned(),
        }),
        _ => None,
    };
    flags.extend(kernel.map(|kernel| format!("--kernel {kernel}")));
    if let Some(Gamma::Value(gamma)) = spec.map.gamma() {
        flags.push(format!("--gamma {gamma}"));
    }
    if spec.map != MapSpec::Identity {
        flags.push(format!("--n-components {}", spec.map.n_components(1)));
    }
    if let Some(map) = spec.map.landmarks() {
        flags.push(format!("--budget {}", map.budget.method.name().replace('_', "-")));
        flags.extend(map.budget.balanced.then(|| "--balanced".to_owned()));
    }
    flags.push(format!("--learner {}", spec.learner.loss.learner()));
    if spec.learner.solver == Solver::Iterative {
        flags.push("--solver iterative".to_owned());
    }
    match spec.learner.loss {
        Loss::Huber { delta } => flags.push(format!("--delta {delta}")),
        Loss::SquaredEpsilonInsensitive { epsilon } => flags.push(format!("--epsilon {epsilon}")),
        _ => (),
    }
    flags.push(format!("--lambda {} --tol {}", spec.learner.lambda, spec.learner.stopping.tol));
    if spec.learner.class_weight == ClassWeight::Balanced {
        flags.push("--class-weight balanced".to_owned());
    }
    flags.push(format!("--seed {}", spec.seed));
    flags.join(" ")
}

/// Flags of a search and of reports, and whether a value follows them.
const OF_SEARCH: [(&str, bool); 18] = [
    ("--auto", false),
    ("--time", true),
    ("--trials", true),
    ("--objective", true),
    ("--memory", true),
    ("--seed", true),
    ("--kernels", true),
    ("--widths", true),
    ("--learners", true),
    ("--preprocess", true),
    ("--means", true),
    ("--degrees", true),
    ("--class-weights", true),
    ("--strategy", true),
    ("--report", true),
    ("--json", false),
    ("--output", true),
    ("-o", true),
];

/// The command that trains what a search found, from the same files.
pub(crate) fn command(spec: &PipelineSpec) -> String {
    command_line_of("train", &OF_SEARCH, &flags(spec))
}

/// What was tried, and why this was chosen: lines of a summary, with a name or of the one before; `has_test` where rows of their own test the model.
pub(crate) fn facts(search: &SearchReport, has_test: bool) -> Vec<(String, String)> {
    let (n, judges) = (count(search.trials.len() as u64), count(search.chosen().n_judges));
    let skipped = match search.n_skipped {
        0 => String::new(),
        n => format!(", {n} more not tried"),
    };
    let by = search.objective.name();
    let mut lines = vec![format!("{n} trials in {:.1} s{skipped}; by {by} on {judges} rows held out", search.seconds)];
    for trial in last_first(search).into_iter().take(SHOWN) {
        let mark = if std::ptr::eq(trial, search.chosen()) { '→' } else { ' ' };
        let (rows, features) = (count(trial.n_rows), count(trial.n_components as u64));
        let value = with_error(search.objective, score(trial), trial.error.unwrap_or(0.0));
        let size = format!("{rows} rows, {features} features, {:.1} s", trial.seconds);
        lines.push(format!("{mark} {value}  {}; {size}", trial.description));
    }
    lines.push(verdict(search));
    if let Some(confirmation) = &search.confirmation {
        let value = with_error(search.objective, confirmation.score, confirmation.error);
        let (rows, interval) = (count(confirmation.n_rows), interval(confirmation));
        lines.push(format!("on {rows} rows that took no part in the search: {value}{interval}"));
    }
    if search.confirmation.is_none() && !has_test {
        lines.push("no rows confirmed the choice: its score is the best of many, and too good".to_owned());
    }
    if !search.trainings.is_empty() {
        let shown = |training: &Training| {
            let dropped = if training.is_kept { "" } else { " (not ended in time)" };
            format!("{} features in {:.1} s{dropped}", count(training.n_components as u64), training.seconds)
        };
        let shown: Vec<String> = search.trainings.iter().map(shown).collect();
        lines.push(format!("of all rows: {}", shown.join(", then ")));
    }
    if let Some(threshold) = search.threshold {
        lines.push(format!("scores are moved by {}: so F1 of rows held out is the largest", number(-threshold)));
    }
    if search.is_of_trial {
        lines.push("the time was over before all rows were learned from: the model is that of the trial".to_owned());
    } else if search.ended_by_time {
        lines.push("the time ended the training before its minimum".to_owned());
    }
    let names = std::iter::once("search").chain(std::iter::repeat(""));
    names.zip(lines).map(|(name, line)| (name.to_owned(), line)).collect()
}

fn score(trial: &Trial) -> f64 {
    trial.score.unwrap_or(f64::NEG_INFINITY)
}

/// Trials that have a score: of the last round first, the best of each first.
fn last_first(search: &SearchReport) -> Vec<&Trial> {
    let mut trials: Vec<&Trial> = search.trials.iter().filter(|trial| trial.score.is_some()).collect();
    trials.sort_by(|a, b| b.rung.cmp(&a.rung).then(score(b).total_cmp(&score(a))));
    trials
}

/// The search in charts and a table.
pub(crate) fn section(search: &SearchReport, has_test: bool) -> Section {
    let unit = if search.objective == Objective::Accuracy { 100.0 } else { 1.0 };
    let label = match search.objective {
        Objective::Accuracy => "accuracy of the rows that judge, %".to_owned(),
        other => format!("{} of the rows that judge", other.name()),
    };
    let by = |axis: Axis, x: &dyn Fn(usize, &Trial) -> f64| {
        let of_kind = |name: &str, takes: &dyn Fn(&Trial) -> bool| {
            let takes = |(_, trial): &(usize, &Trial)| trial.score.is_some() && takes(trial);
            let points = search.trials.iter().enumerate().filter(takes).map(|(at, trial)| {
                let (y, error) = (unit * score(trial), unit * trial.error.unwrap_or(0.0));
                let note = format!("{}: {}", trial.description, with_error(search.objective, y / unit, error / unit));
                Point { x: x(at, trial), y, error: Some((y - error, y + error)), note }
            });
            Series { name: name.to_owned(), style: Style::Points, points: points.collect() }
        };
        let chosen = search.chosen();
        let mut series: Vec<Series> = kinds(search)
            .into_iter()
            .map(|kind| of_kind(kind, &|trial| kind_of(trial) == kind && !std::ptr::eq(trial, chosen)))
            .collect();
        series.push(of_kind("chosen", &|trial| std::ptr::eq(trial, chosen)));
        series.retain(|series| !series.points.is_empty());
        Panel { x: axis, y: Axis::linear(label.clone()), series, ..Panel::default() }
    };
    let mut ends: Vec<f64> = Vec::new();
    for trial in &search.trials {
        ends.push(ends.last().unwrap_or(&0.0) + trial.seconds);
    }
    let note = "Bars are a standard error to either side.";
    let figures = vec![
        Figure::new("Score by features", note, &by(Axis::log("features"), &|_, trial| trial.n_components as f64)),
        Figure::new("Score by time", note, &by(Axis::log("seconds of the trial"), &|_, trial| trial.seconds.max(1e-3))),
        Figure::new("Score by rows", note, &by(Axis::log("rows learned from"), &|_, trial| trial.n_rows as f64)),
        Figure::new(
            "The search as it went",
            note,
            &by(Axis::linear("seconds of all trials so far"), &|at, _| ends[at]),
        ),
    ];
    let mut table =
        Table::new(["round", "pipeline", "rows", "features", "lambda", "score", "standard error", "seconds"]);
    for trial in &search.trials {
        let shown = |value: Option<f64>| Cell::maybe(value, Cell::number);
        let what = match &trial.failure {
            Some(failure) => format!("{} (failed: {failure})", trial.description),
            None => trial.description.clone(),
        };
        table.push(vec![
            Cell::count(trial.rung as u64 + 1),
            Cell::text(what),
            Cell::count(trial.n_rows),
            Cell::count(trial.n_components as u64),
            shown(trial.lambda),
            shown(trial.score),
            shown(trial.error),
            Cell::Number(trial.seconds, format!("{:.2}", trial.seconds)),
        ]);
    }
    let mut words: Vec<String> = facts(search, has_test).into_iter().map(|(_, line)| line).collect();
    // The table has the trials.
    words.retain(|line| !line.contains(" rows, ") || line.contains("trials in"));
    let sentences: Vec<String> = words.iter().map(|line| sentence(line)).collect();
    Section::new("The search", sentences.join(" "), vec![Block::Figures(figures), Block::Table(table)])
}

/// A line of the summary with a capital and a full stop.
fn sentence(line: &str) -> String {
    let mut rest = line.chars();
    let first: String = rest.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}

/// What a trial's features are, for the colours of a chart.
fn kind_of(trial: &Trial) -> &'static str {
    match (&trial.spec.map, &trial.contender.kernel) {
        (MapSpec::Identity, _) => "linear",
        (MapSpec::Landmark(_), KernelFamily::Rbf) => "RBF, landmarks",
        (MapSpec::Landmark(_), KernelFamily::Laplace) => "Laplace, landmarks",
        (MapSpec::Landmark(_), _) => "other kernels, landmarks",
        (MapSpec::Spectral(_), _) => "waves",
        _ => "products",
    }
}

/// Those there are, in the order in which they were first tried.
fn kinds(search: &SearchReport) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for kind in search.trials.iter().map(kind_of) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Why the chosen pipeline was chosen.
fn verdict(search: &SearchReport) -> String {
    if search.nothing_beats_linear() {
        return "nothing beats the linear model by more than the error of the difference".to_owned();
    }
    match search.beyond_linear {
        Some((gain, error)) => {
            format!("better than the linear model by {}", with_error(search.objective, gain, error))
        }
        None => "the linear model alone was tried".to_owned(),
    }
}

fn with_error(objective: Objective, score: f64, error: f64) -> String {
    match objective {
        Objective::Accuracy => format!("{} ± {}", percent(score), percent(error)),
        Objective::F1 | Objective::R2 => format!("{} ± {}", number(score), number(error)),
    }
}

/// The interval of Wilson that holds the accuracy with a probability of 95 %.
fn interval(confirmation: &Confirmation) -> String {
    let found = confirmation.n_right.and_then(|right| wilson(right, confirmation.n_rows, 0.95).ok());
    found.map_or(String::new(), |Interval { low, high }| {
        format!(" (accuracy {} to {} with a probability of 95 %)", percent(low), percent(high))
    })
}
