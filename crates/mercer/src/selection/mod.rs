//! Choices made by the data: λ on rows held out or by cross-validation ([`Lambda::Auto`](crate::learners::Lambda)), and whole pipelines by
//! trials of growing size ([`search`]).

mod contender;
mod deadline;
mod judges;
pub(crate) mod lambda;
mod objective;
mod report;
mod search;

pub use contender::{Contender, Means};
pub use deadline::Deadline;
pub use lambda::{Candidate, FoldScores, LambdaChoice, Validation};
pub use objective::Objective;
pub use report::{Confirmation, SearchReport, Training, Trial};
pub use search::{Found, SearchSpec, Strategy, search, tune};
