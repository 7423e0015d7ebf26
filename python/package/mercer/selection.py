"""Pipelines found by the data: scaling, kernel, width, map, number of features, learner and penalty."""

from __future__ import annotations

import json
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from mercer import _core
from mercer._base import as_json, rows, threads
from mercer._learner import Learner, python_words
from mercer._tasks import Classifier, Regressor

__all__ = ["AutoClassifier", "AutoRegressor"]

_PARAMETERS = """
    time : float, default=None
        Seconds for all of it: as many trials, rows and features as they allow. The model then depends on the machine.
    trials : int, default=None
        Trials at most; without ``time`` 24, and the same ``random_state`` gives the same model.
    objective : {objectives}, default=None
        What is to be as large as possible; found by the targets when absent.
    confirm : bool, default=True
        Whether rows are kept out of the search that tell, without favour, how good its choice is.
    memory : int, default=2 GiB
        Bytes beside those of X.
    dtype : {{"float32", "float64", "auto"}}, default="float32"
        Type that is computed in; "auto" is that of X.
    random_state : int, RandomState or None, default=None
        An integer draws what the command line draws with ``--seed``.
    n_jobs : int or None, default=None
        Threads; None for all cores. Without ``time`` the model does not depend on it.
"""

_ATTRIBUTES = """
    search_ : dict
        What was tried, with scores, standard errors and seconds, and why this was chosen.
    spec_ : dict
        The pipeline in numbers.
    report_ : dict
        What was chosen while the model was fitted.
"""


class Found(Learner):
    """A learner whose pipeline is found."""

    def _fit(self, X: Any, targets: Any, task: str) -> None:
        self._seed = self._draw_seed()
        spec = {
            "contenders": [],
            "strategy": "halving",
            "objective": self.objective,
            "task": task,
            "trials": self.trials,
            "memory": 2 << 30 if self.memory is None else self.memory,
            "confirm": bool(self.confirm),
            "probabilities": bool(getattr(self, "probability", False)),
            "seed": self._seed,
        }
        data = (rows(X), targets, self._names())
        seconds = None if self.time is None else float(self.time)
        with python_words():
            model, report, search = _core.Model.search(as_json(spec), data, self._dtype(X), threads(self.n_jobs), seconds)
        self._model, self._online = model, None
        self.report_, self.search_ = json.loads(report), json.loads(search)
        self._n_rows = self.report_["n_rows"]
        self._take_over()
        convergence = self.report_["convergence"]
        if convergence is not None and not convergence["converged"] and not self.search_["ended_by_time"]:
            warnings.warn("the minimum was not reached", ConvergenceWarning, stacklevel=3)

    def _take_over(self) -> None:
        super()._take_over()
        self.spec_ = json.loads(self._model.header())["spec"]


def _never(_: Any) -> bool:
    return False


class AutoClassifier(Found, Classifier):
    __doc__ = f"""A classifier that finds scaling, kernel, map, number of features and learner by the data.

    Trials of growing size are judged by rows that they did not learn from; the plain linear model is always among them, and is
    taken where nothing beats it.

    Parameters
    ----------{_PARAMETERS.format(objectives='{None, "accuracy", "f1"}')}    probability : bool, default=False
        Whether the model gives probabilities whatever its learner is.

    Attributes
    ----------
    classes_ : array of shape (n_classes,){_ATTRIBUTES}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.selection import AutoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoClassifier(trials=6, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> "linear" in [trial["contender"]["kernel"]["name"] for trial in model.search_["trials"]]
    True
    """

    def __init__(
        self,
        time: float | None = None,
        *,
        trials: int | None = None,
        objective: str | None = None,
        confirm: bool = True,
        probability: bool = False,
        memory: int | None = None,
        dtype: str = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.time = time
        self.trials = trials
        self.objective = objective
        self.confirm = confirm
        self.probability = probability
        self.memory = memory
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _has_probabilities(self) -> bool:
        return self.probability or (hasattr(self, "_model") and self._model.has_probabilities())

    partial_fit = available_if(_never)(Classifier.partial_fit)


class AutoRegressor(Found, Regressor):
    __doc__ = f"""A regression that finds scaling, kernel, map, number of features and learner by the data.

    Parameters
    ----------{_PARAMETERS.format(objectives='{None, "r2"}')}
    Attributes
    ----------{_ATTRIBUTES}
    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import AutoRegressor
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> AutoRegressor(trials=6, random_state=0).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.99
    True
    """

    def __init__(
        self,
        time: float | None = None,
        *,
        trials: int | None = None,
        objective: str | None = None,
        confirm: bool = True,
        memory: int | None = None,
        dtype: str = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.time = time
        self.trials = trials
        self.objective = objective
        self.confirm = confirm
        self.memory = memory
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs

    partial_fit = available_if(_never)(Regressor.partial_fit)
