//! Maps with one fault each.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ThreadId};

use mercer::Scalar;
use mercer::dataset::{CsrMatrix, Rows};
use mercer::feature_maps::{FeatureMap, FourierMap};
use mercer::kernels::Kernel;
use mercer::{Dtype, Result};
use ndarray::{Array2, ArrayViewMut2, Axis, s};

use super::checks::{Factory, Theory};

/// What is wrong with a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    FewerComponents,
    NanForZeroRows,
    FirstCall,
    SubtractsBatchMean,
    SingleRow,
    LongBatch,
    DropsLastSparseColumn,
    CountsStoredValues,
    ReadsScratch,
    AddsToOut,
    Thread,
    CountedSeed,
    SeedIgnored,
    ShortSeed,
    AcceptsAnyWidth,
    PanicsOnWidth,
    OtherNumbersInF32,
    Scale,
    Gamma,
    SmallBias,
    EqualPairs,
    Repeats64,
}

/// A factory of Fourier maps with a fault.
pub(crate) struct Broken {
    pub(crate) fault: Fault,
    pub(crate) gamma: f64,
    pub(crate) theory: Theory,
}

struct BrokenMap<T> {
    fault: Fault,
    inner: FourierMap<T>,
    n_components: usize,
    called: AtomicBool,
    home: ThreadId,
}

static BUILT: AtomicU64 = AtomicU64::new(0);

impl Factory for Broken {
    fn build<T: Scalar>(&self, n_inputs: usize, n_components: usize, seed: u64) -> Box<dyn FeatureMap<T>> {
        let seed = match self.fault {
            Fault::CountedSeed => BUILT.fetch_add(1, Ordering::Relaxed),
            Fault::SeedIgnored => 0,
            Fault::ShortSeed => u64::from(seed as u32),
            Fault::OtherNumbersInF32 if T::DTYPE == Dtype::Float32 => seed ^ 0x5555,
            _ => seed,
        };
        let gamma = if self.fault == Fault::Gamma { self.gamma * 2.0_f64.sqrt() } else { self.gamma };
        let n_drawn = match self.fault {
            // Pairs of cosine and sine cannot be halved below one.
            Fault::EqualPairs if n_components.is_multiple_of(4) => n_components / 2,
            Fault::Repeats64 => n_components.min(64),
            _ => n_components,
        };
        let n_components = if self.fault == Fault::FewerComponents { n_components - 1 } else { n_components };
        let inner = FourierMap::new(n_inputs, n_drawn, gamma, seed).unwrap();
        let (called, home) = (AtomicBool::new(false), thread::current().id());
        Box::new(BrokenMap { fault: self.fault, inner, n_components, called, home })
    }

    fn kernel(&self) -> Kernel {
        Kernel::Rbf { gamma: self.gamma }
    }

    fn theory(&self) -> Theory {
        self.theory
    }
}

impl<T: Scalar> FeatureMap<T> for BrokenMap<T> {
    fn n_inputs(&self) -> usize {
        self.inner.n_inputs()
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        self.inner.scratch_len(n_rows) + 1
    }

    fn transform_into(&self, rows: Rows<'_, T>, out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        match self.change_rows(rows) {
            Some(changed) => self.transform_changed_into(changed.view().into(), out, scratch),
            None => self.transform_changed_into(rows, out, scratch),
        }
    }
}

impl<T: Scalar> BrokenMap<T> {
    fn transform_changed_into(
        &self,
        rows: Rows<'_, T>,
        mut out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        let mut drawn = Array2::zeros((rows.n_rows(), self.inner.n_components()));
        self.inner.transform_into(rows, drawn.view_mut(), &mut scratch[1..])?;
        let copies = self.n_components as f64 / drawn.ncols() as f64;
        let copied = T::from_f64((1.0 / copies).sqrt());
        let features = Array2::from_shape_fn(out.dim(), |(i, j)| match self.fault {
            Fault::EqualPairs | Fault::Repeats64 => drawn[[i, j % drawn.ncols()]] * copied,
            _ => drawn[[i, j]],
        });
        if self.fault == Fault::AddsToOut {
            out.zip_mut_with(&features, |out, &value| *out = *out + value);
        } else {
            out.assign(&features);
        }
        self.change_features(rows, out, scratch[0]);
        Ok(())
    }

    /// The rows as the fault sees them, where it changes them.
    fn change_rows(&self, rows: Rows<'_, T>) -> Option<CsrMatrix<T>> {
        let width = self.inner.n_inputs();
        let sparse = matches!(rows, Rows::Sparse(_));
        let kept = match self.fault {
            Fault::DropsLastSparseColumn if sparse && rows.n_inputs() == width => width - 1,
            Fault::AcceptsAnyWidth if rows.n_inputs() != width => width,
            Fault::PanicsOnWidth if rows.n_inputs() != width => panic!("{} inputs", rows.n_inputs()),
            _ => return None,
        };
        let mut dense = Array2::zeros((rows.n_rows(), rows.n_inputs()));
        rows.write_dense(dense.view_mut());
        let mut changed = CsrMatrix::new(width);
        for row in dense.outer_iter() {
            row.iter().take(kept).enumerate().for_each(|(j, &value)| changed.push(j, value).unwrap());
            changed.finish_row();
        }
        Some(changed)
    }

    fn change_features(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: T) {
        let slightly = 1.0 + 1e-5;
        let first = !self.called.swap(true, Ordering::Relaxed);
        let n_rows = out.nrows();
        match self.fault {
            Fault::NanForZeroRows => {
                let mut dense = Array2::zeros((rows.n_rows(), rows.n_inputs()));
                rows.write_dense(dense.view_mut());
                for (mut out, row) in out.outer_iter_mut().zip(dense.outer_iter()) {
                    let length = row.dot(&row);
                    out.mapv_inplace(|value| value * length / length);
                }
            }
            // The check of no rows is the first call; only the next one shows features.
            Fault::FirstCall if n_rows == 0 => self.called.store(false, Ordering::Relaxed),
            Fault::FirstCall if first => scale(out, slightly),
            Fault::SubtractsBatchMean if n_rows > 0 => {
                let mean = out.sum_axis(Axis(0)) / T::from_f64(n_rows as f64);
                out.outer_iter_mut().for_each(|mut row| row.zip_mut_with(&mean, |x, &mean| *x = *x - mean));
            }
            Fault::SingleRow if n_rows == 1 => scale(out, slightly),
            Fault::LongBatch if n_rows > 256 => scale(out.slice_mut(s![256.., ..]), slightly),
            Fault::CountsStoredValues => {
                if let Rows::Sparse(x) = rows
                    && x.nnz() == x.n_rows() * x.n_columns()
                {
                    scale(out, slightly);
                }
            }
            Fault::ReadsScratch => out.mapv_inplace(|value| value + scratch),
            Fault::Thread if thread::current().id() != self.home => scale(out, slightly),
            Fault::Scale => scale(out, 1.05),
            // Well below what one seed could show.
            Fault::SmallBias => scale(out, 1.0 + 1e-4),
            _ => (),
        }
    }
}

fn scale<T: Scalar>(mut out: ArrayViewMut2<'_, T>, factor: f64) {
    out.mapv_inplace(|value| value * T::from_f64(factor));
}
