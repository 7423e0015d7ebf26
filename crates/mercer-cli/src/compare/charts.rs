//! The charts of a comparison.

use super::summary::Estimate;
use super::{Cell, Comparison};
use crate::plot::Plot;
use crate::report::{Axis, Panel, Point, Series, Style};
use crate::text::count;

impl Comparison {
    /// One line for each map; `times` is 100 where shares are shown in percent.
    fn panel(
        &self,
        x: Axis,
        of: impl Fn(&Cell) -> f64,
        y: Axis,
        times: f64,
        value: impl Fn(&Cell) -> Option<Estimate>,
    ) -> Panel {
        let point = |cell: &Cell| {
            let Estimate { value, deviation } = value(cell)?;
            let error = deviation.map(|deviation| (times * (value - deviation), times * (value + deviation)));
            Some(Point { x: of(cell), y: times * value, error, note: note(cell) })
        };
        let line = |cells: &[Cell]| Series {
            name: cells[0].name.to_owned(),
            style: Style::Line,
            points: cells.iter().filter_map(point).collect(),
        };
        let series = self.cells.chunk_by(|a, b| a.name == b.name).map(line).collect();
        Panel { x, y, series, ..Panel::default() }
    }

    /// The axis of the numbers of features.
    fn features(&self) -> Axis {
        Axis::log("features D").marked_at(self.cells.iter().map(|cell| cell.n_components() as f64))
    }

    pub(super) fn error_by_features(&self) -> Panel {
        let size = |cell: &Cell| cell.n_components() as f64;
        self.panel(self.features(), size, Axis::log("kernel RMSE"), 1.0, Cell::kernel_rmse)
    }

    pub(super) fn error_by_time(&self) -> Panel {
        self.panel(time(), Cell::microseconds, Axis::log("kernel RMSE"), 1.0, Cell::kernel_rmse)
    }

    pub(super) fn time_by_features(&self) -> Panel {
        let time = |cell: &Cell| Some(Estimate { value: cell.microseconds(), deviation: None });
        let size = |cell: &Cell| cell.n_components() as f64;
        self.panel(self.features(), size, Axis::log("µs per row, on one thread"), 1.0, time)
    }

    /// The axis of the score and what its shares are multiplied by; none where nothing was learned.
    fn scores(&self) -> Option<(Axis, f64)> {
        Some(match self.measure()? {
            "accuracy" => (Axis::linear("accuracy on test rows, %"), 100.0),
            _ => (Axis::linear("RMSE on test rows"), 1.0),
        })
    }

    pub(super) fn score_by_features(&self) -> Option<Panel> {
        let (axis, times) = self.scores()?;
        Some(self.panel(self.features(), |cell| cell.n_components() as f64, axis, times, Cell::score))
    }

    pub(super) fn score_by_time(&self) -> Option<Panel> {
        let (axis, times) = self.scores()?;
        Some(self.panel(time(), Cell::microseconds, axis, times, Cell::score))
    }

    /// What the score by time is called.
    pub(super) fn score_name(&self) -> &'static str {
        if self.measure() == Some("accuracy") { "Accuracy" } else { "Error on test rows" }
    }

    /// The error by the number of features, and what it comes to by time: the score, or the error where none is.
    pub(super) fn plot(&self) -> Plot {
        let time = match self.score_by_time() {
            Some(panel) => (format!("{} by time", self.score_name()), panel),
            None => ("Kernel error by time".to_owned(), self.error_by_time()),
        };
        let [title, subtitle] = self.headings();
        Plot { title, subtitle, panels: vec![("Kernel error by features".to_owned(), self.error_by_features()), time] }
    }
}

fn time() -> Axis {
    Axis::log("µs per row of the map, on one thread")
}

fn note(cell: &Cell) -> String {
    let error = Estimate::shown(cell.kernel_rmse(), |x| format!("{x:.5}"));
    let (name, size, time) = (cell.name, count(cell.n_components() as u64), cell.microseconds());
    format!("{name}, D {size}: kernel RMSE {error}, {time:.2} µs per row")
}
