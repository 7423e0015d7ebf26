import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
import sklearn.kernel_approximation
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import mercer
from mercer.feature_maps import (
    D2PKRP,
    PKRP,
    KGRP,
    KORP,
    ArcCosine,
    SkewedChi2,
    SkewedChi2Sampler,
    CRAFTMap,
    SORF,
    Fastfood,
    KernelPCA,
    Nystroem,
    OrthogonalFourier,
    PolynomialCountSketch,
    PolynomialExpansion,
    QuasiFourier,
    RandomBinning,
    RandomFourier,
    RandomMaclaurin,
    RBFSampler,
    TensorSketch,
    TensorSRHT,
)
from mercer.kernels import skewed_chi2_kernel
from mercer.metrics import approximation
from mercer.projections import SRHT, GaussianProjection, HadamardTransform, SparseProjection

RBF = [RandomFourier, OrthogonalFourier, SORF, Fastfood, QuasiFourier]
LINEAR = [GaussianProjection, SparseProjection, SRHT]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 20)) / 4


@pytest.mark.parametrize("cls", RBF)
def test_features_approximate_the_rbf_kernel(cls, X):
    n_components = 1024
    Z = cls(n_components, gamma=1.5, random_state=0).fit_transform(X)
    # D/2 independent pairs of waves have a standard deviation of at most 1/sqrt(D) an entry; SORF's bias is
    # below 0.01 here.
    assert np.sqrt(np.mean((Z @ Z.T - rbf_kernel(X, gamma=1.5)) ** 2)) < 1.2 / np.sqrt(n_components)


def test_features_approximate_the_laplace_kernel(X):
    exact = laplacian_kernel(X, gamma=0.3)
    for feature_map in [RandomFourier(16384, kernel="laplace", gamma=0.3, random_state=0),
                        RandomBinning(16384, gamma=0.3, n_bins=1, random_state=0)]:  # fmt: skip
        Z = feature_map.fit_transform(X)
        assert np.sqrt(np.mean((Z @ Z.T - exact) ** 2)) < 1.2 / np.sqrt(16384)


@pytest.mark.parametrize("feature_map", [TensorSRHT(4096), TensorSRHT(4096, complex=False), TensorSketch(4096), PKRP(4096, n_vectors=8192),
                                         RandomMaclaurin(4096)], ids=str)  # fmt: skip
def test_features_approximate_the_polynomial_kernel(feature_map, X):
    Z = feature_map.set_params(degree=2, gamma=0.7, coef0=0.5, random_state=0).fit_transform(X)
    exact = (0.7 * X @ X.T + 0.5) ** 2
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    # A product of two signs or normal numbers has a variance of at most (9 - 1) k(x,x) k(y,y), and D of them that over D.
    assert np.sqrt(np.mean(((Z @ Z.T - exact) / scale) ** 2)) < 1.2 * np.sqrt(8 / 4096)


def test_features_approximate_the_skewed_chi_squared_kernel(X):
    from sklearn.kernel_approximation import SkewedChi2Sampler as Theirs

    X, c, n_components = X - X.min(), 0.3, 2048
    exact = np.exp((np.log(2 * np.sqrt((X + c)[:, None] * (X + c))) - np.log(X[:, None] + X + 2 * c)).sum(axis=2))
    np.testing.assert_allclose(skewed_chi2_kernel(X, skewedness=c), exact, atol=1e-12)

    def error(feature_map):
        Z = feature_map.fit_transform(X)
        return np.sqrt(np.mean((Z @ Z.T - exact) ** 2))

    drop_in = SkewedChi2Sampler(skewedness=c, n_components=n_components, random_state=0)
    theirs = Theirs(skewedness=c, n_components=n_components, random_state=0)
    # Pairs of waves have a variance of (1 + k_2 - 2 k^2) / D, waves with phases one of 2 (1 + k_2 / 2 - k^2) / D.
    assert error(SkewedChi2(n_components, skewedness=c, random_state=0)) < 1.2 / np.sqrt(n_components)
    assert error(drop_in) < 1.2 * np.sqrt(1.5 / n_components)
    assert abs(error(drop_in) / error(theirs) - 1) < 0.2
    # Their formula with our numbers.
    Z = np.sqrt(2 / n_components) * np.cos(np.log(X + c) @ drop_in.random_weights_ + drop_in.random_offset_)
    np.testing.assert_allclose(drop_in.transform(X), Z, atol=1e-12)
    with pytest.raises(ValueError, match="smaller than -skewedness.*row 1, input 2 is -0.3"):
        drop_in.transform(np.where(np.arange(40).reshape(2, 20) == 22, -0.3, 0.0))


def test_features_of_a_tree_approximate_high_degrees(X):
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    exact = (0.5 * X @ X.T + 0.5) ** 7

    def error(tree, seed):
        Z = TensorSRHT(1024, degree=7, gamma=0.5, coef0=0.5, tree=tree, random_state=seed).fit_transform(X)
        return np.mean((Z @ Z.T - exact) ** 2)

    # The variance of whole products is more than twice that of a tree here, by the mean of many seeds.
    errors = {tree: np.mean([error(tree, seed) for seed in range(20)]) for tree in [False, True]}
    assert errors[True] < errors[False], errors


def test_expansions_have_no_error(X):
    for degree in [2, 3]:
        for form in ["triangular", "kronecker"]:
            Z = PolynomialExpansion(degree, gamma=0.7, coef0=0.5, form=form).fit_transform(X[:, :8])
            np.testing.assert_allclose(Z @ Z.T, (0.7 * X[:, :8] @ X[:, :8].T + 0.5) ** degree, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("projection", ["srht", "gaussian", "sparse"])
def test_maps_projected_down_keep_their_kernel(projection, X):
    first = PolynomialExpansion(2, gamma=0.7, coef0=0.5)
    Z = CRAFTMap(first, n_components=4096, projection=projection, random_state=0).fit_transform(X)
    exact = (0.7 * X @ X.T + 0.5) ** 2
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    # As of any projection: an entry has a variance of at most 2 k(x,x) k(y,y) / D.
    assert np.sqrt(np.mean(((Z @ Z.T - exact) / scale) ** 2)) < 1.2 * np.sqrt(2 / 4096)
    with pytest.raises(ValueError, match="projection is 'none'"):
        CRAFTMap(projection="none").fit(X)


def test_coordinates_by_the_bound(X):
    from sklearn.random_projection import johnson_lindenstrauss_min_dim

    for cls in LINEAR:
        Z = cls("auto", eps=0.5, random_state=0).fit_transform(X)
        # scikit-learn rounds down.
        assert Z.shape[1] == johnson_lindenstrauss_min_dim(len(X), eps=0.5) + 1
        distances = lambda rows: ((rows[:, None] - rows) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]  # noqa: E731
        assert np.abs(distances(Z) / distances(X) - 1).max() < 0.5
        with pytest.raises(ValueError, match="eps is 1.5"):
            cls("auto", eps=1.5).fit(X)
    with pytest.raises(ValueError, match="n_components is 'many'"):
        GaussianProjection("many").fit(X)


def test_features_approximate_the_quadratic_kernel(X):
    squares = (X**2) @ (X**2).T
    for s in [1.0, 3.0, 5.0]:
        Z = D2PKRP(8192, gamma=1.0, n_terms=2, s=s, random_state=0).fit_transform(X)
        exact = (X @ X.T) ** 2 + (s - 3) / 2 * squares
        # Fourth moments of sparse entries are up to s, and so are the lengths.
        assert np.sqrt(np.mean((Z @ Z.T - exact) ** 2)) < 6 * (X**2).sum(axis=1).max() ** 2 / np.sqrt(8192), s


@pytest.mark.parametrize("cls", LINEAR)
def test_projections_keep_inner_products(cls, X):
    Z = cls(4096, random_state=0).fit_transform(X)
    lengths = np.linalg.norm(X, axis=1)
    # An entry has a variance of at most 2 |x|^2 |y|^2 / k.
    assert np.sqrt(np.mean(((Z @ Z.T - X @ X.T) / np.outer(lengths, lengths)) ** 2)) < 1.2 * np.sqrt(2 / 4096)


def test_hadamard_transforms_are_rotations(X):
    Z = HadamardTransform().fit_transform(X)
    assert Z.shape == (60, 32)
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=1e-12)
    np.testing.assert_allclose(HadamardTransform(blocks="split").fit_transform(X).shape, X.shape)


ALL = [
    Fastfood(64, random_state=3),
    OrthogonalFourier(64, kernel="matern", nu=2.5, random_state=3),
    ArcCosine(64, degree=2, random_state=3),
    KGRP(n_components=40, n_landmarks=20, random_state=3),
    KORP(n_components=10, n_landmarks=20, random_state=3),
    KernelPCA(10, kernel="rbf"),
    Nystroem(n_components=20, random_state=3),
    Nystroem("laplacian", n_components=20, budget="random_cholesky", random_state=3),
    QuasiFourier(64, random_state=3),
    RandomBinning(64, random_state=3),
    RandomFourier(64, kernel="rational_quadratic", alpha=2.0, gamma="median", random_state=3),
    RBFSampler(gamma="scale", random_state=3),
    SORF(64, waves="phase", random_state=3),
    SkewedChi2(64, skewedness=2.0, random_state=3),
    SkewedChi2Sampler(skewedness=2.0, n_components=33, random_state=3),
    TensorSRHT(64, degree=3, random_state=3),
    TensorSRHT(60, degree=5, tree=True, random_state=3),
    TensorSketch(63, degree=3, random_state=3),
    PolynomialCountSketch(degree=3, coef0=1, random_state=3),
    PKRP(64, n_terms=2, n_vectors=40, s=3.0, random_state=3),
    D2PKRP(64, s=None, random_state=3),
    RandomMaclaurin(128, kernel="exponential", gamma=0.1, random_state=3),
    PolynomialExpansion(3),
    CRAFTMap(PKRP(96, n_vectors=50), n_components=20, projection="sparse", random_state=3),
    GaussianProjection(16, random_state=3),
    HadamardTransform(),
    SparseProjection(16, random_state=3),
    SRHT(16, random_state=3),
]


@pytest.mark.parametrize("feature_map", ALL, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_but_data_and_seed_changes_a_bit(feature_map, dtype, X):
    X = X.astype(dtype)
    X[np.abs(X) < 0.2] = 0
    expected = feature_map.fit(X).transform(X)
    assert expected.dtype == dtype
    same = [
        clone(feature_map).set_params(n_jobs=2).fit(X).transform(X),
        clone(feature_map).set_params(n_jobs=1).fit(X).transform(X),
        np.concatenate([feature_map.transform(X[:7]), feature_map.transform(X[7:])]),
        feature_map.transform(np.asfortranarray(X)),
        feature_map.transform(np.repeat(X, 2, axis=0)[::2]),
        feature_map.transform(np.repeat(X, 2, axis=1)[:, ::2]),
        pickle.loads(pickle.dumps(feature_map)).transform(X),
        feature_map.transform(scipy.sparse.csr_matrix(X)),
        feature_map.transform(with_long_indices(scipy.sparse.csr_matrix(X))),
        feature_map.transform(unsorted(scipy.sparse.csr_matrix(X))),
    ]
    for other in same:
        np.testing.assert_array_equal(other, expected)


def with_long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X):
    rows = [np.arange(start, end)[::-1] for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    order = np.concatenate(rows)
    return scipy.sparse.csr_matrix((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def test_integer_seeds_are_those_of_the_core(X):
    first = Fastfood(64, gamma=1.0, random_state=5).fit(X)
    assert '"seed":5' in first._map.to_json()
    assert not np.array_equal(first.transform(X), Fastfood(64, gamma=1.0, random_state=6).fit_transform(X))
    states = [Fastfood(64, gamma=1.0, random_state=np.random.RandomState(1)).fit_transform(X) for _ in range(2)]
    np.testing.assert_array_equal(*states)


def test_frames_and_names(X):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = [f"c{i}" for i in range(X.shape[1])]
    feature_map = RandomFourier(64, random_state=0)
    expected = feature_map.fit_transform(X)
    assert feature_map.get_feature_names_out()[:2].tolist() == ["randomfourier0", "randomfourier1"]
    for frame in [pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)]:
        np.testing.assert_array_equal(RandomFourier(64, random_state=0).fit_transform(frame), expected)
    out = feature_map.set_output(transform="pandas").transform(X)
    assert isinstance(out, pandas.DataFrame) and out.columns[0] == "randomfourier0"


def test_errors_say_what_and_why(X):
    with pytest.raises(NotFittedError):
        RandomFourier().transform(X)
    for feature_map, text in [
        (RandomFourier(63, waves="paired"), "n_components is 63, must be even"),
        (RandomFourier(64, gamma=-1.0), "gamma is -1"),
        (RandomFourier(64, gamma="wide"), "wide"),
        (RandomFourier(64, kernel="bessel"), "unknown variant `bessel`"),
        (Fastfood(64, kernel="laplace"), "laplace"),
        (RandomFourier(64, n_jobs=0), "n_jobs is 0"),
        (RandomFourier(64, random_state=-1), "random_state is -1"),
        (SparseProjection(4, s=0.5), "s is 0.5"),
    ]:
        with pytest.raises(ValueError, match=text):
            feature_map.fit(X)
    with pytest.raises(ValueError, match="too large to be computed in float32"):
        GaussianProjection(4, random_state=0).fit(X).transform(np.full((3, 20), 3e38, dtype=np.float32))
    with pytest.raises(MemoryError, match="n_components"):
        RandomFourier(1 << 26, gamma=1.0).fit(X[:, :1]).transform(np.zeros((1 << 16, 1)))


def test_approximation_of_scaled_inputs(X):
    scales = np.linspace(0.5, 2.0, X.shape[1])
    feature_map = RandomFourier(8192, gamma=1.0, length_scales=scales, random_state=0).fit(X)
    report = approximation(feature_map, X)
    assert report["kernel"]["rmse"] < 1.2 / np.sqrt(8192)
    assert report["n_components"] == 8192
    sparse = approximation(feature_map, scipy.sparse.csr_matrix(X))
    assert abs(sparse["kernel"]["rmse"] - report["kernel"]["rmse"]) < 1e-12


def test_fwht_of_any_axis():
    from scipy.linalg import hadamard

    x = np.random.default_rng(1).normal(size=(3, 8, 4))
    for axis, n in [(0, 3), (1, 8), (2, 4), (-1, 4)]:
        if n == 3:
            with pytest.raises(ValueError, match="length is 3, must be a power of two"):
                mercer.fwht(x, axis)
            continue
        expected = np.moveaxis(np.moveaxis(x, axis, -1) @ hadamard(n), -1, axis)
        np.testing.assert_allclose(mercer.fwht(x, axis), expected, atol=1e-12)
    assert mercer.fwht(np.ones(4, dtype=np.float32)).dtype == np.float32
    long = np.random.default_rng(2).normal(size=1 << 18)
    np.testing.assert_array_equal(mercer.fwht(long, n_jobs=1), mercer.fwht(long, n_jobs=2))
    for bad in [3.0, np.zeros((0, 4)), [np.nan, 1.0]]:
        with pytest.raises(ValueError):
            mercer.fwht(bad)


def test_nystroem_is_that_of_scikit_learn(X):
    """For the same landmarks the same inner products, whatever root of the inverse is taken."""
    X = np.vstack([X, np.random.default_rng(1).normal(size=(500, 20)) / 4])
    for kernel, parameters in [("rbf", {"gamma": 0.8}), ("poly", {"degree": 2, "gamma": 0.5, "coef0": 1.0}), ("laplacian", {}), ("linear", {})]:
        theirs = sklearn.kernel_approximation.Nystroem(kernel, n_components=80, random_state=0, **parameters).fit(X)
        ours = Nystroem(kernel, n_components=80, landmarks=theirs.components_, **parameters)
        if kernel == "linear":
            with pytest.warns(UserWarning, match="80 landmarks of rank 20"):
                ours.fit(X)
        else:
            ours.fit(X)
        expected, got = theirs.transform(X), ours.transform(X)
        np.testing.assert_allclose(got @ got.T, expected @ expected.T, atol=1e-8)


@pytest.mark.parametrize("budget", ["uniform", "random_cholesky", "leverage", "columns", "farthest", "kmeans_pp", "kmeans", "dbh"])
def test_landmarks_are_rows_of_the_data(budget, X):
    ours = Nystroem(gamma=1.0, n_components=12, budget=budget, random_state=1).fit(X)
    assert ours.components_.shape == (12, 20)
    if budget != "kmeans":
        assert all(any(np.array_equal(row, landmark) for row in X) for landmark in ours.components_)
    sparse = Nystroem(gamma=1.0, n_components=12, budget=budget, random_state=1).fit(scipy.sparse.csr_matrix(X))
    again = pickle.loads(pickle.dumps(sparse))
    np.testing.assert_array_equal(again.transform(X), sparse.transform(X))
    if budget != "kmeans":
        np.testing.assert_array_equal(sparse.components_.toarray(), ours.components_)
    products = rbf_kernel(X, ours.components_, gamma=1.0) @ ours.normalization_.T
    np.testing.assert_allclose(products, ours.transform(X), atol=1e-9)


def test_landmarks_that_depend_on_each_other_are_told(X):
    with pytest.warns(UserWarning, match="12 landmarks of rank 1"):
        Z = Nystroem(n_components=12).fit_transform(np.ones((50, 3)))
    np.testing.assert_allclose(Z, np.ones((50, 1)))
    with pytest.warns(UserWarning, match="for 60 rows"):
        Z = Nystroem(gamma=1.0, n_components=100).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X, gamma=1.0), atol=1e-8)
    with pytest.raises(ValueError, match="unknown variant `lottery`"):
        Nystroem(budget="lottery").fit(X)
    with pytest.raises(ValueError, match="4 inputs, expected 20"):
        Nystroem(landmarks=np.ones((3, 4))).fit(X)


def test_kernel_pca_is_that_of_scikit_learn(X):
    """Up to the signs of components, for rows learned from and for others."""
    for kernel, parameters in [("rbf", {"gamma": 0.8}), ("poly", {"degree": 2, "gamma": 0.5}), ("linear", {})]:
        theirs = sklearn.decomposition.KernelPCA(8, kernel=kernel, **parameters).fit(X[:40])
        ours = KernelPCA(8, kernel=kernel, **parameters).fit(X[:40])
        np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
        for rows in [X[:40], X[40:]]:
            expected, got = theirs.transform(rows), ours.transform(rows)
            signs = np.sign((ours.transform(X[:40]) * theirs.transform(X[:40])).sum(axis=0))
            np.testing.assert_allclose(got * signs, expected, atol=1e-9)
    # All components that are not 0: the inputs less their mean.
    Z = KernelPCA().fit_transform(X)
    centred = X - X.mean(axis=0)
    assert Z.shape == (60, 20)
    np.testing.assert_allclose(Z @ Z.T, centred @ centred.T, atol=1e-10)


def test_kernel_projections_have_the_inner_products_of_nystroem(X):
    exact = Nystroem(gamma=1.0, n_components=30, landmarks=X[:30]).fit_transform(X)
    exact = exact @ exact.T
    Z = KORP(gamma=1.0, n_components=30, landmarks=X[:30], random_state=0).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, exact, atol=1e-7)
    # Features are a mean of 8192 products with a variance of at most 2 + 30/10 for rows of length 1.
    Z = KGRP(gamma=1.0, n_components=8192, n_terms=10, landmarks=X[:30], random_state=0).fit_transform(X)
    assert np.abs(Z @ Z.T - exact).max() < 6 * np.sqrt(5 / 8192)


@pytest.mark.parametrize("feature_map", [KGRP(n_components=12), KORP(n_components=12), KernelPCA(12, kernel="rbf")], ids=str)
def test_forms_tell_the_rank_of_equal_rows(feature_map):
    with pytest.warns(UserWarning, match="rank 1"):
        Z = feature_map.fit_transform(np.ones((50, 3)))
    assert np.isfinite(Z).all()


def degenerate():
    """Rows whose kernel matrices are nearly singular, with the rank that is left."""
    rng = np.random.default_rng(4)
    few, many = rng.normal(size=(5, 3)), rng.normal(size=(60, 3))
    return {
        "duplicates": (np.repeat(few, 12, axis=0), "rbf", 1.0, 5),
        "constant": (np.full((60, 3), 7.0), "rbf", 1.0, 1),
        "rank 1": (np.outer(rng.normal(size=60), [1.0, 2.0, -1.0]), "linear", None, 1),
        "gamma near 0": (many, "rbf", 1e-30, 1),
        "gamma near infinity": (many, "rbf", 1e30, 20),
    }


@pytest.mark.parametrize("case", degenerate())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_singular_kernels_have_finite_features_and_tell_their_rank(case, dtype):
    X, kernel, gamma, rank = degenerate()[case]
    X = X.astype(dtype)
    ours = Nystroem(kernel, gamma=gamma, n_components=20, random_state=0)
    if rank < 20:
        with pytest.warns(UserWarning, match=f"20 landmarks of rank {rank}:"):
            Z = ours.fit_transform(X)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Z = ours.fit_transform(X)
    assert Z.shape == (60, rank) and np.isfinite(Z).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("budget", ["uniform", "random_cholesky", "leverage", "columns", "farthest", "kmeans_pp", "dbh"])
def test_precomputed_kernels_are_those_of_rows(budget, dtype, X):
    X, K = X.astype(dtype), rbf_kernel(X, gamma=0.8).astype(dtype)
    ours = Nystroem("precomputed", n_components=12, budget=budget, random_state=1).fit(K[:40, :40])
    chosen = ours.component_indices_
    assert len(set(chosen)) == 12 and chosen.max() < 40 and ours.n_features_in_ == 40
    # All columns, or those of the landmarks.
    Z = ours.transform(K[:, :40])
    np.testing.assert_array_equal(Z, ours.transform(K[:, chosen]))
    np.testing.assert_array_equal(Z, pickle.loads(pickle.dumps(ours)).transform(K[:, :40]))
    assert Z.dtype == dtype and Z.shape == (60, 12)
    theirs = sklearn.kernel_approximation.Nystroem("rbf", gamma=0.8, n_components=12).fit(X[chosen])
    expected = theirs.transform(X)
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-4)


def test_precomputed_kernels_with_the_landmarks_of_scikit_learn(X):
    theirs = sklearn.kernel_approximation.Nystroem("poly", degree=2, gamma=0.5, coef0=1.0, n_components=30, random_state=0).fit(X)
    K = (0.5 * X @ X.T + 1) ** 2
    ours = Nystroem("precomputed", landmarks=theirs.component_indices_).fit(K)
    Z, expected = ours.transform(K), theirs.transform(X)
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-4)
    assert ours.get_feature_names_out().shape == (30,)
    # As many landmarks as rows: the columns are those of all rows.
    all_rows = Nystroem("precomputed", n_components=60).fit(rbf_kernel(X, gamma=2.0))
    assert len(all_rows.component_indices_) == 60
    Z = all_rows.transform(rbf_kernel(X[:9], X, gamma=2.0))
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X[:9], gamma=2.0), atol=1e-8)
    with pytest.warns(UserWarning, match="30 landmarks of rank 1:"):
        assert np.isfinite(Nystroem("precomputed", n_components=30).fit_transform(np.ones((60, 60)))).all()
    with pytest.raises(ValueError, match=r"square matrix.*\(60, 20\)"):
        Nystroem("precomputed").fit(X)
    with pytest.raises(ValueError, match="0.1 across, must be symmetric"):
        Nystroem("precomputed").fit(np.array([[1.0, 0.5], [0.1, 1.0]]))
    with pytest.raises(ValueError, match="centres are made of rows"):
        Nystroem("precomputed", budget="kmeans", n_components=5).fit(K)
    with pytest.raises(ValueError, match="precomputed kernel"):
        Nystroem("precomputed", fit_inverse_transform=True).fit(K)
    with pytest.raises(ValueError, match="X has 7 features, but Nystroem is expecting 60"):
        ours.transform(K[:, :7])
    with pytest.raises(AttributeError, match="component_indices_"):
        ours.components_  # noqa: B018


@pytest.mark.parametrize("budget", ["uniform", "random_cholesky", "leverage", "columns", "farthest", "kmeans_pp", "dbh"])
def test_the_numbers_of_landmarks_are_those_of_their_rows(budget, X):
    """Of more rows than there are candidates, so that a sample is numbered."""
    X = np.random.default_rng(3).normal(size=(5000, 3))
    for rows in (X, scipy.sparse.csr_matrix(X)):
        ours = Nystroem(gamma=1.0, n_components=40, budget=budget, random_state=1).fit(rows)
        found = ours.components_.toarray() if scipy.sparse.issparse(rows) else ours.components_
        np.testing.assert_array_equal(found, X[ours.component_indices_])
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).component_indices_, ours.component_indices_)


def test_centres_and_landmarks_of_your_own_have_no_numbers(X):
    for ours in (Nystroem(n_components=5, budget="kmeans"), Nystroem(landmarks=X[:5])):
        with pytest.raises(AttributeError, match="centres and your own have none"):
            ours.fit(X).component_indices_  # noqa: B018


def histogram_kernel(x, y, scale=1.0):
    return scale * np.minimum(np.abs(x), np.abs(y)).sum()


@pytest.mark.parametrize("kernel, parameters", [(histogram_kernel, {"kernel_params": {"scale": 2.0}}), ("cosine", {}), ("poly", {"degree": 2.5, "gamma": 0.01})])
def test_kernels_that_scikit_learn_computes(kernel, parameters, X):
    """With the landmarks that scikit-learn chooses for the same seed."""
    settings = {"n_components": 15, "random_state": 4} | parameters
    theirs, ours = sklearn.kernel_approximation.Nystroem(kernel, **settings).fit(X), Nystroem(kernel, **settings).fit(X)
    assert sorted(ours.component_indices_) == sorted(theirs.component_indices_)
    np.testing.assert_array_equal(ours.components_, X[ours.component_indices_])
    Z, expected = ours.transform(X), theirs.transform(X)
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).transform(X), Z)
    assert ours.set_params(budget="random_cholesky").fit(X.astype(np.float32)).transform(X).dtype == np.float32
    with pytest.raises(ValueError, match="Cannot balanced with"):
        ours.set_params(balanced=True).fit(X)


@pytest.mark.parametrize("kind", [Nystroem, KGRP, KORP, KernelPCA])
def test_landmarks_balanced_by_classes(kind):
    """One row in fifty is of the second class; half of the landmarks are."""
    rows = np.random.default_rng(5).normal(size=(1000, 4))
    y = np.where(np.arange(1000) % 50 == 0, "rare", "often")
    size = {} if kind is Nystroem else {"n_landmarks": 20}
    ours = kind(kernel="rbf", gamma=0.5, n_components=20 if kind is not KernelPCA else 5, balanced=True, random_state=0, **size)
    landmarks = ours.fit(rows, y).components_
    rare = sum(any(np.array_equal(row, landmark) for row in rows[::50]) for landmark in landmarks)
    assert (rare, len(landmarks)) == (10, 20)
    with pytest.raises(ValueError, match="balanced=True needs y"):
        ours.fit(rows)


def test_the_symmetric_root(X):
    """As scikit-learn's, feature by feature."""
    theirs = sklearn.kernel_approximation.Nystroem(gamma=0.8, n_components=30, random_state=0).fit(X)
    ours = Nystroem(gamma=0.8, landmarks=theirs.components_, symmetric=True).fit(X)
    order = [next(i for i, row in enumerate(theirs.components_) if np.array_equal(row, own)) for own in ours.components_]
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X)[:, order], atol=1e-8)
    np.testing.assert_allclose(ours.normalization_, ours.normalization_.T, atol=1e-12)


def images(n_rows):
    """Rows like those of MNIST: 784 values from 0 to 1, most of them 0, of ten kinds of strokes that vary."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(28), np.arange(28)), -1).reshape(-1, 1, 2)
    kinds = rng.uniform(6, 22, size=(10, 5, 2))
    strokes = kinds[np.arange(n_rows) % 10] + rng.normal(size=(n_rows, 5, 2))
    rows = np.stack([np.exp(-((grid - stroke) ** 2).sum(-1) / width).max(1) for stroke, width in zip(strokes, rng.uniform(3, 7, n_rows))])
    return np.where(rows < 0.1, 0.0, rows).astype(np.float32)


@pytest.mark.parametrize("narrower", [1.0, 0.1])
def test_float32_nystroem_is_that_of_scikit_learn(narrower):
    """512 landmarks, theirs in either type."""
    rows = images(2000)
    gamma = narrower / (784 * rows.var())
    for theirs_in in (np.float32, np.float64):
        theirs = sklearn.kernel_approximation.Nystroem(gamma=gamma, n_components=512, random_state=0).fit(rows.astype(theirs_in))
        ours = Nystroem(gamma=gamma, landmarks=theirs.components_.astype(np.float32)).fit(rows)
        expected, got = theirs.transform(rows.astype(theirs_in)), ours.transform(rows)
        assert got.dtype == np.float32 and np.isfinite(got).all()
        assert np.abs(got @ got.T - expected @ expected.T).max() < 1e-4


@pytest.mark.parametrize(("kernel", "parameters"), [("rbf", {"gamma": 1e-3}), ("poly", {"degree": 2, "gamma": 1e-3}), ("linear", {})])
def test_the_way_back_is_that_of_scikit_learn(kernel, parameters):
    X = load_digits().data
    train, test = X[:600], X[600:900]
    for alpha in [1e-3, 1.0]:
        settings = {"kernel": kernel, "fit_inverse_transform": True, "alpha": alpha, **parameters}
        theirs = sklearn.decomposition.KernelPCA(32, **settings).fit(train)
        ours = KernelPCA(32, **settings).fit(train)

        def error(model):
            return np.mean((model.inverse_transform(model.transform(test)) - test) ** 2)

        assert abs(error(ours) / error(theirs) - 1) < 0.01, (error(ours), error(theirs))
        # Much closer than the mean of all; a linear function of centred features has no constant, and loses the mean as theirs does.
        if alpha < 1.0 and kernel != "linear":
            assert error(ours) < 0.6 * np.mean((train.mean(axis=0) - test) ** 2)
        again = pickle.loads(pickle.dumps(ours))
        Z = ours.transform(test[:5])
        np.testing.assert_array_equal(again.inverse_transform(Z), ours.inverse_transform(Z))


def test_the_way_back_from_landmarks(X):
    for dtype in [np.float32, np.float64]:
        rows = X.astype(dtype)
        ours = Nystroem(gamma=0.5, n_components=60, fit_inverse_transform=True, alpha=1e-4, random_state=0).fit(rows)
        back = ours.inverse_transform(ours.transform(rows))
        assert back.dtype == dtype and back.shape == X.shape
        assert np.mean((back - X) ** 2) < 0.05 * np.mean(X**2)
        sparse = clone(ours).fit(scipy.sparse.csr_matrix(rows))
        np.testing.assert_allclose(sparse.inverse_transform(ours.transform(rows)), back, atol=1e-3)
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        Nystroem(n_components=5).fit(X).inverse_transform(np.ones((1, 5)))
    with pytest.raises(ValueError, match="alpha is -1"):
        KernelPCA(2, fit_inverse_transform=True, alpha=-1).fit(X)
    with pytest.raises(ValueError, match="features are below 0"):
        KernelPCA(2, kernel="chi2", fit_inverse_transform=True).fit(abs(X))
    with pytest.raises(ValueError, match="3 inputs, expected 2"):
        KernelPCA(2, fit_inverse_transform=True).fit(X).inverse_transform(np.ones((1, 3)))
