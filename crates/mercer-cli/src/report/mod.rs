//! Reports: one HTML file that needs nothing else, to read on a screen, light or dark, or on paper.
//!
//! A [`Page`] has sections of facts, tables and figures. A figure is made of a [`Chart`], which gives its drawing (inline
//! SVG) and its numbers as a table, so that no chart is without them. What it looks like is in `style.css`; `script.js`
//! sorts tables and is not needed to read them. Nothing here knows a command: each builds its own page.

mod chart;
mod markup;
mod page;
mod table;

use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) use chart::axis::Axis;
pub(crate) use chart::bars::Bars;
pub(crate) use chart::matrix::Matrix;
pub(crate) use chart::panel::{Block as DensityBlock, Guide, Panel, Point, Series, Style};
pub(crate) use chart::{Chart, legend};
pub(crate) use markup::{escaped, shortened};
pub(crate) use page::{Block, Figure, Page, Section, Tile};
pub(crate) use table::{Cell, Table};

use crate::data::refuse_overwriting;
use crate::failure::Failure;

/// Checks, before the work, that the files a command will write have names that suit them, are no input and no other
/// output, and can be written.
pub(crate) fn check_outputs<'a>(
    report: Option<&Path>,
    plot: Option<&Path>,
    others: Option<&Path>,
    inputs: impl IntoIterator<Item = &'a String>,
) -> Result<(), Failure> {
    if let Some(path) = plot.filter(|path| !ends_with(path, &["svg"])) {
        let text = format!("{}: the plot is SVG; give it a name that ends with .svg", path.display());
        return Err(Failure::Usage(text));
    }
    if let Some(path) = report.filter(|path| !ends_with(path, &["html", "htm"])) {
        let text = format!("{}: the report is HTML; give it a name that ends with .html", path.display());
        return Err(Failure::Usage(text));
    }
    let outputs: Vec<&Path> = others.into_iter().chain(plot).chain(report).collect();
    refuse_overwriting(&outputs, inputs)?;
    // A folder that cannot be written is said before the work, not after it.
    for path in outputs {
        drop(mercer_io::OutputFile::create(path)?);
    }
    Ok(())
}

/// Whether a name has one of these endings, or none.
fn ends_with(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_none_or(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Writes a text whole or not at all.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = mercer_io::OutputFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|source| mercer_io::write_error(path, source))?;
    Ok(file.finish()?)
}

/// The command line as a shell takes it again; words that are no text as far as they are.
pub(crate) fn command_line() -> String {
    joined(&words())
}

/// This command line as one of another subcommand: without some flags, of which it is known whether a value follows, and with others behind.
pub(crate) fn command_line_of(subcommand: &str, without: &[(&str, bool)], with: &str) -> String {
    let mut kept = vec![subcommand.to_owned()];
    let mut words = words().into_iter().skip(1);
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        match without.iter().find(|(flag, _)| *flag == name) {
            // `--flag=value` is one word.
            Some((_, true)) if !word.contains('=') => drop(words.next()),
            Some(_) => (),
            None => kept.push(word),
        }
    }
    format!("{} {with}", joined(&kept))
}

fn words() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

fn joined(words: &[String]) -> String {
    std::iter::once("mercer".to_owned()).chain(words.iter().map(|word| quoted(word))).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A line of the summary that names a file that was written.
pub(crate) fn written(label: &str, path: Option<&PathBuf>) -> String {
    path.map_or(String::new(), |path| format!("{label:<12}{}\n", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        assert_eq!([quoted("a.csv"), quoted("--target"), quoted("a b")], ["a.csv", "--target", "'a b'"]);
        assert_eq!([quoted(""), quoted("it's"), quoted("p-*.csv")], ["''", "'it'\\''s'", "'p-*.csv'"]);
    }

    #[test]
    fn names_that_suit() {
        for (name, suits) in [("a.html", true), ("a.HTM", true), ("pipe", true), ("a.svg", false), ("a.html.gz", false)]
        {
            assert_eq!(ends_with(Path::new(name), &["html", "htm"]), suits, "{name}");
        }
    }
}
