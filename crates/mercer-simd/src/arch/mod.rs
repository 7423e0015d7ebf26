//! The vectors of each instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

pub(crate) use portable::Single;

use crate::vector::Vectors;

impl Vectors for f32 {
    type Portable = portable::Lanes<f32>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = std::arch::x86_64::__m256;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = std::arch::x86_64::__m512;
}

impl Vectors for f64 {
    type Portable = portable::Lanes<f64>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = std::arch::x86_64::__m256d;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = std::arch::x86_64::__m512d;
}
