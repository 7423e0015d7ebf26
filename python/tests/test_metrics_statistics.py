import numpy as np
import pytest
import scipy.sparse
from scipy import stats
from scipy.spatial.distance import pdist, squareform

from mercer import kernels, metrics
from mercer.feature_maps import Fastfood

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("levels", [3, 10**9])
@pytest.mark.parametrize(("n", "k"), [(2, 3), (12, 5), (40, 8)])
def test_friedman_equals_that_of_scipy(n, k, levels):
    scores = RNG.integers(levels, size=(n, k)).astype(float)
    report = metrics.friedman(scores)
    expected = stats.friedmanchisquare(*scores.T)
    np.testing.assert_allclose([report["chi_squared"], report["p_value"]], expected, rtol=1e-9)
    np.testing.assert_allclose(report["average_ranks"], stats.rankdata(-scores, axis=1).mean(axis=0))
    if np.isfinite(report["iman_davenport"]):
        p = stats.f.sf(report["iman_davenport"], k - 1, (k - 1) * (n - 1))
        assert report["iman_davenport_p_value"] == pytest.approx(p, rel=1e-9)
    lowest = metrics.friedman(-scores, best="lowest", control=k - 1)
    assert lowest["average_ranks"] == report["average_ranks"]
    assert [pair["second"] for pair in lowest["comparisons"]] == list(range(k - 1))


def test_comparisons_by_their_formulas():
    scores = RNG.normal(size=(15, 4)) + np.arange(4)
    report = metrics.friedman(scores, best="lowest")
    ranks, pairs = report["average_ranks"], report["comparisons"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    z = np.array([ranks[pair["second"]] - ranks[pair["first"]] for pair in pairs]) / np.sqrt(4 * 5 / (6 * 15))
    p = 2 * stats.norm.sf(abs(z))
    order = np.argsort(p)
    steps = p[order] * np.arange(6, 0, -1)
    holm, hochberg = np.empty(6), np.empty(6)
    holm[order] = np.minimum(np.maximum.accumulate(steps), 1)
    hochberg[order] = np.minimum.accumulate(steps[::-1])[::-1]
    for name, expected in [("z", z), ("p_value", p), ("bonferroni", np.minimum(6 * p, 1)), ("holm", holm),
                           ("hochberg", hochberg)]:  # fmt: skip
        np.testing.assert_allclose([pair[name] for pair in pairs], expected, rtol=1e-10, err_msg=name)


def test_friedman_at_its_limits():
    alike = metrics.friedman([[1, 2, 3], [4, 5, 6]])
    assert alike["iman_davenport"] == np.inf and alike["iman_davenport_p_value"] == 0
    equal = metrics.friedman(np.ones((5, 3)))
    assert equal["p_value"] == equal["iman_davenport_p_value"] == 1
    for call, text in [
        (lambda: metrics.friedman([[1.0, 2.0]]), "needs at least 2"),
        (lambda: metrics.friedman([[1.0], [2.0]]), "n_methods is 1"),
        (lambda: metrics.friedman(np.eye(3), control=3), "control is 3"),
        (lambda: metrics.friedman(np.eye(3), control=-1), "control is -1"),
        (lambda: metrics.friedman(np.eye(3), best="most"), "best is 'most'"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def centred(sample):
    distances = squareform(pdist(sample.reshape(len(sample), -1)))
    return distances - distances.mean(axis=0) - distances.mean(axis=1)[:, None] + distances.mean()


def test_distance_correlation_by_its_definition():
    x = RNG.normal(size=(80, 3))
    samples = [x, x[:, :1] ** 2 + RNG.normal(size=(80, 1)), np.abs(x[:, 1])]
    products = [[(centred(a) * centred(b)).sum() for b in samples] for a in samples]
    scale = np.sqrt(np.diag(products))
    expected = np.sqrt(products / np.outer(scale, scale))
    np.testing.assert_allclose(metrics.distance_correlation(*samples), expected, atol=1e-12)
    columns = metrics.distance_correlation(x)
    np.testing.assert_array_equal(columns, metrics.distance_correlation(*x.T))
    assert columns.shape == (3, 3)
    with pytest.raises(ValueError, match="sample 1 has 79 rows"):
        metrics.distance_correlation(x, x[1:])


def test_distortion_by_its_definition():
    X = np.maximum(RNG.normal(size=(300, 6)), 0)
    feature_map = Fastfood(256, gamma=0.3, random_state=0).fit(X)
    exact = (2 - 2 * kernels.rbf_kernel(X, gamma=0.3))[np.triu_indices(300, 1)]
    apart = exact > 1e-9  # rows may be equal
    distortions = abs(pdist(feature_map.transform(X), "sqeuclidean") - exact)[apart] / exact[apart]
    report = metrics.distortion(feature_map, X)
    assert (report["n_pairs"], report["n_skipped"]) == (apart.sum(), (~apart).sum())
    assert report["mean"] == pytest.approx(distortions.mean(), rel=1e-8)
    assert report["standard_deviation"] == pytest.approx(distortions.std(), rel=1e-6)
    sparse = metrics.distortion(feature_map, scipy.sparse.csr_matrix(X))
    assert sparse["mean"] == pytest.approx(report["mean"], rel=1e-8)
    assert metrics.approximation(feature_map, X)["distances"] == report
