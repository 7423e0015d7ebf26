//! Lines, points, columns and densities over two axes.

use std::fmt::Write;

use super::axis::{Axis, Range, tick_text};
use super::{AXIS, Chart, Drawing, FAINT, GRID, INK, WIDTH, dashes, legend, mark, series_class, text, text_width};
use crate::report::markup::escaped;
use crate::report::table::{Cell, Table};

/// The height of the field between the axes.
const FIELD: f64 = 260.0;
const RIGHT: f64 = WIDTH - 16.0;

/// Series over two axes.
#[derive(Default)]
pub(crate) struct Panel {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Where points would be too many.
    pub(crate) blocks: Vec<Block>,
    pub(crate) guide: Option<Guide>,
}

/// Points of one kind.
pub(crate) struct Series {
    /// For the legend, which only several series have.
    pub(crate) name: String,
    pub(crate) style: Style,
    /// In the order in which a line joins them.
    pub(crate) points: Vec<Point>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Style {
    Line,
    Points,
    /// From zero up, this wide.
    Columns(f64),
}

/// A value, with how far chance reaches where that is known.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// From where to where.
    pub(crate) error: Option<(f64, f64)>,
    /// Shown by browsers when the pointer is on it; the values if empty.
    pub(crate) note: String,
}

impl Point {
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self { x, y, error: None, note: String::new() }
    }
}

/// A rectangle that stands for the rows in it.
pub(crate) struct Block {
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
    pub(crate) n_rows: u64,
}

/// A line to compare with.
#[derive(Clone, Copy)]
pub(crate) enum Guide {
    /// y = x.
    Diagonal,
    /// y = 0.
    Zero,
}

impl Chart for Panel {
    fn drawing(&self) -> Drawing {
        let mut body = String::new();
        let names = self.names();
        let top = if names.len() > 1 { legend(&mut body, &names, (4.0, 0.0), RIGHT) + 12.0 } else { 12.0 };
        let height = self.draw(&mut body, top);
        Drawing { width: WIDTH, height, body, keeps_size: false }
    }

    fn table(&self) -> Table {
        if !self.blocks.is_empty() {
            return self.table_of_blocks();
        }
        let errors = self.series.iter().flat_map(|series| &series.points).any(|point| point.error.is_some());
        let several = self.series.len() > 1;
        let mut head: Vec<&str> = if several { vec!["series"] } else { Vec::new() };
        head.extend([self.x.label.as_str(), self.y.label.as_str()]);
        head.extend(if errors { ["from", "to"].as_slice() } else { &[] });
        let mut table = Table::new(head);
        for series in &self.series {
            for point in &series.points {
                let mut row = if several { vec![Cell::text(&series.name)] } else { Vec::new() };
                row.extend([value(point.x), value(point.y)]);
                if errors {
                    row.extend(
                        [point.error.map(|error| error.0), point.error.map(|error| error.1)]
                            .map(|end| Cell::maybe(end, value)),
                    );
                }
                table.push(row);
            }
        }
        table
    }
}

fn value(x: f64) -> Cell {
    Cell::Number(x, tick_text(x))
}

impl Panel {
    pub(crate) fn names(&self) -> Vec<&str> {
        self.series.iter().map(|series| series.name.as_str()).collect()
    }

    fn table_of_blocks(&self) -> Table {
        let (x, y) = (&self.x.label, &self.y.label);
        let mut table = Table::new([&format!("{x}, from"), "to", &format!("{y}, from"), "to", "rows"]);
        for block in &self.blocks {
            let ends = [block.x.0, block.x.1, block.y.0, block.y.1].map(Cell::number);
            table.push(ends.into_iter().chain([Cell::count(block.n_rows)]).collect());
        }
        table
    }

    /// Draws all but the legend below `top`; gives the height of the whole.
    pub(crate) fn draw(&self, svg: &mut String, top: f64) -> f64 {
        let bottom = top + FIELD;
        let y = Range::of(&self.y_axis(), self.y_values()).between(bottom, top);
        let widest = y.ticks(&self.y.ticks).iter().map(|(_, name)| text_width(name)).fold(0.0, f64::max);
        let left = 34.0 + widest;
        let x = Range::of(&self.x, self.x_values()).between(left, RIGHT);
        let field = Field { x, y, left, top, bottom };
        field.axes(svg, &self.x, &self.y);
        field.blocks(svg, &self.blocks);
        if let Some(guide) = self.guide {
            field.guide(svg, guide);
        }
        if self.blocks.is_empty() && self.shown().next().is_none() {
            let style = format!("text-anchor=\"middle\" {FAINT}");
            text(svg, ((left + RIGHT) / 2.0, (top + bottom) / 2.0), &style, "no values to draw");
        }
        for (i, series) in self.series.iter().enumerate() {
            let points: Vec<&Point> = series.points.iter().filter(|point| self.shows(point)).collect();
            field.series(svg, i, series, &points, self.series.len() > 1);
        }
        bottom + 48.0
    }

    /// Columns stand on the axis.
    fn y_axis(&self) -> Axis {
        let stands = self.series.iter().any(|series| matches!(series.style, Style::Columns(_)));
        let most = self.shown().map(|point| point.y).fold(0.0, f64::max);
        if stands && most > 0.0 { self.y.clone().within(0.0, 1.05 * most) } else { self.y.clone() }
    }

    fn shows(&self, point: &Point) -> bool {
        self.x.shows(point.x) && self.y.shows(point.y)
    }

    fn shown(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points).filter(|point| self.shows(point))
    }

    fn x_values(&self) -> impl Iterator<Item = f64> {
        let widths = self.series.iter().map(|series| match series.style {
            Style::Columns(width) => width / 2.0,
            Style::Line | Style::Points => 0.0,
        });
        let reach = widths.fold(0.0, f64::max);
        let points = self.shown().flat_map(move |point| [point.x - reach, point.x + reach]);
        points.chain(self.blocks.iter().flat_map(|block| [block.x.0, block.x.1]))
    }

    fn y_values(&self) -> impl Iterator<Item = f64> {
        let ends = |point: &Point| point.error.map_or([point.y; 2], |(low, high)| [low, high]);
        let values = self.shown().flat_map(move |point| ends(point).into_iter().chain([point.y]));
        let all = values.chain(self.blocks.iter().flat_map(|block| [block.y.0, block.y.1]));
        all.filter(|&end| self.y.shows(end))
    }
}

/// The room between the axes.
struct Field {
    x: Range,
    y: Range,
    left: f64,
    top: f64,
    bottom: f64,
}

impl Field {
    fn axes(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let Self { left, top, bottom, .. } = *self;
        for (tick, name) in self.y.ticks(&y.ticks) {
            let at = self.y.place(tick);
            let _ = writeln!(svg, "<path d=\"M{left:.1} {at:.1}H{RIGHT}\" {GRID}/>");
            text(svg, (left - 8.0, at + 4.0), &format!("text-anchor=\"end\" {FAINT}"), &name);
        }
        let mut free = 0.0;
        for (tick, name) in self.x.ticks(&x.ticks) {
            let (at, half) = (self.x.place(tick), text_width(&name) / 2.0);
            let _ = writeln!(svg, "<path d=\"M{at:.1} {top}V{bottom}\" {GRID}/>");
            // A name that would touch the one before is left out.
            if at - half >= free {
                text(svg, (at, bottom + 18.0), &format!("text-anchor=\"middle\" {FAINT}"), &name);
                free = at + half + 6.0;
            }
        }
        let _ = writeln!(svg, "<path d=\"M{left:.1} {top}V{bottom}H{RIGHT}\" {AXIS} fill=\"none\"/>");
        let middle = (top + bottom) / 2.0;
        text(svg, ((left + RIGHT) / 2.0, bottom + 40.0), &format!("text-anchor=\"middle\" {INK}"), &x.label);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 14 {middle})\" {INK}");
        text(svg, (14.0, middle), &turned, &y.label);
    }

    /// The more rows, the stronger; by the root, so that few are still seen.
    fn blocks(&self, svg: &mut String, blocks: &[Block]) {
        let most = blocks.iter().map(|block| block.n_rows).max().unwrap_or(1) as f64;
        for Block { x, y, n_rows } in blocks {
            let (left, right) = (self.x.place(x.0), self.x.place(x.1));
            let (top, bottom) = (self.y.place(y.1), self.y.place(y.0));
            let opacity = 0.12 + 0.88 * (*n_rows as f64 / most).sqrt();
            let note = format!(
                "{} to {}, {} to {}: {n_rows} rows",
                tick_text(x.0),
                tick_text(x.1),
                tick_text(y.0),
                tick_text(y.1)
            );
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"right\" fill=\"#0072B2\" \
                 fill-opacity=\"{opacity:.3}\"><title>{}</title></rect>",
                right - left,
                bottom - top,
                escaped(&note)
            );
        }
    }

    fn guide(&self, svg: &mut String, guide: Guide) {
        let ((left, right), (low, high)) = (self.x.ends(), self.y.ends());
        let ends = match guide {
            Guide::Diagonal => [left.max(low), right.min(high)].map(|at| (at, at)),
            Guide::Zero => [left, right].map(|at| (at, 0.0)),
        };
        if ends[0].0 < ends[1].0 && ends.iter().all(|(_, y)| (low..=high).contains(y)) {
            let [(x0, y0), (x1, y1)] = ends.map(|(x, y)| (self.x.place(x), self.y.place(y)));
            let _ = writeln!(
                svg,
                "<path d=\"M{x0:.1} {y0:.1}L{x1:.1} {y1:.1}\" {AXIS} stroke-dasharray=\"4 4\" fill=\"none\"/>"
            );
        }
    }

    fn series(&self, svg: &mut String, i: usize, series: &Series, points: &[&Point], several: bool) {
        let _ = writeln!(svg, "<g {}>", series_class(i));
        let placed: Vec<(f64, f64)> = points.iter().map(|p| (self.x.place(p.x), self.y.place(p.y))).collect();
        if series.style == Style::Line {
            let path: Vec<String> = placed.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" \
                 stroke-linejoin=\"round\"{}/>",
                path.join(" "),
                dashes(i)
            );
        }
        for (point, &(x, y)) in points.iter().zip(&placed) {
            let values = format!("{}, {}", tick_text(point.x), tick_text(point.y));
            let name = if several { format!("{}: {values}", series.name) } else { values };
            let note = if point.note.is_empty() { &name } else { &point.note };
            if let Some((low, high)) = point.error {
                self.error_bar(svg, x, (low, high));
            }
            match series.style {
                Style::Columns(width) => self.column(svg, point, width, note),
                Style::Line | Style::Points => mark(svg, i, (x, y), note),
            }
        }
        svg.push_str("</g>\n");
    }

    fn error_bar(&self, svg: &mut String, x: f64, (low, high): (f64, f64)) {
        // What lies below the axis, or has no logarithm, is cut off there.
        let (least, most) = self.y.ends();
        let (low, high) = (self.y.place(low.max(least)), self.y.place(high.min(most)));
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h7M{:.1} {high:.1}h7\" stroke=\"currentColor\" \
             stroke-opacity=\"0.7\" stroke-width=\"1.2\" fill=\"none\"/>",
            x - 3.5,
            x - 3.5
        );
    }

    fn column(&self, svg: &mut String, point: &Point, width: f64, note: &str) {
        let (left, right) = (self.x.place(point.x - width / 2.0), self.x.place(point.x + width / 2.0));
        let (top, bottom) = (self.y.place(point.y), self.y.place(0.0));
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"currentColor\">\
             <title>{}</title></rect>",
            left + 0.5,
            (right - left - 1.0).max(0.5),
            bottom - top,
            escaped(note)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, points: Vec<Point>) -> Series {
        Series { name: name.to_owned(), style: Style::Line, points }
    }

    #[test]
    fn words_are_escaped_and_what_has_no_place_is_left_out() {
        let point = |x, y| Point { note: "\"<&>\u{1}".to_owned(), ..Point::new(x, y) };
        for log in [false, true] {
            let axis = Axis { log, ..Axis::linear("a < b") };
            let points = vec![point(0.0, 1.0), point(f64::NAN, 2.0), point(2.0, 3.0)];
            let series = vec![series("<one>", points), series("two", Vec::new())];
            let panel = Panel { x: axis.clone(), y: axis, series, ..Panel::default() };
            let svg = panel.drawing().to_svg("t");
            assert!(svg.contains("&lt;one&gt;") && svg.contains("<title>&quot;&lt;&amp;&gt; </title>"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.matches("<title>").count(), if log { 1 } else { 2 });
            assert_eq!(panel.table().n_rows(), 3);
        }
        assert!(Panel::default().drawing().body.contains("no values to draw"));
    }

    /// The ends of an error bar are within the field, and in the table.
    #[test]
    fn error_bars_and_columns() {
        let mut point = Point::new(1.0, 10.0);
        point.error = Some((8.0, 12.0));
        let panel = Panel { series: vec![series("a", vec![point, Point::new(2.0, 11.0)])], ..Panel::default() };
        let html = panel.table().to_html();
        assert!(
            html.contains(">from</th>") && html.contains("data-v=\"8\"") && html.contains("data-v=\"12\""),
            "{html}"
        );
        let (low, high) = Range::of(&panel.y, panel.y_values()).ends();
        assert!(low < 8.0 && high > 12.0, "{low} {high}");
        let columns = Series { style: Style::Columns(1.0), ..series("n", vec![Point::new(0.5, 4.0)]) };
        let panel = Panel { series: vec![columns], ..Panel::default() };
        assert_eq!(panel.y_axis().bounds, Some((0.0, 4.2)), "columns stand on zero");
        assert_eq!(panel.drawing().body.matches("<rect ").count(), 1);
    }
}
