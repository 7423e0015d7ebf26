r"""Exact kernels: Gram matrices :math:`k(x_i, y_j)` of dense and CSR rows.

Inner products and distances are taken in float64 for both float types and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer import _core
from mercer._base import FLOATS, as_json, rows, threads
from mercer._input import checked

__all__ = [
    "additive_chi2_kernel",
    "arc_cosine_kernel",
    "cauchy_kernel",
    "exponential_chi2_kernel",
    "gram",
    "laplace_kernel",
    "linear_kernel",
    "matern_kernel",
    "polynomial_kernel",
    "rational_quadratic_kernel",
    "rbf_kernel",
    "skewed_chi2_kernel",
    "tanimoto_kernel",
]


def gram(
    X: ArrayLike, Y: ArrayLike | None = None, *, kernel: str, n_jobs: int | None = None, **parameters: Any
) -> np.ndarray:
    """The Gram matrix of a kernel by its name.

    Parameters
    ----------
    X : array, CSR matrix, frame or Arrow table of shape (n, d)
    Y : array, CSR matrix, frame or Arrow table of shape (m, d), default=None
        X when absent.
    kernel : str
        One of linear, polynomial, rbf, laplace, matern, cauchy, rational_quadratic, additive_chi2, exponential_chi2,
        skewed_chi2, arc_cosine, tanimoto, exponential, quadratic, power_series.
    n_jobs : int or None, default=None
        Threads; None for all cores.
    **parameters : float, or a list of them
        Those of the kernel: see the function of its name. A gamma of None is 1 / n_features.

    Returns
    -------
    ndarray of shape (n, m)
        float32 where X and Y are float32.

    Examples
    --------
    >>> from mercer.kernels import gram
    >>> gram([[0.0, 0.0], [1.0, 1.0]], kernel="cauchy", gamma=0.5)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    X = checked(X, accept_sparse="csr", dtype=FLOATS, order="C")
    Y = X if Y is None else checked(Y, accept_sparse="csr", dtype=FLOATS, order="C")
    if X.dtype != Y.dtype:
        X, Y = X.astype(np.float64), Y.astype(np.float64)
    if "gamma" in parameters and parameters["gamma"] is None:
        parameters["gamma"] = 1.0 / X.shape[1]
    return _core.gram(as_json({"name": kernel, **parameters}), rows(X), rows(Y), threads(n_jobs))


def linear_kernel(X: ArrayLike, Y: ArrayLike | None = None, *, n_jobs: int | None = None) -> np.ndarray:
    r""":math:`\langle x, y\rangle`"""
    return gram(X, Y, kernel="linear", n_jobs=n_jobs)


def polynomial_kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    degree: int = 3,
    gamma: float | None = None,
    coef0: float = 1.0,
    *,
    n_jobs: int | None = None,
) -> np.ndarray:
    r""":math:`(\gamma\langle x, y\rangle + c)^{degree}`; gamma is 1 / n_features when absent."""
    return gram(X, Y, kernel="polynomial", n_jobs=n_jobs, degree=degree, gamma=gamma, c=coef0)


def rbf_kernel(
    X: ArrayLike, Y: ArrayLike | None = None, gamma: float | None = None, *, n_jobs: int | None = None
) -> np.ndarray:
    r""":math:`\exp(-\gamma\|x-y\|^2)`; gamma is 1 / n_features when absent."""
    return gram(X, Y, kernel="rbf", n_jobs=n_jobs, gamma=gamma)


def laplace_kernel(
    X: ArrayLike, Y: ArrayLike | None = None, gamma: float | None = None, *, n_jobs: int | None = None
) -> np.ndarray:
    r""":math:`\exp(-\gamma\|x-y\|_1)`; gamma is 1 / n_features when absent."""
    return gram(X, Y, kernel="laplace", n_jobs=n_jobs, gamma=gamma)


def matern_kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    nu: float = 1.5,
    length_scale: float = 1.0,
    *,
    n_jobs: int | None = None,
) -> np.ndarray:
    r"""Matérn of smoothness :math:`\nu`, :math:`z = \sqrt{2\nu}\|x-y\|/\ell`."""
    return gram(X, Y, kernel="matern", n_jobs=n_jobs, nu=nu, length_scale=length_scale)


def cauchy_kernel(
    X: ArrayLike, Y: ArrayLike | None = None, gamma: float | None = None, *, n_jobs: int | None = None
) -> np.ndarray:
    r""":math:`1/(1 + \gamma\|x-y\|^2)`; gamma is 1 / n_features when absent."""
    return gram(X, Y, kernel="cauchy", n_jobs=n_jobs, gamma=gamma)


def rational_quadratic_kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    alpha: float = 1.0,
    length_scale: float = 1.0,
    *,
    n_jobs: int | None = None,
) -> np.ndarray:
    r""":math:`(1 + \|x-y\|^2/(2\alpha\ell^2))^{-\alpha}`"""
    return gram(X, Y, kernel="rational_quadratic", n_jobs=n_jobs, alpha=alpha, length_scale=length_scale)


def additive_chi2_kernel(X: ArrayLike, Y: ArrayLike | None = None, *, n_jobs: int | None = None) -> np.ndarray:
    r""":math:`\sum_i 2x_iy_i/(x_i+y_i)`. scikit-learn's is :math:`-\sum_i (x_i-y_i)^2/(x_i+y_i)`."""
    return gram(X, Y, kernel="additive_chi2", n_jobs=n_jobs)


def exponential_chi2_kernel(
    X: ArrayLike, Y: ArrayLike | None = None, gamma: float = 1.0, *, n_jobs: int | None = None
) -> np.ndarray:
    r""":math:`\exp(-\gamma\sum_i (x_i-y_i)^2/(x_i+y_i))`: scikit-learn's ``chi2_kernel``."""
    return gram(X, Y, kernel="exponential_chi2", n_jobs=n_jobs, gamma=gamma)


def skewed_chi2_kernel(
    X: ArrayLike, Y: ArrayLike | None = None, skewedness: float = 1.0, *, n_jobs: int | None = None
) -> np.ndarray:
    r""":math:`\prod_i 2\sqrt{(x_i+c)(y_i+c)}/(x_i+y_i+2c)` for the skewedness c, of values above -c."""
    return gram(X, Y, kernel="skewed_chi2", n_jobs=n_jobs, skewedness=skewedness)


def arc_cosine_kernel(
    X: ArrayLike, Y: ArrayLike | None = None, degree: int = 1, *, n_jobs: int | None = None
) -> np.ndarray:
    r""":math:`\|x\|^n\|y\|^n J_n(\theta)/\pi` for n = 0, 1, 2 (Cho and Saul 2009)."""
    return gram(X, Y, kernel="arc_cosine", n_jobs=n_jobs, degree=degree)


def tanimoto_kernel(X: ArrayLike, Y: ArrayLike | None = None, *, n_jobs: int | None = None) -> np.ndarray:
    r""":math:`\langle x,y\rangle/(\|x\|^2 + \|y\|^2 - \langle x,y\rangle)`"""
    return gram(X, Y, kernel="tanimoto", n_jobs=n_jobs)
