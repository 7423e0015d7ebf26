//! What the bench programs report, and the best of several rounds.

use super::json::{self, Object, Value};

/// A line of a bench program.
pub(super) enum Line {
    Measured(Measurement),
    /// Something was not measured.
    Skipped {
        by: String,
        reason: String,
    },
}

/// A time with what it stands for; `benches/src/measure.rs` documents the fields.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    pub(super) name: String,
    pub(super) variant: String,
    pub(super) threads: usize,
    pub(super) by: String,
    pub(super) seconds: f64,
    pub(super) repeats: usize,
    pub(super) work: f64,
    pub(super) unit: String,
    /// Further numbers: accuracy, memory, …
    pub(super) further: Vec<(String, f64)>,
}

const FIELDS: [&str; 9] = ["name", "variant", "threads", "by", "seconds", "repeats", "work", "unit", "unit_rate"];

impl Line {
    /// Reads a line; `None` when it is of another kind.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let object = json::parse(line)?;
        match text(&object, "skipped") {
            Some(reason) => Some(Self::Skipped { by: text(&object, "by")?, reason }),
            None => Measurement::from_object(&object).map(Self::Measured),
        }
    }
}

impl Measurement {
    fn from_object(object: &Object) -> Option<Self> {
        let further = object.iter().filter(|(key, _)| !FIELDS.contains(&key.as_str()));
        Some(Self {
            name: text(object, "name")?,
            variant: text(object, "variant")?,
            threads: number(object, "threads")? as usize,
            by: text(object, "by")?,
            seconds: number(object, "seconds")?,
            repeats: number(object, "repeats")? as usize,
            work: number(object, "work")?,
            unit: text(object, "unit")?,
            further: further.filter_map(|(key, _)| Some((key.clone(), number(object, key)?))).collect(),
        })
    }

    /// The line again.
    pub(super) fn to_json(&self) -> String {
        let text = |text: &str| Value::Text(text.to_owned());
        let values = [
            text(&self.name),
            text(&self.variant),
            Value::Number(self.threads as f64),
            text(&self.by),
            Value::Number(self.seconds),
            Value::Number(self.repeats as f64),
            Value::Number(self.work),
            text(&self.unit),
            Value::Number(self.work / self.seconds),
        ];
        let mut object: Object = FIELDS.map(str::to_owned).into_iter().zip(values).collect();
        object.extend(self.further.iter().map(|(key, value)| (key.clone(), Value::Number(*value))));
        json::write(&object)
    }

    fn same_case(&self, other: &Self) -> bool {
        (&self.name, &self.variant, self.threads) == (&other.name, &other.variant, other.threads)
    }
}

fn text(object: &Object, key: &str) -> Option<String> {
    object.iter().find_map(|(name, value)| match value {
        Value::Text(text) if name == key => Some(text.clone()),
        _ => None,
    })
}

fn number(object: &Object, key: &str) -> Option<f64> {
    object.iter().find_map(|(name, value)| match value {
        Value::Number(number) if name == key => Some(*number),
        _ => None,
    })
}

/// The fastest measurement of each case by each program, in the order they were first met.
#[derive(Default)]
pub(super) struct Best(Vec<Measurement>);

impl Best {
    /// Counts one more measurement.
    pub(super) fn add(&mut self, new: Measurement) {
        match self.0.iter_mut().find(|old| old.same_case(&new) && old.by == new.by) {
            Some(old) => {
                let repeats = old.repeats + new.repeats;
                if new.seconds < old.seconds {
                    *old = new;
                }
                old.repeats = repeats;
            }
            None => self.0.push(new),
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Measurement] {
        &self.0
    }

    /// Every case measured: that of mercer first where there is one, then its competitors'.
    pub(super) fn cases(&self) -> Vec<Vec<&Measurement>> {
        let mut cases: Vec<Vec<&Measurement>> = Vec::new();
        for measurement in &self.0 {
            match cases.iter_mut().find(|case| case[0].same_case(measurement)) {
                Some(case) => case.push(measurement),
                None => cases.push(vec![measurement]),
            }
        }
        for case in &mut cases {
            case.sort_by_key(|measurement| measurement.by != "mercer");
        }
        cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(by: &str, seconds: f64) -> Measurement {
        let line = format!(
            r#"{{"name":"a","variant":"b","threads":1,"by":"{by}","seconds":{seconds},"repeats":3,"work":6,"unit":"row","share":0.5}}"#
        );
        match Line::parse(&line) {
            Some(Line::Measured(measurement)) => measurement,
            _ => panic!("{line}"),
        }
    }

    #[test]
    fn the_fastest_round_counts() {
        let mut best = Best::default();
        for (by, seconds) in [("other", 4.0), ("mercer", 2.0), ("mercer", 1.0), ("mercer", 3.0)] {
            best.add(measured(by, seconds));
        }
        let cases = best.cases();
        assert_eq!(cases.len(), 1);
        let [mercer, other] = cases[0].as_slice() else { panic!("two programs") };
        assert_eq!((mercer.seconds, mercer.repeats, other.repeats), (1.0, 9, 3));
        assert!(mercer.to_json().ends_with(r#""unit_rate": 6, "share": 0.5}"#));
    }
}
