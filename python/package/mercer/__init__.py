"""Fast kernel learning: kernels as small explicit feature maps, and linear models on top.

>>> from sklearn.datasets import load_digits
>>> from sklearn.model_selection import train_test_split
>>> from mercer.learners import KernelClassifier
>>> X, y = load_digits(return_X_y=True)
>>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
>>> model = KernelClassifier(n_components=1024, random_state=0).fit(X, y)
>>> model.score(X_test, y_test) > 0.97
True
"""

from mercer import feature_maps, kernels, learners, metrics, projections, selection
from mercer._core import __version__
from mercer._hadamard import fwht
from mercer.learners import load

__all__ = ["__version__", "feature_maps", "fwht", "kernels", "learners", "load", "metrics", "projections", "selection"]
