//! Scores of real values: predictions against the truth, and what is left over.

use mercer::Driver;
use mercer::dataset::Dataset;
use mercer::metrics::{RegressionIntervals, RegressionReport, regression_intervals};
use mercer::pipeline::Outputs;
use ndarray::{Array2, Axis as Dimension};

use super::super::Trained;
use super::{CONFIDENCE, range};
use crate::failure::Failure;
use crate::report::{
    Axis, Block, Cell, DensityBlock, Figure, Guide, Panel, Point, Section, Series, Style, Table, Tile,
};
use crate::text::{count, number};

/// More points hide each other: then blocks show how many there are.
const MOST_POINTS: usize = 1000;
/// Blocks along each side, and columns of the histogram.
const BLOCKS: usize = 32;
/// Targets that are drawn.
const MOST_TARGETS: usize = 3;

/// The true and the predicted values of the test rows.
pub(in super::super) struct Values {
    names: Vec<String>,
    truth: Array2<f64>,
    predicted: Array2<f64>,
}

impl Values {
    /// Predicts the test rows again; none for classes, or without test rows.
    pub(in super::super) fn of(
        trained: &Trained,
        test: Option<&Dataset>,
        driver: &Driver<'_>,
    ) -> Result<Option<Self>, Failure> {
        let (Some(test), Outputs::Regression { n_targets }) = (test, &trained.model.header().outputs) else {
            return Ok(None);
        };
        let (truth, predicted) = trained.model.true_and_predicted(driver, test)?;
        let mut names = trained.dataset.info().target_names.clone();
        if names.len() != *n_targets {
            names = (1..=*n_targets).map(|i| format!("target {i}")).collect();
        }
        Ok(Some(Self { names, truth, predicted }))
    }

    pub(super) fn sections(&self, report: &RegressionReport) -> Result<Vec<Section>, Failure> {
        let intervals = regression_intervals(self.truth.view(), self.predicted.view(), CONFIDENCE)?;
        let mut sections = vec![headline(report, &intervals)];
        if self.names.len() > 1 {
            sections.push(Section::new(
                "Every target",
                "Intervals are of 95 %.",
                vec![Block::Table(self.by_target(report)?)],
            ));
        }
        for (target, name) in self.names.iter().enumerate().take(MOST_TARGETS) {
            sections.push(self.drawn(target, name));
        }
        Ok(sections)
    }

    fn by_target(&self, report: &RegressionReport) -> Result<Table, Failure> {
        let mut table = Table::new(["target", "RMSE", "interval of RMSE", "R²", "interval of R²", "MAE"]);
        for (target, (name, scores)) in self.names.iter().zip(&report.targets).enumerate() {
            let column = |values: &Array2<f64>| values.column(target).to_owned().insert_axis(Dimension(1));
            let (truth, predicted) = (column(&self.truth), column(&self.predicted));
            let found = regression_intervals(truth.view(), predicted.view(), CONFIDENCE)?;
            let ends = |found: Option<mercer::metrics::Interval>| {
                Cell::maybe(found, |ends| {
                    Cell::Number(ends.low, format!("{} to {}", number(ends.low), number(ends.high)))
                })
            };
            table.push(vec![
                Cell::text(name),
                Cell::number(scores.rmse),
                ends(found.rmse),
                Cell::Number(scores.r2, format!("{:.4}", scores.r2)),
                ends(found.r2),
                Cell::number(scores.mae),
            ]);
        }
        Ok(table)
    }

    fn drawn(&self, target: usize, name: &str) -> Section {
        let (truth, predicted) = (self.truth.column(target), self.predicted.column(target));
        let pairs: Vec<(f64, f64)> = truth.iter().copied().zip(predicted.iter().copied()).collect();
        let errors: Vec<(f64, f64)> = pairs.iter().map(|(t, p)| (*p, t - p)).collect();
        let prediction = Panel { guide: Some(Guide::Diagonal), ..scattered(&pairs, "true value", "predicted value") };
        let residual =
            Panel { guide: Some(Guide::Zero), ..scattered(&errors, "predicted value", "true \u{2212} predicted") };
        let shown = if pairs.len() > MOST_POINTS { "The stronger, the more rows." } else { "" };
        let figures = vec![
            Figure::new(
                "Prediction against truth",
                format!("On the dashed line, predictions are right. {shown}"),
                &prediction,
            ),
            Figure::new(
                "Residuals by prediction",
                format!("Around the dashed line, without a pattern, nothing is left to learn. {shown}"),
                &residual,
            ),
            Figure::new(
                "Residuals",
                "How many rows are so far off.",
                &histogram(&errors.iter().map(|(_, e)| *e).collect::<Vec<_>>()),
            ),
        ];
        let title = if self.names.len() > 1 { format!("Predictions of {name}") } else { "Predictions".to_owned() };
        let all = self.names.len();
        let note = match all > MOST_TARGETS && target == 0 {
            true => format!("{name}, in its units. The first {MOST_TARGETS} of {all} targets are drawn."),
            false => format!("{name}, in its units, on {} test rows.", count(pairs.len() as u64)),
        };
        Section::new(title, note, vec![Block::Figures(figures)])
    }
}

fn headline(report: &RegressionReport, intervals: &RegressionIntervals) -> Section {
    let tile = |name: &str, value: String, detail: String| Tile { name: name.to_owned(), value, detail };
    let tiles = vec![
        tile("R²", format!("{:.4}", report.r2), range(intervals.r2, |x| format!("{x:.4}"))),
        tile("RMSE", number(report.rmse), range(intervals.rmse, number)),
        tile("MAE", number(report.mae), range(intervals.mae, number)),
        tile("Test rows", count(report.n_rows), "not learned from".to_owned()),
    ];
    let means = if report.targets.len() > 1 { " Scores are means over the targets." } else { "" };
    let note = format!(
        "On test rows. Below a score stands how far chance in the choice of the test rows reaches: its 95 % interval, by \
         the delta method.{means}"
    );
    Section::new("Scores", note, vec![Block::Tiles(tiles)])
}

/// Points where they are few, else blocks.
fn scattered(pairs: &[(f64, f64)], x: &str, y: &str) -> Panel {
    let (x, y) = (Axis::linear(x), Axis::linear(y));
    if pairs.len() > MOST_POINTS {
        return Panel { x, y, blocks: blocks(pairs), ..Panel::default() };
    }
    let points = pairs.iter().map(|&(x, y)| Point::new(x, y)).collect();
    Panel { x, y, series: vec![Series { name: "rows".to_owned(), style: Style::Points, points }], ..Panel::default() }
}

/// Equal steps from the least value to the largest.
struct Steps {
    from: f64,
    step: f64,
}

impl Steps {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (from, to) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
        let step = (to - from) / BLOCKS as f64;
        Self { from, step: if step > 0.0 { step } else { 1.0 } }
    }

    fn index(&self, value: f64) -> usize {
        (((value - self.from) / self.step) as usize).min(BLOCKS - 1)
    }

    fn ends(&self, index: usize) -> (f64, f64) {
        (self.from + self.step * index as f64, self.from + self.step * (index + 1) as f64)
    }
}

fn blocks(pairs: &[(f64, f64)]) -> Vec<DensityBlock> {
    let (x, y) = (Steps::of(pairs.iter().map(|pair| pair.0)), Steps::of(pairs.iter().map(|pair| pair.1)));
    let mut counts = vec![0; BLOCKS * BLOCKS];
    for pair in pairs {
        counts[x.index(pair.0) * BLOCKS + y.index(pair.1)] += 1;
    }
    let found = counts.into_iter().enumerate().filter(|(_, n)| *n > 0);
    found.map(|(at, n_rows)| DensityBlock { x: x.ends(at / BLOCKS), y: y.ends(at % BLOCKS), n_rows }).collect()
}

fn histogram(values: &[f64]) -> Panel {
    let steps = Steps::of(values.iter().copied());
    let mut counts = vec![0_u64; BLOCKS];
    values.iter().for_each(|&value| counts[steps.index(value)] += 1);
    let column = |(i, n): (usize, u64)| {
        let (from, to) = steps.ends(i);
        Point {
            note: format!("{} to {}: {} rows", number(from), number(to), count(n)),
            ..Point::new((from + to) / 2.0, n as f64)
        }
    };
    let points = counts.into_iter().enumerate().map(column).collect();
    let series = vec![Series { name: "rows".to_owned(), style: Style::Columns(steps.step), points }];
    Panel { x: Axis::linear("true \u{2212} predicted"), y: Axis::linear("test rows"), series, ..Panel::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row is in one block and in one column, those at the ends too.
    #[test]
    fn blocks_and_columns_count_every_row() {
        let pairs: Vec<(f64, f64)> = (0..1200).map(|i| (f64::from(i) / 7.0, f64::from(i * i % 97))).collect();
        assert_eq!(blocks(&pairs).iter().map(|block| block.n_rows).sum::<u64>(), 1200);
        assert!(blocks(&pairs).iter().all(|block| block.x.0 < block.x.1 && block.y.0 < block.y.1));
        let panel = histogram(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
        assert_eq!(panel.series[0].points.iter().map(|point| point.y).sum::<f64>(), 1200.0);
        let equal = histogram(&[2.0; 5]);
        assert_eq!(equal.series[0].points[0].y, 5.0);
    }
}
