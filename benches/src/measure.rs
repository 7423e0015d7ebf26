//! Timing, threads, and the line that reports a measurement.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Map, Value, json};

/// Numbers of threads that parallel work is measured with.
pub(crate) const THREADS: [usize; 2] = [1, 2];

/// Every measurement is the fastest of at least this many runs …
const LEAST_REPEATS: usize = 3;
/// … and of as many as fit in this time, up to the limit: `competitors.py` has the same three numbers.
const LEAST_TIME: Duration = Duration::from_secs(1);
const MOST_REPEATS: usize = 2_000;

/// The fastest run, and how many there were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) seconds: f64,
    pub(crate) repeats: usize,
}

/// Times `work`, once unmeasured first. Freeing its result is not counted, on either side.
pub(crate) fn fastest<R>(mut work: impl FnMut() -> R) -> Timing {
    fastest_after(|| (), |()| work())
}

/// Times `work` on what `prepare` makes, which is not counted.
pub(crate) fn fastest_after<S, R>(mut prepare: impl FnMut() -> S, mut work: impl FnMut(S) -> R) -> Timing {
    black_box(work(prepare()));
    let (mut least, mut total, mut repeats) = (Duration::MAX, Duration::ZERO, 0);
    while repeats < LEAST_REPEATS || (total < LEAST_TIME && repeats < MOST_REPEATS) {
        let input = black_box(prepare());
        let start = Instant::now();
        let result = black_box(work(input));
        let time = start.elapsed();
        drop(result);
        (least, total, repeats) = (least.min(time), total + time, repeats + 1);
    }
    Timing { seconds: least.as_secs_f64(), repeats }
}

/// A pool of as many threads.
pub(crate) fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

/// What is measured; the same words on both sides, so that the rows of a record find each other.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// the bench
    pub(crate) name: &'static str,
    /// shapes and types
    pub(crate) variant: String,
    pub(crate) threads: usize,
    /// amount of work, in `unit`s
    pub(crate) work: f64,
    /// `flop`, `row` or `element`
    pub(crate) unit: &'static str,
}

impl Case {
    /// Prints a measurement of mercer.
    pub(crate) fn report(&self, timing: Timing) {
        self.report_of("mercer", timing, &[]);
    }

    /// Prints a measurement of `by`, with further numbers.
    pub(crate) fn report_of(&self, by: &str, timing: Timing, further: &[(&str, f64)]) {
        let mut line = Map::new();
        let rate = self.work / timing.seconds;
        let fields = [
            ("name", json!(self.name)),
            ("variant", json!(self.variant)),
            ("threads", json!(self.threads)),
            ("by", json!(by)),
            ("seconds", json!(timing.seconds)),
            ("repeats", json!(timing.repeats)),
            ("work", json!(self.work)),
            ("unit", json!(self.unit)),
            ("unit_rate", json!(rate)),
        ];
        line.extend(fields.map(|(key, value)| (key.to_owned(), value)));
        line.extend(further.iter().map(|&(key, value)| (key.to_owned(), json!(value))));
        println!("{}", Value::Object(line));
    }
}

/// Says that (a part of) a bench was not measured, and why.
pub(crate) fn skip(name: &str, reason: &str) {
    println!("{}", json!({ "name": name, "by": "mercer", "skipped": reason }));
}
