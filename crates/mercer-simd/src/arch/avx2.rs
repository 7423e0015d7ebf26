//! Vectors of 256 bits.
//!
//! A value of these types exists only in code that runs under an [`InstructionSet`](crate::InstructionSet) that has them:
//! that is what every `unsafe` below stands on.
//!
//! Butterflies within a vector: its values beside their partners, ±1 times the values added to them. A product by ±1 is
//! exact, so the fused operation rounds once, as the sum or difference does.

use std::arch::x86_64::*;

use crate::vector::Vector;

impl Vector for __m256 {
    type Value = f32;
    const LANES: usize = 8;
    const HELD: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_ps(to, self) }
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_fmadd_ps(self, factor, term) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_add_ps(self, other) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_sub_ps(self, other) }
    }

    #[inline(always)]
    fn distance(self, other: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), _mm256_sub_ps(self, other)) }
    }

    #[inline(always)]
    fn butterflies(self) -> Self {
        const STRIDE_1: [f32; 8] = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        const STRIDE_2: [f32; 8] = [1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0];
        const STRIDE_4: [f32; 8] = [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0];
        let x = self;
        // SAFETY: see the module's head; the arrays have the length of a vector.
        unsafe {
            let x = _mm256_fmadd_ps(x, Self::load(STRIDE_1.as_ptr()), _mm256_permute_ps::<0b10_11_00_01>(x));
            let x = _mm256_fmadd_ps(x, Self::load(STRIDE_2.as_ptr()), _mm256_permute_ps::<0b01_00_11_10>(x));
            _mm256_fmadd_ps(x, Self::load(STRIDE_4.as_ptr()), _mm256_permute2f128_ps::<1>(x, x))
        }
    }
}

impl Vector for __m256d {
    type Value = f64;
    const LANES: usize = 4;
    const HELD: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_pd(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_pd(to, self) }
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_set1_pd(value) }
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_fmadd_pd(self, factor, term) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_add_pd(self, other) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_sub_pd(self, other) }
    }

    #[inline(always)]
    fn distance(self, other: Self) -> Self {
        // SAFETY: see the module's head.
        unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(self, other)) }
    }

    #[inline(always)]
    fn butterflies(self) -> Self {
        const STRIDE_1: [f64; 4] = [1.0, -1.0, 1.0, -1.0];
        const STRIDE_2: [f64; 4] = [1.0, 1.0, -1.0, -1.0];
        let x = self;
        // SAFETY: see the module's head; the arrays have the length of a vector.
        unsafe {
            let x = _mm256_fmadd_pd(x, Self::load(STRIDE_1.as_ptr()), _mm256_permute_pd::<0b0101>(x));
            _mm256_fmadd_pd(x, Self::load(STRIDE_2.as_ptr()), _mm256_permute2f128_pd::<1>(x, x))
        }
    }
}
