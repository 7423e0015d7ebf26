//! A page of sections, written as one HTML file.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use super::chart::{Chart, Drawing, WIDTH};
use super::markup::escaped;
use super::table::Table;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Nothing is loaded from anywhere, whatever a name may hold.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// All of a report.
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) sections: Vec<Section>,
}

/// A part with a heading.
pub(crate) struct Section {
    pub(crate) title: String,
    /// What to know before one reads it; may be empty.
    pub(crate) note: String,
    pub(crate) blocks: Vec<Block>,
}

pub(crate) enum Block {
    /// The numbers to see first.
    Tiles(Vec<Tile>),
    /// Names and what there is to say of each.
    Facts(Vec<(String, String)>),
    Table(Table),
    /// Side by side where there is room.
    Figures(Vec<Figure>),
    /// A name, and a text kept as it is.
    Code(String, String),
}

/// A number to see first.
pub(crate) struct Tile {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Its interval, or what it is of.
    pub(crate) detail: String,
}

/// A chart with its title and its numbers.
pub(crate) struct Figure {
    title: String,
    note: String,
    drawing: Drawing,
    table: Table,
}

impl Figure {
    pub(crate) fn new(title: impl Into<String>, note: impl Into<String>, chart: &dyn Chart) -> Self {
        Self { title: title.into(), note: note.into(), drawing: chart.drawing(), table: chart.table() }
    }

    fn write(&self, html: &mut String) {
        let class = match (self.drawing.keeps_size, self.drawing.width > 1.2 * WIDTH) {
            (true, true) => " class=\"fixed wide\"",
            (true, false) => " class=\"fixed\"",
            (false, _) => "",
        };
        let _ = writeln!(html, "<figure{class}><figcaption><h3>{}</h3>", escaped(&self.title));
        paragraph(html, &self.note);
        let _ = write!(html, "</figcaption><div class=\"scroll chart\">{}</div>", self.drawing.to_svg(&self.title));
        let (n, table) = (self.table.n_rows(), self.table.to_html());
        let rows = if n == 1 { "1 row".to_owned() } else { format!("{} rows", crate::text::count(n as u64)) };
        let _ = writeln!(html, "<details><summary>The numbers ({rows})</summary>{table}</details></figure>");
    }
}

impl Section {
    pub(crate) fn new(title: impl Into<String>, note: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { title: title.into(), note: note.into(), blocks }
    }
}

impl Page {
    /// The whole file.
    pub(crate) fn to_html(&self) -> String {
        let (title, subtitle) = (escaped(&self.title), escaped(&self.subtitle));
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1><p>{subtitle}</p></header>\n<nav>"
        );
        for (i, section) in self.sections.iter().enumerate() {
            let _ = write!(html, "<a href=\"#part-{i}\">{}</a>", escaped(&section.title));
        }
        html.push_str("</nav>\n<main>\n");
        for (i, section) in self.sections.iter().enumerate() {
            let _ = writeln!(html, "<section id=\"part-{i}\"><h2>{}</h2>", escaped(&section.title));
            paragraph(&mut html, &section.note);
            section.blocks.iter().for_each(|block| block.write(&mut html));
            html.push_str("</section>\n");
        }
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let (version, time) = (env!("CARGO_PKG_VERSION"), date_and_time(seconds));
        let _ = write!(
            html,
            "</main>\n<footer>Written by mercer {version}, {time}.</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
        );
        html
    }
}

impl Block {
    fn write(&self, html: &mut String) {
        match self {
            Self::Tiles(tiles) => {
                html.push_str("<div class=\"tiles\">\n");
                for Tile { name, value, detail } in tiles {
                    let [name, value, detail] = [name, value, detail].map(|words| escaped(words));
                    let _ = writeln!(html, "<div><h3>{name}</h3><strong>{value}</strong><p>{detail}</p></div>");
                }
                html.push_str("</div>\n");
            }
            Self::Facts(facts) => {
                html.push_str("<dl>\n");
                for (name, words) in facts {
                    let _ = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(words));
                }
                html.push_str("</dl>\n");
            }
            Self::Table(table) => html.push_str(&table.to_html()),
            Self::Figures(figures) => {
                html.push_str("<div class=\"figures\">\n");
                figures.iter().for_each(|figure| figure.write(html));
                html.push_str("</div>\n");
            }
            Self::Code(name, words) => {
                let (name, words) = (escaped(name), escaped(words));
                let _ = writeln!(html, "<h3>{name}</h3><pre tabindex=\"0\"><code>{words}</code></pre>");
            }
        }
    }
}

fn paragraph(html: &mut String, words: &str) {
    if !words.is_empty() {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", escaped(words));
    }
}

/// Seconds since 1970 as 2026-11-17 22:30 UTC. Years begin in March here, so that the leap day is their last.
fn date_and_time(seconds: u64) -> String {
    let (days, minutes) = (seconds / 86_400 + 719_468, seconds / 60 % 1440);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (400 * era + year + month / 10, if month < 10 { month + 3 } else { month - 9 });
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::Cell;
    use crate::report::{Bars, Matrix};

    #[test]
    fn dates_by_the_calendar() {
        assert_eq!(date_and_time(0), "1970-01-01 00:00 UTC");
        assert_eq!(date_and_time(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(date_and_time(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date_and_time(1_794_953_038), "2026-11-17 22:03 UTC");
        assert_eq!(date_and_time(4_107_542_400), "2100-03-01 00:00 UTC");
    }

    #[test]
    fn every_word_is_escaped() {
        let bad = "<i>&'\"";
        let mut table = Table::new([bad]);
        table.push(vec![Cell::text(bad)]);
        let bars = Bars { head: [bad.into(), bad.into()], bars: vec![(bad.into(), 1.0, bad.into())] };
        let matrix = Matrix { names: vec![bad.into(); 2], counts: &[vec![1, 2], vec![0, 3]] };
        let figures = vec![Figure::new(bad, bad, &bars), Figure::new(bad, bad, &matrix)];
        let tile = Tile { name: bad.into(), value: bad.into(), detail: bad.into() };
        let blocks = vec![
            Block::Tiles(vec![tile]),
            Block::Facts(vec![(bad.into(), bad.into())]),
            Block::Table(table),
            Block::Figures(figures),
            Block::Code(bad.into(), bad.into()),
        ];
        let sections = vec![Section::new(bad, bad, blocks)];
        let html = Page { title: bad.into(), subtitle: bad.into(), sections }.to_html();
        assert!(!html.contains("<i>") && !html.contains("&'"), "{html}");
        assert_eq!(html.matches("<figure").count(), html.matches("<details>").count());
    }
}
