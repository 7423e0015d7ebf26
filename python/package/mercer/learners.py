"""Linear models on explicit features: scaling, map and model are fitted together, a block of rows at a time."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer import _core
from mercer._base import FeatureMap, as_json, rows, seed, threads
from mercer._input import validated
from mercer.feature_maps import binning_spec, spectral_spec

__all__ = ["KernelClassifier", "KernelRegressor", "LinearClassifier", "LinearRegressor", "load"]

SPECTRAL = ["fourier", "orthogonal", "sorf", "fastfood", "quasi"]
# The first is what lists and whole numbers become.
BYTES = [np.float64, np.float32, np.uint8]
# Where the weight of the penalty cannot be chosen by rows held out.
PENALTY_OF_BATCHES = 1e-6
# Rows that a model from a file is taken to know when it learns more.
ROWS_OF_FILES = 10_000

_LEARNER_PARAMETERS = """
    reg : float or "auto", default="auto"
        Weight of the penalty relative to the mean loss; "auto" takes the best of eight on rows held out. With
        ``partial_fit`` "auto" is 1e-6.
    C : float, default=None
        The same as scikit-learn's support vector machines have it: reg = 1 / (2 n C).
    fit_intercept : bool, default=True
        Whether scores have an intercept.
    solver : {"auto", "direct", "iterative", "dual", "sgd"}, default="auto"
        How the minimum is found.
    tol : float, default=1e-4
        Distance from the minimum, relative to the value there.
    max_iter : int, default=500
        Passes at most.
    cv : int, default=None
        Folds that choose ``reg``; one row in ten is held out when absent.
    preprocess : {"auto", "none", "standardize", "min_max", "max_abs", "unit_norm", "bytes"}, default="auto"
        Scaling of the inputs; "auto" standardises dense ones, divides sparse ones by their largest value, and uint8 by 255.
    dtype : {"float32", "float64", "auto"}
        Type that is computed in; "auto" is that of X.
    memory : int, default=None
        Bytes for features that are kept between passes (2 GiB); what does not fit is mapped again.
    random_state : int, RandomState or None, default=None
        An integer draws what the command line draws with ``--seed``.
    n_jobs : int or None, default=None
        Threads; None for all cores. The model does not depend on it.
"""

_MAP_PARAMETERS = """
    map : str or feature map, default="fourier"
        One of fourier, orthogonal, sorf, fastfood, quasi, binning, or an estimator of `mercer.feature_maps` or
        `mercer.projections` with its own parameters (its ``random_state`` counts where this one's is None).
    n_components : int, default=4096
        Number of features.
    kernel : {"rbf", "laplace", "matern", "cauchy", "rational_quadratic"}, default="rbf"
        The kernel, of maps given by name.
    gamma : float, "scale" or "median", default="scale"
        Its width, of the scaled inputs.
    nu : float, default=1.5
        Smoothness of the Matern kernel.
    alpha : float, default=1.0
        Of the rational quadratic kernel."""


class _Learner(BaseEstimator):
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


class _Linear:
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


class _Mapped:
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


class _Classifier(ClassifierMixin, _Learner):
    def _loss(self) -> dict[str, Any]:
        names = {
            ("ridge", None): "squared",
            ("svm", None): "squared_hinge",
            ("svm", "squared_hinge"): "squared_hinge",
            ("svm", "hinge"): "hinge",
            ("logistic", None): "logistic",
            ("softmax", None): "softmax",
        }
        name = names.get((self.learner, self.loss))
        if name is None:
            raise ValueError(
                f"learner is {self.learner!r} with loss {self.loss!r}, must be ridge, logistic or softmax without a loss,"
                " or svm with None, 'squared_hinge' or 'hinge'"
            )
        return {"name": name}

    def fit(self, X: ArrayLike, y: ArrayLike) -> _Classifier:
        """Fit scaling, map and model.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels: numbers or texts.

        Returns
        -------
        self
        """
        self._forget()
        X, y = validated(self, X, y, accept_sparse="csr", dtype=BYTES, order="C")
        X = as_rows(X)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only, {self.classes_[0]!r}; a classifier needs two or more classes")
        check_told_apart(self.classes_)
        self._fit(X, labels(y), "classification")
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> _Classifier:
        """Learn from some rows more.

        Scaling and width are fitted to the first ones; ``classes`` is needed with them. A model that was fitted, loaded
        or unpickled goes on by stochastic gradients (`load` counts it as one of 10,000 rows).

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array, default=None
            All labels there will be.
        sample_weight : array of shape (n_samples,), default=None
            What each row counts. Ridge models take them from the first call on, or not at all: they learn by stochastic
            gradients then.

        Returns
        -------
        self
        """
        if self.probability and self.learner in ("ridge", "svm"):
            raise ValueError("probability is True, must be False for partial_fit of ridge and svm: no rows are held out")
        first = not hasattr(self, "_model")
        X, y = validated(self, X, y, accept_sparse="csr", dtype=BYTES, order="C", reset=first)
        X, y = as_rows(X), column_or_1d(y, warn=True)
        check_classification_targets(y)
        if classes is not None and not first and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes are {np.unique(classes).tolist()}, were {self.classes_.tolist()} before")
        if first:
            if classes is None:
                raise ValueError("classes must be given with the first call of partial_fit")
            self.classes_ = np.unique(classes)
            check_told_apart(self.classes_)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y has the label {unknown[0]!r}, which is none of the classes {self.classes_.tolist()}")
        outputs = {"task": "classification", "classes": [label(c) for c in self.classes_.tolist()]}
        self._partial_fit(X, labels(y), outputs, sample_weight)
        return self

    def _take_over(self) -> None:
        super()._take_over()
        known = json.loads(self._model.header())["outputs"]["classes"]
        if not hasattr(self, "classes_"):
            self.classes_ = np.array([int(c) if isinstance(c, float) and c.is_integer() else c for c in known])
        # In the order of the model's outputs, which takes texts that are numbers throughout for numbers.
        key = str if isinstance(known[0], str) else float
        places = {key(c): at for at, c in enumerate(self.classes_.tolist())}
        self._order = np.array([places[c] for c in known])

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """The score of each class, or of the second of two, in the order of ``classes_``."""
        scores = self._scores(self._checked_rows(X))
        if scores.shape[1] == 1:
            return scores[:, 0] if self._order[1] == 1 else -scores[:, 0]
        ordered = np.empty_like(scores)
        ordered[:, self._order] = scores
        return ordered

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The label of each row: that of the largest score."""
        scores = self._scores(self._checked_rows(X))
        # As the command line has it: the sign of one score, the first of equals.
        chosen = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[self._order[chosen]]

    def _has_probabilities(self) -> bool:
        return self.probability or self.learner in ("logistic", "softmax")

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """The probability of each class, in the order of ``classes_``. Needs ``probability=True`` but for logistic and softmax."""
        X = self._checked_rows(X)
        values = self._current().probabilities(rows(X), threads(self.n_jobs))
        ordered = np.empty_like(values)
        ordered[:, self._order] = values
        return ordered

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class _Regressor(RegressorMixin, _Learner):
    def _loss(self) -> dict[str, Any]:
        losses = {
            "ridge": {"name": "squared"},
            "huber": {"name": "huber", "delta": self.delta},
            "svr": {"name": "squared_epsilon_insensitive", "epsilon": self.epsilon},
        }
        if self.learner not in losses:
            raise ValueError(f"learner is {self.learner!r}, must be one of {', '.join(losses)}")
        return losses[self.learner]

    def fit(self, X: ArrayLike, y: ArrayLike) -> _Regressor:
        """Fit scaling, map and model.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        self
        """
        self._forget()
        X, y = validated(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=BYTES,
            order="C",
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=2,
        )
        X = as_rows(X)
        self._flat = np.ndim(y) == 1
        self._fit(X, values(y), "regression")
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> _Regressor:
        """Learn from some rows more.

        Scaling and width are fitted to the first ones; ``delta`` and ``epsilon`` are in units of the target here. A model
        that was fitted, loaded or unpickled goes on by stochastic gradients (`load` counts it as one of 10,000 rows).

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), default=None
            What each row counts. Ridge models take them from the first call on, or not at all: they learn by stochastic
            gradients then.

        Returns
        -------
        self
        """
        first = not hasattr(self, "_model")
        X, y = validated(
            self, X, y, accept_sparse="csr", dtype=BYTES, order="C", multi_output=True, y_numeric=True, reset=first
        )
        targets = values(y)
        outputs = {"task": "regression", "n_targets": targets.shape[1]}
        self._partial_fit(as_rows(X), targets, outputs, sample_weight)
        if first:
            self._flat = np.ndim(y) == 1
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The values of each row."""
        X = self._checked_rows(X)
        scores = self._scores(X).astype(np.float32 if X.dtype == np.float32 else np.float64, copy=False)
        return scores[:, 0] if self._flat else scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


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


def check_told_apart(classes: np.ndarray) -> None:
    """Refuses texts that are different spellings of one number: the core takes texts that are numbers for numbers."""
    try:
        numbers = {float(c) for c in classes.tolist()}
    except (TypeError, ValueError):
        return
    if len(numbers) < len(classes):
        raise ValueError(f"the labels {classes.tolist()} are texts of fewer numbers; spell them alike, or add letters")


def label(value: Any) -> Any:
    """A label as a model's header has it."""
    return float(value) if isinstance(value, (bool, int, float)) else str(value)


def labels(y: np.ndarray) -> Any:
    """Labels as the core takes them: numbers, or a list of texts."""
    return values(y) if y.dtype.kind in "biuf" else [str(value) for value in y.tolist()]


def values(y: np.ndarray) -> np.ndarray:
    """Targets as the core takes them: rows of float64."""
    y = np.ascontiguousarray(y, dtype=np.float64)
    return y.reshape(-1, 1) if y.ndim == 1 else y


class KernelClassifier(_Mapped, _Classifier):
    __doc__ = f"""A classifier that learns what a kernel machine learns, at the cost of a linear one.

    Scaling, feature map and linear model are fitted together, a block of rows at a time: the features of all rows are
    kept only where there is room for them.

    Parameters
    ----------{_MAP_PARAMETERS}
    learner : {{"ridge", "svm", "logistic", "softmax"}}, default="ridge"
        The linear model; svm is the most accurate, ridge the fastest.
    loss : {{None, "squared_hinge", "hinge"}}, default=None
        Of svm.
    class_weight : {{None, "balanced"}}, default=None
        What rows count: all alike, or all classes alike.
    probability : bool, default=False
        Whether ridge and svm give probabilities, by sigmoids fitted to rows held out (20 rows at least): up to five models
        more. Another class than the predicted one may be the most likely.{_LEARNER_PARAMETERS}
    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    reg_ : float
        The weight of the penalty.
    solver_ : str
        How the minimum was found.
    report_ : dict
        What was chosen while fitting, and why.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.learners import KernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelClassifier(n_components=512, learner="svm", C=1.0, random_state=0).fit(X[:1200], y[:1200])
    >>> model.score(X[1200:], y[1200:]) > 0.9
    True
    """

    def __init__(
        self,
        map: Any = "fourier",
        n_components: int = 4096,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        nu: float = 1.5,
        alpha: float = 1.0,
        learner: str = "ridge",
        loss: str | None = None,
        class_weight: str | None = None,
        probability: bool = False,
        reg: float | str = "auto",
        C: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        cv: int | None = None,
        preprocess: str = "auto",
        dtype: str = "float32",
        memory: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.nu = nu
        self.alpha = alpha
        self.learner = learner
        self.loss = loss
        self.class_weight = class_weight
        self.probability = probability
        self.reg = reg
        self.C = C
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.preprocess = preprocess
        self.dtype = dtype
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class KernelRegressor(_Mapped, _Regressor):
    __doc__ = f"""A regression that learns what kernel ridge or support vector regression learns, at linear cost.

    Parameters
    ----------{_MAP_PARAMETERS}
    learner : {{"ridge", "huber", "svr"}}, default="ridge"
        The linear model.
    delta : float, default=1.345
        Where the square of huber ends, in spreads of the target.
    epsilon : float, default=0.1
        Half the width of svr's tube, in spreads of the target.{_LEARNER_PARAMETERS}
    Attributes
    ----------
    reg_ : float
        The weight of the penalty.
    solver_ : str
        How the minimum was found.
    report_ : dict
        What was chosen while fitting, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learners import KernelRegressor
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> KernelRegressor(n_components=256, random_state=0).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.99
    True
    """

    def __init__(
        self,
        map: Any = "fourier",
        n_components: int = 4096,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        nu: float = 1.5,
        alpha: float = 1.0,
        learner: str = "ridge",
        delta: float = 1.345,
        epsilon: float = 0.1,
        reg: float | str = "auto",
        C: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        cv: int | None = None,
        preprocess: str = "auto",
        dtype: str = "float32",
        memory: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.nu = nu
        self.alpha = alpha
        self.learner = learner
        self.delta = delta
        self.epsilon = epsilon
        self.reg = reg
        self.C = C
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.preprocess = preprocess
        self.dtype = dtype
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class LinearClassifier(_Linear, _Classifier):
    __doc__ = f"""A linear classifier of the inputs themselves, or of features made before.

    Parameters
    ----------
    learner : {{"svm", "ridge", "logistic", "softmax"}}, default="svm"
        The linear model.
    loss : {{None, "squared_hinge", "hinge"}}, default=None
        Of svm.
    class_weight : {{None, "balanced"}}, default=None
        What rows count: all alike, or all classes alike.
    probability : bool, default=False
        Whether ridge and svm give probabilities.{_LEARNER_PARAMETERS}
    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_outputs, n_features)
        Of the scaled inputs.
    intercept_ : array of shape (n_outputs,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.learners import LinearClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearClassifier(learner="softmax", C=1.0).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        learner: str = "svm",
        *,
        loss: str | None = None,
        class_weight: str | None = None,
        probability: bool = False,
        reg: float | str = "auto",
        C: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        cv: int | None = None,
        preprocess: str = "auto",
        dtype: str = "auto",
        memory: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.class_weight = class_weight
        self.probability = probability
        self.reg = reg
        self.C = C
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.preprocess = preprocess
        self.dtype = dtype
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class LinearRegressor(_Linear, _Regressor):
    __doc__ = f"""A linear regression of the inputs themselves, or of features made before.

    Parameters
    ----------
    learner : {{"ridge", "huber", "svr"}}, default="ridge"
        The linear model.
    delta : float, default=1.345
        Where the square of huber ends, in spreads of the target.
    epsilon : float, default=0.1
        Half the width of svr's tube, in spreads of the target.{_LEARNER_PARAMETERS}
    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features)
        Of the scaled inputs.
    intercept_ : array of shape (n_targets,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learners import LinearRegressor
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> LinearRegressor(reg=1e-9).fit(X, 2 * X[:, 0] + 1).predict([[100.0]]).round(3)
    array([201.])
    """

    def __init__(
        self,
        learner: str = "ridge",
        *,
        delta: float = 1.345,
        epsilon: float = 0.1,
        reg: float | str = "auto",
        C: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        cv: int | None = None,
        preprocess: str = "auto",
        dtype: str = "auto",
        memory: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.learner = learner
        self.delta = delta
        self.epsilon = epsilon
        self.reg = reg
        self.C = C
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.preprocess = preprocess
        self.dtype = dtype
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


def load(path: str | os.PathLike[str]) -> _Learner:
    """A fitted estimator from a model file, written by `save` or by ``mercer train``.

    Its parameters are those of the model in numbers (the width that was found, the penalty that was chosen). A model that
    fills in missing values does so here, for NaN; one of columns of words is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import mercer
    >>> from mercer.learners import KernelRegressor
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.mercer"
    >>> model = KernelRegressor(n_components=64, reg=1e-6, random_state=0).fit(X, y)
    >>> model.save(file)
    >>> bool((mercer.load(file).predict(X) == model.predict(X)).all())
    True
    """
    model = _core.Model.load(os.fspath(path))
    header = json.loads(model.header())
    spec, learner = header["spec"], header["spec"]["learner"]
    map_spec, loss = dict(spec["map"]["spec"]), learner["loss"]
    columns = (header.get("encoding") or {"columns": []})["columns"]
    if any(column["kind"] == "categorical" for column in columns):
        raise ValueError(f"{os.fspath(path)} was trained on columns of words, which arrays have not: use `mercer predict`")
    classifies = header["outputs"]["task"] == "classification"
    parameters: dict[str, Any] = {
        "reg": learner["lambda"],
        "fit_intercept": learner["intercept"],
        "solver": learner["solver"],
        "preprocess": spec["preprocess"],
        "dtype": spec["dtype"],
        "random_state": spec["seed"],
    }
    names = {"squared": "ridge", "squared_hinge": "svm", "hinge": "svm", "squared_epsilon_insensitive": "svr"}
    parameters["learner"] = names.get(loss["name"], loss["name"])
    if loss["name"] == "hinge":
        parameters["loss"] = "hinge"
    parameters |= {name: loss[name] for name in ("delta", "epsilon") if name in loss}
    if classifies:
        parameters["probability"] = model.has_probabilities()
        parameters["class_weight"] = "balanced" if learner["class_weight"] == "balanced" else None
    if map_spec["name"] == "identity":
        estimator = (LinearClassifier if classifies else LinearRegressor)(**parameters)
    else:
        estimator = (KernelClassifier if classifies else KernelRegressor)(**map_parameters(map_spec), **parameters)
    estimator.n_features_in_ = spec["map"]["n_inputs"]
    estimator._fills_gaps = any(column.get("fill") is not None for column in columns)
    if header["input_names"]:
        estimator.feature_names_in_ = np.array(header["input_names"], dtype=object)
    if not classifies:
        estimator._flat = header["outputs"]["n_targets"] == 1
    estimator._model, estimator._online, estimator._n_rows, estimator.report_ = model, None, ROWS_OF_FILES, {}
    estimator._take_over()
    return estimator


def map_parameters(spec: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator for a map in numbers."""
    from mercer import feature_maps, projections

    name = spec.pop("name")
    if name == "spectral":
        plain = spec["waves"] == "paired" and spec["length_scales"] is None
        frequencies, kernel = spec.pop("frequencies"), spec.pop("kernel")
        parameters = {"kernel": kernel.pop("name"), **kernel, **spec}
        if plain:
            return {"map": frequencies} | {k: v for k, v in parameters.items() if k not in ("waves", "length_scales")}
        classes = {"fourier": "RandomFourier", "orthogonal": "OrthogonalFourier", "sorf": "SORF",
                   "fastfood": "Fastfood", "quasi": "QuasiFourier"}  # fmt: skip
        return {"map": getattr(feature_maps, classes[frequencies])(**parameters)}
    classes = {
        "binning": feature_maps.RandomBinning,
        "gaussian_projection": projections.GaussianProjection,
        "sparse_projection": projections.SparseProjection,
        "srht": projections.SRHT,
        "hadamard": projections.HadamardTransform,
    }
    return {"map": classes[name](**spec)}
