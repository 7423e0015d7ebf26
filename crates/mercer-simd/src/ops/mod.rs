//! The vector loops, one algorithm a file.

pub mod arc_cosine;
pub mod cross;
pub mod distances;
pub mod dot;
pub mod exp;
pub mod finite;
pub mod hadamard;
pub mod overlap;
pub mod philox;
pub mod products;
pub mod random;
pub mod reflect;
pub mod rounds;
pub mod signed_sums;
pub mod sincos;
pub mod widen;
