"""What all estimators share: how parameters and arrays are handed to the core."""

from __future__ import annotations

import json
import numbers
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._input import is_ready, validated

FLOATS = [np.float64, np.float32]


def threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: all cores for None, or as many as joblib leaves its workers by OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return min(cores, max(1, int(limit))) if limit.isdigit() else cores
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}, must be None or an integer other than 0")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)


def seed(random_state: Any) -> int:
    """The core's seed: an integer is itself, so that the command line draws the same with ``--seed``."""
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"random_state is {random_state}, must be at least 0")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def rows(X: Any) -> Any:
    """Checked rows as the core takes them: an array, or the parts of a CSR matrix whose columns ascend."""
    if not issparse(X):
        return X
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (X.shape[1], X.indptr, X.indices, X.data)


def number(value: Any) -> Any:
    """NumPy's numbers as JSON knows them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is not a number or a text")


def as_json(spec: Any) -> str:
    """A spec as the core reads it."""
    check_finite(spec)
    return json.dumps(spec, default=number)


def check_finite(spec: Any) -> None:
    """JSON has no infinity."""
    for name, value in spec.items():
        if isinstance(value, dict):
            check_finite(value)
        elif isinstance(value, numbers.Real) and not np.isfinite(value):
            raise ValueError(f"{name} is {value}, must be finite")
        elif isinstance(value, (list, tuple, np.ndarray)) and not all(isinstance(v, str) or np.isfinite(v) for v in value):
            raise ValueError(f"{name} has a value that is not finite")


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A map from rows to rows of features that the core draws and applies."""

    def _spec(self) -> dict[str, Any]:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: Any = None) -> FeatureMap:
        """Settle the width by the rows where it is not a number, and the random numbers by ``random_state``.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS, order="C")
        chosen = seed(getattr(self, "random_state", 0))
        self._n_rows = X.shape[0]
        self._map = _core.Map.fit(as_json(self._spec()), rows(X), chosen, threads(self.n_jobs))
        self._n_features_out = self._map.n_components
        self._fitted_dtype = X.dtype.name
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The features of rows, in their type (float32 stays float32).

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        # The core looks for values that are no numbers while they are in cache.
        checks = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", "ensure_all_finite": False}
        X = X if is_ready(self, X) else validated(self, X, reset=False, **checks)
        try:
            return self._map.transform(rows(X), threads(self.n_jobs))
        except ValueError:
            # In scikit-learn's words, where that is what is wrong.
            assert_all_finite(X.data if issparse(X) else X, estimator_name=type(self).__name__, input_name="X")
            raise

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_map")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
