//! Vectors of any processor: arrays that the compiler puts into its registers.

use crate::Scalar;
use crate::vector::Vector;

const LANES: usize = 4;

#[derive(Clone, Copy)]
#[allow(unreachable_pub, reason = "the sealed trait of float types names it")]
pub struct Lanes<T>([T; LANES]);

impl<T: Scalar> Vector for Lanes<T> {
    type Value = T;
    const LANES: usize = LANES;
    const HELD: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { from.cast::<[T; LANES]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[T; LANES]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    fn splat(value: T) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        let mut out = self.0;
        for ((out, factor), term) in out.iter_mut().zip(factor.0).zip(term.0) {
            *out = out.mul_add(factor, term);
        }
        Self(out)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut sum = self.0;
        for (sum, x) in sum.iter_mut().zip(other.0) {
            *sum = *sum + x;
        }
        Self(sum)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let mut difference = self.0;
        for (difference, x) in difference.iter_mut().zip(other.0) {
            *difference = *difference - x;
        }
        Self(difference)
    }

    #[inline(always)]
    fn distance(self, other: Self) -> Self {
        let mut distance = self.sub(other);
        distance.0.iter_mut().for_each(|x| *x = x.abs());
        distance
    }

    #[inline(always)]
    fn butterflies(self) -> Self {
        let mut x = self.0;
        for stride in [1, 2] {
            for pair in 0..LANES / 2 {
                let a = pair / stride * 2 * stride + pair % stride;
                (x[a], x[a + stride]) = (x[a] + x[a + stride], x[a] - x[a + stride]);
            }
        }
        Self(x)
    }
}

/// A vector of one value, for what is too short or too narrow for more.
#[derive(Clone, Copy)]
pub(crate) struct Single<T>(T);

impl<T: Scalar> Vector for Single<T> {
    type Value = T;
    const LANES: usize = 1;
    const HELD: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { *from })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller's promise.
        unsafe { *to = self.0 };
    }

    #[inline(always)]
    fn splat(value: T) -> Self {
        Self(value)
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(self.0.mul_add(factor.0, term.0))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }

    #[inline(always)]
    fn distance(self, other: Self) -> Self {
        Self((self.0 - other.0).abs())
    }

    #[inline(always)]
    fn butterflies(self) -> Self {
        self
    }
}
