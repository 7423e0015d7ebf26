//! All tests of the library from outside, one program: each would compile the generic code anew.

// A test that fails may panic, also in its helpers.
#![allow(clippy::unwrap_used)]

mod contract;
mod data;
mod kernels;
mod kernels_reference;
mod landmarks;
mod learners;
mod metrics;
mod online;
mod pipeline;
mod probabilities;
mod products;
mod projections;
mod search;
mod spectral;
mod statistics;
mod tables;
