//! The sealed pair of float types that all of mercer is written over.

use std::fmt::{self, Debug, Display};
use std::iter::Sum;

use ndarray::{LinalgScalar, ScalarOperand};
use num_traits::Float;
use serde::{Deserialize, Serialize};

use crate::fft::RealFft;
use crate::ops::arc_cosine::ArcCosineLane;
use crate::ops::exp::ExpLane;
use crate::ops::sincos::SincosLane;
use crate::vector::Vectors;

/// A float type of the data: `f32` or `f64`.
///
/// Sealed. Code is written once over `Scalar`; the type is chosen once, where a pipeline is built.
pub trait Scalar:
    Float
    + LinalgScalar
    + ScalarOperand
    + Sum
    + Debug
    + Display
    + Default
    + Send
    + Sync
    + SincosLane
    + ExpLane
    + ArcCosineLane
    + Vectors
    + sealed::Sealed
{
    /// The name of the type in specs and model files.
    const DTYPE: Dtype;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// The same value in f64: exact.
    fn to_f64(self) -> f64;

    /// [`RealFft::new`].
    #[doc(hidden)]
    fn plan_fft(len: usize) -> RealFft<Self>;
}

/// The name of a [`Scalar`] type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// `f32`
    #[default]
    Float32,
    /// `f64`
    Float64,
}

impl Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Float32 => "float32",
            Self::Float64 => "float64",
        })
    }
}

impl Scalar for f32 {
    const DTYPE: Dtype = Dtype::Float32;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn plan_fft(len: usize) -> RealFft<Self> {
        RealFft::planned(realfft::RealFftPlanner::new(), len)
    }
}

impl Scalar for f64 {
    const DTYPE: Dtype = Dtype::Float64;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    fn plan_fft(len: usize) -> RealFft<Self> {
        RealFft::planned(realfft::RealFftPlanner::new(), len)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
