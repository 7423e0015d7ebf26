from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from mercer import _core
from mercer._base import FLOATS, threads


def fwht(array: ArrayLike, axis: int = -1, *, n_jobs: int | None = None) -> np.ndarray:
    r"""The fast Walsh-Hadamard transform along an axis: :math:`Hx`, :math:`H_{ij} = (-1)^{|i \wedge j|}`.

    Not scaled: twice the transform is the length times the array.

    Parameters
    ----------
    array : array
        Of any number of dimensions; the length along ``axis`` is a power of two. float32 stays float32.
    axis : int, default=-1
        Which axis is transformed.
    n_jobs : int or None, default=None
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    ndarray
        A new array of the same shape.

    Examples
    --------
    >>> import mercer
    >>> mercer.fwht([1.0, 2.0, 3.0, 4.0])
    array([10., -2., -4.,  0.])
    """
    array = np.asarray(array)
    if array.ndim == 0:
        raise ValueError("array has no dimension, must have at least one")
    moved = np.moveaxis(check_array(array, dtype=FLOATS, allow_nd=True, ensure_2d=False), axis, -1)
    if moved.size == 0:
        raise ValueError(f"array has the shape {array.shape}, must not be empty")
    rows = np.array(moved, order="C", copy=True).reshape(-1, moved.shape[-1])
    _core.fwht(rows, threads(n_jobs))
    return np.moveaxis(rows.reshape(moved.shape), -1, axis)
