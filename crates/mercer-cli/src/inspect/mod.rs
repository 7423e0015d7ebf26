//! `mercer inspect`: what a file of rows or a saved model holds.

mod dataset;
mod model;

use std::path::Path;

use crate::args::InspectArgs;
use crate::failure::Failure;

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    match args.data.as_slice() {
        [one] if one.ends_with(".mercer") || mercer_io::is_model(Path::new(one)) => {
            model::run(Path::new(one), args.report.json)
        }
        _ => dataset::run(args),
    }
}
