//! The report of a training.

mod classes;
mod values;

use std::fmt::Write;

use mercer::metrics::{Interval, wilson};
use mercer::pipeline::Evaluation;
use mercer::selection::{Candidate, LambdaChoice};

pub(super) use values::Values;

use super::summary::{costs, facts};
use super::{TrainArgs, Trained};
use crate::failure::Failure;
use crate::report::{Axis, Bars, Block, Cell, Figure, Page, Panel, Point, Section, Series, Style, Table, command_line};
use crate::text::{bytes, count, number, percent};

/// Of all intervals of the report.
const CONFIDENCE: f64 = 0.95;

pub(super) fn page(trained: &Trained, values: Option<&Values>, args: &TrainArgs) -> Result<Page, Failure> {
    let mut sections = match (&trained.test, values) {
        (Some(Evaluation::Classification(report)), _) => {
            let classes = trained.model.header().outputs.classes().iter().map(ToString::to_string).collect();
            classes::sections(report, classes)?
        }
        (Some(Evaluation::Regression(report)), Some(values)) => values.sections(report)?,
        _ => vec![Section::new(
            "Scores",
            "No test rows: give them by --test, or hold some out by --test-size 0.2.",
            Vec::new(),
        )],
    };
    let section = |(search, _): &(_, _)| crate::auto::section(search, trained.test.is_some());
    sections.extend(trained.search.as_ref().map(section));
    sections.extend(trained.report.lambda.as_ref().map(lambda).transpose()?);
    let mut known = joined(facts(trained, args));
    // It has a section of its own.
    known.retain(|(name, _)| name != "search");
    sections.push(Section::new("Data and model", "", vec![Block::Facts(known)]));
    sections.push(Section::new(
        "Time and memory",
        "",
        vec![
            Block::Facts(joined(costs(trained, args))),
            Block::Figures(std::iter::once(times(trained)).chain(memory(trained)).collect()),
        ],
    ));
    let spec = serde_json::to_string_pretty(&trained.model.header().spec).unwrap_or_default();
    let mut blocks = vec![Block::Code("Command".into(), command_line())];
    if let Some((_, found)) = &trained.search {
        blocks.push(Block::Code("What was found, without the search".into(), crate::auto::command(found)));
    }
    blocks.push(Block::Code("The model in numbers".into(), spec));
    let mut note = match args.search.limits.time {
        None => "The same command, data and version give the same model; the number of threads changes nothing.".into(),
        Some(_) => {
            "Within a time the model depends on the machine; the second command trains what was found.".to_owned()
        }
    };
    if let Some(threshold) = trained.search.as_ref().and_then(|(search, _)| search.threshold) {
        write!(note, " It leaves scores as they are; those of this model are moved by {}.", number(-threshold)).ok();
    }
    sections.push(Section::new("To do it again", note, blocks));
    let name = &trained.dataset.info().name;
    Ok(Page { title: format!("Training on {name}"), subtitle: subtitle(trained), sections })
}

fn subtitle(trained: &Trained) -> String {
    let header = trained.model.header();
    let map = &header.spec.map;
    let (rows, features) = (count(trained.dataset.n_rows()), count(map.n_components() as u64));
    format!("{rows} rows, {features} features by {}, {}", map.name(), crate::text::learner(&header.spec.learner))
}

/// Lines without a name belong to those before.
fn joined(facts: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, words) in facts {
        match all.last_mut().filter(|_| name.is_empty()) {
            Some((_, before)) => *before = format!("{before}\n{words}"),
            None => all.push((name, words)),
        }
    }
    all
}

/// 96.02 % to 99.06 %.
fn range(interval: Option<Interval>, text: impl Fn(f64) -> String) -> String {
    interval.map_or("no interval".to_owned(), |Interval { low, high }| format!("{} to {}", text(low), text(high)))
}

/// The scores of every λ that was tried, on the rows that judged.
fn lambda(choice: &LambdaChoice) -> Result<Section, Failure> {
    let judges: u64 = choice.folds.iter().map(|fold| fold.n_rows).sum();
    let tried: Vec<&Candidate> = choice.candidates.iter().filter(|tried| tried.loss.is_some()).collect();
    let mut errors = Vec::new();
    for candidate in &tried {
        let Some(rate) = candidate.error_rate else { continue };
        let wrong = (rate * judges as f64).round() as u64;
        let Interval { low, high } = wilson(wrong, judges, CONFIDENCE)?;
        let note = format!("lambda {}: error {}", number(candidate.lambda), percent(rate));
        errors.push(Point { x: candidate.lambda, y: 100.0 * rate, error: Some((100.0 * low, 100.0 * high)), note });
    }
    let losses = tried.iter().filter_map(|tried| Some(Point::new(tried.lambda, tried.loss?))).collect();
    let mut figures = Vec::new();
    if !errors.is_empty() {
        let chart = path("error of the rows that judge, %", errors);
        figures.push(Figure::new("Error by lambda", "Bars are 95 % intervals (Wilson).", &chart));
    }
    figures.push(Figure::new("Loss by lambda", "The mean loss of an output.", &path("loss", losses)));
    let (lambda, parts) = (number(choice.lambda), choice.folds.len());
    let by = if parts == 1 { "rows held out".to_owned() } else { format!("rows, each in one of {parts} folds") };
    let on = format!("{} {by}", count(judges));
    let note = match tried.len() {
        1 => format!("{lambda} was given; scored on {on}."),
        n => format!("{lambda} is the best of {n} on {on}: fewest errors, then least loss."),
    };
    let mut blocks = vec![Block::Figures(figures)];
    if parts > 1 {
        blocks.push(Block::Table(folds(choice)));
    }
    Ok(Section::new("The choice of lambda", note, blocks))
}

fn path(label: &str, points: Vec<Point>) -> Panel {
    let series = vec![Series { name: "lambda".to_owned(), style: Style::Line, points }];
    Panel { x: Axis::log("lambda"), y: Axis::linear(label), series, ..Panel::default() }
}

fn folds(choice: &LambdaChoice) -> Table {
    let mut table = Table::new(["fold", "rows", "accuracy", "RMSE of the scores"]);
    for (i, fold) in choice.folds.iter().enumerate() {
        let accuracy = Cell::maybe(fold.accuracy, Cell::percent);
        table.push(vec![Cell::count(i as u64 + 1), Cell::count(fold.n_rows), accuracy, Cell::number(fold.rmse)]);
    }
    table
}

fn times(trained: &Trained) -> Figure {
    let stages: f64 = trained.seconds.iter().map(|(_, time)| time).sum();
    // The stages are measured one after the other; what is between them has no name of its own.
    let rest = (trained.total_seconds - stages).max(0.0);
    let all = trained.seconds.iter().copied().chain([("other", rest)]);
    let bars = all.map(|(stage, time)| (stage.to_owned(), time, format!("{time:.2} s"))).collect();
    Figure::new("Time by stage", "", &Bars { head: ["stage".into(), "seconds of the clock".into()], bars })
}

/// None where the system does not tell.
fn memory(trained: &Trained) -> Option<Figure> {
    let of_stage = |(stage, size): &(String, u64)| (stage.clone(), *size as f64 / 1e6, bytes(*size));
    let bars = trained.memory.iter().map(of_stage).collect();
    let note = "What the process held when a pass of the stage ended, at the most.";
    let figure = Figure::new("Memory by stage", note, &Bars { head: ["stage".into(), "MB".into()], bars });
    (!trained.memory.is_empty()).then_some(figure)
}
