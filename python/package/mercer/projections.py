r"""Random projections that keep inner products: :math:`\langle Vx, Vy\rangle \approx \langle x, y\rangle`."""

from __future__ import annotations

import math
from typing import Any

from mercer import _core
from mercer._base import FeatureMap

__all__ = ["SRHT", "GaussianProjection", "HadamardTransform", "SparseProjection"]


def coordinates(projection: Any) -> Any:
    """Their number as asked for, or by the bound for the rows that it is fitted to."""
    if isinstance(projection.n_components, str):
        if projection.n_components != "auto":
            raise ValueError(f"n_components is {projection.n_components!r}, must be 'auto' or an integer")
        return _core.johnson_lindenstrauss(projection._n_rows, projection.eps)
    return projection.n_components


class _Projection(FeatureMap):
    _name = ""

    def __init__(
        self,
        n_components: int | str = 1024,
        *,
        eps: float = 0.1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"name": self._name, "n_components": coordinates(self)}


class GaussianProjection(_Projection):
    r"""Entries drawn from the normal law of variance 1 / n_components.

    Parameters
    ----------
    n_components : int or "auto", default=1024
        Number of coordinates; "auto" takes as many as keep distances by the bound of Johnson and Lindenstrauss.
    eps : float, default=0.1
        For "auto": the share by which squared distances of the rows of ``fit`` may change.
    random_state : int, RandomState or None, default=None
        Names the random numbers.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    References
    ----------
    Johnson and Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert space", 1984.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.projections import GaussianProjection
    >>> GaussianProjection(16, random_state=0).fit_transform(np.eye(100)).shape
    (100, 16)
    """

    _name = "gaussian_projection"


class SparseProjection(FeatureMap):
    r"""One entry in s is :math:`\pm\sqrt{s / k}`, the others are zero.

    Parameters
    ----------
    n_components : int or "auto", default=1024
        Number of coordinates k; "auto" takes as many as keep distances by the bound of Johnson and Lindenstrauss.
    eps : float, default=0.1
        For "auto": the share by which squared distances of the rows of ``fit`` may change.
    s : float or "auto", default="auto"
        One entry in s is not zero: 1 and 3 are Achlioptas', "auto" is the root of the number of inputs.
    random_state : int, RandomState or None, default=None
        Names the random numbers.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    References
    ----------
    Achlioptas, "Database-friendly random projections", JCSS 66, 2003. Li, Hastie and Church, "Very sparse random
    projections", KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.projections import SparseProjection
    >>> SparseProjection(16, s=3, random_state=0).fit_transform(np.eye(100)).shape
    (100, 16)
    """

    def __init__(
        self,
        n_components: int | str = 1024,
        *,
        s: float | str = "auto",
        eps: float = 0.1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.s = s
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        s = math.sqrt(self.n_features_in_) if self.s == "auto" else self.s
        return {"name": "sparse_projection", "n_components": coordinates(self), "s": s}


class SRHT(_Projection):
    r"""Subsampled randomised Hadamard transform: coordinates of :math:`H \cdot \mathrm{diag}(\pm 1) \cdot x`.

    d log d operations for a row, and O(d) numbers to keep.

    Parameters
    ----------
    n_components : int or "auto", default=1024
        Number of coordinates; "auto" takes as many as keep distances by the bound of Johnson and Lindenstrauss.
    eps : float, default=0.1
        For "auto": the share by which squared distances of the rows of ``fit`` may change.
    random_state : int, RandomState or None, default=None
        Names the random numbers.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    References
    ----------
    Ailon and Chazelle, "The fast Johnson-Lindenstrauss transform and approximate nearest neighbors", SICOMP 39, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.projections import SRHT
    >>> SRHT(16, random_state=0).fit_transform(np.eye(100)).shape
    (100, 16)
    """

    _name = "srht"


class HadamardTransform(FeatureMap):
    r"""The Walsh-Hadamard transform of every row, divided by the root of its length: lengths and angles stay.

    Parameters
    ----------
    blocks : {"padded", "split"}, default="padded"
        What becomes of lengths that are no power of two: zeros up to the next one, or blocks of powers of two.
    n_jobs : int or None, default=None
        Threads; None for all cores.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.projections import HadamardTransform
    >>> HadamardTransform().fit_transform(np.eye(2)).round(4).tolist()
    [[0.7071, 0.7071], [0.7071, -0.7071]]
    """

    def __init__(self, *, blocks: str = "padded", n_jobs: int | None = None) -> None:
        self.blocks = blocks
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"name": "hadamard", "blocks": self.blocks}
