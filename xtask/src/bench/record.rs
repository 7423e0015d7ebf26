//! The table, and the files in `bench-record/`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::json::quoted;
use super::measurement::{Best, Measurement};
use super::{Bench, Request};
use crate::project::root;
use crate::{Failure, host};

/// Everything a record states.
pub(super) struct Record {
    /// of the files, without their endings
    stem: String,
    /// what was measured where: name, value
    facts: Vec<(&'static str, String)>,
    benches: Vec<Bench>,
    best: Best,
    notes: Vec<String>,
}

impl Record {
    /// Collects what the host says about itself.
    pub(super) fn new(
        request: &Request,
        benches: Vec<Bench>,
        best: Best,
        notes: Vec<String>,
        about: Vec<String>,
    ) -> Self {
        let (date, processor) = (host::today(), host::processor());
        // A run of some benches does not replace one of all.
        let stem = format!("{date}-{}", host::slug(&format!("{processor} {}", request.names.join(" "))));
        let versions = about.into_iter().chain([format!("faer {}", locked_version("faer"))]);
        let facts = vec![
            ("date", date),
            ("processor", format!("{processor}, {} hardware threads", host::threads())),
            ("command", request.command()),
            ("commit", host::commit()),
            ("compiler", host::compiler()),
            ("versions", versions.collect::<Vec<_>>().join("; ")),
        ];
        Self { stem, facts, benches, best, notes }
    }

    /// A row for each competitor of each case.
    pub(super) fn table(&self) -> String {
        let mut rows = vec![
            ["bench", "case", "threads", "mercer", "rate", "beside", "its time", "ratio", "further"].map(str::to_owned),
        ];
        for case in self.best.cases() {
            let (ours, theirs): (Vec<_>, Vec<_>) = case.into_iter().partition(|measurement| measurement.by == "mercer");
            let ours = ours.first().copied();
            if theirs.is_empty() {
                rows.push(row(ours, None));
            }
            rows.extend(theirs.into_iter().map(|theirs| row(ours, Some(theirs))));
        }
        aligned(&rows)
    }

    /// Writes both files; returns their names.
    pub(super) fn write(&self) -> Result<String, Failure> {
        let (text, data) = (self.path("md"), self.path("json"));
        write_file(&text, &self.markdown())?;
        write_file(&data, &self.json())?;
        let name = |path: &Path| path.strip_prefix(root()).unwrap_or(path).display().to_string();
        Ok(format!("{} and {}", name(&text), name(&data)))
    }

    fn path(&self, ending: &str) -> PathBuf {
        root().join("bench-record").join(format!("{}.{ending}", self.stem))
    }

    fn markdown(&self) -> String {
        let mut text = String::from("# mercer beside its competitors\n\n");
        for (name, value) in &self.facts {
            let value = if *name == "command" { format!("`{value}`") } else { value.clone() };
            writeln!(text, "- {name}: {value}").expect("texts grow");
        }
        write!(text, "\n{}\n\n{READING}\n\n## Conditions\n\n", self.table()).expect("texts grow");
        for bench in &self.benches {
            writeln!(text, "- **{}**: {}.", bench.name, bench.conditions).expect("texts grow");
        }
        if !self.notes.is_empty() {
            text.push_str("\n## Not measured\n\n");
            self.notes.iter().for_each(|note| writeln!(text, "- {note}").expect("texts grow"));
        }
        text
    }

    fn json(&self) -> String {
        let facts = self.facts.iter().map(|(name, value)| format!("  {}: {},\n", quoted(name), quoted(value)));
        let notes: Vec<String> = self.notes.iter().map(|note| quoted(note)).collect();
        let results: Vec<String> = self.best.all().iter().map(|best| format!("    {}", best.to_json())).collect();
        let (facts, notes, results) = (facts.collect::<String>(), notes.join(", "), results.join(",\n"));
        format!("{{\n{facts}  \"notes\": [{notes}],\n  \"results\": [\n{results}\n  ]\n}}\n")
    }
}

const READING: &str = "Times are the fastest of all repeats of all rounds, the programs taking turns. Ratio = its time / \
    mercer's: above 1, mercer is faster.";

fn row(ours: Option<&Measurement>, theirs: Option<&Measurement>) -> [String; 9] {
    let case = ours.or(theirs).expect("a case was measured");
    let ratio = ours.zip(theirs).map(|(ours, theirs)| format!("{:.2}", theirs.seconds / ours.seconds));
    let further: Vec<String> = [ours, theirs].into_iter().flatten().flat_map(further).collect();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        case.name.clone(),
        case.variant.clone(),
        case.threads.to_string(),
        or_dash(ours.map(|ours| duration(ours.seconds))),
        or_dash(ours.map(rate)),
        or_dash(theirs.map(|theirs| theirs.by.clone())),
        or_dash(theirs.map(|theirs| duration(theirs.seconds))),
        or_dash(ratio),
        further.join("; "),
    ]
}

fn further(measurement: &Measurement) -> Vec<String> {
    let shown = |(key, value): &(String, f64)| match key.strip_suffix("_bytes") {
        Some(key) => format!("{} {} {:.0} MB", measurement.by, key.replace('_', " "), value / 1e6),
        None => format!("{} {} {value:.4}", measurement.by, key.replace('_', " ")),
    };
    measurement.further.iter().map(shown).collect()
}

fn rate(measurement: &Measurement) -> String {
    match measurement.unit.as_str() {
        "flop" => format!("{:.1} GFLOP/s", measurement.work / measurement.seconds / 1e9),
        unit => format!("{}/{unit}", duration(measurement.seconds / measurement.work)),
    }
}

/// Seconds to three figures.
fn duration(seconds: f64) -> String {
    let (factor, unit) = [(1.0, "s"), (1e3, "ms"), (1e6, "us")]
        .into_iter()
        .find(|(factor, _)| seconds * factor >= 1.0)
        .unwrap_or((1e9, "ns"));
    let value = seconds * factor;
    let digits = [100.0, 10.0].iter().filter(|&&limit| value < limit).count() + usize::from(value < 1.0);
    format!("{value:.digits$} {unit}")
}

/// A Markdown table with columns of even width.
fn aligned(rows: &[[String; 9]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 9] = std::array::from_fn(width);
    let line = |row: &[String; 9]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.insert(1, line(&widths.map(|width| "-".repeat(width))));
    lines.join("\n")
}

/// The version in the lock file of the benches.
fn locked_version(package: &str) -> String {
    let lock = fs::read_to_string(root().join("benches").join("Cargo.lock")).unwrap_or_default();
    let after = lock.split_once(&format!("name = \"{package}\"\nversion = \"")).map_or("", |(_, after)| after);
    after.split('"').next().unwrap_or_default().to_owned()
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_figures() {
        let cases =
            [(12.345, "12.3 s"), (0.0123, "12.3 ms"), (4.56e-6, "4.56 us"), (3.9e-10, "0.390 ns"), (123.4, "123 s")];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }
}
