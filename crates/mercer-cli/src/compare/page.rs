//! The report of a comparison.

use super::summary::Estimate;
use super::{CompareArgs, Comparison};
use crate::memory::peak_bytes;
use crate::report::{Block, Cell, Figure, Page, Section, Table, command_line};
use crate::text::{bytes, number, percent};

pub(super) fn page(comparison: &Comparison, args: &CompareArgs) -> Page {
    let [data, setting] = comparison.headings();
    let mut sections = Vec::new();
    if let (Some(by_features), Some(by_time)) = (comparison.score_by_features(), comparison.score_by_time()) {
        let name = comparison.score_name();
        let figures = vec![
            Figure::new(format!("{name} by features"), "", &by_features),
            Figure::new(format!("{name} by time"), format!("{} and to the left is better.", up(comparison)), &by_time),
        ];
        let note = format!("Ridge regression on the features of each map, on rows held out.{}", spread(comparison));
        sections.push(Section::new("What the features are worth", note, vec![Block::Figures(figures)]));
    }
    let figures = vec![
        Figure::new("Kernel error by features", "", &comparison.error_by_features()),
        Figure::new("Kernel error by time", "Down and to the left is better.", &comparison.error_by_time()),
        Figure::new("Time by features", "The map alone, without learning.", &comparison.time_by_features()),
    ];
    let note = format!(
        "How far inner products of features are from the kernel, on 500 rows, and what they cost.{}",
        spread(comparison)
    );
    sections.push(Section::new("The kernel, and the time it takes", note, vec![Block::Figures(figures)]));
    let note = "Distortion is the share by which squared distances change; memory is that of the map's random numbers.";
    sections.push(Section::new("All numbers", note, vec![Block::Table(table(comparison))]));
    sections.push(Section::new(
        "To do it again",
        "",
        vec![Block::Facts(facts(comparison, args)), Block::Code("Command".into(), command_line())],
    ));
    Page {
        title: format!("Maps compared: {}", comparison.dataset.info().name),
        subtitle: format!("{data}. {setting}"),
        sections,
    }
}

/// Where better scores are.
fn up(comparison: &Comparison) -> &'static str {
    if comparison.measure() == Some("accuracy") { "Up" } else { "Down" }
}

fn spread(comparison: &Comparison) -> &'static str {
    if comparison.seeds.len() > 1 { " Bars are a standard deviation over the seeds to either side." } else { "" }
}

fn table(comparison: &Comparison) -> Table {
    let measure = comparison.measure();
    let head = ["map", "features", "kernel RMSE", "distortion", "µs per row", "memory"];
    let name = measure.map(|measure| if measure == "rmse" { "RMSE" } else { measure });
    let mut table = Table::new(head.into_iter().chain(name));
    let shown = |estimate: Option<Estimate>, text: fn(f64) -> String| {
        Cell::maybe(estimate, |found| Cell::Number(found.value, Estimate::shown(Some(found), text)))
    };
    for cell in &comparison.cells {
        let time = cell.microseconds();
        let mut row = vec![
            Cell::text(cell.name),
            Cell::count(cell.n_components() as u64),
            shown(cell.kernel_rmse(), |x| format!("{x:.5}")),
            shown(cell.distortion(), percent),
            Cell::Number(time, format!("{time:.2}")),
            Cell::Number(cell.map_bytes as f64, bytes(cell.map_bytes)),
        ];
        row.extend(measure.map(|measure| shown(cell.score(), if measure == "accuracy" { percent } else { number })));
        table.push(row);
    }
    table
}

fn facts(comparison: &Comparison, args: &CompareArgs) -> Vec<(String, String)> {
    let stages: Vec<String> = comparison.seconds.iter().map(|(stage, time)| format!("{stage} {time:.2}")).collect();
    let mut facts = vec![
        ("numbers", mercer::Dtype::from(args.dtype).to_string()),
        (
            "time",
            format!(
                "{} · total {:.2} s ({} threads)",
                stages.join(" · "),
                comparison.total_seconds,
                comparison.threads
            ),
        ),
    ];
    facts.extend(comparison.note.clone().map(|note| ("maps", note)));
    facts.extend(peak_bytes().map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
    facts.into_iter().map(|(name, words)| (name.to_owned(), words)).collect()
}
