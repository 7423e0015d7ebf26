import numpy as np
import pytest
import scipy.sparse
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic
from sklearn.metrics import accuracy_score, f1_score, log_loss, mean_squared_error, pairwise, r2_score

from mercer import kernels, metrics

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 7)), RNG.normal(size=(40, 7))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x, y: kernels.linear_kernel(x, y), pairwise.linear_kernel),
        (lambda x, y: kernels.polynomial_kernel(x, y, degree=3), lambda x, y: pairwise.polynomial_kernel(x, y, degree=3)),
        (lambda x, y: kernels.rbf_kernel(x, y), pairwise.rbf_kernel),
        (lambda x, y: kernels.rbf_kernel(x, y, 0.3), lambda x, y: pairwise.rbf_kernel(x, y, 0.3)),
        (lambda x, y: kernels.laplace_kernel(x, y, 0.3), lambda x, y: pairwise.laplacian_kernel(x, y, 0.3)),
        (lambda x, y: kernels.matern_kernel(x, y, 1.5, 2.0), lambda x, y: Matern(2.0, nu=1.5)(x, y)),
        (lambda x, y: kernels.matern_kernel(x, y, 0.7, 2.0), lambda x, y: Matern(2.0, nu=0.7)(x, y)),
        (lambda x, y: kernels.rational_quadratic_kernel(x, y, 0.8, 2.0), lambda x, y: RationalQuadratic(2.0, 0.8)(x, y)),
        (
            lambda x, y: kernels.exponential_chi2_kernel(abs(x), abs(y), 0.4),
            lambda x, y: pairwise.chi2_kernel(abs(x), abs(y), 0.4),
        ),
        (
            lambda x, y: 2 * kernels.additive_chi2_kernel(abs(x), abs(y)) - abs(x).sum(1)[:, None] - abs(y).sum(1),
            lambda x, y: pairwise.additive_chi2_kernel(abs(x), abs(y)),
        ),
    ],
)
def test_gram_matrices_equal_those_of_scikit_learn(ours, theirs):
    np.testing.assert_allclose(ours(X, Y), theirs(X, Y), atol=1e-10)


def test_kernels_by_their_formulas():
    inner, squares = X @ Y.T, lambda a: (a * a).sum(axis=1)
    distances = squares(X)[:, None] + squares(Y) - 2 * inner
    np.testing.assert_allclose(kernels.cauchy_kernel(X, Y, 0.5), 1 / (1 + 0.5 * distances), atol=1e-12)
    np.testing.assert_allclose(kernels.tanimoto_kernel(X, Y), inner / (squares(X)[:, None] + squares(Y) - inner), atol=1e-12)
    lengths = np.sqrt(np.outer(squares(X), squares(Y)))
    angle = np.arccos(inner / lengths)
    expected = lengths * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
    np.testing.assert_allclose(kernels.arc_cosine_kernel(X, Y, 1), expected, atol=1e-10)


def test_gram_matrices_of_any_form():
    expected = kernels.rbf_kernel(X, Y, 0.3)
    for x in [np.asfortranarray(X), scipy.sparse.csr_matrix(X), scipy.sparse.csc_matrix(X), X.tolist()]:
        np.testing.assert_allclose(kernels.rbf_kernel(x, Y, 0.3), expected, atol=1e-12)
    np.testing.assert_array_equal(kernels.rbf_kernel(X, Y, 0.3, n_jobs=1), kernels.rbf_kernel(X, Y, 0.3, n_jobs=2))
    assert kernels.rbf_kernel(X.astype(np.float32)).dtype == np.float32
    assert kernels.rbf_kernel(X.astype(np.float32), Y).dtype == np.float64
    assert (np.diag(kernels.rbf_kernel(X)) == 1).all()


def test_kernels_refuse_what_they_cannot():
    for call, text in [
        (lambda: kernels.rbf_kernel(X, Y[:, :3]), "inputs"),
        (lambda: kernels.rbf_kernel(X, gamma=-1.0), "gamma is -1"),
        (lambda: kernels.exponential_chi2_kernel(-abs(X)), "row 0, input 0"),
        (lambda: kernels.gram(X, kernel="sigmoid"), "sigmoid"),
        (lambda: kernels.gram(X, kernel="rbf"), "gamma"),
        (lambda: kernels.gram([[np.nan]], kernel="linear"), "NaN"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    # The second block of rows is counted from the first.
    negative = abs(X)
    negative[280, 3] = -1
    for x, y in [(negative, abs(Y)), (abs(X), negative)]:
        with pytest.raises(ValueError, match="row 280, input 3"):
            kernels.exponential_chi2_kernel(x, y)
    with pytest.raises(MemoryError, match="fewer rows"):
        kernels.linear_kernel(np.zeros((4_000_000, 1)))


def test_scores_equal_those_of_scikit_learn():
    truth, predicted = RNG.integers(4, size=200), RNG.integers(4, size=200)
    scores = metrics.classification_scores(truth, predicted)
    assert scores["accuracy"] == accuracy_score(truth, predicted)
    assert abs(scores["f1_macro"] - f1_score(truth, predicted, average="macro")) < 1e-12
    values = RNG.dirichlet(np.ones(4), size=200)
    assert abs(metrics.probability_scores(truth, values)["log_loss"] - log_loss(truth, values)) < 1e-12
    with pytest.raises(ValueError, match="give labels"):
        metrics.probability_scores([0, 2], [[0.9, 0.05, 0.05], [0.05, 0.05, 0.9]])
    with pytest.raises(ValueError, match="label 7"):
        metrics.probability_scores([7], [[1.0, 0.0]], labels=[0, 1])
    a, b = RNG.normal(size=50), RNG.normal(size=50)
    report = metrics.regression_scores(a, b)
    assert abs(report["targets"][0]["r2"] - r2_score(a, b)) < 1e-12
    assert abs(report["targets"][0]["rmse"] - np.sqrt(mean_squared_error(a, b))) < 1e-12
    exact, near = X @ X.T, X @ X.T + 0.1
    assert abs(metrics.kernel_error(exact, near)["rmse"] - 0.1) < 1e-12
    assert metrics.distance_distortion(exact[:3, :3] ** 2 + 1, 2 * exact[:3, :3] ** 2 + 2)["mean"] == 1.0
