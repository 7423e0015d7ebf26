//! Charts of a few lines as SVG that needs nothing else: two panels side by side, one legend.
//!
//! The colours are those of Okabe and Ito, which colour-blind people tell apart; each line has its own mark besides.

use std::fmt::Write;

use crate::text::{count, number};

const COLOURS: [&str; 5] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"];
const INK: &str = "#222222";
const FAINT: &str = "#666666";
const GRID: &str = "#E4E4E4";
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 456.0;
/// Left and right edge of each panel, and the top and bottom of both.
const PANELS: [(f64, f64); 2] = [(78.0, 470.0), (580.0, 972.0)];
const TOP: f64 = 128.0;
const BOTTOM: f64 = 400.0;
/// More are not readable beside each other.
const MOST_TICKS: usize = 8;

/// Two panels with the same lines.
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Of the lines, for the legend.
    pub(crate) names: Vec<String>,
    pub(crate) panels: [Panel; 2],
}

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// The points of each line, in their order.
    pub(crate) lines: Vec<Vec<Point>>,
}

pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) log: bool,
    /// Where to mark it; round numbers if empty.
    pub(crate) ticks: Vec<f64>,
}

pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Shown by browsers when the pointer is on it.
    pub(crate) note: String,
}

impl Chart {
    /// The whole file.
    pub(crate) fn to_svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\" \
             font-size=\"12\" fill=\"{INK}\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#FFFFFF\"/>\n"
        );
        text(&mut svg, (24.0, 30.0), "font-size=\"17\" font-weight=\"600\"", &shortened(&self.title, 100));
        text(&mut svg, (24.0, 50.0), &format!("fill=\"{FAINT}\""), &shortened(&self.subtitle, 150));
        self.legend(&mut svg);
        for (panel, edges) in self.panels.iter().zip(PANELS) {
            panel.draw(&mut svg, edges);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn legend(&self, svg: &mut String) {
        let mut x = 24.0;
        for (i, name) in self.names.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let _ = writeln!(svg, "<path d=\"M{x} 72h26\" stroke=\"{colour}\" stroke-width=\"2\"/>");
            mark(svg, i, (x + 13.0, 72.0), "");
            text(svg, (x + 33.0, 76.0), "", name);
            x += 62.0 + 6.5 * name.chars().count() as f64;
        }
    }
}

impl Panel {
    fn draw(&self, svg: &mut String, (left, right): (f64, f64)) {
        let points = || self.lines.iter().flatten().filter(|point| self.x.shows(point.x) && self.y.shows(point.y));
        let x = Range::of(&self.x, points().map(|point| point.x), (left, right));
        let y = Range::of(&self.y, points().map(|point| point.y), (BOTTOM, TOP));
        text(svg, (left, TOP - 14.0), "font-size=\"13\" font-weight=\"600\"", &self.title);
        for (tick, name) in named(y.ticks(&self.y.ticks)) {
            let at = y.place(tick);
            let _ = writeln!(svg, "<path d=\"M{left} {at:.1}H{right}\" stroke=\"{GRID}\"/>");
            text(svg, (left - 8.0, at + 4.0), &format!("text-anchor=\"end\" fill=\"{FAINT}\""), &name);
        }
        for (tick, name) in named(x.ticks(&self.x.ticks)) {
            let at = x.place(tick);
            let _ = writeln!(svg, "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"{GRID}\"/>");
            let style = format!("text-anchor=\"middle\" fill=\"{FAINT}\"");
            text(svg, (at, BOTTOM + 18.0), &style, &name);
        }
        let _ = writeln!(svg, "<path d=\"M{left} {TOP}V{BOTTOM}H{right}\" stroke=\"{FAINT}\" fill=\"none\"/>");
        text(svg, ((left + right) / 2.0, BOTTOM + 40.0), "text-anchor=\"middle\"", &self.x.label);
        let (at, middle) = (left - 56.0, (TOP + BOTTOM) / 2.0);
        let style = format!("text-anchor=\"middle\" transform=\"rotate(-90 {at} {middle})\"");
        text(svg, (at, middle), &style, &self.y.label);
        if points().next().is_none() {
            let style = format!("text-anchor=\"middle\" fill=\"{FAINT}\"");
            text(svg, ((left + right) / 2.0, middle), &style, "no values to draw");
        }
        for (i, line) in self.lines.iter().enumerate() {
            let shown = line.iter().filter(|point| self.x.shows(point.x) && self.y.shows(point.y));
            let placed: Vec<_> = shown.map(|point| (x.place(point.x), y.place(point.y), point)).collect();
            let path: Vec<String> = placed.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect();
            let (path, colour) = (path.join(" "), COLOURS[i % COLOURS.len()]);
            let _ = writeln!(
                svg,
                "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>"
            );
            placed.iter().for_each(|(x, y, point)| mark(svg, i, (*x, *y), &point.note));
        }
    }
}

impl Axis {
    /// Whether a value has a place on it.
    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }
}

/// From values to places; the values are logarithms where the axis is logarithmic.
struct Range {
    log: bool,
    from: f64,
    to: f64,
    places: (f64, f64),
}

impl Range {
    fn of(axis: &Axis, values: impl Iterator<Item = f64>, places: (f64, f64)) -> Self {
        let values = values.map(|value| if axis.log { value.log10() } else { value });
        let (mut from, mut to) =
            values.fold((f64::MAX, f64::MIN), |(from, to), value| (from.min(value), to.max(value)));
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        // One value alone stands in the middle.
        let margin = match (to > from, axis.log) {
            (true, _) => 0.05 * (to - from),
            (false, false) if from != 0.0 => 0.01 * from.abs(),
            (false, _) => 0.1,
        };
        Self { log: axis.log, from: from - margin, to: to + margin, places }
    }

    fn place(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.places.0 + (self.places.1 - self.places.0) * (value - self.from) / (self.to - self.from)
    }

    /// The given ticks, thinned out, or round numbers.
    fn ticks(&self, given: &[f64]) -> Vec<f64> {
        if !given.is_empty() {
            return given.iter().copied().step_by(given.len().div_ceil(MOST_TICKS)).collect();
        }
        if !self.log {
            return steps(self.from, self.to);
        }
        let decades = self.from.floor() as i32..=self.to.ceil() as i32;
        let round = |digits: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|k| digits.iter().map(move |digit| digit * 10_f64.powi(k)));
            all.filter(|tick| (self.from..=self.to).contains(&tick.log10())).collect()
        };
        let choices: [&[f64]; 4] = [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let found = choices.into_iter().map(round).find(|ticks| ticks.len() <= MOST_TICKS);
        match found {
            Some(ticks) if ticks.len() >= 3 => ticks,
            Some(_) => steps(10_f64.powf(self.from), 10_f64.powf(self.to)),
            None => {
                let all = round(&[1.0]);
                all.iter().copied().step_by(all.len().div_ceil(MOST_TICKS)).collect()
            }
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, about six.
fn steps(from: f64, to: f64) -> Vec<f64> {
    let rough = (to - from) / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
    (first..=last).take(2 * MOST_TICKS).map(|i| i as f64 * step).collect()
}

/// Ticks as text, with as many digits as tell them apart.
fn named(ticks: Vec<f64>) -> Vec<(f64, String)> {
    let names: Vec<String> = ticks.iter().copied().map(tick_text).collect();
    let gap = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    // A gap of 0.01 is one of 0.00999… in binary.
    let digits = (-gap.log10() - 1e-6).ceil().clamp(0.0, 12.0) as usize;
    let same = names.windows(2).any(|pair| pair[0] == pair[1]);
    let name = |(tick, name)| (tick, if same { format!("{tick:.digits$}") } else { name });
    ticks.into_iter().zip(names).map(name).collect()
}

fn tick_text(value: f64) -> String {
    let whole = value.round();
    if (1000.0..1e9).contains(&value) && (value - whole).abs() < 1e-6 { count(whole as u64) } else { number(value) }
}

/// The mark of a line, with a note for the pointer.
fn mark(svg: &mut String, line: usize, (x, y): (f64, f64), note: &str) {
    let shape = match line % COLOURS.len() {
        0 => "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
        1 => "M-4 -4h8v8h-8z",
        2 => "M0 -5.2L5 3.6H-5z",
        3 => "M0 -5.6L5.6 0L0 5.6L-5.6 0z",
        _ => "M0 5.2L5 -3.6H-5z",
    };
    let colour = COLOURS[line % COLOURS.len()];
    let note = if note.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(note)) };
    let _ = writeln!(
        svg,
        "<path d=\"{shape}\" transform=\"translate({x:.1} {y:.1})\" fill=\"{colour}\" stroke=\"#FFFFFF\">{note}</path>"
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), style: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(words));
}

/// Words as XML takes them; control characters have no place there.
fn escaped(words: &str) -> String {
    let mut text = String::new();
    for c in words.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => text.push(' '),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text
}

/// At most so many characters.
fn shortened(words: &str, most: usize) -> String {
    if words.chars().count() <= most {
        return words.to_owned();
    }
    words.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(log: bool) -> Axis {
        Axis { label: "a < b".to_owned(), log, ticks: Vec::new() }
    }

    fn ticks(log: bool, values: [f64; 2]) -> Vec<String> {
        let range = Range::of(&axis(log), values.into_iter(), (0.0, 100.0));
        named(range.ticks(&[])).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(false, [91.0, 99.0]), ["92", "94", "96", "98"]);
        assert_eq!(ticks(true, [0.01, 0.1]), ["0.01", "0.015", "0.02", "0.03", "0.04", "0.05", "0.07", "0.1"]);
        assert_eq!(ticks(true, [1.0, 100.0]), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(ticks(true, [1e-6, 1e6]).len(), 7);
        assert_eq!(ticks(false, [1234.51, 1234.55]), ["1234.51", "1234.52", "1234.53", "1234.54", "1234.55"]);
        assert!(ticks(true, [2.1, 2.2]).len() >= 3);
        assert!(!ticks(false, [3.0, 3.0]).is_empty() && !ticks(true, [3.0, 3.0]).is_empty());
    }

    #[test]
    fn words_are_escaped_and_what_has_no_place_is_left_out() {
        let point = |x, y| Point { x, y, note: "\"<&>\u{1}".to_owned() };
        let panel = |log| Panel {
            title: "t".to_owned(),
            x: axis(log),
            y: axis(log),
            lines: vec![vec![point(0.0, 1.0), point(f64::NAN, 2.0), point(2.0, 3.0)], Vec::new()],
        };
        let names = vec!["<one>".to_owned(), "two".to_owned()];
        let chart =
            Chart { title: "&".repeat(200), subtitle: String::new(), names, panels: [panel(true), panel(false)] };
        let svg = chart.to_svg();
        assert!(svg.contains("&lt;one&gt;") && svg.contains("<title>&quot;&lt;&amp;&gt; </title>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("&amp;").count(), 99 + 3, "the title is cut");
    }
}
