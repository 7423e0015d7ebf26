"""Maps of polynomial kernels: public in `mercer.feature_maps`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from sklearn.base import clone

from mercer._base import FeatureMap

_KERNEL = """
    degree : int, default=2
        Of the kernel.
    gamma : float, "scale" or "median", default="scale"
        What inner products are multiplied by: "scale" is 1 / (n_features * variance of X).
    coef0 : float, default=1.0
        What is added to them; 0 is the homogeneous kernel."""
_DRAW = """
    random_state : int, RandomState or None, default=None
        An integer draws what the command line draws with ``--seed``.
    n_jobs : int or None, default=None
        Threads; None for all cores.
"""


def law(s: float | None) -> Any:
    """How the entries of vectors are drawn, as the core names it."""
    return "gaussian" if s is None else {"sparse": s}


def has_complex_signs(estimator: Any) -> bool:
    """Of "auto", what suits the number of features."""
    if estimator.complex == "auto":
        return isinstance(estimator.n_components, Integral) and estimator.n_components % 2 == 0
    return bool(estimator.complex)


class TensorSRHT(FeatureMap):
    __doc__ = rf"""Products of coordinates of Walsh-Hadamard transforms, of the kernel :math:`(\gamma\langle x, y\rangle + c)^g`.

    .. math:: \varphi_j(x) = n^{{-1/2}} \prod_l (H D_l \Pi_l x)_j

    With complex signs, half as many products give real and imaginary parts: a smaller error at the same cost.

    Parameters
    ----------
    n_components : int, default=1024
        Number of features, even for complex signs.{_KERNEL}
    complex : bool or "auto", default="auto"
        Whether signs are 1, i, -1, -i, or 1 and -1; "auto" takes complex ones for an even number of features.
    tree : bool, default=False
        Whether products are sketched pair by pair: slower, and a far smaller error for degrees of 4 and more.{_DRAW}
    References
    ----------
    Ahle et al., "Oblivious sketching of high-degree polynomial kernels", SODA 2020; Wacker, Ohana and Filippone,
    "Complex-to-real sketches for tensor products", AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import TensorSRHT
    >>> Z = TensorSRHT(4096, gamma=1.0, random_state=0).fit_transform(np.eye(4))
    >>> bool(abs(Z[0] @ Z[0] - 4) < 1)
    True
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        degree: int = 2,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        complex: bool | str = "auto",
        tree: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.complex = complex
        self.tree = tree
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        given = {"n_components": self.n_components, "degree": self.degree, "gamma": self.gamma, "c": self.coef0}
        return {"name": "tensor_srht", **given, "complex": has_complex_signs(self), "tree": bool(self.tree)}


class TensorSketch(FeatureMap):
    __doc__ = rf"""Convolved count sketches, of the kernel :math:`(\gamma\langle x, y\rangle + c)^g`.

    A row costs g additions for each stored value and g + 1 Fourier transforms: the map for sparse rows.

    Parameters
    ----------
    n_components : int, default=1024
        Number of features.{_KERNEL}{_DRAW}
    References
    ----------
    Pham and Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import TensorSketch
    >>> Z = TensorSketch(4096, gamma=1.0, random_state=0).fit_transform(np.eye(4))
    >>> bool(abs(Z[0] @ Z[0] - 4) < 1)
    True
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        degree: int = 2,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        given = {"n_components": self.n_components, "degree": self.degree, "gamma": self.gamma, "c": self.coef0}
        return {"name": "tensor_sketch", **given}


class PKRP(FeatureMap):
    __doc__ = rf"""PK-RP: sums of products of shared random projections, of the kernel :math:`(\gamma\langle x, y\rangle + c)^g`.

    .. math:: \varphi_j(x) = (kt)^{{-1/2}} \sum_i \prod_l \langle x, v_{{jil}} \rangle

    Parameters
    ----------
    n_components : int, default=1024
        k, number of features.{_KERNEL}
    n_terms : int, default=1
        t, products that are summed for a feature.
    n_vectors : int, default=None
        Different vectors v; as many as features when None.
    s : float, default=None
        One entry of a vector in s is not zero; entries are normal when None.{_DRAW}
    References
    ----------
    López-Sánchez, *Low Computational Cost Machine Learning: Random Projections and Polynomial Kernels*, PhD thesis,
    Universidad de Salamanca 2019, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import PKRP
    >>> Z = PKRP(8192, gamma=1.0, random_state=0).fit_transform(np.eye(4))
    >>> bool(abs(Z[0] @ Z[0] - 4) < 1)
    True
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        degree: int = 2,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        n_terms: int = 1,
        n_vectors: int | None = None,
        s: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_terms = n_terms
        self.n_vectors = n_vectors
        self.s = s
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        given = {"n_components": self.n_components, "degree": self.degree, "gamma": self.gamma, "c": self.coef0}
        return {"name": "pk_rp", **given, "n_terms": self.n_terms, "n_vectors": self.n_vectors, "law": law(self.s)}


class D2PKRP(FeatureMap):
    __doc__ = rf"""D2PK-RP: alternating sums of squares of projections, of the homogeneous polynomial kernel of degree two.

    With sparse vectors of s other than 3 the kernel is
    :math:`\gamma^2 (\langle x, y\rangle^2 + \frac{{s-3}}{{2}} \sum_i x_i^2 y_i^2)`. `PKRP` shares its projections.

    Parameters
    ----------
    n_components : int, default=1024
        Number of features.
    gamma : float, "scale" or "median", default="scale"
        What inner products are multiplied by.
    n_terms : int, default=10
        Squares of a feature, an even number.
    s : float, default=3.0
        One entry of a vector in s is not zero; None for normal entries.{_DRAW}
    References
    ----------
    López-Sánchez, Corchado and González Arrieta, "Data-independent random projections from the feature-map of the
    homogeneous polynomial kernel of degree two", Information Sciences 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import D2PKRP
    >>> Z = D2PKRP(4096, gamma=1.0, random_state=0).fit_transform(np.eye(4))
    >>> bool(abs(Z[0] @ Z[0] - 1) < 0.5)
    True
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        gamma: float | str = "scale",
        n_terms: int = 10,
        s: float | None = 3.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.n_terms = n_terms
        self.s = s
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        given = {"n_components": self.n_components, "gamma": self.gamma, "n_terms": self.n_terms}
        return {"name": "d2pk_rp", **given, "law": law(self.s)}


class RandomMaclaurin(FeatureMap):
    __doc__ = rf"""Products of as many factors as the powers of a series, of any kernel of the inner product.

    :math:`(\gamma\langle x, y\rangle + c)^g`, :math:`\exp(\gamma\langle x, y\rangle)`, or a given :math:`\sum a_n (\gamma\langle x, y\rangle)^n`,
    is a series of powers; each gets some features.

    Parameters
    ----------
    n_components : int, default=1024
        Number of features.
    kernel : {{"poly", "exponential"}}, default="poly"
        The kernel, where no coefficients are given.{_KERNEL}
    coefficients : sequence of float, default=None
        :math:`a_0, a_1, \ldots` of a series in place of ``kernel``, ``degree`` and ``coef0``: up to 17, none below 0.
    allocation : {{"optimal", "random"}}, default="optimal"
        How features are dealt to the powers: for the least variance, or by chance.
    complex : bool or "auto", default="auto"
        Whether signs are 1, i, -1, -i, or 1 and -1; "auto" takes complex ones for an even number of features.{_DRAW}
    References
    ----------
    Kar and Karnick, "Random feature maps for dot product kernels", AISTATS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import RandomMaclaurin
    >>> Z = RandomMaclaurin(4096, kernel="exponential", gamma=1.0, random_state=0).fit_transform(np.eye(4))
    >>> bool(abs(Z[0] @ Z[0] - np.e) < 0.5)
    True
    >>> Z = RandomMaclaurin(4096, coefficients=[0.5, 0.3, 0.2], gamma=1.0, random_state=0).fit_transform(np.eye(4))
    >>> bool(abs(Z[0] @ Z[0] - 1) < 0.2)
    True
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        kernel: str = "poly",
        degree: int = 2,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        coefficients: Sequence[float] | None = None,
        allocation: str = "optimal",
        complex: bool | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.coefficients = coefficients
        self.allocation = allocation
        self.complex = complex
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        if self.kernel not in ("poly", "exponential"):
            raise ValueError(f"kernel is {self.kernel!r}, must be 'poly' or 'exponential'")
        polynomial = {"name": "polynomial", "degree": self.degree, "c": self.coef0}
        kernel: dict[str, Any] = polynomial if self.kernel == "poly" else {"name": "exponential"}
        if self.coefficients is not None:
            kernel = {"name": "power_series", "coefficients": [float(a) for a in self.coefficients]}
        given = {"n_components": self.n_components, "kernel": kernel, "gamma": self.gamma}
        return {"name": "maclaurin", **given, "allocation": self.allocation, "complex": has_complex_signs(self)}


class PolynomialExpansion(FeatureMap):
    __doc__ = rf"""All products of two or three inputs: the kernel :math:`(\gamma\langle x, y\rangle + c)^g` itself.

    For few inputs: d inputs have about :math:`d^g / g!` features. Sizes that do not fit memory are refused.

    Parameters
    ----------
    degree : {{2, 3}}, default=2
        Of the kernel.
    gamma : float, "scale" or "median", default="scale"
        What inner products are multiplied by: "scale" is 1 / (n_features * variance of X).
    coef0 : float, default=1.0
        What is added to them; 0 is the homogeneous kernel.
    form : {{"triangular", "kronecker"}}, default="triangular"
        Whether each product is a feature once, or in every order.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import PolynomialExpansion
    >>> Z = PolynomialExpansion(gamma=1.0).fit_transform(np.eye(4))
    >>> (Z @ Z.T).round(6).tolist()[0]
    [4.0, 1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        degree: int = 2,
        *,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        form: str = "triangular",
        n_jobs: int | None = None,
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.form = form
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"name": "expansion", "degree": self.degree, "gamma": self.gamma, "c": self.coef0, "form": self.form}


class CRAFTMap(FeatureMap):
    r"""Features of another map, projected down: CRAFTMaps, and any other map with fewer features than it draws.

    Parameters
    ----------
    map : FeatureMap, default=None
        What is projected; `TensorSketch` with four times ``n_components`` when None.
    n_components : int, default=1024
        Number of features that are left.
    projection : {"srht", "gaussian", "sparse"}, default="srht"
        How they are projected.
    random_state : int, RandomState or None, default=None
        Of both; that of ``map`` is of no use here.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    References
    ----------
    Hamid, Xiao, Gittens and DeCoste, "Compact random feature maps", ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import CRAFTMap, RandomMaclaurin
    >>> CRAFTMap(RandomMaclaurin(4096), n_components=256, random_state=0).fit_transform(np.eye(4)).shape
    (4, 256)
    """

    def __init__(
        self,
        map: FeatureMap | None = None,
        *,
        n_components: int = 1024,
        projection: str = "srht",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.n_components = n_components
        self.projection = projection
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        names = {"srht": "srht", "gaussian": "gaussian_projection", "sparse": "sparse_projection"}
        if self.projection not in names:
            raise ValueError(f"projection is {self.projection!r}, must be one of {', '.join(names)}")
        first = TensorSketch(4 * self.n_components) if self.map is None else clone(self.map)
        # What specs of maps go by.
        first.n_features_in_, first._n_rows = self.n_features_in_, self._n_rows
        then: dict[str, Any] = {"name": names[self.projection], "n_components": self.n_components}
        if self.projection == "sparse":
            then["s"] = 3.0
        return {"name": "chain", "first": first._spec(), "then": then}


class PolynomialCountSketch(FeatureMap):
    r"""TensorSketch with scikit-learn's name and parameters.

    A drop-in for :class:`sklearn.kernel_approximation.PolynomialCountSketch`; the random numbers are others.

    Parameters
    ----------
    gamma : float, default=1.0
        What inner products are multiplied by.
    degree : int, default=2
        Of the kernel.
    coef0 : float, default=0
        What is added to them.
    n_components : int, default=100
        Number of features.
    random_state : int, RandomState or None, default=None
        Names the random numbers.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_maps import PolynomialCountSketch
    >>> PolynomialCountSketch(degree=3, random_state=1).fit_transform(np.eye(4)).shape
    (4, 100)
    """

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return TensorSketch._spec(self)
