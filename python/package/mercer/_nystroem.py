"""The Nystroem method: public in `mercer.feature_maps`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._base import FLOATS, seed, threads
from mercer._input import checked, validated
from mercer._landmark import Invertible


class Nystroem(Invertible):
    r"""Kernel values with landmarks, made orthonormal, with scikit-learn's name and parameters.

    .. math:: \varphi(x) = R^{-T} k(L, x), \quad k(L, L) = R^T R

    The inner product of two rows is that of their projections onto the span of the landmarks in the kernel's feature space:
    exact where a row is a landmark, and better with every landmark. Landmarks that the others give already are left out, so there
    may be fewer features than landmarks asked for; a warning tells.

    As :class:`sklearn.kernel_approximation.Nystroem`, with better landmarks by ``budget`` or your own by ``landmarks``. Kernels given as functions, "cosine",
    "sigmoid" and "poly" of a degree that is no whole number are computed by :func:`sklearn.metrics.pairwise.pairwise_kernels`: with ``budget="uniform"`` of the
    landmarks alone, by other budgets of all rows with all.

    With ``kernel="precomputed"``, `fit` takes the square matrix of kernel values of all rows with all, and chooses ``n_components`` of its columns;
    `transform` takes kernel values of new rows with all rows fitted to, or, where these are fewer, only with those of
    ``component_indices_``, in their order.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        "rbf", "laplace" (or "laplacian"), "poly", "linear", "exponential", "matern", "cauchy", "rational_quadratic", "chi2"
        (exponential), "additive_chi2", "skewed_chi2", "arc_cosine", "tanimoto", "cosine", "sigmoid" or "precomputed"; or a function of two rows and of
        ``kernel_params`` that gives a number.
    gamma : float, "scale", "median" or None, default=None
        Its width. None is 1 / n_features, and 1 for "chi2", as scikit-learn has it; "scale" is 1 / (n_features * variance of X).
    coef0 : float or None, default=None
        Constant of "poly" and "sigmoid"; None is 1.
    degree : float or None, default=None
        Of "poly" (None is 3) and "arc_cosine" (None is 1).
    kernel_params : dict or None, default=None
        Keyword arguments of a kernel that is a function.
    nu : float, default=1.5
        Smoothness of "matern".
    rq_alpha : float, default=1.0
        Of "rational_quadratic".
    skewedness : float, default=1.0
        Of "skewed_chi2": what is added to every input.
    n_components : int, default=100
        Number of landmarks.
    budget : {"uniform", "random_cholesky", "leverage", "columns", "farthest", "kmeans_pp", "kmeans", "dbh"}, default="uniform"
        How they are chosen among the rows. "random_cholesky", in proportion to what those chosen do not explain, is hardly
        ever worse than chance and far better where rows are clustered. "kmeans" is not for a precomputed kernel.
    balanced : bool, default=False
        Whether to choose as many from each class, of which `fit` then takes the names as ``y``; not of kernels that are computed elsewhere.
    symmetric : bool, default=False
        Whether features are by :math:`K^{-1/2}`, as scikit-learn has them, which treats all landmarks alike: the same inner products, by eigenvectors, slower; not of
        kernels that are computed elsewhere.
    landmarks : array or CSR matrix of shape (n_landmarks, n_features), default=None
        Your own, in place of a choice; of a precomputed kernel the numbers of rows.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from features to rows, for `inverse_transform`; not of a precomputed kernel.
    alpha : float, default=1.0
        Penalty of that ridge regression.
    random_state : int, RandomState or None, default=None
        Names the choice.
    n_jobs : int or None, default=None
        Threads; None for all cores. The features do not depend on it.

    Attributes
    ----------
    components_ : array or CSR matrix of shape (n_features_out, n_features)
        The landmarks, those that add the most first.
    normalization_ : array of shape (n_features_out, n_features_out)
        :math:`R^{-T}`.
    component_indices_ : array of shape (n_features_out,)
        The numbers of the rows that are landmarks, those that add the most first; not of "kmeans", whose centres are no rows, nor of your own.

    References
    ----------
    Williams and Seeger, "Using the Nystrom method to speed up kernel machines", NIPS 2000; Chen, Epperly, Tropp and Webber,
    "Randomly pivoted Cholesky", CPAM 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import Nystroem
    >>> X = np.eye(4)
    >>> Z = Nystroem(gamma=0.5, n_components=4, random_state=0).fit_transform(X)
    >>> np.allclose(Z @ Z.T, np.exp(-0.5 * 2 * (1 - np.eye(4))))
    True
    """

    def __init__(
        self,
        kernel: str | Callable[..., float] = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        nu: float = 1.5,
        rq_alpha: float = 1.0,
        skewedness: float = 1.0,
        n_components: int = 100,
        budget: str = "uniform",
        balanced: bool = False,
        symmetric: bool = False,
        landmarks: Any = None,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.nu = nu
        self.rq_alpha = rq_alpha
        self.skewedness = skewedness
        self.n_components = n_components
        self.budget = budget
        self.balanced = balanced
        self.symmetric = symmetric
        self.landmarks = landmarks
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _form(self, n_samples: int | None, n_given: int | None) -> dict[str, Any]:
        if self._is_elsewhere():
            raise ValueError("a learner computes kernels itself: this one is of a map that is fitted by itself")
        return {"form": {"name": "nystroem_symmetric" if self.symmetric else "nystroem"}, "n_components": self.n_components}

    def _is_by_pairs(self) -> bool:
        """Whether scikit-learn computes the kernel."""
        if callable(self.kernel) or self.kernel in ("cosine", "sigmoid"):
            return True
        whole = self.degree is None or float(self.degree).is_integer()
        return self.kernel in ("poly", "polynomial") and not whole

    def _is_elsewhere(self) -> bool:
        """Whether kernel values are given to the core."""
        return self._is_by_pairs() or self.kernel == "precomputed"

    def fit(self, X: ArrayLike, y: Any = None) -> Nystroem:
        """Choose landmarks among the rows, and learn what their kernel values are multiplied by.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
            Of a precomputed kernel an array of shape (n_samples, n_samples).
        y : array of shape (n_samples,), default=None
            Classes, for ``balanced``; else ignored.

        Returns
        -------
        self
        """
        self._columns, self._basis, self._numbers = None, None, None
        if not self._is_elsewhere():
            super().fit(X, y)
            numbers = np.array(self._map.landmark_numbers, dtype=np.int64)
            self._numbers = numbers if self.landmarks is None and len(numbers) else None
            return self
        self._check_elsewhere()
        if self.kernel == "precomputed":
            self._fit_precomputed(X)
        else:
            self._fit_pairs(X)
        return self

    def _check_elsewhere(self) -> None:
        for name in ("fit_inverse_transform", "balanced", "symmetric"):
            if getattr(self, name):
                raise ValueError(f"Cannot {name} with a precomputed kernel or one that scikit-learn computes")
        given = not isinstance(self.kernel, str) or self.kernel == "precomputed"
        if given and any(parameter is not None for parameter in (self.gamma, self.coef0, self.degree)):
            raise ValueError("Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel")

    def _fit_precomputed(self, X: ArrayLike) -> None:
        K = validated(self, X, dtype=FLOATS, order="C")
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"a precomputed kernel is a square matrix of all rows with all, this one has the shape {K.shape}")
        given = None if self.landmarks is None else [int(i) for i in np.asarray(self.landmarks).ravel()]
        self._fit_values(K, given, len(K))
        self._columns = self._numbers = np.array(self._map.landmarks)

    def _fit_pairs(self, X: ArrayLike) -> None:
        """Of no more rows than are needed: functions are slow."""
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS, order="C")
        numbers: np.ndarray | None = np.arange(X.shape[0])
        basis, places = X, None
        if self.landmarks is not None:
            basis = check_array(self.landmarks, accept_sparse="csr", dtype=X.dtype, input_name="landmarks")
            numbers, places = None, list(range(basis.shape[0]))
        elif self.budget == "uniform":
            # Those that scikit-learn chooses.
            numbers = check_random_state(self.random_state).permutation(X.shape[0])[: self.n_components]
            basis, places = X[numbers], list(range(len(numbers)))
        self._fit_values(self._pairs(basis).astype(X.dtype), places, X.shape[0])
        left = np.array(self._map.landmarks)
        self._basis, self._numbers = basis[left], None if numbers is None else numbers[left]

    def _fit_values(self, K: np.ndarray, given: list[int] | None, n_rows: int) -> None:
        """The map of kernel values, of the landmarks given or of some that are chosen."""
        asked = self.n_components if given is None else len(given)
        wanted = min(self.n_components, len(K)) if isinstance(self.n_components, Integral) else self.n_components
        K = np.ascontiguousarray(K)
        self._map = _core.Precomputed.fit(K, given, (self.budget, wanted), seed(self.random_state), threads(self.n_jobs))
        self._n_features_out, self._fitted_dtype, self._n_rows, self._inverse = len(self._map.landmarks), K.dtype.name, n_rows, None
        if self._n_features_out < asked:
            warnings.warn(f"{asked} landmarks of rank {self._n_features_out}: there are as many features, the others add nothing", UserWarning, stacklevel=4)

    def _pairs(self, X: Any, Y: Any = None) -> np.ndarray:
        """Kernel values by scikit-learn."""
        parameters = {name: getattr(self, name) for name in ("gamma", "coef0", "degree") if getattr(self, name) is not None}
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **(parameters | (self.kernel_params or {})))

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The features of rows, in their type (float32 stays float32).

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
            Of a precomputed kernel an array of kernel values with all rows fitted to, or with those of ``component_indices_``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        if self._basis is not None:
            X = validated(self, X, reset=False, accept_sparse="csr", dtype=self._fitted_dtype, order="C")
            K = self._pairs(X, self._basis).astype(self._fitted_dtype)
            return self._map.transform(np.ascontiguousarray(K), threads(self.n_jobs))
        if self._columns is None:
            return super().transform(X)
        K = checked(X, dtype=self._fitted_dtype, order="C")
        if K.shape[1] == self.n_features_in_ or K.shape[1] != len(self._columns):
            K = validated(self, X, reset=False, dtype=self._fitted_dtype, order="C")[:, self._columns]
        return self._map.transform(np.ascontiguousarray(K), threads(self.n_jobs))

    @property
    def component_indices_(self) -> np.ndarray:
        """The numbers of the rows that are landmarks."""
        check_is_fitted(self)
        if self._numbers is None:
            raise AttributeError("landmarks have numbers where they are chosen among the rows: centres and your own have none")
        return self._numbers

    @property
    def components_(self) -> Any:
        """The landmarks."""
        check_is_fitted(self)
        return super().components_ if self._basis is None else self._basis

    def _parts(self) -> dict[str, np.ndarray]:
        check_is_fitted(self)
        if self._columns is None and self._basis is None:
            return super()._parts()
        return {"map.whitening": self._map.whitening}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
