//! Choices made by the data: λ of a ridge model, on rows held out or by cross-validation.

pub(crate) mod lambda;

pub use lambda::{Candidate, FoldScores, LambdaChoice, Validation};
