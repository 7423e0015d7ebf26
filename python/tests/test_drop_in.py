"""scikit-learn's own tests of kernel approximation, run with our drop-in spellings in place of its own."""

import importlib.util
import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mercer.feature_maps import RBFSampler

SWAPPED = ["AdditiveChi2Sampler", "Nystroem", "PolynomialCountSketch", "RBFSampler", "SkewedChi2Sampler"]
# Left out, and why.
DIFFERENT = {
    "test_rbf_sampler": "its bound of 0.01 on the mean error holds for scikit-learn's random numbers of seed 42. Over 60 seeds the "
    "mean error has a standard deviation of 0.021 by scikit-learn and 0.020 by mercer, and a third of the seeds pass by either",
    "test_polynomial_count_sketch[2.5-3-5000-2.5]": "its bound of 0.05 on the mean error of a kernel of about 17 is that of seed 42. Over 30 "
    "seeds the mean error has a standard deviation of 0.124 by scikit-learn and 0.120 by mercer, and 24 and 22 of them pass",
}


@pytest.fixture(scope="module")
def source():
    spec = importlib.util.find_spec("sklearn.tests.test_kernel_approximation")
    if spec is None or spec.origin is None:
        pytest.skip("scikit-learn is installed without its tests")
    with open(spec.origin, encoding="utf-8") as file:
        return file.read()


def test_of_scikit_learn(source, tmp_path):
    names = "".join(f"    {name},\n" for name in SWAPPED)
    theirs = f"from sklearn.kernel_approximation import (\n{names})\n"
    assert theirs in source, "all that is imported has a spelling of ours"
    text = source.replace(theirs, f"from mercer.feature_maps import (\n{names})\n", 1)
    file = tmp_path / "test_swapped.py"
    file.write_text(text, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(inspect.getsource(global_dtype_fixture) + "\nglobal_dtype_fixture(globals())\n")
    left_out = [argument for name in DIFFERENT for argument in ("--deselect", f"{file.name}::{name}")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file.name, *left_out]
    result = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stdout
    assert " passed" in result.stdout and "failed" not in result.stdout


def test_the_error_is_unbiased():
    """In place of the test left out: the same rows, kernel and size, over many seeds."""
    rng = np.random.RandomState(0)
    X, Y = rng.random_sample(size=(300, 50)), rng.random_sample(size=(300, 50))
    X, Y = X / X.sum(axis=1, keepdims=True), Y / Y.sum(axis=1, keepdims=True)
    exact, errors = rbf_kernel(X, Y, gamma=10.0), []
    for seed in range(60):
        feature_map = RBFSampler(gamma=10.0, n_components=1000, random_state=seed).fit(X)
        errors.append((feature_map.transform(X) @ feature_map.transform(Y).T - exact).mean())
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(60)
    # Rows are nearly alike, so that errors are those of one pair: (2/D) times a sum of cos^2, of variance 1/8 each.
    assert np.std(errors) < 1.5 * 2 * np.sqrt(1 / 8 / 1000)


def global_dtype_fixture(names):
    """The fixture of scikit-learn's own conftest, which is not installed."""
    import numpy
    import pytest

    names["global_dtype"] = pytest.fixture(params=[numpy.float32, numpy.float64])(lambda request: request.param)
