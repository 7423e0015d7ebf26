//! Fixed panels of rows in the float type.

use std::borrow::Cow;

use mercer_simd::{CsrMatrix, Scalar};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

use super::{Block, BlockRows, Blocks, Dataset, Rows, Selection, TargetBlock, TargetEncoder};
use crate::{Error, Result};

/// Rows whose products are summed in the float type; across them sums are kept in f64. A panel holds one or a few
/// such groups, whole but for the last.
pub const SUM_ROWS: usize = 512;

/// Rows of a panel whose widest form has `width` values a row: as many groups as keep it within 8 million values
/// (32 MB in f32), one to four. Four let a tile of sums stay in cache for four products.
pub fn panel_rows(width: usize) -> usize {
    const MAX_VALUES: usize = 1 << 23;
    SUM_ROWS * (MAX_VALUES / (SUM_ROWS * width.max(1))).clamp(1, 4)
}

/// Some selected rows, in order: [`panel_rows`] of them, the last panel of a pass fewer.
#[derive(Clone, Debug)]
pub struct Panel<T> {
    /// The rows.
    pub rows: PanelRows<T>,
    /// Their targets, where an encoder was given.
    pub targets: PanelTargets,
    /// Rows of the dataset that were passed to fill this panel, selected or not: for progress.
    pub n_passed: u64,
}

/// The rows of a panel.
#[derive(Clone, Debug)]
pub enum PanelRows<T> {
    /// Row-major.
    Dense(Array2<T>),
    /// Compressed sparse rows.
    Sparse(CsrMatrix<T>),
}

/// The targets of a panel.
#[derive(Clone, Debug)]
pub enum PanelTargets {
    /// Not asked for.
    None,
    /// Class numbers.
    Classes(Vec<u32>),
    /// Real values, a row each.
    Real(Array2<f64>),
    /// As the source has them, in pieces.
    AsStored(Vec<TargetBlock>),
}

/// What becomes of targets on the way into panels.
#[derive(Clone, Copy, Debug)]
pub enum TargetUse<'a> {
    /// They are left out.
    None,
    /// They become what the encoder makes of them.
    Encoded(&'a TargetEncoder),
    /// They stay as they are, where there are any.
    AsStored,
}

impl<T: Scalar> PanelRows<T> {
    /// The rows, borrowed.
    pub fn view(&self) -> Rows<'_, T> {
        match self {
            Self::Dense(x) => Rows::Dense(x.view()),
            Self::Sparse(x) => Rows::Sparse(x.view()),
        }
    }
}

/// One pass over a dataset in panels.
pub struct Panels<'a, T> {
    blocks: Blocks<'a>,
    n_inputs: usize,
    name: &'a str,
    targets: TargetUse<'a>,
    selection: Selection,
    panel_rows: usize,
    n_expected: u64,
    n_read: u64,
    waiting: Option<Waiting<'a>>,
    phantom: std::marker::PhantomData<T>,
}

/// A block that is partly used: its selected rows still to come.
struct Waiting<'a> {
    block: Cow<'a, Block>,
    targets: PanelTargets,
    selected: Vec<usize>,
    used: usize,
    n_passed: u64,
}

impl<'a, T: Scalar> Panels<'a, T> {
    /// Starts a pass. Sparse rows are widened to `n_inputs`; dense ones must have it. With an `encoder` every row
    /// has a target, and `selection` is stratified by class.
    ///
    /// # Errors
    /// When the source cannot be opened again.
    pub fn new(dataset: &'a Dataset, n_inputs: usize, targets: TargetUse<'a>, selection: Selection) -> Result<Self> {
        let (blocks, name) = (dataset.blocks()?, dataset.info().name.as_str());
        let panel_rows = panel_rows(n_inputs);
        let phantom = std::marker::PhantomData;
        let n_expected = dataset.n_rows();
        Ok(Self {
            blocks,
            n_inputs,
            name,
            targets,
            selection,
            panel_rows,
            n_expected,
            n_read: 0,
            waiting: None,
            phantom,
        })
    }

    /// The same pass in panels that suit rows of `width` features.
    #[must_use]
    pub fn sized_for(mut self, width: usize) -> Self {
        self.panel_rows = panel_rows(width.max(self.n_inputs));
        self
    }

    /// The next panel; `None` after the last row.
    ///
    /// # Errors
    /// What the source finds wrong, rows of another width, or targets that do not fit the encoder.
    pub fn next_panel(&mut self) -> Result<Option<Panel<T>>> {
        let mut panel: Option<Panel<T>> = None;
        let mut filled = 0;
        while filled < self.panel_rows {
            let Some(mut waiting) = self.next_waiting()? else { break };
            let take = (self.panel_rows - filled).min(waiting.selected.len() - waiting.used);
            let panel = panel.get_or_insert_with(|| self.empty_panel(&waiting));
            panel.append(&waiting, take, filled);
            panel.n_passed += std::mem::take(&mut waiting.n_passed);
            filled += take;
            waiting.used += take;
            self.waiting = (waiting.used < waiting.selected.len()).then_some(waiting);
        }
        if let Some(panel) = &mut panel {
            panel.truncate(filled);
        }
        Ok(panel.filter(|_| filled > 0))
    }

    /// The block in use or the next that has selected rows.
    fn next_waiting(&mut self) -> Result<Option<Waiting<'a>>> {
        if let Some(waiting) = self.waiting.take() {
            return Ok(Some(waiting));
        }
        let mut n_passed = 0;
        while let Some(block) = self.blocks.next_block()? {
            self.check_width(&block)?;
            let targets = self.encode(&block)?;
            let selected: Vec<usize> = (0..block.rows.n_rows())
                .filter(|&i| self.selection.takes(if let PanelTargets::Classes(x) = &targets { x[i] } else { 0 }))
                .collect();
            n_passed += block.rows.n_rows() as u64;
            self.n_read += block.rows.n_rows() as u64;
            self.check_count(self.n_read <= self.n_expected)?;
            if !selected.is_empty() {
                return Ok(Some(Waiting { block, targets, selected, used: 0, n_passed }));
            }
        }
        self.check_count(self.n_read == self.n_expected)?;
        Ok(None)
    }

    fn check_count(&self, as_scanned: bool) -> Result<()> {
        if as_scanned {
            return Ok(());
        }
        Err(Error::Changed { name: self.name.to_owned(), got: self.n_read, expected: self.n_expected })
    }

    fn check_width(&self, block: &Block) -> Result<()> {
        let got = block.rows.n_inputs();
        let sparse = matches!(block.rows, BlockRows::Sparse32(_) | BlockRows::Sparse64(_));
        if got == self.n_inputs || (sparse && got < self.n_inputs) {
            return Ok(());
        }
        Err(Error::Inputs { context: self.name.to_owned(), got, expected: self.n_inputs })
    }

    fn encode(&self, block: &Block) -> Result<PanelTargets> {
        let encoder = match (self.targets, &block.targets) {
            (TargetUse::None, _) | (TargetUse::AsStored, None) => return Ok(PanelTargets::None),
            (TargetUse::AsStored, Some(targets)) => return Ok(PanelTargets::AsStored(vec![targets.clone()])),
            (TargetUse::Encoded(encoder), _) => encoder,
        };
        let targets = block.targets.as_ref().ok_or_else(|| Error::Targets(format!("{} has no targets", self.name)))?;
        Ok(match encoder {
            TargetEncoder::Classes { .. } => PanelTargets::Classes(encoder.class_numbers(targets)?),
            TargetEncoder::Real { .. } => PanelTargets::Real(encoder.real_values(targets)?),
        })
    }

    fn empty_panel(&self, like: &Waiting<'_>) -> Panel<T> {
        let rows = match like.block.rows {
            BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => PanelRows::Sparse(CsrMatrix::new(self.n_inputs)),
            _ => PanelRows::Dense(Array2::zeros((self.panel_rows, self.n_inputs))),
        };
        let targets = match &like.targets {
            PanelTargets::None => PanelTargets::None,
            PanelTargets::AsStored(_) => PanelTargets::AsStored(Vec::new()),
            PanelTargets::Classes(_) => PanelTargets::Classes(Vec::with_capacity(self.panel_rows)),
            PanelTargets::Real(x) => PanelTargets::Real(Array2::zeros((self.panel_rows, x.ncols()))),
        };
        Panel { rows, targets, n_passed: 0 }
    }
}

impl<T: Scalar> Panel<T> {
    /// Adds the next `take` selected rows of a block behind the `filled` rows that are there.
    fn append(&mut self, from: &Waiting<'_>, take: usize, filled: usize) {
        let selected = &from.selected[from.used..from.used + take];
        match (&mut self.rows, &from.block.rows) {
            (PanelRows::Dense(out), rows) => {
                let out = out.slice_mut(s![filled..filled + take, ..]);
                match rows {
                    BlockRows::Bytes(x) => copy_rows(x.view(), selected, out, |v| T::from_f64(f64::from(v))),
                    BlockRows::Dense32(x) => copy_rows(x.view(), selected, out, |v| T::from_f64(f64::from(v))),
                    BlockRows::Dense64(x) => copy_rows(x.view(), selected, out, T::from_f64),
                    BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => unreachable!("a dense panel of sparse rows"),
                }
            }
            (PanelRows::Sparse(out), BlockRows::Sparse32(x)) => append_sparse(out, x, selected, f64::from),
            (PanelRows::Sparse(out), BlockRows::Sparse64(x)) => append_sparse(out, x, selected, |v| v),
            (PanelRows::Sparse(_), _) => unreachable!("a sparse panel of dense rows"),
        }
        match (&mut self.targets, &from.targets) {
            (PanelTargets::Classes(out), PanelTargets::Classes(x)) => out.extend(selected.iter().map(|&i| x[i])),
            (PanelTargets::AsStored(out), PanelTargets::AsStored(x)) => {
                out.extend(x.iter().map(|targets| targets.select(selected)));
            }
            (PanelTargets::Real(out), PanelTargets::Real(x)) => {
                copy_rows(x.view(), selected, out.slice_mut(s![filled..filled + take, ..]), |v| v);
            }
            _ => (),
        }
    }

    fn truncate(&mut self, n_rows: usize) {
        if let PanelRows::Dense(x) = &mut self.rows
            && x.nrows() > n_rows
        {
            *x = x.slice(s![..n_rows, ..]).to_owned();
        }
        if let PanelTargets::Real(x) = &mut self.targets
            && x.nrows() > n_rows
        {
            *x = x.slice(s![..n_rows, ..]).to_owned();
        }
    }
}

fn copy_rows<S: Copy, T>(
    from: ArrayView2<'_, S>,
    rows: &[usize],
    mut to: ArrayViewMut2<'_, T>,
    convert: impl Fn(S) -> T,
) {
    for (&i, mut to) in rows.iter().zip(to.outer_iter_mut()) {
        to.zip_mut_with(&from.index_axis(Axis(0), i), |to, &from| *to = convert(from));
    }
}

fn append_sparse<S: Scalar, T: Scalar>(
    to: &mut CsrMatrix<T>,
    from: &CsrMatrix<S>,
    rows: &[usize],
    convert: impl Fn(S) -> f64,
) {
    for run in rows.chunk_by(|a, b| a + 1 == *b) {
        to.push_converted(from, run[0]..run[0] + run.len(), |value| T::from_f64(convert(value)));
    }
}
