//! The report of budgets.

use super::{Budgets, Cell as Measured, name};
use crate::memory::peak_bytes;
use crate::report::{Axis, Block, Cell, Figure, Page, Panel, Section, Table, command_line};
use crate::text::{bytes, count, number};

pub(super) fn page(budgets: &Budgets) -> Page {
    let several = budgets.cells[0].runs.len() > 1;
    let bars = if several { " Bars are a standard deviation over the seeds to either side." } else { "" };
    let note = format!(
        "The score is the share of the kernel that the landmarks explain on rows that they were not chosen from: 1 is all \
         of it, and where it stops growing more landmarks do not pay.{bars}"
    );
    let scores = vec![
        Figure::new("Score by the number of landmarks", "", &budgets.by_landmarks()),
        Figure::new("Score by time", "Up and to the left is better.", &budgets.by_time()),
    ];
    let costs = vec![
        Figure::new(
            "Distinct landmarks",
            "The share of landmarks that the others do not give already.",
            &distinct(budgets),
        ),
        Figure::new("Time", "To choose the landmarks and to fit the map to them.", &time(budgets)),
    ];
    let advice = "Use what you like by mercer train --map nystroem --budget METHOD --n-components SIZE.";
    let sections = vec![
        Section::new("What the landmarks explain", note, vec![Block::Figures(scores)]),
        Section::new("What they are, and what they cost", "", vec![Block::Figures(costs)]),
        Section::new("All numbers", advice, vec![Block::Table(table(budgets))]),
        Section::new(
            "To do it again",
            "",
            vec![Block::Facts(facts(budgets)), Block::Code("Command".into(), command_line())],
        ),
    ];
    Page {
        title: format!("Budgets: {}", budgets.dataset.info().name),
        subtitle: format!("{}; {}", budgets.title(), budgets.judged()),
        sections,
    }
}

pub(super) fn distinct(budgets: &Budgets) -> Panel {
    let share = |cell: &Measured| 100.0 * cell.mean(|run| run.distinct);
    let series = budgets.series(|cell| cell.n_landmarks() as f64, share, |_| None);
    Panel { x: budgets.landmarks(), y: Axis::linear("distinct landmarks, %"), series, ..Panel::default() }
}

pub(super) fn time(budgets: &Budgets) -> Panel {
    let series = budgets.series(|cell| cell.n_landmarks() as f64, Measured::seconds, |_| None);
    Panel { x: budgets.landmarks(), y: Axis::log("seconds"), series, ..Panel::default() }
}

fn table(budgets: &Budgets) -> Table {
    let mut table = Table::new(["budget", "landmarks", "score", "distinct", "seconds"]);
    for cell in &budgets.cells {
        let (score, share) = (cell.score(), cell.mean(|run| run.distinct));
        let spread = if cell.runs.len() > 1 { format!(" ± {:.4}", cell.deviation()) } else { String::new() };
        table.push(vec![
            Cell::text(name(cell.method)),
            Cell::count(cell.n_landmarks() as u64),
            Cell::Number(score, format!("{score:.4}{spread}")),
            Cell::Number(share, format!("{:.1} %", 100.0 * share)),
            Cell::number(cell.seconds()),
        ]);
    }
    table
}

fn facts(budgets: &Budgets) -> Vec<(String, String)> {
    let (rows, inputs) = (count(budgets.dataset.n_rows()), count(budgets.dataset.n_inputs() as u64));
    let mut facts = vec![
        ("data", format!("{rows} rows × {inputs} inputs")),
        ("time", format!("{} s with {} threads", number(budgets.total_seconds), budgets.threads)),
    ];
    facts.extend(peak_bytes().map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
    facts.into_iter().map(|(name, words)| (name.to_owned(), words)).collect()
}
