//! The vector loops (*ops*) of mercer, and its one door to dense matrix products.
//!
//! This is the only crate of the project with `unsafe` code, but for one block where Python hands over a pointer, and it
//! keeps that to few places: the jump into code compiled for a wider instruction set ([`InstructionSet`]), the vectors of
//! the Walsh-Hadamard transform ([`ops::hadamard`], [`ops::rounds`]), the call of the `gemm` crate ([`matmul_into`]) and
//! hints about memory to the system ([`huge_pages`]) and to the processor ([`prefetch`]).
//! An op is ordinary Rust, written once for both float types and compiled once per instruction set, so every
//! instruction set gives the same bits (see `docs/decisions/0002-ops-are-plain-loops.md`).
//!
//! ```
//! use mercer_simd::{Update, matmul_into};
//! use ndarray::{Array2, array};
//!
//! let mut product = Array2::zeros((1, 2));
//! matmul_into(array![[1.0_f32, 2.0]].view(), array![[3.0, 4.0], [5.0, 6.0]].view(), product.view_mut(), Update::Set);
//! assert_eq!(product, array![[13.0, 16.0]]);
//! ```

mod aligned;
mod arch;
mod csr;
mod dispatch;
pub mod fft;
pub mod huge_pages;
mod matmul;
pub mod ops;
mod prefetch;
mod scalar;
mod vector;

pub use aligned::{ALIGNMENT_SLACK, Aligned, aligned_part};
pub use csr::{CsrError, CsrMatrix, CsrView, Index, IndexSlice, csr_matmul_into};
pub use dispatch::InstructionSet;
pub use matmul::{K_PANEL, Update, matmul_into};
pub use prefetch::prefetch;
pub use scalar::{Dtype, Scalar};
