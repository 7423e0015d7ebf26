//! Vectors of one register: what an op needs of them where the compiler cannot find it in a plain loop.

use crate::Scalar;

/// As many values as a register holds. The operations are those of the values, one rounding each, so that the results do
/// not depend on the width.
pub(crate) trait Vector: Copy {
    /// The type of a value.
    type Value: Scalar;
    /// Values in a vector.
    const LANES: usize;
    /// Vectors that are kept in registers at once: a power of two, at most half of what the processor has.
    const HELD: usize;

    /// The values from `from` on.
    ///
    /// # Safety
    /// `LANES` values can be read there.
    unsafe fn load(from: *const Self::Value) -> Self;

    /// Writes the values from `to` on.
    ///
    /// # Safety
    /// `LANES` values can be written there.
    unsafe fn store(self, to: *mut Self::Value);

    /// One value everywhere.
    fn splat(value: Self::Value) -> Self;

    /// self · factor + term, value by value, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;

    /// Value by value.
    fn add(self, other: Self) -> Self;

    /// Value by value.
    fn sub(self, other: Self) -> Self;

    /// |self − other|, value by value.
    fn distance(self, other: Self) -> Self;

    /// The butterflies of strides 1, 2, … `LANES` / 2 within the vector: (a, b) to (a + b, a − b).
    fn butterflies(self) -> Self;
}

/// The vectors of a value's type on each instruction set.
pub trait Vectors: Sized {
    /// Of any processor.
    #[allow(private_bounds, reason = "only ops use it")]
    type Portable: Vector<Value = Self>;
    /// Of 256 bits.
    #[cfg(target_arch = "x86_64")]
    #[allow(private_bounds, reason = "only ops use it")]
    type Avx2: Vector<Value = Self>;
    /// Of 512 bits.
    #[cfg(target_arch = "x86_64")]
    #[allow(private_bounds, reason = "only ops use it")]
    type Avx512: Vector<Value = Self>;
}
