"""The error of every map of the RBF kernel as its features grow.

    python gallery/kernel_error.py [picture.png]

Needs matplotlib beside mercer. Rows are the bundled digits of scikit-learn, scaled to [0, 1]; the error is the root mean square
over all pairs of 300 rows, the mean of ten seeds.
"""

import sys

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

from mercer.feature_maps import SORF, Fastfood, OrthogonalFourier, QuasiFourier, RandomFourier, RBFSampler

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SIZES = [2**k for k in range(6, 14)]
SEEDS = range(10)
MAPS = {
    "RBFSampler (a cosine each)": RBFSampler,
    "RandomFourier": RandomFourier,
    "OrthogonalFourier": OrthogonalFourier,
    "QuasiFourier": QuasiFourier,
    "SORF": SORF,
    "Fastfood": Fastfood,
}


def main(picture: str) -> None:
    X = load_digits().data[:300] / 16
    gamma = 1 / (X.shape[1] * X.var())
    exact = rbf_kernel(X, gamma=gamma)
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    print(f"{'features':<28}" + "".join(f"{size:>9}" for size in SIZES))
    for (name, cls), marker in zip(MAPS.items(), "os^vDP", strict=True):
        errors = [np.mean([error(cls, size, gamma, seed, X, exact) for seed in SEEDS]) for size in SIZES]
        axes.loglog(SIZES, errors, marker=marker, label=name)
        print(f"{name:<28}" + "".join(f"{value:>9.4f}" for value in errors))
    axes.loglog(SIZES, [1 / np.sqrt(size) for size in SIZES], color="gray", linestyle=":", label="1/√D")
    axes.set(xlabel="features D", ylabel="root mean square error of k(x, y)", title="RBF kernel on the digits")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    figure.savefig(picture, dpi=150)
    print(f"written: {picture}")


def error(cls, size, gamma, seed, X, exact):
    Z = cls(n_components=size, gamma=gamma, random_state=seed).fit_transform(X)
    return np.sqrt(np.mean((Z @ Z.T - exact) ** 2))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "kernel_error.png")
