//! What a file of rows holds.

use std::io::{self, Write};

use mercer::Dtype;
use mercer::dataset::{ColumnSummary, Encoding, EncodingSpec, Impute, Layout, Table, TargetEncoder, TargetScan, Task};
use mercer::feature_maps::{Gamma, MapSpec};
use mercer::learners::{Lambda, LearnerSpec};
use mercer::pipeline::{PipelineSpec, TrainingMemory};
use mercer::preprocess::PreprocessSpec;
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::data::{load, table_options};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::text::{bytes, count, number, percent, real_values, shortened};

/// Columns and classes shown unless all are asked for.
const SHOWN: usize = 20;

pub(super) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let bar = Bar::new(args.report.quiet);
    let options = table_options(&args.reading, &args.columns, !args.labels.is_empty(), None);
    let table = load(&args.data, &args.labels, &options, &args.reading, &bar)?;
    let inspected = Inspected::new(&table, args.n_components, &bar)?;
    let mut out = io::stdout().lock();
    if args.report.json {
        writeln!(out, "{:#}", inspected.to_json())?;
    } else {
        inspected.write(&mut out, args.all)?;
    }
    Ok(())
}

struct Inspected<'a> {
    table: &'a Table,
    columns: Vec<ColumnSummary>,
    /// What the targets are, where they can be learned.
    targets: Option<TargetEncoder>,
    n_components: usize,
    /// Inputs that the columns become.
    n_inputs: usize,
    memory: TrainingMemory,
}

impl<'a> Inspected<'a> {
    fn new(table: &'a Table, n_components: usize, bar: &Bar) -> Result<Self, Failure> {
        let columns = table.summarize(bar)?;
        let targets = table.targets().and_then(|targets| targets.encoder(None).ok());
        // As a training with missing values filled in would have them.
        let spec = EncodingSpec { impute: Impute::Mean, ..EncodingSpec::default() };
        let encoding = Encoding::fit(table, spec, bar).ok().flatten();
        let n_inputs = encoding.map_or(table.n_inputs(), |encoding| encoding.n_outputs());
        let spec = PipelineSpec {
            preprocess: PreprocessSpec::Auto,
            map: MapSpec::fourier(n_components, Gamma::Scale),
            learner: LearnerSpec::ridge(Lambda::Auto),
            task: None,
            cv: None,
            probabilities: false,
            seed: 0,
        };
        spec.validate()?;
        let n_outputs = targets.as_ref().map_or(1, TargetEncoder::n_outputs);
        let memory = spec.memory(table.n_rows(), n_inputs, n_outputs, Dtype::Float32);
        Ok(Self { table, columns, targets, n_components, n_inputs, memory })
    }

    fn n_zero(&self) -> u64 {
        let summarized: u64 = self.columns.iter().map(|column| column.n_zero).sum();
        summarized + self.n_unstored() as u64 * self.table.n_rows()
    }

    /// Columns without a summary: 0 throughout.
    fn n_unstored(&self) -> usize {
        self.table.n_inputs() - self.columns.len()
    }

    fn n_missing(&self) -> u64 {
        self.columns.iter().map(|column| column.n_missing).sum()
    }

    fn n_values(&self) -> f64 {
        self.table.n_rows() as f64 * self.table.n_inputs() as f64
    }

    fn column_name(&self, input: usize) -> String {
        self.table.info().input_names.get(input).cloned().unwrap_or_else(|| (input + 1).to_string())
    }

    fn write(&self, out: &mut impl Write, all: bool) -> io::Result<()> {
        let (table, info) = (self.table, self.table.info());
        let layout = match info.layout {
            Layout::Bytes => "bytes".to_owned(),
            Layout::Dense => format!("dense {}", table.dtype()),
            Layout::Sparse => format!("sparse {}", table.dtype()),
        };
        writeln!(out, "data        {} ({})", info.name, info.format)?;
        writeln!(out, "rows        {}", count(table.n_rows()))?;
        writeln!(out, "inputs      {} columns, {layout}{}", count(table.n_inputs() as u64), self.kinds())?;
        writeln!(out, "values      {}", self.values())?;
        if let Some(targets) = table.targets() {
            writeln!(out, "target      {}", self.target(targets, all))?;
        }
        writeln!(out, "memory      {}", self.needed())?;
        if info.layout == Layout::Sparse && !all {
            let none = if self.n_unstored() > 0 { (0.0, 0.0) } else { (f64::MAX, f64::MIN) };
            let ranges =
                self.columns.iter().fold(none, |(min, max), column| (min.min(column.min), max.max(column.max)));
            return writeln!(out, "range       {} to {}; --all shows every column", number(ranges.0), number(ranges.1));
        }
        self.write_columns(out, if all { self.columns.len() } else { SHOWN })
    }

    fn kinds(&self) -> String {
        match self.table.info().categorical.len() {
            0 => String::new(),
            n => format!("; {n} hold words: {} inputs with a level each", count(self.n_inputs as u64)),
        }
    }

    fn values(&self) -> String {
        let zero = percent(self.n_zero() as f64 / self.n_values());
        let missing = match self.n_missing() {
            0 => "none missing".to_owned(),
            n => format!("{} missing ({})", count(n), percent(n as f64 / self.n_values())),
        };
        format!("{} stored, {zero} zero, {missing}", count(self.table.n_stored()))
    }

    fn target(&self, targets: &TargetScan, all: bool) -> String {
        let names = shortened(&self.table.info().target_names);
        match &self.targets {
            Some(TargetEncoder::Classes { labels, counts, .. }) => {
                let rows = self.table.n_rows() as f64;
                let shown = if all { labels.len() } else { SHOWN };
                let mut classes: Vec<String> = labels
                    .iter()
                    .zip(counts)
                    .take(shown)
                    .map(|(label, &n)| format!("{label}: {} ({})", count(n), percent(n as f64 / rows)))
                    .collect();
                if labels.len() > shown {
                    classes.push(format!("… {} more", labels.len() - shown));
                }
                format!("{names}: {} classes: {}", labels.len(), classes.join(", "))
            }
            Some(TargetEncoder::Real { centre }) => {
                let means: Vec<String> = centre.iter().map(|&mean| number(mean)).collect();
                format!("{names}: {}, mean {}", real_values(centre.len()), shortened(&means))
            }
            None => {
                let task = if targets.task() == Task::Classification { "classes" } else { "values" };
                format!("{names}: {task} that cannot be learned: one class, or too many")
            }
        }
    }

    fn needed(&self) -> String {
        let TrainingMemory { map, panel, learner, features } = self.memory;
        let rows = bytes(self.table.n_stored() * if self.table.info().layout == Layout::Bytes { 1 } else { 4 });
        let kept =
            if features == 0 { String::new() } else { format!("; features kept between passes, {}", bytes(features)) };
        format!(
            "about {} to train with {} features: {} to learn from, {} for a panel of rows, {} for the map{kept}; the rows take {rows}",
            bytes(self.memory.total()),
            count(self.n_components as u64),
            bytes(learner),
            bytes(panel),
            bytes(map)
        )
    }

    fn write_columns(&self, out: &mut impl Write, shown: usize) -> io::Result<()> {
        let shown_columns = || self.columns.iter().take(shown);
        let widest = shown_columns().map(|column| self.column_name(column.input).chars().count()).max().unwrap_or(0);
        let width = widest.clamp(6, 24);
        let head =
            format!("\n{:<width$}  {:>10}  {:>10}  {:>10}  {:>10}", "column", "least", "mean", "greatest", "deviation");
        writeln!(out, "{head}  {:>8}  {:>8}", "zero", "missing")?;
        for column in shown_columns() {
            let j = column.input;
            let name: String = self.column_name(j).chars().take(width).collect();
            let share = |n: u64| if n == 0 { "·".to_owned() } else { percent(n as f64 / self.table.n_rows() as f64) };
            let values = if self.table.info().categorical.contains(&j) {
                let levels = self.table.levels(j);
                let most: Vec<String> = levels.iter().take(3).map(|(level, _)| (*level).to_owned()).collect();
                let text = format!("{} levels: {}", count(levels.len() as u64), most.join(", "));
                format!("{:<46}", text.chars().take(46).collect::<String>())
            } else {
                let of = [column.min, column.mean, column.max, column.standard_deviation].map(number);
                format!("{:>10}  {:>10}  {:>10}  {:>10}", of[0], of[1], of[2], of[3])
            };
            writeln!(out, "{name:<width$}  {values}  {:>8}  {:>8}", share(column.n_zero), share(column.n_missing))?;
        }
        if let unstored @ 1.. = self.n_unstored() {
            writeln!(out, "… {} more columns, 0 in every row", count(unstored as u64))?;
        }
        match self.columns.len().saturating_sub(shown) {
            0 => Ok(()),
            more => writeln!(out, "… {} more columns: --all shows them", count(more as u64)),
        }
    }

    fn to_json(&self) -> Value {
        let (table, info) = (self.table, self.table.info());
        let columns: Vec<Value> = self.columns.iter().map(|column| self.column_json(column)).collect();
        json!({
            "command": "inspect",
            "name": info.name,
            "format": info.format,
            "layout": match info.layout {
                Layout::Bytes => "bytes",
                Layout::Dense => "dense",
                Layout::Sparse => "sparse",
            },
            "dtype": table.dtype(),
            "n_rows": table.n_rows(),
            "n_columns": table.n_inputs(),
            "n_inputs": self.n_inputs,
            "n_stored": table.n_stored(),
            "n_zero": self.n_zero(),
            "n_missing": self.n_missing(),
            "columns": columns,
            "target_names": info.target_names,
            "targets": self.targets_json(),
            "memory": { "n_components": self.n_components, "parts": self.memory, "total": self.memory.total() },
        })
    }

    fn column_json(&self, column: &ColumnSummary) -> Value {
        let input = column.input;
        let name = self.column_name(input);
        if self.table.info().categorical.contains(&input) {
            let levels = self.table.levels(input);
            let most: Vec<_> = levels.iter().take(SHOWN).map(|(level, n)| json!({ "level": level, "n": n })).collect();
            let (n_levels, n_missing) = (levels.len(), column.n_missing);
            return json!({ "name": name, "kind": "words", "n_levels": n_levels, "most": most, "n_missing": n_missing });
        }
        let mut value = json!(column);
        value["name"] = json!(name);
        value["kind"] = json!("numbers");
        value
    }

    fn targets_json(&self) -> Value {
        match &self.targets {
            Some(TargetEncoder::Classes { labels, counts, .. }) => {
                json!({ "task": "classification", "classes": labels, "counts": counts })
            }
            Some(TargetEncoder::Real { centre }) => json!({ "task": "regression", "means": centre }),
            None => Value::Null,
        }
    }
}
