//! What can go wrong in the library.

use mercer_simd::Dtype;
use thiserror::Error;

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// Each variant carries what it found and what it wanted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A source of rows failed: a file, a stream. The inner error names the place.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),

    /// A parameter is outside its range.
    #[error("{name} is {got}, must be {expected}")]
    Parameter {
        /// as it is spelled in specs and flags
        name: &'static str,
        /// the value given
        got: String,
        /// the range
        expected: &'static str,
    },

    /// Rows have another width than was fitted or declared.
    #[error("{context}: rows have {got} inputs, expected {expected}")]
    Inputs {
        /// who counted
        context: String,
        /// inputs found
        got: usize,
        /// inputs wanted
        expected: usize,
    },

    /// Rows so wide that a map of them fits no ordinary memory.
    #[error(
        "{context} has {n_inputs} inputs in a row, too many for a map of {n_components} components; number the inputs \
         without gaps, or use fewer components"
    )]
    TooWide {
        /// which rows
        context: String,
        /// inputs found
        n_inputs: usize,
        /// components asked for
        n_components: usize,
    },

    /// All products of inputs, more than memory holds.
    #[error(
        "all products of {degree} of {n_inputs} inputs are {n_components} features: {bytes} bytes for {what}, more than memory holds; \
         use a smaller degree, fewer inputs, or a sketch of the products (tensor_srht, tensor_sketch)"
    )]
    Expansion {
        /// inputs of a product
        degree: u32,
        /// inputs of a row
        n_inputs: usize,
        /// all products
        n_components: usize,
        /// what would have to be kept
        what: &'static str,
        /// how much it takes
        bytes: u128,
    },

    /// More memory than there is.
    #[error(
        "{what} take {bytes} bytes, more than the system gives; use a smaller n_components, or degree of an expansion"
    )]
    Memory {
        /// what was to be kept, in the plural
        what: String,
        /// how much it takes
        bytes: u128,
    },

    /// More memory than there is, to choose landmarks.
    #[error(
        "budget {method} takes {bytes} bytes to choose {n_landmarks} landmarks of {n_candidates} rows, more than the system gives; \
         use fewer landmarks (a smaller n_components), or budget uniform, which takes none"
    )]
    BudgetMemory {
        /// how landmarks were to be chosen
        method: &'static str,
        /// rows to choose from
        n_candidates: usize,
        /// how many were to be chosen
        n_landmarks: usize,
        /// how much it takes
        bytes: u128,
    },

    /// A value that is not finite.
    #[error("row {row}, input {input} is {value}; every value must be finite")]
    NotFinite {
        /// counted from 0 over the whole source
        row: u64,
        /// counted from 0
        input: usize,
        /// as it was found
        value: f64,
    },

    /// A value below 0 where a kernel has none.
    #[error(
        "row {row}, input {input} is {value}; a chi-squared kernel takes values of at least 0: shift or scale them"
    )]
    Negative {
        /// counted from 0
        row: u64,
        /// counted from 0
        input: usize,
        /// as it was found
        value: f64,
    },

    /// A value at or below −c where the skewed χ² kernel has none.
    #[error(
        "row {row}, input {input} is {value}; the skewed chi-squared kernel of skewedness {skewedness} takes values above \
         -{skewedness}: shift them (as min-max does), or use a larger skewedness"
    )]
    TooNegative {
        /// counted from 0
        row: u64,
        /// counted from 0
        input: usize,
        /// as it was found
        value: f64,
        /// c
        skewedness: f64,
    },

    /// The features of a row overflow the float type.
    #[error("row {row} (the first is 0) has values too large to be computed in {dtype}; scale them, or use float64")]
    TooLarge {
        /// counted from 0 over the whole source
        row: u64,
        /// the type computed in
        dtype: Dtype,
    },

    /// Values overflow the float type while learning.
    #[error("{context}: values too large to be learned in {dtype}; scale them, or use float64")]
    Overflow {
        /// which rows
        context: String,
        /// the type computed in
        dtype: Dtype,
    },

    /// A source gives other rows than when it was scanned.
    #[error("{name} changed while it was read: {got} rows, {expected} before; run again when it is complete")]
    Changed {
        /// the source
        name: String,
        /// rows now, as far as read
        got: u64,
        /// rows of the scan
        expected: u64,
    },

    /// Columns cannot be made numbers.
    #[error("{context}: column {column} {reason}")]
    Column {
        /// which rows
        context: String,
        /// its name in quotes, or its number counted from 1
        column: String,
        /// what is wrong and what to do
        reason: String,
    },

    /// The targets cannot be learned from.
    #[error("{0}")]
    Targets(String),

    /// There are no rows, or too few.
    #[error("{context} has {got} rows, needs at least {expected}")]
    TooFewRows {
        /// which rows
        context: String,
        /// how many there are
        got: u64,
        /// how many are needed
        expected: u64,
    },

    /// A linear system has no stable solution.
    #[error("the system for {context} is not positive definite; use a larger lambda")]
    NotPositiveDefinite {
        /// which system
        context: String,
    },

    /// A fitted pipeline or model does not fit together.
    #[error("invalid model: {0}")]
    Model(String),

    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Says whose targets they are, where targets are at fault.
    #[must_use]
    pub fn of_targets_in(self, name: &str) -> Self {
        match self {
            Self::Targets(text) => Self::Targets(format!("{name}: {text}")),
            other => other,
        }
    }

    /// The same of rows that follow so many others.
    #[must_use]
    pub(crate) fn behind(self, n_rows: usize) -> Self {
        match self {
            Self::Negative { row, input, value } => Self::Negative { row: row + n_rows as u64, input, value },
            Self::TooNegative { row, input, value, skewedness } => {
                Self::TooNegative { row: row + n_rows as u64, input, value, skewedness }
            }
            other => other,
        }
    }

    /// A parameter outside its range.
    pub fn parameter(name: &'static str, got: impl ToString, expected: &'static str) -> Self {
        Self::Parameter { name, got: got.to_string(), expected }
    }
}
