"""What classifiers and regressors share: the spec of a pipeline, checked rows, and the fitted model."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer import _core
from mercer._base import FeatureMap, as_json, rows, seed, threads
from mercer._input import validated
from mercer.feature_maps import binning_spec, spectral_spec

SPECTRAL = ["fourier", "orthogonal", "sorf", "fastfood", "quasi"]
# The first is what lists and whole numbers become.
BYTES = [np.float64, np.float32, np.uint8]
# Where the weight of the penalty cannot be chosen by rows held out.
PENALTY_OF_BATCHES = 1e-6


class Learner(BaseEstimator):
    """What is common: the spec, rows, and the fitted model."""

    def _map_spec(self, n_inputs: int) -> dict[str, Any]:
        raise NotImplementedError

    def _loss(self) -> dict[str, Any]:
        raise NotImplementedError

    def _pipeline_spec(self, n_inputs: int, task: str, **learner: Any) -> dict[str, Any]:
        reg = {"C": self.C} if self.C is not None else self.reg
        weight = getattr(self, "class_weight", None)
        if weight not in (None, "balanced"):
            raise ValueError(f"class_weight is {weight!r}, must be None or 'balanced'")
        return {
            "preprocess": self.preprocess,
            "map": self._map_spec(n_inputs),
            "learner": {
                "loss": self._loss(),
                "lambda": reg,
                "class_weight": weight or "uniform",
                "intercept": bool(self.fit_intercept),
                "solver": self.solver,
                "stopping": {"tol": self.tol, "max_iter": self.max_iter},
            }
            | learner,
            "task": task,
            "cv": self.cv,
            "probabilities": bool(getattr(self, "probability", False)),
            "seed": self._seed,
        }

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        # Missing values are filled in by models of the command line that were trained so.
        finite = "allow-nan" if getattr(self, "_fills_gaps", False) else True
        checks = {"accept_sparse": "csr", "dtype": BYTES, "order": "C", "ensure_all_finite": finite}
        return as_rows(validated(self, X, reset=False, **checks))

    def _dtype(self, X: Any) -> str:
        if self.dtype == "auto":
            return "float64" if X.dtype == np.float64 else "float32"
        return self.dtype

    def _draw_seed(self) -> int:
        given = getattr(self, "map", None)
        if self.random_state is None and isinstance(given, FeatureMap):
            return seed(getattr(given, "random_state", 0))
        return seed(self.random_state)

    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [])]

    def _forget(self) -> None:
        """What was fitted before must not be mixed with what comes, if that fails."""
        for name in ("_model", "_online", "_fills_gaps"):
            self.__dict__.pop(name, None)

    def _fit(self, X: Any, targets: Any, task: str) -> None:
        self._seed = self._draw_seed()
        spec = as_json(self._pipeline_spec(X.shape[1], task))
        data = (rows(X), targets, self._names())
        with python_words():
            model, report = _core.Model.fit(spec, data, self._dtype(X), threads(self.n_jobs), self.memory)
        self._model, self._online, self.report_ = model, None, json.loads(report)
        self._n_rows = self.report_["n_rows"]
        self._take_over()
        convergence = self.report_["convergence"]
        if convergence is not None and not convergence["converged"]:
            text = "the minimum was not reached: raise max_iter, or tol, or scale the inputs"
            warnings.warn(text, ConvergenceWarning, stacklevel=3)

    def _current(self) -> _core.Model:
        """The model, made of what batches taught when it is first wanted."""
        if self._model is None:
            self._model = self._online.model(threads(self.n_jobs))
            self._take_over()
        return self._model

    def _take_over(self) -> None:
        """Sets what the model knows of itself."""
        header = json.loads(self._model.header())
        self.reg_ = header["spec"]["learner"]["lambda"]
        self.solver_ = header["spec"]["learner"]["solver"]
        convergence = (getattr(self, "report_", None) or {}).get("convergence")
        self.n_iter_ = max(1, convergence["iterations"]) if convergence else 1

    def _scores(self, X: Any) -> np.ndarray:
        return self._current().scores(rows(X), threads(self.n_jobs))

    def _partial_fit(self, X: Any, targets: Any, outputs: dict[str, Any], weights: Any) -> None:
        with python_words():
            online, dtype = getattr(self, "_online", None), getattr(self, "_online_dtype", None)
            if online is None:
                online, dtype = self._start_online(X, outputs, weights)
            if weights is not None:
                weights = _check_sample_weight(weights, X, dtype=np.dtype(dtype))
            online.partial_fit(rows(X.astype(dtype, copy=False)), targets, weights, threads(self.n_jobs))
        # Nothing of this is kept where the rows were refused.
        self._online, self._online_dtype, self._n_rows, self._model = online, dtype, online.n_rows, None

    def _start_online(self, X: Any, outputs: dict[str, Any], weights: Any) -> tuple[_core.Online, str]:
        if getattr(self, "_model", None) is not None:
            dtype = json.loads(self._model.header())["spec"]["dtype"]
            return _core.Online.resume(self._model, self._n_rows), dtype
        if self.C is not None:
            raise ValueError(f"C is {self.C}, must be None for partial_fit, which does not know the number of rows: give reg")
        self._seed = self._draw_seed()
        # Sums of a ridge model have no weights.
        given = {"lambda": PENALTY_OF_BATCHES if self.reg == "auto" else self.reg}
        given |= {"solver": "sgd"} if weights is not None and self.solver == "auto" else {}
        spec = as_json(self._pipeline_spec(X.shape[1], outputs["task"], **given))
        data, dtype = (rows(X), self._names()), self._dtype(X)
        return _core.Online.start(spec, as_json(outputs), data, dtype, threads(self.n_jobs)), dtype

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, which the command line and `mercer.load` read. It appears whole or not at all."""
        check_is_fitted(self)
        self._current().save(os.fspath(path))

    def __getstate__(self) -> dict[str, Any]:
        # The learner of batches does not travel; its model does, and goes on from there.
        if hasattr(self, "_model"):
            self._current()
        return super().__getstate__() | ({"_online": None} if "_online" in self.__dict__ else {})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Linear:
    """A learner of the inputs themselves."""

    def _map_spec(self, n_inputs: int) -> dict[str, Any]:
        return {"name": "identity"}

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the scaled inputs, (n_outputs, n_features)."""
        check_is_fitted(self)
        return self._current().parameters()[0].T

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the scores, (n_outputs,)."""
        check_is_fitted(self)
        return self._current().parameters()[1]


class Mapped:
    """A learner of features."""

    def _map_spec(self, n_inputs: int) -> dict[str, Any]:
        if isinstance(self.map, FeatureMap):
            given = type(self.map)(**self.map.get_params())
            given.n_features_in_ = n_inputs
            return given._spec()
        if self.map in SPECTRAL:
            return spectral_spec(self, self.map)
        if self.map == "binning":
            return binning_spec(self)
        raise ValueError(f"map is {self.map!r}, must be one of {', '.join(SPECTRAL)}, binning, or a feature map")


@contextmanager
def python_words() -> Iterator[None]:
    """Errors of the core name its own parameters: here they have other names."""
    words = {"lambda is": "reg is", "weights is": "sample_weight is", "train with --probabilities": "fit with probability=True"}
    try:
        yield
    except ValueError as error:
        text = str(error)
        for ours, theirs in words.items():
            text = text.replace(ours, theirs)
        raise ValueError(text) from None


def as_rows(X: Any) -> Any:
    """Bytes only where they are dense."""
    return X.astype(np.float32) if issparse(X) and X.dtype == np.uint8 else X
