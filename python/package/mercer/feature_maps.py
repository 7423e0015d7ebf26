r"""Explicit feature maps :math:`\varphi` with :math:`\langle\varphi(x), \varphi(y)\rangle \approx k(x, y)`.

=====================  ==========================================================  =======================
class                  frequencies                                                 cost of a row
=====================  ==========================================================  =======================
`RandomFourier`        independent                                                 d · D
`OrthogonalFourier`    orthogonal directions: smaller error, slower to draw        d · D
`SORF`                 three rounds of signs and Walsh-Hadamard transforms         D · log d
`Fastfood`             two transforms with normal numbers between them             D · log d
`QuasiFourier`         points that fill the space evenly                           d · D
`RandomBinning`        none: bins of random grids, of the Laplace kernel           d · D / n_bins
`RBFSampler`           independent: scikit-learn's name and parameters             d · D
=====================  ==========================================================  =======================

Of polynomial kernels, and others of the inner product, for degree g:

=======================  ========================================================  =======================
class                    features                                                  cost of a row
=======================  ========================================================  =======================
`TensorSRHT`             products of coordinates of Walsh-Hadamard transforms      g · D · log d
`TensorSketch`           convolved count sketches: for sparse rows                 g · (d + D · log D)
`PolynomialCountSketch`  the same: scikit-learn's name and parameters              g · (d + D · log D)
`RandomMaclaurin`        products for each power of a series                       g · D · log d
`PKRP`                   sums of products of p shared random projections           d · p + g · D
`D2PKRP`                 alternating sums of t squares, of degree two              d · D · t
`PolynomialExpansion`    all products of two or three inputs: no error             d ^ g
`CRAFTMap`               those of any map, projected down to D                     that of the map
=======================  ========================================================  =======================

Of any kernel, from the rows themselves, and of wide networks:

=======================  ========================================================  =======================
class                    features                                                  cost of a row
=======================  ========================================================  =======================
`Nystroem`               kernel values with D landmarks, made orthonormal          D · (d + D / 2)
`KGRP`                   signed sums of whitened landmarks, p of them              p · (d + D)
`KORP`                   random directions in the span of p landmarks              p · (d + D)
`KernelPCA`              principal components of p landmarks                       p · (d + D)
`ArcCosine`              random units, of the arc-cosine kernel                    d · D
`AdditiveChi2Sampler`    waves of logarithms, of the additive chi-squared kernel   d
`SkewedChi2`             random waves of logarithms, of the skewed one             d · D
`SkewedChi2Sampler`      the same: scikit-learn's name and parameters              d · D
=======================  ========================================================  =======================

For d inputs and D features. All take dense and CSR rows, keep float32, and give the same bits for any ``n_jobs``.
"""

from __future__ import annotations

from math import gcd
from numbers import Integral
from typing import Any

import numpy as np

from mercer._base import FeatureMap
from mercer._landmark import KGRP, KORP, KernelPCA
from mercer._nystroem import Nystroem
from mercer._polynomial import (
    D2PKRP,
    PKRP,
    CRAFTMap,
    PolynomialCountSketch,
    PolynomialExpansion,
    RandomMaclaurin,
    TensorSketch,
    TensorSRHT,
)
from mercer._units import AdditiveChi2Sampler, ArcCosine, SkewedChi2, SkewedChi2Sampler

__all__ = ["AdditiveChi2Sampler", "ArcCosine", "CRAFTMap", "D2PKRP", "Fastfood", "KGRP", "KORP", "KernelPCA", "Nystroem", "OrthogonalFourier", "PKRP", "PolynomialCountSketch", "PolynomialExpansion",
           "QuasiFourier", "RBFSampler", "RandomBinning", "RandomFourier", "RandomMaclaurin", "SORF", "SkewedChi2", "SkewedChi2Sampler", "TensorSRHT", "TensorSketch"]  # fmt: skip

_PARAMETERS = """
    Parameters
    ----------
    n_components : int, default=1024
        Number of features D.
    kernel : {"rbf", "laplace", "matern", "cauchy", "rational_quadratic"}, default="rbf"
        The kernel that is approximated; "laplace" only by independent and quasi-random frequencies.
    gamma : float, "scale" or "median", default="scale"
        Its width: "scale" is 1 / (n_features * variance of X), "median" is 1 / (2 * median distance ** 2); of the laplace
        kernel 1 / (n_features * standard deviation of X) and 1 / median distance, in the sum of absolute differences.
    nu : float, default=1.5
        Smoothness of the Matern kernel.
    alpha : float, default=1.0
        Of the rational quadratic kernel.
    waves : {"auto", "paired", "phase"}, default="auto"
        A cosine and a sine for each frequency (smaller error), or a cosine with a random phase; "auto" is "paired" for
        an even number of features.
    length_scales : array of shape (n_features,), default=None
        What each input is divided by; gamma is a number then.
    random_state : int, RandomState or None, default=None
        An integer draws what the command line draws with ``--seed``.
    n_jobs : int or None, default=None
        Threads; None for all cores. The features do not depend on it.
"""


class _Spectral(FeatureMap):
    _frequencies = "fourier"

    def __init__(
        self,
        n_components: int = 1024,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        nu: float = 1.5,
        alpha: float = 1.0,
        waves: str = "auto",
        length_scales: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.nu = nu
        self.alpha = alpha
        self.waves = waves
        self.length_scales = length_scales
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return spectral_spec(self, self._frequencies)


def spectral_spec(estimator: Any, frequencies: str) -> dict[str, Any]:
    """The core's spec of an estimator's parameters."""
    kernel = {"name": estimator.kernel}
    if estimator.kernel == "matern":
        kernel["nu"] = estimator.nu
    if estimator.kernel == "rational_quadratic":
        kernel["alpha"] = estimator.alpha
    waves = getattr(estimator, "waves", "auto")
    if waves == "auto":
        waves = "phase" if isinstance(estimator.n_components, Integral) and estimator.n_components % 2 else "paired"
    return {
        "name": "spectral",
        "frequencies": frequencies,
        "kernel": kernel,
        "n_components": estimator.n_components,
        "gamma": estimator.gamma,
        "waves": waves,
        "length_scales": getattr(estimator, "length_scales", None),
    }


def binning_spec(estimator: Any) -> dict[str, Any]:
    """The core's spec of an estimator's parameters."""
    n_components, n_bins = estimator.n_components, getattr(estimator, "n_bins", "auto")
    if n_bins == "auto":
        n_bins = gcd(16, n_components) if isinstance(n_components, Integral) else 16
    return {"name": "binning", "n_components": n_components, "gamma": estimator.gamma, "n_bins": n_bins}


class RandomFourier(_Spectral):
    __doc__ = rf"""Random Fourier features of a shift-invariant kernel.

    .. math:: \varphi(x) = \sqrt{{2/D}}\,[\cos Vx, \sin Vx], \quad \text{{rows of }} V \text{{ drawn from the kernel's spectrum}}

    The error of an inner product is unbiased and falls as :math:`1/\sqrt D`.
    {_PARAMETERS}
    References
    ----------
    Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import RandomFourier
    >>> X = np.eye(3, dtype=np.float32)
    >>> Z = RandomFourier(4096, gamma=0.5, random_state=0).fit_transform(X)
    >>> Z.shape, Z.dtype
    ((3, 4096), dtype('float32'))
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-0.5 * 2)) < 0.05)
    True
    """
    _frequencies = "fourier"


class OrthogonalFourier(_Spectral):
    __doc__ = rf"""Fourier features of orthogonal directions, with the lengths of independent ones.

    Unbiased; the variance is smaller than that of `RandomFourier` for rows that are close together.
    {_PARAMETERS}
    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, "Orthogonal random features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import OrthogonalFourier
    >>> OrthogonalFourier(64, random_state=0).fit_transform(np.eye(8)).shape
    (8, 64)
    """
    _frequencies = "orthogonal"


class SORF(_Spectral):
    __doc__ = rf"""Structured orthogonal random features: V = H·D₁·H·D₂·H·D₃ by fast Walsh-Hadamard transforms.

    D log d operations for a row and D signs to keep; a small bias that vanishes with growing d.
    {_PARAMETERS}
    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, "Orthogonal random features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import SORF
    >>> SORF(64, random_state=0).fit_transform(np.eye(8)).shape
    (8, 64)
    """
    _frequencies = "sorf"


class Fastfood(_Spectral):
    __doc__ = rf"""Fastfood: V = S·H·G·P·H·B by fast Walsh-Hadamard transforms.

    D log d operations for a row and O(D) numbers to keep; unbiased.
    {_PARAMETERS}
    References
    ----------
    Le, Sarlos and Smola, "Fastfood: approximating kernel expansions in loglinear time", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import Fastfood
    >>> Fastfood(64, random_state=0).fit_transform(np.eye(8)).shape
    (8, 64)
    """
    _frequencies = "fastfood"


class QuasiFourier(_Spectral):
    __doc__ = rf"""Fourier features of randomised points that fill the space evenly.

    The error falls faster than :math:`1/\sqrt D` for few inputs.
    {_PARAMETERS}
    References
    ----------
    Avron, Sindhwani, Yang and Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant kernels", JMLR 17, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import QuasiFourier
    >>> QuasiFourier(64, random_state=0).fit_transform(np.eye(8)).shape
    (8, 64)
    """
    _frequencies = "quasi"


class RandomBinning(FeatureMap):
    r"""Random binning features of the Laplace kernel :math:`\exp(-\gamma\|x-y\|_1)`.

    Each of m = D / n_bins grids has a random pitch and shift for every input; a row has :math:`\pm\sqrt{1/m}` in the feature
    that its bin is hashed to, and zero in the grid's others.

    Parameters
    ----------
    n_components : int, default=1024
        Number of features, a multiple of ``n_bins`` where that is given.
    gamma : float, "scale" or "median", default="scale"
        The kernel's width: "scale" is 1 / (n_features * standard deviation of X), "median" 1 / median distance, in the sum of
        absolute differences.
    n_bins : int or "auto", default="auto"
        Features that the bins of a grid share; "auto" is 16, or the largest power of two below that divides
        ``n_components``.
    random_state : int, RandomState or None, default=None
        An integer draws what the command line draws with ``--seed``.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    References
    ----------
    Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import RandomBinning
    >>> RandomBinning(256, gamma=1.0, random_state=0).fit_transform(np.eye(4)).shape
    (4, 256)
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        gamma: float | str = "scale",
        n_bins: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.n_bins = n_bins
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return binning_spec(self)


class RBFSampler(FeatureMap):
    r"""Random Fourier features of the RBF kernel, with scikit-learn's name, parameters and formula.

    .. math:: \varphi(x) = \sqrt{2/D}\,\cos(Vx + b)

    A drop-in for :class:`sklearn.kernel_approximation.RBFSampler`; the random numbers are others. For the same D,
    `RandomFourier` (a cosine and a sine for each frequency) has the smaller error.

    Parameters
    ----------
    gamma : float or "scale", default=1.0
        Of :math:`\exp(-\gamma\|x-y\|^2)`.
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
    >>> from mercer.feature_maps import RBFSampler
    >>> from sklearn.linear_model import SGDClassifier
    >>> X, y = [[0, 0], [1, 1], [1, 0], [0, 1]], [0, 0, 1, 1]
    >>> Z = RBFSampler(gamma=1, random_state=1).fit_transform(X)
    >>> SGDClassifier(max_iter=100, tol=1e-3, random_state=0).fit(Z, y).score(Z, y)
    1.0
    """

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def random_weights_(self) -> np.ndarray:
        """V, (n_features, n_components), in the type of the rows fitted to."""
        return self._waves()[0]

    @property
    def random_offset_(self) -> np.ndarray:
        """b, (n_components,), in the type of the rows fitted to."""
        return self._waves()[1]

    def _waves(self) -> tuple[np.ndarray, np.ndarray]:
        if not hasattr(self, "_map"):
            raise AttributeError("not fitted yet")
        return self._map.waves(self._fitted_dtype)

    @property
    def _gamma(self) -> float | None:
        return self._map.gamma

    def _spec(self) -> dict[str, Any]:
        return {
            "name": "spectral",
            "frequencies": "fourier",
            "kernel": {"name": "rbf"},
            "n_components": self.n_components,
            "gamma": self.gamma,
            "waves": "phase",
            "length_scales": None,
        }
