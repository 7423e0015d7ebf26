//! A time after which work ends.

use std::time::Instant;

use crate::driver::Progress;

/// Tells another [`Progress`], and asks for an end when the time has come.
pub struct Deadline<'p> {
    inner: &'p dyn Progress,
    at: Option<Instant>,
}

impl<'p> Deadline<'p> {
    /// Never, where no time is given.
    pub fn new(inner: &'p dyn Progress, at: Option<Instant>) -> Self {
        Self { inner, at }
    }
}

impl Progress for Deadline<'_> {
    fn start(&self, stage: &str, n_rows: u64) {
        self.inner.start(stage, n_rows);
    }

    fn advance(&self, n_rows: u64) {
        self.inner.advance(n_rows);
    }

    fn finish(&self) {
        self.inner.finish();
    }

    fn interrupted(&self) -> bool {
        self.inner.interrupted() || self.at.is_some_and(|at| Instant::now() >= at)
    }
}
