"""How well maps approximate kernels and models predict, and whether methods differ."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._base import FLOATS, FeatureMap, rows, threads
from mercer._input import validated

__all__ = ["approximation", "classification_scores", "distance_correlation", "distance_distortion", "distortion",
           "friedman", "kernel_error", "probability_scores", "regression_scores"]  # fmt: skip


def kernel_error(exact: ArrayLike, approximate: ArrayLike) -> dict[str, float]:
    """The error of an approximate Gram matrix: ``rmse``, ``max_absolute``, ``relative_frobenius``.

    Examples
    --------
    >>> from mercer.metrics import kernel_error
    >>> kernel_error([[1.0, 0.5]], [[1.0, 0.0]])["max_absolute"]
    0.5
    """
    return json.loads(_core.kernel_errors(_float64(exact), _float64(approximate)))


def distance_distortion(exact: ArrayLike, approximate: ArrayLike) -> dict[str, float]:
    """The mean relative error of squared distances, and its standard deviation over pairs."""
    return json.loads(_core.distance_distortions(_float64(exact), _float64(approximate)))


def approximation(feature_map: FeatureMap, X: ArrayLike) -> dict[str, Any]:
    """How near the features of a fitted map come to its kernel on some rows; all pairs of them are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import Fastfood
    >>> from mercer.metrics import approximation
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> approximation(Fastfood(1024, random_state=0).fit(X), X)["kernel"]["rmse"] < 0.05
    True
    """
    return json.loads(_core.approximation_of(*_kernel_rows_features(feature_map, X)))


def distortion(feature_map: FeatureMap, X: ArrayLike) -> dict[str, float]:
    r"""The average distortion of squared distances by a fitted map, over all pairs of some rows.

    .. math:: \frac{|\|z(x) - z(y)\|^2 - \|\phi(x) - \phi(y)\|^2|}{\|\phi(x) - \phi(y)\|^2}

    for features :math:`z` of a kernel with feature space :math:`\phi`. Memory grows with the rows, not with
    their pairs.

    Parameters
    ----------
    feature_map : FeatureMap
        A fitted map.
    X : array or CSR matrix of shape (n, d)
        The rows.

    Returns
    -------
    dict
        ``mean``, ``standard_deviation`` over the pairs, ``n_pairs``, and ``n_skipped``: pairs that the kernel does not
        tell apart.

    References
    ----------
    D. López Sánchez, *Low Computational Cost Machine Learning: Random Projections and Polynomial Kernels*, doctoral
    thesis, University of Salamanca 2019, eq. 3.14.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import Fastfood
    >>> from mercer.metrics import distortion
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> report = distortion(Fastfood(1024, random_state=0).fit(X), X)
    >>> report["n_pairs"], report["mean"] < 0.1
    (1225, True)
    """
    return json.loads(_core.distortion_of(*_kernel_rows_features(feature_map, X)))


def distance_correlation(*samples: ArrayLike) -> np.ndarray:
    r"""The distance correlations between samples, or between the columns of one sample.

    It is between 0 and 1, and tells also dependence that is not linear: over the population it is 0 only for
    independent variables. Over n rows it is above 0 for these too, and falls as :math:`1 / \sqrt{n}`.

    Parameters
    ----------
    *samples : array of shape (n,) or (n, d)
        Samples of the same n rows, of any number of columns; or one sample, whose columns are compared.

    Returns
    -------
    ndarray of shape (samples, samples), or (d, d) for one sample
        0 where a sample is constant.

    References
    ----------
    G. J. Székely, M. L. Rizzo and N. K. Bakirov, "Measuring and testing dependence by correlation of distances", Annals
    of Statistics 35, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.metrics import distance_correlation
    >>> x = np.linspace(-1, 1, 101)
    >>> distance_correlation(x, 3 - 2 * x, x**2).round(2)
    array([[1.  , 1.  , 0.49],
           [1.  , 1.  , 0.49],
           [0.49, 0.49, 1.  ]])
    """
    columns = [np.asarray(sample, dtype=np.float64) for sample in samples]
    return _core.dependence([_float64(x.reshape(-1, 1) if x.ndim == 1 else x) for x in columns])


def friedman(scores: ArrayLike, *, best: str = "highest", control: int | None = None) -> dict[str, Any]:
    """Friedman's test: whether methods differ over several data sets, by their ranks, and which do.

    Parameters
    ----------
    scores : array of shape (n, k)
        A score of each of k methods (columns) on each of n data sets, folds or settings (rows).
    best : {"highest", "lowest"}, default="highest"
        Which score of a row is the best: highest for accuracies, lowest for errors.
    control : int, optional
        The method with which all others are compared; without it all pairs are.

    Returns
    -------
    dict
        ``average_ranks`` (1 is the best), ``chi_squared`` (corrected for ties) with its ``p_value``, ``iman_davenport``
        with its ``iman_davenport_p_value``, the closer one, and ``comparisons``: for each pair ``first``, ``second``,
        ``z`` (above 0 where the first is better), ``p_value``, and p-values adjusted for the number of pairs by
        ``bonferroni``, ``holm`` and ``hochberg``.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006; S. García and others,
    "Advanced nonparametric tests for multiple comparisons", Information Sciences 180, 2010.

    Examples
    --------
    >>> from mercer.metrics import friedman
    >>> accuracies = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.95, 0.9, 0.91], [0.7, 0.6, 0.5]]
    >>> report = friedman(accuracies, control=0)
    >>> report["average_ranks"], report["chi_squared"]
    ([1.0, 2.25, 2.75], 6.5)
    >>> [round(pair["holm"], 4) for pair in report["comparisons"]]
    [0.0771, 0.0267]
    """
    if best not in ("highest", "lowest"):
        raise ValueError(f"best is {best!r}, must be 'highest' or 'lowest'")
    if control is not None and control < 0:
        raise ValueError(f"control is {control}, must be the number of a method, counted from 0")
    report, comparisons = json.loads(_core.friedman_of(_float64(scores), json.dumps(best), control))
    if report["iman_davenport"] is None:
        report["iman_davenport"] = float("inf")
    return report | {"comparisons": comparisons}


def classification_scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, Any]:
    """Accuracy, F1 scores and the rest, from the counts of predicted classes.

    Examples
    --------
    >>> from mercer.metrics import classification_scores
    >>> classification_scores(["a", "b", "b"], ["a", "b", "a"])["accuracy"]
    0.6666666666666666
    """
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y_true, y_pred)
    classes, numbers = np.unique(np.concatenate([y_true, y_pred]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    truth, predicted = np.ascontiguousarray(numbers[: len(y_true)]), np.ascontiguousarray(numbers[len(y_true) :])
    return json.loads(_core.classification(truth, predicted, len(classes)))


def probability_scores(y_true: ArrayLike, probabilities: ArrayLike, *, labels: ArrayLike | None = None) -> dict[str, Any]:
    """Log loss, Brier score and calibration error; ``labels`` are those of the columns, by default all of ``y_true``."""
    y_true = column_or_1d(y_true)
    labels = np.unique(y_true) if labels is None else np.asarray(labels)
    probabilities = _float64(probabilities)
    if len(labels) != probabilities.shape[1] or len(np.unique(labels)) != len(labels):
        raise ValueError(f"{len(labels)} different labels are needed for {probabilities.shape[1]} columns: give labels")
    known = {label: at for at, label in enumerate(labels.tolist())}
    try:
        truth = np.array([known[label] for label in y_true.tolist()], dtype=np.int64)
    except KeyError as error:
        raise ValueError(f"y_true has the label {error.args[0]!r}, which labels has not") from None
    return json.loads(_core.probabilities(truth, probabilities))


def regression_scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, Any]:
    """Root mean squared error, R² and the rest, for each target and over all."""
    columns = [np.asarray(y, dtype=np.float64) for y in (y_true, y_pred)]
    truth, predicted = (y.reshape(-1, 1) if y.ndim == 1 else y for y in columns)
    return json.loads(_core.regression(_float64(truth), _float64(predicted)))


def _kernel_rows_features(feature_map: FeatureMap, X: ArrayLike) -> tuple[str, Any, np.ndarray]:
    """The kernel of a fitted map, rows in the units of the kernel, and their features."""
    check_is_fitted(feature_map)
    X = validated(feature_map, X, reset=False, accept_sparse="csr", dtype=FLOATS, order="C")
    features = feature_map._map.transform(rows(X), threads(feature_map.n_jobs))
    scales = getattr(feature_map, "length_scales", None)
    if scales is not None:
        factors = (1 / np.asarray(scales, dtype=np.float64)).astype(X.dtype)
        X = X.multiply(factors).tocsr() if issparse(X) else X * factors
    return feature_map._map.kernel, rows(X), features


def _float64(values: ArrayLike) -> np.ndarray:
    return check_array(values, dtype=np.float64, order="C")
