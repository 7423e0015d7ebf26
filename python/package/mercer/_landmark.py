"""Maps of landmarks: public in `mercer.feature_maps`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._base import FLOATS, FeatureMap, as_json, rows, seed, threads
from mercer._input import validated

_NAMES = {"poly": "polynomial", "laplacian": "laplace", "chi2": "exponential_chi2"}
_WITHOUT_WIDTH = ("linear", "additive_chi2", "arc_cosine", "tanimoto")


class Nystroem(FeatureMap):
    r"""Kernel values with landmarks, made orthonormal, with scikit-learn's name and parameters.

    .. math:: \varphi(x) = R^{-T} k(L, x), \quad k(L, L) = R^T R

    The inner product of two rows is that of their projections onto the span of the landmarks in the kernel's feature space:
    exact where a row is a landmark, and better with every landmark. Landmarks that the others give already are left out, so there
    may be fewer features than landmarks asked for; a warning tells.

    As :class:`sklearn.kernel_approximation.Nystroem`, with better landmarks by ``budget`` or your own by ``landmarks``; kernels given as
    functions or matrices are not taken.

    Parameters
    ----------
    kernel : str, default="rbf"
        "rbf", "laplace" (or "laplacian"), "poly", "linear", "exponential", "matern", "cauchy", "rational_quadratic", "chi2"
        (exponential), "additive_chi2", "arc_cosine" or "tanimoto".
    gamma : float, "scale", "median" or None, default=None
        Its width. None is 1 / n_features, and 1 for "chi2", as scikit-learn has it; "scale" is 1 / (n_features * variance of X).
    coef0 : float or None, default=None
        Constant of "poly"; None is 1.
    degree : int or None, default=None
        Of "poly" (None is 3) and "arc_cosine" (None is 1).
    nu : float, default=1.5
        Smoothness of "matern".
    alpha : float, default=1.0
        Of "rational_quadratic".
    n_components : int, default=100
        Number of landmarks.
    budget : {"uniform", "random_cholesky", "leverage", "columns", "farthest", "kmeans_pp", "kmeans", "dbh"}, default="uniform"
        How they are chosen among the rows. "random_cholesky", in proportion to what those chosen do not explain, is hardly
        ever worse than chance and far better where rows are clustered.
    landmarks : array or CSR matrix of shape (n_landmarks, n_features), default=None
        Your own, in place of a choice.
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
        alpha: float = 1.0,
        n_components: int = 100,
        budget: str = "uniform",
        landmarks: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.nu = nu
        self.alpha = alpha
        self.n_components = n_components
        self.budget = budget
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _kernel(self) -> dict[str, Any]:
        name = _NAMES.get(self.kernel, self.kernel)
        kernel: dict[str, Any] = {"name": name}
        if name == "polynomial":
            kernel |= {"degree": 3 if self.degree is None else self.degree, "c": 1.0 if self.coef0 is None else self.coef0}
        elif name == "arc_cosine":
            kernel["degree"] = 1 if self.degree is None else self.degree
        elif name == "matern":
            kernel["nu"] = self.nu
        elif name == "rational_quadratic":
            kernel["alpha"] = self.alpha
        return kernel

    def _spec_of(self, n_features: int) -> dict[str, Any]:
        kernel = self._kernel()
        gamma = self.gamma
        if gamma is None or kernel["name"] in _WITHOUT_WIDTH:
            gamma = 1.0 if kernel["name"] == "exponential_chi2" else 1.0 / n_features
        return {
            "name": "landmark",
            "n_components": self.n_components,
            "kernel": kernel,
            "gamma": gamma,
            "budget": {"method": self.budget},
        }

    def fit(self, X: ArrayLike, y: Any = None) -> Nystroem:
        """Choose landmarks among the rows, and make their kernel values orthonormal.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS, order="C")
        given = None
        if self.landmarks is not None:
            given = rows(check_array(self.landmarks, accept_sparse="csr", dtype=X.dtype, order="C", input_name="landmarks"))
        chosen = seed(self.random_state)
        spec = as_json(self._spec_of(X.shape[1]))
        self._n_rows = X.shape[0]
        self._map = _core.Map.fit(spec, rows(X), chosen, threads(self.n_jobs), given)
        self._n_features_out = self._map.n_components
        self._fitted_dtype = X.dtype.name
        asked = self.n_components if given is None else self.landmarks.shape[0] if hasattr(self.landmarks, "shape") else len(self.landmarks)
        if self._n_features_out < asked:
            text = f"{asked} landmarks of rank {self._n_features_out}: there are as many features, the others add nothing"
            if given is None and asked > X.shape[0]:
                text = f"n_components is {asked} for {X.shape[0]} rows of rank {self._n_features_out}: there are as many features"
            warnings.warn(text, UserWarning, stacklevel=2)
        return self

    def _parts(self) -> dict[str, np.ndarray]:
        check_is_fitted(self)
        return dict(self._map.landmarks()[0])

    @property
    def components_(self) -> Any:
        """The landmarks."""
        parts = self._parts()
        values = parts["map.landmarks"]
        if "map.landmarks.starts" not in parts:
            return values
        columns, starts = parts["map.landmarks.columns"][0], parts["map.landmarks.starts"][0]
        return csr_matrix((values[0], columns, starts), shape=(len(starts) - 1, self.n_features_in_))

    @property
    def normalization_(self) -> np.ndarray:
        """What kernel values with the landmarks are multiplied by."""
        return self._parts()["map.whitening"].T
