//! Run-time choice of the instruction set.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::Scalar;
use crate::vector::Vector;

/// An instruction set that this processor was seen to have: the proof an op needs to use it.
///
/// The results of every op are the same bits on all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// A loop to be compiled for every instruction set. `run` must be `#[inline(always)]`, with all it calls.
pub(crate) trait Op {
    type Output;
    fn run(self) -> Self::Output;
}

/// A loop over [`Vector`]s, to be compiled for every instruction set. `run` must be `#[inline(always)]`, with all it calls.
pub(crate) trait VectorOp<T> {
    fn run<V: Vector<Value = T>>(self);
}

/// An op with the vectors it runs on.
struct On<V, O>(O, PhantomData<V>);

impl<V: Vector, O: VectorOp<V::Value>> Op for On<V, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.run::<V>();
    }
}

impl InstructionSet {
    /// The environment variable that names a set to use in place of the widest: `portable`, `avx2` or `avx512`.
    pub const VARIABLE: &str = "MERCER_INSTRUCTION_SET";

    /// The set that the environment names, else the widest of this processor; found once.
    ///
    /// # Panics
    /// When the environment names a set that this processor has not: work on another one than was asked for would go
    /// unnoticed, as all give the same bits. A program that wants an error asks [`InstructionSet::from_environment`]
    /// first.
    pub fn best() -> Self {
        static BEST: OnceLock<InstructionSet> = OnceLock::new();
        *BEST.get_or_init(|| {
            let widest = || *Self::available().last().expect("the portable set is always there");
            Self::from_environment().unwrap_or_else(|error| panic!("{error}")).unwrap_or_else(widest)
        })
    }

    /// The set that the environment names, if it names one.
    ///
    /// # Errors
    /// What is wrong with the name: no set, or none of this processor.
    pub fn from_environment() -> Result<Option<Self>, String> {
        let Ok(name) = std::env::var(Self::VARIABLE) else { return Ok(None) };
        let available = Self::available();
        if let Some(set) = available.iter().find(|set| set.name() == name) {
            return Ok(Some(*set));
        }
        let names: Vec<&str> = available.iter().map(|set| set.name()).collect();
        Err(format!("{} is {name:?}; this processor has {}", Self::VARIABLE, names.join(", ")))
    }

    /// The name in the environment.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }

    /// All sets of this processor, narrowest first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "only x86-64 has more than one")]
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                levels.push(Level::Avx2);
                if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                    levels.push(Level::Avx512);
                }
            }
        }
        levels.into_iter().map(Self).collect()
    }

    /// Runs `op` in code compiled for this set.
    #[inline]
    pub(crate) fn run<O: Op>(self, op: O) -> O::Output {
        match self.0 {
            Level::Portable => op.run(),
            // SAFETY: a value of this level is only made by `available`, which saw every feature named below.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { run_avx2(op) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { run_avx512(op) },
        }
    }

    /// Runs `op` on the vectors of this set, in code compiled for it.
    #[inline]
    pub(crate) fn run_vectors<T: Scalar, O: VectorOp<T>>(self, op: O) {
        match self.0 {
            Level::Portable => On::<T::Portable, O>(op, PhantomData).run(),
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { run_avx2(On::<T::Avx2, O>(op, PhantomData)) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { run_avx512(On::<T::Avx512, O>(op, PhantomData)) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<O: Op>(op: O) -> O::Output {
    op.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn run_avx512<O: Op>(op: O) -> O::Output {
    op.run()
}

impl fmt::Debug for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
