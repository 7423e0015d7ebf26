//! Charts as SVG that needs nothing else.
//!
//! Every colour is written twice: as an attribute, which a file of its own shows anywhere, and as a class, by which the
//! style of a page gives it its light and its dark value. The first colours are about those of Okabe and Ito, which
//! colour-blind people tell apart; each series has its own mark besides, and those beyond the eighth are dashed.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod matrix;
pub(crate) mod panel;

use std::fmt::Write;

use super::markup::escaped;
use super::table::Table;

const COLOURS: [&str; 8] = ["#0072B2", "#D55E00", "#009E73", "#B0568F", "#B97A00", "#3D9BD9", "#6B4FA0", "#5F6670"];
pub(super) const INK: &str = "class=\"ink\" fill=\"#222222\"";
pub(super) const FAINT: &str = "class=\"faint\" fill=\"#5F6670\"";
pub(super) const GRID: &str = "class=\"grid\" stroke=\"#E4E4E4\"";
pub(super) const AXIS: &str = "class=\"axis\" stroke=\"#8A9099\"";
/// The width of a drawing, in units that are pixels where there is room.
pub(super) const WIDTH: f64 = 480.0;

/// What has a drawing and, in the same numbers, a table.
pub(crate) trait Chart {
    fn drawing(&self) -> Drawing;
    fn table(&self) -> Table;
}

/// Elements of SVG, and the room they take.
pub(crate) struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) body: String,
    /// Whether it keeps its size and scrolls where there is no room, for what is not readable smaller.
    pub(crate) keeps_size: bool,
}

impl Drawing {
    /// For a page; `title` is read aloud where the drawing is not seen.
    pub(super) fn to_svg(&self, title: &str) -> String {
        let Self { width, height, body, keeps_size } = self;
        // Numbers of three quarters of the size are still read.
        let least = if *keeps_size { format!(" style=\"min-width:{:.0}px\"", 0.75 * width) } else { String::new() };
        format!(
            "<svg viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"{least} role=\"img\" \
             aria-label=\"{}\">\n{body}</svg>\n",
            escaped(title)
        )
    }
}

/// The attributes of a group that has the colour of a series.
pub(super) fn series_class(i: usize) -> String {
    let colour = i % COLOURS.len();
    format!("class=\"s{colour}\" color=\"{}\"", COLOURS[colour])
}

/// The line of a series, between or beside its marks.
pub(super) fn dashes(i: usize) -> &'static str {
    if i >= COLOURS.len() { " stroke-dasharray=\"5 3\"" } else { "" }
}

/// The mark of a series in the colour of its group, with a note for the pointer.
pub(super) fn mark(svg: &mut String, series: usize, (x, y): (f64, f64), note: &str) {
    let shape = match series % 5 {
        0 => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        1 => "M-3.6 -3.6h7.2v7.2h-7.2z",
        2 => "M0 -4.8L4.6 3.3H-4.6z",
        3 => "M0 -5L5 0L0 5L-5 0z",
        _ => "M0 4.8L4.6 -3.3H-4.6z",
    };
    let note = if note.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(note)) };
    let _ = writeln!(
        svg,
        "<path d=\"{shape}\" transform=\"translate({x:.1} {y:.1})\" fill=\"currentColor\" class=\"mark\" \
         stroke=\"#FFFFFF\">{note}</path>"
    );
}

pub(crate) fn text(svg: &mut String, (x, y): (f64, f64), style: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(words));
}

/// About the width of words in text of 12 units.
pub(super) fn text_width(words: &str) -> f64 {
    6.6 * words.chars().count() as f64
}

/// The names of series with their lines and marks, in as many rows as they take; gives the height.
pub(crate) fn legend(svg: &mut String, names: &[&str], (left, top): (f64, f64), right: f64) -> f64 {
    const ROW: f64 = 20.0;
    let (mut x, mut y) = (left, top + 10.0);
    for (i, name) in names.iter().enumerate() {
        let width = 46.0 + text_width(name);
        if x > left && x + width - 14.0 > right {
            (x, y) = (left, y + ROW);
        }
        let (class, dashes) = (series_class(i), dashes(i));
        let _ =
            writeln!(svg, "<g {class}><path d=\"M{x:.1} {y}h22\" stroke=\"currentColor\" stroke-width=\"2\"{dashes}/>");
        mark(svg, i, (x + 11.0, y), "");
        svg.push_str("</g>\n");
        text(svg, (x + 28.0, y + 4.0), INK, name);
        x += width;
    }
    y + 10.0 - top
}
