//! The Python package beside scikit-learn, scikit-learn-extra and pyrfm: all are measured from Python, by `competitors.py`.

pub(crate) const CONDITIONS: &str = "`transform` of estimators, 10,000 x 784 to 2,048 (SRHT to 512), from array to array; f32, \
    f64, and CSR with one value in ten; threads by n_jobs and by threadpoolctl. \"extra_memory_bytes\" is the growth of the \
    process's peak memory beside the result; \"kernel_rmse\" the error of inner products over 300 rows (of projections relative \
    to the rows' lengths). scikit-learn has one map of the RBF kernel, which stands beside all of ours, and no Hadamard transform: \
    SRHT stands beside GaussianRandomProjection. pyrfm and scikit-learn-extra run under numpy 1.26; \"result_bits\" tells where \
    they give float64 for float32, \"n_components\" where they cannot have as many (pyrfm's orthogonal ones come by 1,568). \
    \"the extension alone\" leaves out what Python checks, and is measured in turn with it, in one process";

/// Nothing: see the module's head.
pub(crate) fn run() {}
