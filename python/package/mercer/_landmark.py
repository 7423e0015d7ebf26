"""Maps of landmarks: public in `mercer.feature_maps`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mercer import _core
from mercer._base import FLOATS, FeatureMap, as_json, rows, seed, threads
from mercer._input import validated

NAMES = {"poly": "polynomial", "laplacian": "laplace", "chi2": "exponential_chi2"}
_WITHOUT_WIDTH = ("linear", "additive_chi2", "skewed_chi2", "arc_cosine", "tanimoto")


class LandmarkMap(FeatureMap):
    """Kernel values with landmarks times a matrix: what all forms share."""

    def _kernel(self) -> dict[str, Any]:
        name = NAMES.get(self.kernel, self.kernel)
        kernel: dict[str, Any] = {"name": name}
        if name == "polynomial":
            kernel |= {"degree": 3 if self.degree is None else self.degree, "c": 1.0 if self.coef0 is None else self.coef0}
        elif name == "arc_cosine":
            kernel["degree"] = 1 if self.degree is None else self.degree
        elif name == "matern":
            kernel["nu"] = self.nu
        elif name == "rational_quadratic":
            kernel["alpha"] = self.rq_alpha
        elif name == "skewed_chi2":
            kernel["skewedness"] = self.skewedness
        return kernel

    def _form(self, n_samples: int | None, n_given: int | None) -> dict[str, Any]:
        """The form, and how many landmarks and features it has; of a learner the number of rows is not known."""
        raise NotImplementedError

    def _spec_of(self, n_features: int, form: dict[str, Any]) -> dict[str, Any]:
        kernel = self._kernel()
        gamma = self.gamma
        if gamma is None or kernel["name"] in _WITHOUT_WIDTH:
            gamma = 1.0 if kernel["name"] == "exponential_chi2" else 1.0 / n_features
        budget = {"method": self.budget, "balanced": bool(self.balanced)}
        return {"name": "landmark", "kernel": kernel, "gamma": gamma, "budget": budget} | form

    def _spec(self) -> dict[str, Any]:
        """In a learner, which says how many inputs there are; the core takes no more landmarks than there are rows."""
        if self.landmarks is not None:
            raise ValueError("landmarks are given to a map that is fitted by itself, in a learner they are chosen among its rows")
        return self._spec_of(self.n_features_in_, self._form(None, None))

    def _classes(self, X: Any, y: Any) -> list[str] | None:
        """The classes of rows, where landmarks are balanced by them."""
        if not self.balanced or self.landmarks is not None:
            return None
        if y is None:
            raise ValueError("balanced=True needs y, the classes of the rows")
        y = column_or_1d(y)
        check_consistent_length(X, y)
        return [str(label) for label in y]

    def fit(self, X: ArrayLike, y: Any = None) -> LandmarkMap:
        """Choose landmarks among the rows, and learn what their kernel values are multiplied by.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : array of shape (n_samples,), default=None
            Classes, for ``balanced``; else ignored.

        Returns
        -------
        self
        """
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS, order="C")
        given, n_given = None, None
        if self.landmarks is not None:
            checked = check_array(self.landmarks, accept_sparse="csr", dtype=X.dtype, order="C", input_name="landmarks")
            given, n_given = rows(checked), checked.shape[0]
        chosen = seed(self.random_state)
        form = self._form(X.shape[0], n_given)
        self._n_rows = X.shape[0]
        spec = as_json(self._spec_of(X.shape[1], form))
        self._map = _core.Map.fit(spec, rows(X), chosen, threads(self.n_jobs), given, self._classes(X, y))
        self._n_features_out = self._map.n_components
        self._fitted_dtype = X.dtype.name
        self._warn_of_rank(form, n_given)
        self._fit_inverse()
        return self

    def _fit_inverse(self) -> None:
        """The way back from features, where it is asked for."""
        self._inverse = None
        if getattr(self, "fit_inverse_transform", False):
            landmarks = rows(self.components_)
            Z = self._map.transform(landmarks, threads(self.n_jobs))
            self._inverse = _core.Inverse.fit(self._map.kernel, Z, landmarks, self.alpha, threads(self.n_jobs))

    def _warn_of_rank(self, form: dict[str, Any], n_given: int | None) -> None:
        asked = n_given or form.get("n_landmarks") or form["n_components"]
        rank = self._parts()["map.whitening"].shape[0]
        if rank < asked:
            text = f"{asked} landmarks of rank {rank}: there are as many features, the others add nothing"
            if form["form"]["name"] == "kg_rp":
                text = f"{asked} landmarks of rank {rank}: the others add nothing"
            elif n_given is None and asked > self._n_rows:
                text = f"n_components is {form['n_components']} for {self._n_rows} rows of rank {rank}: there are as many features"
            warnings.warn(text, UserWarning, stacklevel=3)

    def _parts(self) -> dict[str, np.ndarray]:
        check_is_fitted(self)
        return dict(self._map.landmarks()[0])

    @property
    def components_(self) -> Any:
        """The landmarks."""
        parts = self._parts()
        if "map.landmarks" not in parts:
            raise AttributeError("a precomputed kernel has no rows: see component_indices_")
        values = parts["map.landmarks"]
        if "map.landmarks.starts" not in parts:
            return values
        columns, starts = parts["map.landmarks.columns"][0], parts["map.landmarks.starts"][0]
        return csr_matrix((values[0], columns, starts), shape=(len(starts) - 1, self.n_features_in_))

    @property
    def normalization_(self) -> np.ndarray:
        """What kernel values with the landmarks are multiplied by."""
        return self._parts()["map.whitening"].T


class Invertible(LandmarkMap):
    """Landmarks whose features have a way back."""

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Rows whose features are about these, by kernel ridge regression of the landmarks on theirs.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)

        References
        ----------
        Bakir, Weston and Schoelkopf, "Learning to find pre-images", NIPS 2003.
        """
        check_is_fitted(self)
        if self._inverse is None:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse transform is not available."
            )
        X = check_array(X, dtype=self._fitted_dtype, order="C")
        return self._inverse.inverse(X, threads(self.n_jobs))


class KGRP(LandmarkMap):
    r"""Sums of a few landmarks with random signs, whitened: a random projection of any kernel.

    .. math:: \varphi(x) = V^T K^{-1/2} k(L, x), \quad K = k(L, L)

    A column of V has ``n_terms`` random signs. The expected inner product of two rows is that of :class:`Nystroem` with the same landmarks, for any number of
    features.

    Parameters
    ----------
    kernel : str, default="rbf"
        As of :class:`Nystroem`.
    gamma : float, "scale", "median" or None, default=None
        Its width. None is 1 / n_features, and 1 for "chi2"; "scale" is 1 / (n_features * variance of X).
    coef0 : float or None, default=None
        Constant of "poly"; None is 1.
    degree : int or None, default=None
        Of "poly" (None is 3) and "arc_cosine" (None is 1).
    nu : float, default=1.5
        Smoothness of "matern".
    rq_alpha : float, default=1.0
        Of "rational_quadratic".
    skewedness : float, default=1.0
        Of "skewed_chi2": what is added to every input.
    n_components : int, default=100
        Number of features.
    n_landmarks : int or None, default=None
        None is as many as features, at most 1024.
    n_terms : int or None, default=None
        Landmarks of a sum; None is 30, or all where there are fewer.
    budget : str, default="uniform"
        How landmarks are chosen among the rows, as of :class:`Nystroem`.
    balanced : bool, default=False
        Whether to choose as many from each class, of which `fit` then takes the names as ``y``.
    landmarks : array or CSR matrix of shape (n_landmarks, n_features), default=None
        Your own, in place of a choice.
    random_state : int, RandomState or None, default=None
        Names the choice, and what is drawn.
    n_jobs : int or None, default=None
        Threads; None for all cores. The features do not depend on it.

    Attributes
    ----------
    components_ : array or CSR matrix of shape (n_landmarks, n_features)
        The landmarks.
    normalization_ : array of shape (n_features_out, n_landmarks)
        What kernel values with them are multiplied by.

    References
    ----------
    Kulis and Grauman, "Kernelized locality-sensitive hashing", PAMI 34, 2012; Lopez-Sanchez, PhD thesis, Salamanca 2019, where V is not of signs.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import KGRP
    >>> KGRP(n_components=7, n_landmarks=3, random_state=0).fit_transform(np.eye(4)).shape
    (4, 7)
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: int | None = None,
        nu: float = 1.5,
        rq_alpha: float = 1.0,
        skewedness: float = 1.0,
        n_components: int = 100,
        n_landmarks: int | None = None,
        n_terms: int | None = None,
        budget: str = "uniform",
        balanced: bool = False,
        landmarks: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.nu = nu
        self.rq_alpha = rq_alpha
        self.skewedness = skewedness
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.n_terms = n_terms
        self.budget = budget
        self.balanced = balanced
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _form(self, n_samples: int | None, n_given: int | None) -> dict[str, Any]:
        p = n_given or self.n_landmarks or min(self.n_components, 1024)
        n_terms = max(1, min(30, p)) if self.n_terms is None else self.n_terms
        return {"form": {"name": "kg_rp", "n_terms": n_terms}, "n_components": self.n_components, "n_landmarks": p}


class KORP(LandmarkMap):
    r"""Random orthonormal directions in the span of landmarks: a random projection of any kernel.

    .. math:: \varphi(x) = V^T R^{-T} k(L, x), \quad k(L, L) = R^T R

    The columns of V are orthonormal, times :math:`\sqrt{p / D}` for p landmarks and D features. The expected inner product of two rows is that of :class:`Nystroem`
    with the same landmarks; with as many features as landmarks it is equal.

    Parameters
    ----------
    kernel : str, default="rbf"
        As of :class:`Nystroem`.
    gamma : float, "scale", "median" or None, default=None
        Its width. None is 1 / n_features, and 1 for "chi2"; "scale" is 1 / (n_features * variance of X).
    coef0 : float or None, default=None
        Constant of "poly"; None is 1.
    degree : int or None, default=None
        Of "poly" (None is 3) and "arc_cosine" (None is 1).
    nu : float, default=1.5
        Smoothness of "matern".
    rq_alpha : float, default=1.0
        Of "rational_quadratic".
    skewedness : float, default=1.0
        Of "skewed_chi2": what is added to every input.
    n_components : int, default=100
        Number of features, at most ``n_landmarks``.
    n_landmarks : int or None, default=None
        None is as many as features.
    budget : str, default="uniform"
        How landmarks are chosen among the rows, as of :class:`Nystroem`.
    balanced : bool, default=False
        Whether to choose as many from each class, of which `fit` then takes the names as ``y``.
    landmarks : array or CSR matrix of shape (n_landmarks, n_features), default=None
        Your own, in place of a choice.
    random_state : int, RandomState or None, default=None
        Names the choice, and what is drawn.
    n_jobs : int or None, default=None
        Threads; None for all cores. The features do not depend on it.

    Attributes
    ----------
    components_ : array or CSR matrix of shape (n_landmarks, n_features)
        The landmarks.
    normalization_ : array of shape (n_features_out, n_landmarks)
        What kernel values with them are multiplied by.

    References
    ----------
    Alavi, Wiliem, Zhao, Lovell and Sanderson, "Random projections on manifolds of symmetric positive definite matrices for image classification", WACV 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import KORP
    >>> KORP(n_components=2, n_landmarks=3, random_state=0).fit_transform(np.eye(4)).shape
    (4, 2)
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: int | None = None,
        nu: float = 1.5,
        rq_alpha: float = 1.0,
        skewedness: float = 1.0,
        n_components: int = 100,
        n_landmarks: int | None = None,
        budget: str = "uniform",
        balanced: bool = False,
        landmarks: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.nu = nu
        self.rq_alpha = rq_alpha
        self.skewedness = skewedness
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.budget = budget
        self.balanced = balanced
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _form(self, n_samples: int | None, n_given: int | None) -> dict[str, Any]:
        p = n_given or self.n_landmarks or self.n_components
        return {"form": {"name": "korp"}, "n_components": self.n_components, "n_landmarks": p}


class KernelPCA(Invertible):
    r"""Principal components in the kernel's feature space, with scikit-learn's name and parameters.

    .. math:: \varphi_j(x) = \tilde k(x, L) v_j / \sqrt{\lambda_j}

    for the largest eigenvalues and their eigenvectors of the centred kernel matrix of the landmarks, which are all rows unless ``n_landmarks`` says
    otherwise. As :class:`sklearn.decomposition.KernelPCA` up to the signs of components, by a full eigendecomposition, without kernels
    given as functions or matrices.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components; None is all that are not 0.
    kernel : str, default="linear"
        As of :class:`Nystroem`.
    gamma : float, "scale", "median" or None, default=None
        Its width. None is 1 / n_features, and 1 for "chi2"; "scale" is 1 / (n_features * variance of X).
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1
        Constant of "poly".
    nu : float, default=1.5
        Smoothness of "matern".
    rq_alpha : float, default=1.0
        Of "rational_quadratic".
    skewedness : float, default=1.0
        Of "skewed_chi2": what is added to every input.
    n_landmarks : int or None, default=None
        Rows whose components are taken; None is all.
    budget : str, default="uniform"
        How landmarks are chosen among the rows, as of :class:`Nystroem`.
    balanced : bool, default=False
        Whether to choose as many from each class, of which `fit` then takes the names as ``y``.
    landmarks : array or CSR matrix of shape (n_landmarks, n_features), default=None
        Your own, in place of a choice.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from features to rows, for `inverse_transform`.
    alpha : float, default=1.0
        Penalty of that ridge regression.
    random_state : int, RandomState or None, default=None
        Names the choice, and what is drawn.
    n_jobs : int or None, default=None
        Threads; None for all cores. The features do not depend on it.

    Attributes
    ----------
    components_ : array or CSR matrix of shape (n_landmarks, n_features)
        The landmarks.
    normalization_ : array of shape (n_features_out, n_landmarks)
        What kernel values with them are multiplied by.
    eigenvalues_ : array of shape (n_features_out,)
        Of the centred kernel matrix of the landmarks, the largest first.

    References
    ----------
    Schoelkopf, Smola and Mueller, "Nonlinear component analysis as a kernel eigenvalue problem", Neural Computation 10, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import KernelPCA
    >>> KernelPCA(kernel="rbf", gamma=0.5).fit_transform(np.eye(4)).shape
    (4, 3)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        nu: float = 1.5,
        rq_alpha: float = 1.0,
        skewedness: float = 1.0,
        n_landmarks: int | None = None,
        budget: str = "uniform",
        balanced: bool = False,
        landmarks: Any = None,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.rq_alpha = rq_alpha
        self.skewedness = skewedness
        self.n_landmarks = n_landmarks
        self.budget = budget
        self.balanced = balanced
        self.landmarks = landmarks
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _kernel(self) -> dict[str, Any]:
        kernel = super()._kernel()
        return kernel | {"degree": 1} if kernel["name"] == "arc_cosine" else kernel

    def _form(self, n_samples: int | None, n_given: int | None) -> dict[str, Any]:
        # In a learner as many as the command line takes.
        default = max(1024, 2 * (self.n_components or 256)) if n_samples is None else n_samples
        p = n_given or self.n_landmarks or default
        n_components = (min(256, p) if n_samples is None else p) if self.n_components is None else self.n_components
        # Of fewer rows than components all are taken.
        p = p if self.n_landmarks is not None else max(p, n_components)
        return {"form": {"name": "kernel_pca"}, "n_components": n_components, "n_landmarks": p}

    def _warn_of_rank(self, form: dict[str, Any], n_given: int | None) -> None:
        if self.n_components is not None and self._n_features_out < self.n_components:
            text = f"n_components is {self.n_components}, the centred kernel has rank {self._n_features_out}: there are as many features"
            warnings.warn(text, UserWarning, stacklevel=3)

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Of the centred kernel matrix of the landmarks."""
        squares = (self.normalization_.astype(np.float64) ** 2).sum(axis=1)
        return np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
