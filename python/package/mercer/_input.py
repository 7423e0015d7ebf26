"""X as it comes: arrays, CSR matrices, frames, and tables of any library that speaks Arrow's C data interface."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import _check_n_features, validate_data

from mercer import _core

# scikit-learn takes these frames itself, with their index and types.
FRAMES = {"pandas", "polars"}


def validated(estimator: BaseEstimator, X: Any, *y: Any, reset: bool = True, **checks: Any) -> Any:
    """scikit-learn's ``validate_data``, which here takes Arrow tables too."""
    table = arrow_table(X)
    if table is None:
        return validate_data(estimator, X, *y, reset=reset, **checks)
    X, names = table
    check_names(estimator, names, reset=reset)
    checks = {"estimator": estimator} | checks
    out = check_X_y(X, *y, **checks) if y else check_array(X, input_name="X", **checks)
    _check_n_features(estimator, X, reset=reset)
    return out


def is_ready(estimator: BaseEstimator, X: Any) -> bool:
    """Whether X is as the core takes it and as it was fitted: checks would find nothing, and take longer than a few rows."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float32, np.float64)
        and X.flags.c_contiguous
        and 0 < len(X)
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def checked(X: Any, **checks: Any) -> Any:
    """scikit-learn's ``check_array``, which here takes Arrow tables too."""
    table = arrow_table(X)
    return check_array(X if table is None else table[0], **checks)


def arrow_table(X: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The rows of an Arrow table and the names of its columns; None of what scikit-learn takes itself."""
    known = any(base.__module__.partition(".")[0] in FRAMES for base in type(X).__mro__)
    if known or not hasattr(X, "__arrow_c_stream__"):
        return None
    rows, names = _core.arrow_rows(X)
    return rows, np.array(names, dtype=object)


def check_names(estimator: BaseEstimator, names: np.ndarray, *, reset: bool) -> None:
    """Keeps the names of columns, or compares them, as scikit-learn does with those of frames."""
    if reset:
        estimator.feature_names_in_ = names
        return
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is None:
        # Of the caller of the estimator's method.
        warnings.warn(f"X has feature names, but {type(estimator).__name__} was fitted without feature names", stacklevel=4)
    elif fitted.tolist() != names.tolist():
        pairs = zip([*fitted, None], [*names, None])
        was, got = next(pair for pair in pairs if pair[0] != pair[1])
        raise ValueError(f"The feature names should match those that were passed during fit: {was!r} was, {got!r} is given")
