//! Threads that are kept, and work that can be interrupted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use mercer::{Driver, Progress};
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::raised;

/// Values below which work is done before anybody could press a key: it is not worth a thread.
const SHORT: usize = 1 << 20;
/// How long a key press may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// Pools by process and number of threads: a forked process has none of its parent's threads.
static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// Told by the interpreter that the user wants an end.
#[derive(Default)]
struct Flag(AtomicBool);

impl Progress for Flag {
    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Options of every call that computes.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    /// threads, 0 for one of each core
    pub(crate) threads: usize,
    /// bytes for features that are kept; the default when absent
    pub(crate) memory: Option<u64>,
    /// values to be read or written, about
    pub(crate) size: usize,
}

/// Runs `work` without the interpreter's lock. While it runs the interpreter is asked for signals, so that Ctrl-C ends it.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    options: Options,
    work: impl FnOnce(&Driver<'_>) -> mercer::Result<R> + Send,
) -> PyResult<R> {
    let pool = pool(options.threads).map_err(raised)?;
    let flag = Flag::default();
    let driver = Driver::on(pool, &flag);
    let driver = match options.memory {
        Some(bytes) => driver.with_memory(bytes),
        None => driver,
    };
    if options.size < SHORT {
        return py.detach(|| work(&driver)).map_err(raised);
    }
    let driver = &driver;
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, ended) = channel();
            let worker = scope.spawn(move || {
                let result = work(driver);
                // The receiver waits until something is sent, or the sender is dropped.
                let _ = done.send(());
                result
            });
            let mut signal = None;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
                if signal.is_none()
                    && let Err(error) = Python::attach(signalled)
                {
                    signal = Some(error);
                    flag.0.store(true, Ordering::Relaxed);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            signal.map_or(result.map_err(raised), Err)
        })
    })
}

/// What a handler of signals raises.
fn signalled(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

fn pool(threads: usize) -> mercer::Result<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = Arc::new(Driver::pool(threads)?);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}
