//! A confusion matrix as a heat map with numbers: rows are the truth, columns the predictions.
//!
//! The colour of a cell is its share of its row, by the root, so that few mistakes are still seen: one hue where the
//! prediction is right, another where it is wrong. Cells keep a size in which numbers are read; what has no room scrolls.

use std::fmt::Write;

use super::{Chart, Drawing, INK, text, text_width};
use crate::report::markup::{escaped, shortened};
use crate::report::table::{Cell, Table};
use crate::text::{count, percent};

/// Characters of a name that have room.
const NAME: usize = 14;

/// Counts by true and predicted class.
pub(crate) struct Matrix<'a> {
    pub(crate) names: Vec<String>,
    pub(crate) counts: &'a [Vec<u64>],
}

/// Sizes in the drawing.
struct Layout {
    cell: f64,
    font: f64,
    /// Left of and above the cells.
    edge: f64,
    /// Whether the names above the columns stand upright.
    turned: bool,
}

impl Matrix<'_> {
    fn layout(&self) -> Layout {
        let (cell, font) = match self.names.len() {
            0..=12 => (34.0_f64, 12.0),
            13..=30 => (26.0, 10.0),
            _ => (21.0, 9.0),
        };
        let digits = self.counts.iter().flatten().max().map_or(1, |n| n.to_string().len()) as f64;
        let cell = cell.max(digits * 0.6 * font + 6.0);
        let widest = self.names.iter().map(|name| text_width(&shortened(name, NAME))).fold(0.0, f64::max) * font / 12.0;
        Layout { cell, font, edge: 30.0 + widest, turned: widest > cell - 4.0 }
    }

    fn total(&self, class: usize) -> f64 {
        self.counts[class].iter().sum::<u64>() as f64
    }

    fn note(&self, truth: usize, predicted: usize) -> String {
        let n = self.counts[truth][predicted];
        let share = percent(n as f64 / self.total(truth));
        format!("{} taken for {}: {} rows, {share}", self.names[truth], self.names[predicted], count(n))
    }

    fn labels(&self, svg: &mut String, layout: &Layout) {
        let Layout { cell, font, edge, turned } = *layout;
        let half = cell / 2.0;
        let size = format!("font-size=\"{font}\" {INK}");
        for (i, name) in self.names.iter().enumerate() {
            let (name, at) = (shortened(name, NAME), edge + cell * i as f64 + half);
            text(svg, (edge - 6.0, at + 0.35 * font), &format!("text-anchor=\"end\" {size}"), &name);
            let x = at + if turned { 0.35 * font } else { 0.0 };
            let style = match turned {
                true => format!("transform=\"rotate(-90 {x:.1} {:.1})\" {size}", edge - 6.0),
                false => format!("text-anchor=\"middle\" {size}"),
            };
            text(svg, (x, edge - 6.0), &style, &name);
        }
        let middle = edge + cell * self.names.len() as f64 / 2.0;
        text(svg, (middle, 12.0), &format!("text-anchor=\"middle\" font-weight=\"600\" {INK}"), "predicted");
        let turned =
            format!("text-anchor=\"middle\" font-weight=\"600\" transform=\"rotate(-90 12 {middle:.1})\" {INK}");
        text(svg, (12.0, middle), &turned, "truth");
    }

    fn cell(&self, svg: &mut String, layout: &Layout, (truth, predicted): (usize, usize)) {
        let Layout { cell, font, edge, .. } = *layout;
        let (x, y) = (edge + cell * predicted as f64, edge + cell * truth as f64);
        let n = self.counts[truth][predicted];
        let opacity = 0.08 + 0.92 * (n as f64 / self.total(truth)).sqrt();
        let (class, colour) = if truth == predicted { ("right", "#0072B2") } else { ("wrong", "#D55E00") };
        let note = escaped(&self.note(truth, predicted));
        let _ = write!(
            svg,
            "<g><title>{note}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\" \
             class=\"{class}\" fill=\"{colour}\" fill-opacity=\"{opacity:.3}\"/>",
            x + 0.5,
            y + 0.5,
            cell - 1.0,
            cell - 1.0
        );
        let ink = if opacity > 0.6 { "class=\"on\" fill=\"#FFFFFF\"" } else { INK };
        let style = format!("text-anchor=\"middle\" font-size=\"{font}\" {ink}");
        text(svg, (x + cell / 2.0, y + cell / 2.0 + 0.35 * font), &style, &n.to_string());
        svg.push_str("</g>\n");
    }
}

impl Chart for Matrix<'_> {
    fn drawing(&self) -> Drawing {
        let layout = self.layout();
        let (k, side) = (self.names.len(), layout.cell * self.names.len() as f64);
        let mut svg = format!(
            "<rect x=\"{0:.1}\" y=\"{0:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" class=\"field\" fill=\"#F4F5F6\"/>\n",
            layout.edge
        );
        self.labels(&mut svg, &layout);
        for place in (0..k).flat_map(|truth| (0..k).map(move |predicted| (truth, predicted))) {
            if self.counts[place.0][place.1] > 0 {
                self.cell(&mut svg, &layout, place);
            }
        }
        let size = layout.edge + side + 8.0;
        Drawing { width: size, height: size, body: svg, keeps_size: true }
    }

    /// The pairs that occur: mistakes first, the most frequent before the others.
    fn table(&self) -> Table {
        let k = self.names.len();
        let places = (0..k).flat_map(|truth| (0..k).map(move |predicted| (truth, predicted)));
        let mut places: Vec<_> = places.filter(|place| self.counts[place.0][place.1] > 0).collect();
        places
            .sort_by_key(|&(truth, predicted)| (truth == predicted, std::cmp::Reverse(self.counts[truth][predicted])));
        let mut table = Table::new(["truth", "predicted", "rows", "share of the class"]);
        for (truth, predicted) in places {
            let n = self.counts[truth][predicted];
            let names = [truth, predicted].map(|class| Cell::text(&self.names[class]));
            let share = n as f64 / self.total(truth);
            table.push(names.into_iter().chain([Cell::count(n), Cell::percent(share)]).collect());
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_shown_once() {
        let counts = [vec![40, 2, 0], vec![0, 7, 1], vec![0, 0, 0]];
        let names = ["<b>&\"", "a name that is long", "c"].map(str::to_owned).to_vec();
        let matrix = Matrix { names, counts: &counts };
        let drawing = matrix.drawing();
        for n in ["40", "2", "7", "1"] {
            assert_eq!(drawing.body.matches(&format!(">{n}</text>")).count(), 1, "{n}");
        }
        assert!(!drawing.body.contains("<b>") && drawing.body.contains("&lt;b&gt;&amp;&quot; taken for"));
        let table = matrix.table();
        assert_eq!(table.n_rows(), 4);
        let html = table.to_html();
        assert!(html.find("data-v=\"2\"").unwrap() < html.find("data-v=\"40\"").unwrap(), "mistakes first: {html}");
    }

    #[test]
    fn a_hundred_classes_keep_their_size() {
        let counts: Vec<Vec<u64>> = (0..100).map(|i| (0..100).map(|j| u64::from(i == j) * 100).collect()).collect();
        let names = (0..100).map(|i| format!("class {i}")).collect();
        let drawing = Matrix { names, counts: &counts }.drawing();
        assert!(drawing.width > 100.0 * 18.0 && drawing.keeps_size, "{}", drawing.width);
    }
}
