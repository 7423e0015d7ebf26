"""How well maps approximate kernels, and models predict."""

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

__all__ = ["approximation", "classification_scores", "distance_distortion", "kernel_error", "probability_scores",
           "regression_scores"]  # fmt: skip


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
    return json.loads(_core.distortion(_float64(exact), _float64(approximate)))


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
    check_is_fitted(feature_map)
    X = validated(feature_map, X, reset=False, accept_sparse="csr", dtype=FLOATS, order="C")
    features = feature_map._map.transform(rows(X), threads(feature_map.n_jobs))
    scales = getattr(feature_map, "length_scales", None)
    if scales is not None:
        factors = (1 / np.asarray(scales, dtype=np.float64)).astype(X.dtype)
        X = X.multiply(factors).tocsr() if issparse(X) else X * factors
    return json.loads(_core.approximation_of(feature_map._map.kernel, rows(X), features))


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


def _float64(values: ArrayLike) -> np.ndarray:
    return check_array(values, dtype=np.float64, order="C")
