"""Linear models on explicit features: scaling, map and model are fitted together, a block of rows at a time."""

from __future__ import annotations

from typing import Any

from mercer._learner import Linear, Mapped
from mercer._load import load
from mercer._tasks import Classifier, Regressor

__all__ = ["KernelClassifier", "KernelRegressor", "LinearClassifier", "LinearRegressor", "load"]

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


class KernelClassifier(Mapped, Classifier):
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


class KernelRegressor(Mapped, Regressor):
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


class LinearClassifier(Linear, Classifier):
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


class LinearRegressor(Linear, Regressor):
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
