//! A comparison as a table and as JSON.

use mercer::feature_maps::ResolvedMap;
use mercer::kernels::Kernel;
use serde_json::{Map, Value, json};

use super::{Cell, Comparison, Score};
use crate::args::CompareArgs;
use crate::memory::peak_bytes;
use crate::output::in_json;
use crate::report::written;
use crate::rows::described;
use crate::text::{bytes, count, kernel, number, parameters, percent};

/// What several seeds came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    /// The standard deviation over the seeds; none for one.
    pub(super) deviation: Option<f64>,
}

impl Estimate {
    /// The mean; none where a value is missing.
    fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let values = values.collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())?;
        let (n, sum): (f64, f64) = (values.len() as f64, values.iter().sum());
        let squares: f64 = values.iter().map(|x| (x - sum / n).powi(2)).sum();
        Some(Self { value: sum / n, deviation: (n > 1.0).then(|| (squares / (n - 1.0)).sqrt()) })
    }

    /// The root of the mean square, with the deviation of the values themselves.
    fn root_mean_square(values: impl Iterator<Item = Option<f64>> + Clone) -> Option<Self> {
        let squared = Self::mean(values.clone().map(|value| value.map(|x| x * x)))?;
        Some(Self { value: squared.value.sqrt(), ..Self::mean(values)? })
    }

    pub(super) fn shown(estimate: Option<Self>, number: impl Fn(f64) -> String) -> String {
        match estimate {
            None => "–".to_owned(),
            Some(Self { value, deviation: None }) => number(value),
            Some(Self { value, deviation: Some(deviation) }) => format!("{} ± {}", number(value), number(deviation)),
        }
    }
}

impl Cell {
    pub(super) fn kernel_rmse(&self) -> Option<Estimate> {
        let errors = self.runs.iter().map(|run| run.approximation.as_ref().map(|report| report.kernel.rmse));
        Estimate::root_mean_square(errors)
    }

    pub(super) fn distortion(&self) -> Option<Estimate> {
        Estimate::mean(self.runs.iter().map(|run| run.approximation.as_ref().map(|report| report.distances.mean)))
    }

    /// The seed says nothing of the time: the smallest is the one least disturbed.
    pub(super) fn microseconds(&self) -> f64 {
        1e6 * self.runs.iter().map(|run| run.seconds_per_row).fold(f64::INFINITY, f64::min)
    }

    /// Accuracy, or the RMSE of a regression.
    pub(super) fn score(&self) -> Option<Estimate> {
        Estimate::mean(self.runs.iter().map(|run| {
            run.score.map(|score| match score {
                Score::Accuracy(value) | Score::Rmse(value) => value,
            })
        }))
    }

    pub(super) fn n_components(&self) -> usize {
        self.runs[0].map.n_components()
    }
}

impl Comparison {
    /// What the score is, where anything was learned.
    pub(super) fn measure(&self) -> Option<&'static str> {
        self.cells[0].runs[0].score.map(|score| match score {
            Score::Accuracy(_) => "accuracy",
            Score::Rmse(_) => "rmse",
        })
    }

    fn seeds_text(&self) -> String {
        match self.seeds.as_slice() {
            [seed] => format!("seed {seed}"),
            seeds => format!("seeds {} to {}", seeds[0], seeds[seeds.len() - 1]),
        }
    }

    /// Rows, kernel, learner and seeds, on one line each.
    pub(super) fn headings(&self) -> [String; 2] {
        let (rows, inputs) = (count(self.dataset.n_rows()), count(self.dataset.n_inputs() as u64));
        let tested = self.test.as_ref().map(|test| format!("; scored on {} others", count(test.n_rows())));
        let data = format!("{}: {rows} rows × {inputs} inputs{}", self.dataset.info().name, tested.unwrap_or_default());
        let learner = if self.test.is_some() { "ridge, lambda found by the data; " } else { "" };
        let parts = [vec![self.kernel_text()], parameters(&self.cells[0].spec)].concat();
        [data, format!("{}; {learner}{}", parts.join(", "), self.seeds_text())]
    }

    /// The maps by seed, of any size: all have the same kernel.
    fn maps(&self) -> impl Iterator<Item = &ResolvedMap> {
        self.cells[0].runs.iter().map(|run| &run.map)
    }

    /// The kernel; from the least to the largest width where each seed finds its own.
    fn kernel_text(&self) -> String {
        let mut kernels: Vec<Kernel> = self.maps().map(ResolvedMap::kernel).collect();
        kernels.sort_by(|a, b| width(*a).total_cmp(&width(*b)));
        let (least, most) = (kernels[0], kernels[kernels.len() - 1]);
        if width(least) == width(most) {
            return kernel(least);
        }
        format!("{} to {}, the median of each seed", kernel(least), number(width(most)))
    }

    pub(super) fn to_table(&self, args: &CompareArgs) -> String {
        let mut head = vec!["map", "D", "kernel RMSE", "distortion", "µs/row", "memory"];
        head.extend(self.measure().map(|measure| if measure == "rmse" { "RMSE" } else { measure }));
        let accuracy = self.measure() == Some("accuracy");
        let mut lines: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
        for cell in &self.cells {
            let mut line = vec![
                cell.name.to_owned(),
                count(cell.n_components() as u64),
                Estimate::shown(cell.kernel_rmse(), |x| format!("{x:.5}")),
                Estimate::shown(cell.distortion(), percent),
                format!("{:.2}", cell.microseconds()),
                bytes(cell.map_bytes),
            ];
            if self.test.is_some() {
                line.push(Estimate::shown(cell.score(), if accuracy { percent } else { number }));
            }
            lines.push(line);
        }
        let mut text = self.headings().join("\n") + "\n";
        if let Some(note) = &self.note {
            text.push_str(&format!("{note}\n"));
        }
        text.push_str(&format!("\n{}", aligned(&lines)));
        let files = written("plot", args.plot.as_ref()) + &written("report", args.report.as_ref());
        if files.is_empty() { text } else { text + "\n" + &files }
    }

    pub(super) fn to_json(&self, args: &CompareArgs) -> Value {
        let mut seconds: Map<String, Value> =
            self.seconds.iter().map(|(stage, time)| ((*stage).to_owned(), json!(time))).collect();
        seconds.insert("total".to_owned(), json!(self.total_seconds));
        json!({
            "command": "compare",
            "dataset": described(&self.dataset),
            "n_test_rows": self.test.as_ref().map(mercer::dataset::Dataset::n_rows),
            "preprocess": self.preprocess,
            "dtype": mercer::Dtype::from(args.dtype),
            "seeds": self.seeds,
            "gammas": self.maps().map(|map| map.spec.gamma()).collect::<Vec<_>>(),
            "score": self.measure(),
            "results": self.cells.iter().map(|cell| self.result(cell)).collect::<Vec<_>>(),
            "seconds": seconds,
            "threads": self.threads,
            "peak_memory_bytes": peak_bytes(),
            "plot": args.plot.as_deref().map(in_json),
            "report": args.report.as_deref().map(in_json),
        })
    }

    fn result(&self, cell: &Cell) -> Value {
        let mut object = json!({
            "map": cell.name,
            "n_components": cell.n_components(),
            "spec": cell.runs[0].map.spec,
            "microseconds_per_row": cell.microseconds(),
            "map_bytes": cell.map_bytes,
        });
        let mut insert = |name: &str, estimate: Option<Estimate>| {
            object[name] = json!(estimate.map(|estimate| estimate.value));
            object[format!("{name}_deviation")] = json!(estimate.and_then(|estimate| estimate.deviation));
        };
        insert("kernel_rmse", cell.kernel_rmse());
        insert("distortion", cell.distortion());
        if let Some(measure) = self.measure() {
            insert(measure, cell.score());
        }
        object
    }
}

/// What the text of a kernel ends with.
fn width(kernel: Kernel) -> f64 {
    match kernel {
        Kernel::Matern { length_scale, .. } | Kernel::RationalQuadratic { length_scale, .. } => length_scale,
        Kernel::Rbf { gamma }
        | Kernel::Laplace { gamma }
        | Kernel::Cauchy { gamma }
        | Kernel::Polynomial { gamma, .. }
        | Kernel::Quadratic { gamma, .. } => gamma,
        _ => 0.0,
    }
}

/// Columns side by side, the first to the left, with a blank line between groups of the same first word.
fn aligned(lines: &[Vec<String>]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        if i > 1 && line[0] != lines[i - 1][0] {
            text.push('\n');
        }
        text.push_str(&format!("{:<1$}", line[0], widths[0]));
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            text.push_str(&format!("   {cell:>width$}"));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_by_hand() {
        let values = [Some(1.0), Some(3.0), Some(5.0)];
        assert_eq!(Estimate::mean(values.into_iter()), Some(Estimate { value: 3.0, deviation: Some(2.0) }));
        let root = Estimate { value: (35.0_f64 / 3.0).sqrt(), deviation: Some(2.0) };
        assert_eq!(Estimate::root_mean_square(values.into_iter()), Some(root));
        assert_eq!(Estimate::mean([Some(0.3)].into_iter()), Some(Estimate { value: 0.3, deviation: None }));
        assert_eq!(Estimate::mean([Some(0.3), None].into_iter()), None);
    }
}
