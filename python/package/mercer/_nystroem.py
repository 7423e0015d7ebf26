"""The Nystroem method: public in `mercer.feature_maps`."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
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

    As :class:`sklearn.kernel_approximation.Nystroem`, with better landmarks by ``budget`` or your own by ``landmarks``; kernels given as
    functions are not taken.

    With ``kernel="precomputed"``, `fit` takes the square matrix of kernel values of all rows with all, and chooses ``n_components`` of its columns;
    `transform` takes kernel values of new rows with all rows fitted to, or, where these are fewer, only with those of
    ``component_indices_``, in their order.

    Parameters
    ----------
    kernel : str, default="rbf"
        "rbf", "laplace" (or "laplacian"), "poly", "linear", "exponential", "matern", "cauchy", "rational_quadratic", "chi2"
        (exponential), "additive_chi2", "skewed_chi2", "arc_cosine", "tanimoto" or "precomputed".
    gamma : float, "scale", "median" or None, default=None
        Its width. None is 1 / n_features, and 1 for "chi2", as scikit-learn has it; "scale" is 1 / (n_features * variance of X).
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
        Number of landmarks.
    budget : {"uniform", "random_cholesky", "leverage", "columns", "farthest", "kmeans_pp", "kmeans", "dbh"}, default="uniform"
        How they are chosen among the rows. "random_cholesky", in proportion to what those chosen do not explain, is hardly
        ever worse than chance and far better where rows are clustered. "kmeans" is not for a precomputed kernel.
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
        Of a precomputed kernel: the numbers of the landmarks, those that add the most first.

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
        kernel: str = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: int | None = None,
        nu: float = 1.5,
        rq_alpha: float = 1.0,
        skewedness: float = 1.0,
        n_components: int = 100,
        budget: str = "uniform",
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
        self.nu = nu
        self.rq_alpha = rq_alpha
        self.skewedness = skewedness
        self.n_components = n_components
        self.budget = budget
        self.landmarks = landmarks
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _form(self, n_samples: int, n_given: int | None) -> dict[str, Any]:
        return {"form": {"name": "nystroem"}, "n_components": self.n_components}

    def fit(self, X: ArrayLike, y: Any = None) -> Nystroem:
        """Choose landmarks among the rows, and learn what their kernel values are multiplied by.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
            Of a precomputed kernel an array of shape (n_samples, n_samples).
        y : ignored

        Returns
        -------
        self
        """
        self._columns = None
        if self.kernel != "precomputed":
            super().fit(X, y)
            return self
        if self.fit_inverse_transform:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: there are no rows to go back to")
        K = validated(self, X, dtype=FLOATS, order="C")
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"a precomputed kernel is a square matrix of all rows with all, this one has the shape {K.shape}")
        given = None if self.landmarks is None else [int(i) for i in np.asarray(self.landmarks).ravel()]
        asked = self.n_components if given is None else len(given)
        wanted = min(self.n_components, len(K)) if isinstance(self.n_components, Integral) else self.n_components
        self._map = _core.Precomputed.fit(K, given, (self.budget, wanted), seed(self.random_state), threads(self.n_jobs))
        self._columns = np.array(self._map.landmarks)
        self._n_features_out, self._fitted_dtype, self._n_rows, self._inverse = len(self._columns), K.dtype.name, len(K), None
        if self._n_features_out < asked:
            warnings.warn(f"{asked} landmarks of rank {self._n_features_out}: there are as many features, the others add nothing", UserWarning, stacklevel=2)
        return self

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
        if self._columns is None:
            return super().transform(X)
        K = checked(X, dtype=self._fitted_dtype, order="C")
        if K.shape[1] == self.n_features_in_ or K.shape[1] != len(self._columns):
            K = validated(self, X, reset=False, dtype=self._fitted_dtype, order="C")[:, self._columns]
        return self._map.transform(np.ascontiguousarray(K), threads(self.n_jobs))

    @property
    def component_indices_(self) -> np.ndarray:
        """Of a precomputed kernel: the numbers of the landmarks."""
        check_is_fitted(self)
        if self._columns is None:
            raise AttributeError("landmarks have numbers where the kernel is precomputed")
        return self._columns

    def _parts(self) -> dict[str, np.ndarray]:
        check_is_fitted(self)
        if self._columns is None:
            return super()._parts()
        return {"map.whitening": self._map.whitening}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
