//! The time to an accuracy on MNIST, beside an exact kernel machine and the approximate pipelines of scikit-learn.
//!
//! The environment says where things are, as for `train`.

use crate::measure::skip;
use crate::train::{places, train};

pub(crate) const CONDITIONS: &str = "MNIST from its gzipped files to the accuracy on the 10,000 test images, two threads. \
    mercer: wall time of the whole `mercer train` command with gamma 0.02, C 5 and a saved model. scikit-learn: pixels / 255, fit and predict of \
    exact SVC(C=5, gamma=0.02), and of pipelines in float32 of Nystroem or RBFSampler and LinearSVC, RidgeClassifier or \
    SGDClassifier, gamma = 0.02, each in a process of its own, without reading and imports, \
    ended after 120 s (SVC 900 s). One run each";

/// What is added to the command.
const VARIANTS: [(&str, &str); 7] = [
    ("Fastfood, D = 4096, squared hinge", "--map fastfood --n-components 4096 --tol 3e-3"),
    ("Fourier, D = 4096, squared hinge", "--map fourier --n-components 4096 --tol 3e-3"),
    ("SORF, D = 8192, squared hinge", "--map sorf --n-components 8192 --tol 3e-3"),
    ("SORF, D = 16384, squared hinge", "--map sorf --n-components 16384 --tol 1e-2"),
    ("SORF, D = 16384, squared hinge, --memory 200M", "--map sorf --n-components 16384 --tol 1e-2 --memory 200M"),
    (
        "Fastfood, D = 32768, squared hinge, --memory 200M",
        "--map fastfood --n-components 32768 --tol 1e-2 --memory 200M",
    ),
    ("Fourier, D = 32768, squared hinge, --memory 200M", "--map fourier --n-components 32768 --tol 1e-2 --memory 200M"),
];
const ALL: &str = "--gamma 0.02 --learner svm --C 5";

pub(crate) fn run() {
    let (binary, files) = match places() {
        Ok(places) => places,
        Err(reason) => return skip("accuracy", &reason),
    };
    let model = std::env::temp_dir().join("mercer-bench-accuracy.mercer");
    for (variant, further) in VARIANTS {
        let mut further: Vec<&str> = ALL.split(' ').chain(further.split(' ')).collect();
        let path = model.to_string_lossy();
        further.extend(["-o", &path]);
        match train(&binary, &files, 2, &further) {
            Ok(result) => result.report("accuracy", variant.to_owned(), 2),
            Err(reason) => skip("accuracy", &reason),
        }
    }
    if let Err(error) = std::fs::remove_file(&model) {
        eprintln!("{} is left: {error}", model.display());
    }
}
