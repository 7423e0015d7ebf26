//! Scores of classes: how many are right, who is taken for whom, and whether confidence is deserved.

use mercer::metrics::{ClassScores, ClassificationReport, Interval, ProbabilityReport, wilson};

use super::{CONFIDENCE, range};
use crate::failure::Failure;
use crate::report::{
    Axis, Bars, Block, Cell, Chart, Figure, Guide, Matrix, Panel, Point, Section, Series, Style, Table, Tile,
};
use crate::text::{count, number, percent};

/// The numbers of more classes are not to be read side by side.
const MOST_CLASSES: usize = 100;

/// Classes that have bars beside their matrix.
const MOST_BARS: usize = 12;

pub(super) fn sections(report: &ClassificationReport, classes: Vec<String>) -> Result<Vec<Section>, Failure> {
    let mut sections = vec![headline(report)?];
    let matrix = Matrix { names: classes.clone(), counts: &report.confusion };
    let note = "The stronger a colour, the larger its share of the class: blue where the prediction is right.";
    sections.push(if classes.len() <= MOST_CLASSES {
        let mut figures = vec![Figure::new("Truth against prediction", note, &matrix)];
        if classes.len() <= MOST_BARS {
            figures.push(Figure::new(
                "F1 by class",
                "Of precision and recall the harmonic mean.",
                &f1(report, &classes),
            ));
        }
        Section::new("Who is taken for whom", "", vec![Block::Figures(figures)])
    } else {
        let note = format!(
            "{} classes are too many for a chart: the pairs that occur, mistakes first.",
            count(classes.len() as u64)
        );
        Section::new("Who is taken for whom", note, vec![Block::Table(matrix.table())])
    });
    let note = "Intervals are Wilson\u{2019}s, of 95 %. Choose the head of a column to sort by it.";
    sections.push(Section::new("Every class", note, vec![Block::Table(by_class(report, &classes)?)]));
    sections.extend(report.probabilities.as_ref().map(calibration).transpose()?);
    Ok(sections)
}

fn headline(report: &ClassificationReport) -> Result<Section, Failure> {
    let accuracy = report.accuracy_interval(CONFIDENCE)?;
    let f1 = report.f1_macro_interval(CONFIDENCE)?;
    let wrong = count((report.error_rate * report.n_rows as f64).round() as u64);
    let mut tiles = vec![
        tile("Accuracy", percent(report.accuracy), range(Some(accuracy), percent)),
        tile("Macro F1", format!("{:.4}", report.f1_macro), range(f1, |x| format!("{x:.4}"))),
        tile("Wrong", wrong, format!("of {} test rows", count(report.n_rows))),
    ];
    if let Some(scores) = &report.probabilities {
        tiles.push(tile("Log loss", number(scores.log_loss), "of the probabilities".to_owned()));
        tiles.push(tile(
            "Calibration error",
            percent(scores.calibration_error),
            format!("Brier score {}", number(scores.brier_score)),
        ));
    }
    let note = "On test rows. Below accuracy and macro F1 stands how far chance in the choice of the test rows reaches: \
                95 % intervals, Wilson\u{2019}s and by the delta method.";
    Ok(Section::new("Scores", note, vec![Block::Tiles(tiles)]))
}

fn f1(report: &ClassificationReport, classes: &[String]) -> Bars {
    let bar = |(name, class): (&String, &ClassScores)| (name.clone(), class.f1, format!("{:.4}", class.f1));
    let bars = classes.iter().zip(&report.classes).map(bar).collect();
    Bars { head: ["class".into(), "F1".into()], bars }
}

fn tile(name: &str, value: String, detail: String) -> Tile {
    Tile { name: name.to_owned(), value, detail }
}

fn by_class(report: &ClassificationReport, classes: &[String]) -> Result<Table, Failure> {
    let mut table =
        Table::new(["class", "precision", "interval of precision", "recall", "interval of recall", "F1", "rows"]);
    let score = |x: f64| Cell::Number(x, format!("{x:.4}"));
    for (i, (name, class)) in classes.iter().zip(&report.classes).enumerate() {
        let predicted: u64 = report.confusion.iter().map(|row| row[i]).sum();
        let right = report.confusion[i][i];
        table.push(vec![
            Cell::text(name),
            score(class.precision),
            ends(right, predicted)?,
            score(class.recall),
            ends(right, class.support)?,
            score(class.f1),
            Cell::count(class.support),
        ]);
    }
    Ok(table)
}

/// The interval of a share, sorted by its lower end.
fn ends(part: u64, whole: u64) -> Result<Cell, Failure> {
    if whole == 0 {
        return Ok(Cell::Missing);
    }
    let Interval { low, high } = wilson(part, whole, CONFIDENCE)?;
    Ok(Cell::Number(low, format!("{low:.4} to {high:.4}")))
}

/// The share that is right against the confidence, and how many rows there are of each.
fn calibration(report: &ProbabilityReport) -> Result<Section, Failure> {
    let width = 100.0 / report.bins.len() as f64;
    let (mut right, mut rows) = (Vec::new(), Vec::new());
    for (i, bin) in report.bins.iter().enumerate() {
        let (from, to) = (width * i as f64, width * (i + 1) as f64);
        let n = count(bin.n_rows);
        let note = format!("confidence {from:.0} % to {to:.0} %: {n} rows");
        rows.push(Point { note, ..Point::new((from + to) / 2.0, bin.n_rows as f64) });
        if bin.n_rows == 0 {
            continue;
        }
        let (share, confidence) = (bin.n_right as f64 / bin.n_rows as f64, bin.confidence);
        let Interval { low, high } = wilson(bin.n_right, bin.n_rows, CONFIDENCE)?;
        let note = format!("confidence {}: {} right of {n} rows", percent(confidence), percent(share));
        right.push(Point { x: 100.0 * confidence, y: 100.0 * share, error: Some((100.0 * low, 100.0 * high)), note });
    }
    let percents = |label: &str| Axis::linear(label).within(0.0, 100.0);
    let series = |style, points| vec![Series { name: "rows".to_owned(), style, points }];
    let diagram = Panel {
        x: percents("mean confidence, %"),
        y: percents("right predictions, %"),
        series: series(Style::Line, right),
        guide: Some(Guide::Diagonal),
        ..Panel::default()
    };
    let counts = Panel {
        x: percents("confidence, %"),
        y: Axis::linear("test rows"),
        series: series(Style::Columns(width), rows),
        ..Panel::default()
    };
    let figures = vec![
        Figure::new(
            "Reliability",
            "On the dashed line, confidence is deserved; below it, predictions are too sure. Bars are 95 % intervals (Wilson).",
            &diagram,
        ),
        Figure::new(
            "Rows by confidence",
            "The confidence of a row is the probability of its most likely class.",
            &counts,
        ),
    ];
    let note = format!(
        "Calibration error {}: how far confidence and accuracy are apart, on average over the rows.",
        percent(report.calibration_error)
    );
    Ok(Section::new("Probabilities", note, vec![Block::Figures(figures)]))
}
