"""Random units of wide networks, and waves of logarithms: public in `mercer.feature_maps`."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, check_non_negative

from mercer._base import FLOATS, FeatureMap
from mercer._input import validated


class ArcCosine(FeatureMap):
    r"""Random units of a wide network, of the arc-cosine kernel.

    .. math:: \varphi_i(x) = \sqrt{2/D}\,\Theta(\langle v_i, x\rangle)\,\langle v_i, x\rangle^n, \quad v_i \sim N(0, I)

    The error of an inner product is unbiased and falls as :math:`1/\sqrt D`.

    Parameters
    ----------
    n_components : int, default=1024
        Number of units D.
    degree : {0, 1, 2}, default=1
        n: steps, ramps or squared ramps.
    random_state : int, RandomState or None, default=None
        An integer draws what the command line draws with ``--seed``.
    n_jobs : int or None, default=None
        Threads; None for all cores. The features do not depend on it.

    References
    ----------
    Cho and Saul, "Kernel methods for deep learning", NIPS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import ArcCosine
    >>> X = np.array([[3.0, 4.0]])
    >>> Z = ArcCosine(20000, random_state=0).fit_transform(X)
    >>> bool(abs(Z[0] @ Z[0] / 25 - 1) < 0.08)
    True
    """

    def __init__(
        self, n_components: int = 1024, *, degree: int = 1, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        self.n_components = n_components
        self.degree = degree
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"name": "arc_cosine", "n_components": self.n_components, "degree": self.degree}


class SkewedChi2(FeatureMap):
    r"""Random waves of logarithms, of the skewed chi-squared kernel.

    .. math:: k(x, y) = \prod_i \frac{2\sqrt{(x_i+c)(y_i+c)}}{x_i+y_i+2c}, \quad
        \varphi(x) = \sqrt{2/D}\,[\cos V\ell(x), \sin V\ell(x)], \quad \ell(x) = \ln(1 + x/c)

    with entries of V of the density :math:`\operatorname{sech}(\pi v)`. The error of an inner product is unbiased and falls as
    :math:`1/\sqrt D`; none is left for equal rows.

    Parameters
    ----------
    n_components : int, default=1024
        Number of features D.
    skewedness : float, default=1.0
        c; every input must be above -c.
    waves : {"auto", "paired", "phase"}, default="auto"
        A cosine and a sine for each frequency (smaller error), or a cosine with a random phase; "auto" is "paired" for
        an even number of features.
    random_state : int, RandomState or None, default=None
        An integer draws what the command line draws with ``--seed``.
    n_jobs : int or None, default=None
        Threads; None for all cores. The features do not depend on it.

    References
    ----------
    Li, Ionescu and Sminchisescu, "Random Fourier approximations for skewed multiplicative histogram kernels", DAGM 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import SkewedChi2
    >>> from mercer.kernels import skewed_chi2_kernel
    >>> X = np.array([[0.2, 0.8], [0.5, 0.5]])
    >>> Z = SkewedChi2(4096, skewedness=0.1, random_state=0).fit_transform(X)
    >>> bool(abs(Z[0] @ Z[1] - skewed_chi2_kernel(X, skewedness=0.1)[0, 1]) < 0.05)
    True
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        skewedness: float = 1.0,
        waves: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.skewedness = skewedness
        self.waves = waves
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        waves = self.waves
        if waves == "auto":
            waves = "phase" if isinstance(self.n_components, Integral) and self.n_components % 2 else "paired"
        return {"name": "skewed_chi2", "n_components": self.n_components, "skewedness": self.skewedness, "waves": waves}


class SkewedChi2Sampler(FeatureMap):
    r"""Random waves of logarithms, of the skewed chi-squared kernel, with scikit-learn's name, parameters and formula.

    .. math:: \varphi(x) = \sqrt{2/D}\,\cos(V\ln(x + c) + b)

    A drop-in for :class:`sklearn.kernel_approximation.SkewedChi2Sampler`; the random numbers are others. For the same D, `SkewedChi2` (a
    cosine and a sine for each frequency) has the smaller error.

    Parameters
    ----------
    skewedness : float, default=1.0
        c; every input must be above -c.
    n_components : int, default=100
        Number of features.
    random_state : int, RandomState or None, default=None
        Names the random numbers.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    Attributes
    ----------
    random_weights_ : array of shape (n_features, n_components)
        V.
    random_offset_ : array of shape (n_components,)
        b.

    Examples
    --------
    >>> from mercer.feature_maps import SkewedChi2Sampler
    >>> from sklearn.linear_model import SGDClassifier
    >>> X, y = [[0, 0], [1, 1], [1, 0], [0, 1]], [0, 0, 1, 1]
    >>> Z = SkewedChi2Sampler(skewedness=0.01, n_components=10, random_state=0).fit_transform(X, y)
    >>> SGDClassifier(max_iter=10, tol=1e-3, random_state=0).fit(Z, y).score(Z, y)
    1.0
    """

    def __init__(
        self,
        *,
        skewedness: float = 1.0,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.skewedness = skewedness
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The features of rows, in their type (float32 stays float32).

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        try:
            return super().transform(X)
        except ValueError as error:
            # In scikit-learn's words, and ours.
            if "takes values above" in str(error):
                raise ValueError(f"X may not contain entries smaller than -skewedness. {error}") from None
            raise

    @property
    def random_weights_(self) -> np.ndarray:
        """V, (n_features, n_components), in the type of the rows fitted to."""
        return self._waves()[0]

    @property
    def random_offset_(self) -> np.ndarray:
        """b, (n_components,), in the type of the rows fitted to."""
        weights, phases = self._waves()
        # The core takes logarithms of 1 + x / c.
        skewedness = json.loads(self._map.kernel)["skewedness"]
        return phases - (np.log(skewedness) * weights.sum(axis=0)).astype(phases.dtype)

    def _waves(self) -> tuple[np.ndarray, np.ndarray]:
        if not hasattr(self, "_map"):
            raise AttributeError("not fitted yet")
        return self._map.waves(self._fitted_dtype)

    def _spec(self) -> dict[str, Any]:
        return {"name": "skewed_chi2", "n_components": self.n_components, "skewedness": self.skewedness, "waves": "phase"}


class AdditiveChi2Sampler(FeatureMap):
    r"""Waves of the logarithm of every input, of the additive chi-squared kernel, with scikit-learn's name and parameters.

    .. math:: k(x, y) = \sum_i \frac{2 x_i y_i}{x_i + y_i}

    Nothing is random: each input becomes ``2 * sample_steps - 1`` features, those of a zero are zeros.

    Parameters
    ----------
    sample_steps : int, default=2
        Samples of the spectrum.
    sample_interval : float or None, default=None
        How far they are apart; None for 0.8, 0.5 and 0.4 with 1, 2 and 3 of them.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    References
    ----------
    Vedaldi and Zisserman, "Efficient additive kernels via explicit feature maps", PAMI 34, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import AdditiveChi2Sampler
    >>> X = np.array([[0.2, 0.8], [0.5, 0.5]])
    >>> Z = AdditiveChi2Sampler(sample_steps=3).fit_transform(X)
    >>> bool(abs(Z[0] @ Z[1] - (2 * X[0] * X[1] / (X[0] + X[1])).sum()) < 0.05)
    True
    """

    def __init__(self, *, sample_steps: int = 2, sample_interval: float | None = None, n_jobs: int | None = None) -> None:
        self.sample_steps = sample_steps
        self.sample_interval = sample_interval
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        if self.sample_interval is None and self.sample_steps not in (1, 2, 3):
            raise ValueError("If sample_steps is not in [1, 2, 3], you need to provide sample_interval")
        return {"name": "additive_chi2", "n_steps": self.sample_steps, "interval": self.sample_interval}

    def fit(self, X: ArrayLike, y: Any = None) -> AdditiveChi2Sampler:
        """Look at the width of the rows; nothing is learned.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS, order="C")
        check_non_negative(X, f"input X in {type(self).__name__}.fit")
        super().fit(X, y)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """The features of rows, in their type; CSR for CSR rows.

        Parameters
        ----------
        X : array, CSR matrix, frame or Arrow table of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features * (2 * sample_steps - 1))
        """
        if not self.__sklearn_is_fitted__():
            self.fit(X)
        try:
            Z = super().transform(X)
        except ValueError:
            # In scikit-learn's words, where that is what is wrong.
            check_non_negative(X, f"input X in {type(self).__name__}.transform")
            raise
        return csr_matrix(Z) if issparse(X) else Z

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: those of the inputs, with what is made of them.

        Parameters
        ----------
        input_features : list of str or None, default=None

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features, generate_names=True)
        waves = [f"{wave}{j}" for j in range(1, self.sample_steps) for wave in ("cos", "sin")]
        prefix = type(self).__name__.lower()
        return np.asarray([f"{prefix}_{name}_{what}" for what in ("sqrt", *waves) for name in names], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.positive_only = True
        return tags
