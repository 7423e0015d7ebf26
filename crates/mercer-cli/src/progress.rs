//! Progress on a terminal, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer::Progress;
use mercer::dataset::{Block, Table};

use crate::failure::Failure;
use crate::memory::resident_bytes;

/// Set by Ctrl-C; the work ends at its next panel of rows, and files half written vanish.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Set while data is opened. Reading a pipe may wait for ever, and nobody asks [`interrupted`] meanwhile; nothing is
/// half done either, so Ctrl-C then ends the process.
static OPENING: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// A bar with rate and remaining time on a terminal; silent in a pipe.
pub(crate) struct Bar {
    visible: bool,
    current: Mutex<Option<ProgressBar>>,
    /// Said before the name of a stage.
    label: Mutex<String>,
    /// The stage that goes on, and the most bytes that were resident when a pass of each ended.
    memory: Mutex<(String, Vec<(String, u64)>)>,
}

impl Bar {
    /// Starts to listen for Ctrl-C. A second Ctrl-C ends the process at once.
    pub(crate) fn new(quiet: bool) -> Self {
        // Fails only where a handler is installed already, which is this one.
        let _ = ctrlc::set_handler(|| {
            let again = INTERRUPTED.swap(true, Ordering::SeqCst);
            let opening = OPENING.load(Ordering::SeqCst);
            if opening {
                Failure::from(mercer::Error::Interrupted).report();
            }
            if again || opening {
                mercer_io::remove_unfinished();
                std::process::exit(130);
            }
        });
        let visible = !quiet && std::io::stderr().is_terminal();
        Self { visible, current: Mutex::new(None), label: Mutex::default(), memory: Mutex::default() }
    }

    /// The most bytes that were resident when a pass of each stage ended, where the system tells.
    pub(crate) fn memory(&self) -> Vec<(String, u64)> {
        self.stages().1.clone()
    }

    fn stages(&self) -> std::sync::MutexGuard<'_, (String, Vec<(String, u64)>)> {
        self.memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn count_memory(&self) {
        let Some(bytes) = resident_bytes() else { return };
        let (stage, all) = &mut *self.stages();
        match all.iter_mut().find(|(name, _)| name == stage) {
            Some((_, most)) => *most = bytes.max(*most),
            None => all.push((stage.clone(), bytes)),
        }
    }

    /// Says from now on what the stages are part of.
    pub(crate) fn label(&self, text: String) {
        *self.label.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = text;
    }

    /// Runs `open`, which Ctrl-C may end at once.
    pub(crate) fn opening<T>(&self, open: impl FnOnce() -> T) -> Result<T, Failure> {
        OPENING.store(true, Ordering::SeqCst);
        // Pressed before the line above, Ctrl-C has only set the flag.
        let opened = if interrupted() { Err(mercer::Error::Interrupted.into()) } else { Ok(open()) };
        OPENING.store(false, Ordering::SeqCst);
        opened
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Option<ProgressBar>> {
        self.current.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Hands `each` every block of a table as it is stored, telling and asking `bar`.
pub(crate) fn for_each_block(
    bar: &Bar,
    stage: &str,
    table: &Table,
    mut each: impl FnMut(&Block) -> Result<(), Failure>,
) -> Result<(), Failure> {
    bar.start(stage, table.n_rows());
    let mut blocks = table.blocks(None)?;
    while let Some(block) = blocks.next_block()? {
        if interrupted() {
            return Err(mercer::Error::Interrupted.into());
        }
        each(&block)?;
        bar.advance(block.rows.n_rows() as u64);
    }
    bar.finish();
    Ok(())
}

impl Progress for Bar {
    fn start(&self, stage: &str, n_rows: u64) {
        stage.clone_into(&mut self.stages().0);
        if !self.visible {
            return;
        }
        let template = match n_rows {
            0 => "{msg:12} {human_pos} rows  {per_sec}",
            _ => "{msg:12} {wide_bar} {human_pos}/{human_len} rows  {per_sec}  {eta} left",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(n_rows), ProgressDrawTarget::stderr()).with_style(style);
        let label = self.label.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        bar.set_message(if label.is_empty() { stage.to_owned() } else { format!("{label}: {stage}") });
        *self.current() = Some(bar);
    }

    fn advance(&self, n_rows: u64) {
        if let Some(bar) = &*self.current() {
            bar.inc(n_rows);
        }
    }

    fn finish(&self) {
        self.count_memory();
        if let Some(bar) = self.current().take() {
            bar.finish_and_clear();
        }
    }

    fn interrupted(&self) -> bool {
        interrupted()
    }
}
