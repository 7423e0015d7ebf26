"""What every classifier does, and every regressor: labels and targets in, predictions out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from mercer._base import rows, threads
from mercer._input import validated
from mercer._learner import BYTES, Learner, as_rows


class Classifier(ClassifierMixin, Learner):
    """A learner of labels."""

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

    def fit(self, X: ArrayLike, y: ArrayLike) -> Classifier:
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
    ) -> Classifier:
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

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """The probability of each class, in the order of ``classes_``. Needs ``probability=True`` but for logistic and softmax."""
        X = self._checked_rows(X)
        values = self._current().probabilities(rows(X), threads(self.n_jobs))
        ordered = np.empty_like(values)
        ordered[:, self._order] = values
        return ordered

    @available_if(lambda self: self._has_probabilities())
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class Regressor(RegressorMixin, Learner):
    """A learner of numbers."""

    def _loss(self) -> dict[str, Any]:
        losses = {
            "ridge": {"name": "squared"},
            "huber": {"name": "huber", "delta": self.delta},
            "svr": {"name": "squared_epsilon_insensitive", "epsilon": self.epsilon},
        }
        if self.learner not in losses:
            raise ValueError(f"learner is {self.learner!r}, must be one of {', '.join(losses)}")
        return losses[self.learner]

    def fit(self, X: ArrayLike, y: ArrayLike) -> Regressor:
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

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Regressor:
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
