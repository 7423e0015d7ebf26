//! Ridge regression of 10,000 landmarks by preconditioned passes over kernel values, as Falkon does it, beside an exact kernel machine.
//!
//! The environment says where things are, as for `train`.

use crate::measure::skip;
use crate::train::{places, train};

pub(crate) const CONDITIONS: &str = "MNIST from its gzipped files to the accuracy on the 10,000 test images, two threads, RBF kernel with gamma 0.02. \
    mercer: wall time and peak memory of the whole `mercer train` command, ridge of 10,000 landmarks by chance. scikit-learn: pixels / 255, \
    fit and predict of exact SVC(C=5, gamma=0.02), without reading and imports (one thread: it has no more). One run each";

const FLAGS: &str = "--map nystroem --n-components 10000 --gamma 0.02 --learner ridge --lambda 1e-6 --tol 1e-3";

pub(crate) fn run() {
    let result = places().and_then(|(binary, files)| {
        let further: Vec<&str> = FLAGS.split(' ').collect();
        train(&binary, &files, 2, &further)
    });
    match result {
        Ok(result) => result.report("falkon", "Nystroem, m = 10000, ridge".to_owned(), 2),
        Err(reason) => skip("falkon", &reason),
    }
}
