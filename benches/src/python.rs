//! The Python package beside scikit-learn: both are measured from Python, by `competitors.py`.

pub(crate) const CONDITIONS: &str = "`transform` of estimators, 10,000 x 784 to 2,048, from array to array; f32, f64, and \
    CSR with one value in ten; threads by n_jobs and by threadpoolctl. \"extra_memory_bytes\" is the growth of the process's peak \
    memory beside the result; \"kernel_rmse\" the error of inner products over 300 rows (of projections relative to the rows' \
    lengths). scikit-learn has one map of the RBF kernel, which stands beside all of ours, and no Hadamard transform: SRHT \
    stands beside GaussianRandomProjection. \"the extension alone\" leaves out what Python checks";

/// Nothing: see the module's head.
pub(crate) fn run() {}
