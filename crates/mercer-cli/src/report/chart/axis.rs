//! Axes: from values to places, and round numbers to mark.

use crate::text::{count, number};

/// More are not readable beside each other.
const MOST_TICKS: usize = 8;

/// How values are shown along one side of a panel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Axis {
    /// What it is, with the unit.
    pub(crate) label: String,
    pub(crate) log: bool,
    /// Where to mark it; round numbers if empty.
    pub(crate) ticks: Vec<f64>,
    /// From where to where; as the values ask for if absent.
    pub(crate) bounds: Option<(f64, f64)>,
}

impl Axis {
    pub(crate) fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    pub(crate) fn log(label: impl Into<String>) -> Self {
        Self { log: true, ..Self::linear(label) }
    }

    /// Marked at the values that occur.
    pub(crate) fn marked_at(self, values: impl IntoIterator<Item = f64>) -> Self {
        let mut ticks: Vec<f64> = values.into_iter().collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        Self { ticks, ..self }
    }

    pub(crate) fn within(self, from: f64, to: f64) -> Self {
        Self { bounds: Some((from, to)), ..self }
    }

    /// Whether a value has a place on it.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }
}

/// From values to places; the values are logarithms where the axis is logarithmic.
pub(super) struct Range {
    log: bool,
    from: f64,
    to: f64,
    places: (f64, f64),
}

impl Range {
    pub(super) fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let scaled = |value: f64| if axis.log { value.log10() } else { value };
        if let Some((from, to)) = axis.bounds {
            return Self { log: axis.log, from: scaled(from), to: scaled(to), places: (0.0, 1.0) };
        }
        let (mut from, mut to) =
            values.map(scaled).fold((f64::MAX, f64::MIN), |(from, to), value| (from.min(value), to.max(value)));
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        // One value alone stands in the middle.
        let margin = match (to > from, axis.log) {
            (true, _) => 0.05 * (to - from),
            (false, false) if from != 0.0 => 0.01 * from.abs(),
            (false, _) => 0.1,
        };
        Self { log: axis.log, from: from - margin, to: to + margin, places: (0.0, 1.0) }
    }

    pub(super) fn between(self, from: f64, to: f64) -> Self {
        Self { places: (from, to), ..self }
    }

    /// The values at its ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        if self.log { (10_f64.powf(self.from), 10_f64.powf(self.to)) } else { (self.from, self.to) }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.places.0 + (self.places.1 - self.places.0) * (value - self.from) / (self.to - self.from)
    }

    /// The given ticks, thinned out, or round numbers; each with its text.
    pub(super) fn ticks(&self, given: &[f64]) -> Vec<(f64, String)> {
        if given.is_empty() {
            return named(self.round_numbers());
        }
        named(given.iter().copied().step_by(given.len().div_ceil(MOST_TICKS)).collect())
    }

    fn round_numbers(&self) -> Vec<f64> {
        if !self.log {
            return steps(self.from, self.to);
        }
        let decades = self.from.floor() as i32..=self.to.ceil() as i32;
        let round = |digits: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|k| digits.iter().map(move |digit| digit * 10_f64.powi(k)));
            all.filter(|tick| (self.from..=self.to).contains(&tick.log10())).collect()
        };
        let choices: [&[f64]; 4] = [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let found = choices.into_iter().map(round).find(|ticks| ticks.len() <= MOST_TICKS);
        match found {
            Some(ticks) if ticks.len() >= 3 => ticks,
            Some(_) => steps(10_f64.powf(self.from), 10_f64.powf(self.to)),
            None => {
                let all = round(&[1.0]);
                all.iter().copied().step_by(all.len().div_ceil(MOST_TICKS)).collect()
            }
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, about six.
fn steps(from: f64, to: f64) -> Vec<f64> {
    let rough = (to - from) / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    // Ends that are round themselves are marked though they are a rounding error away.
    let (first, last) = ((from / step - 1e-9).ceil() as i64, (to / step + 1e-9).floor() as i64);
    (first..=last).take(2 * MOST_TICKS).map(|i| i as f64 * step).collect()
}

/// Ticks as text, with as many digits as tell them apart.
fn named(ticks: Vec<f64>) -> Vec<(f64, String)> {
    let names: Vec<String> = ticks.iter().copied().map(tick_text).collect();
    let gap = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    // A gap of 0.01 is one of 0.00999… in binary.
    let digits = (-gap.log10() - 1e-6).ceil().clamp(0.0, 12.0) as usize;
    let same = names.windows(2).any(|pair| pair[0] == pair[1]);
    let name = |(tick, name)| (tick, if same { format!("{tick:.digits$}") } else { name });
    ticks.into_iter().zip(names).map(name).collect()
}

/// 4096 as 4,096, 0.0123 as it is.
pub(super) fn tick_text(value: f64) -> String {
    let whole = value.round();
    if (1000.0..1e9).contains(&value) && (value - whole).abs() < 1e-6 { count(whole as u64) } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(log: bool, values: [f64; 2]) -> Vec<String> {
        let range = Range::of(&Axis { log, ..Axis::default() }, values.into_iter()).between(0.0, 100.0);
        range.ticks(&[]).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(false, [91.0, 99.0]), ["92", "94", "96", "98"]);
        assert_eq!(ticks(true, [0.01, 0.1]), ["0.01", "0.015", "0.02", "0.03", "0.04", "0.05", "0.07", "0.1"]);
        assert_eq!(ticks(true, [1.0, 100.0]), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(ticks(true, [1e-6, 1e6]).len(), 7);
        assert_eq!(ticks(false, [1234.51, 1234.55]), ["1234.51", "1234.52", "1234.53", "1234.54", "1234.55"]);
        assert!(ticks(true, [2.1, 2.2]).len() >= 3);
        assert!(!ticks(false, [3.0, 3.0]).is_empty() && !ticks(true, [3.0, 3.0]).is_empty());
    }

    #[test]
    fn bounds_are_kept() {
        let range = Range::of(&Axis::linear("share").within(0.0, 1.0), [5.0].into_iter()).between(10.0, 20.0);
        assert_eq!((range.ends(), range.place(0.5)), ((0.0, 1.0), 15.0));
        assert_eq!(range.ticks(&[]).len(), 6);
        let axis = Axis::log("D").marked_at([512.0, 256.0, 512.0]);
        assert_eq!(axis.ticks, [256.0, 512.0]);
    }
}
