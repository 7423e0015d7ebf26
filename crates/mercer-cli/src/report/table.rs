//! Tables of typed cells: numbers stand to the right and sort by their value, words to the left and by the alphabet.

use std::fmt::Write;

use super::markup::escaped;
use crate::text::{count, number, percent};

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    /// What it sorts by, and how it is shown.
    Number(f64, String),
    /// No value.
    Missing,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn count(n: u64) -> Self {
        Self::Number(n as f64, count(n))
    }

    /// A number with about four digits.
    pub(crate) fn number(x: f64) -> Self {
        Self::Number(x, number(x))
    }

    pub(crate) fn percent(share: f64) -> Self {
        Self::Number(share, percent(share))
    }

    pub(crate) fn maybe<T>(value: Option<T>, cell: impl Fn(T) -> Self) -> Self {
        value.map_or(Self::Missing, cell)
    }
}

/// Rows of cells under names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// With one more row, as long as the head.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.head.len());
        self.rows.push(row);
    }

    pub(super) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn is_numeric(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Number(..)))
    }

    /// In a box of its own, in which a wide table scrolls.
    pub(super) fn to_html(&self) -> String {
        let numeric: Vec<bool> = (0..self.head.len()).map(|column| self.is_numeric(column)).collect();
        let class = |column: usize| if numeric[column] { " class=\"n\"" } else { "" };
        let mut html = String::from("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
        for (column, name) in self.head.iter().enumerate() {
            let _ = write!(html, "<th scope=\"col\"{}>{}</th>", class(column), escaped(name));
        }
        html.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let class = class(column);
                let _ = match cell {
                    Cell::Text(text) => write!(html, "<td{class}>{}</td>", escaped(text)),
                    Cell::Number(value, text) => write!(html, "<td{class} data-v=\"{value}\">{}</td>", escaped(text)),
                    Cell::Missing => write!(html, "<td{class}>–</td>"),
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_by_their_type() {
        let mut table = Table::new(["<name>", "rows"]);
        table.push(vec![Cell::text("a&b"), Cell::count(1234)]);
        table.push(vec![Cell::text("c"), Cell::Missing]);
        let html = table.to_html();
        assert!(html.contains("<th scope=\"col\">&lt;name&gt;</th><th scope=\"col\" class=\"n\">rows</th>"), "{html}");
        assert!(html.contains("<td>a&amp;b</td><td class=\"n\" data-v=\"1234\">1,234</td>"), "{html}");
        assert!(html.contains("<td>c</td><td class=\"n\">–</td>"), "{html}");
        assert_eq!(table.n_rows(), 2);
    }
}
