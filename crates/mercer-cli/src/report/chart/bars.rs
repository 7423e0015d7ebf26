//! Bars to the right, each with its name and its value.

use std::fmt::Write;

use super::{Chart, Drawing, FAINT, INK, WIDTH, series_class, text, text_width};
use crate::report::markup::{escaped, shortened};
use crate::report::table::{Cell, Table};

/// The height of a bar and of the gap below it.
const ROW: f64 = 28.0;
/// Characters of a name that have room.
const NAME: usize = 22;

/// Named amounts.
pub(crate) struct Bars {
    /// What has a name, and what the amounts are, with the unit.
    pub(crate) head: [String; 2],
    /// Name, amount and how it is shown.
    pub(crate) bars: Vec<(String, f64, String)>,
}

impl Chart for Bars {
    fn drawing(&self) -> Drawing {
        let widest = |of: &dyn Fn(&(String, f64, String)) -> f64| self.bars.iter().map(of).fold(0.0, f64::max);
        let left = widest(&|bar| text_width(&shortened(&bar.0, NAME))) + 12.0;
        let room = WIDTH - left - widest(&|bar| text_width(&bar.2)) - 12.0;
        let most = widest(&|bar| bar.1).max(f64::MIN_POSITIVE);
        let mut svg = String::new();
        for (i, (name, amount, shown)) in self.bars.iter().enumerate() {
            let (middle, width) = (ROW * (i as f64 + 0.5), (room * amount / most).max(1.0));
            text(&mut svg, (left - 8.0, middle + 4.0), &format!("text-anchor=\"end\" {INK}"), &shortened(name, NAME));
            let _ = writeln!(
                svg,
                "<g {}><rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"18\" rx=\"2\" \
                 fill=\"currentColor\"><title>{}</title></rect></g>",
                series_class(0),
                middle - 9.0,
                escaped(&format!("{name}: {shown}"))
            );
            text(&mut svg, (left + width + 6.0, middle + 4.0), INK, shown);
        }
        let height = ROW * self.bars.len() as f64 + 22.0;
        text(&mut svg, (left, height - 6.0), FAINT, &self.head[1]);
        Drawing { width: WIDTH, height, body: svg, keeps_size: false }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(self.head.iter().map(String::as_str));
        for (name, amount, shown) in &self.bars {
            table.push(vec![Cell::text(name), Cell::Number(*amount, shown.clone())]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_has_the_largest_amount() {
        let bar = |name: &str, amount: f64| (name.to_owned(), amount, format!("{amount} s"));
        let bars = Bars { head: ["stage".into(), "seconds".into()], bars: vec![bar("<load>", 1.0), bar("fit", 4.0)] };
        let drawing = bars.drawing();
        let widths: Vec<f64> = drawing
            .body
            .split("<rect ")
            .skip(1)
            .map(|rect| rect.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!((widths[1] / widths[0] - 4.0).abs() < 0.01, "{widths:?}");
        assert!(drawing.body.contains("&lt;load&gt;") && !drawing.body.contains("<load>"));
        assert_eq!(bars.table().n_rows(), 2);
        let zero = Bars { head: ["a".into(), "b".into()], bars: vec![bar("x", 0.0)] };
        assert!(!zero.drawing().body.contains("NaN"));
    }
}
