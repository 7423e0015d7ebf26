"""Time against accuracy on the digits: maps with a linear model, beside the exact kernel machine.

    python gallery/time_accuracy.py [picture.png]

Needs matplotlib beside mercer. Fit and predict are timed together, the fastest of three; a quarter of the rows are the test.
"""

import sys
import time

import matplotlib
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, LinearSVC

from mercer.learners import KernelClassifier, LinearClassifier

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SIZES = [64, 128, 256, 512, 1024, 2048]
RUNS = 3


def main(picture: str) -> None:
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype("float32")
    parts = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    gamma = 1 / (X.shape[1] * X.var())
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    lines = {
        f"mercer, {name}, {learner}": [
            KernelClassifier(name, size, gamma=gamma, learner=learner, reg=1e-5, preprocess="none", random_state=0)
            for size in SIZES
        ]
        for name in ["fourier", "fastfood"]
        for learner in ["ridge", "svm"]
    }
    lines["mercer, linear"] = [LinearClassifier("svm", C=1.0, preprocess="none")]
    lines["scikit-learn, LinearSVC"] = [LinearSVC(C=1.0)]
    lines["scikit-learn, SVC (exact)"] = [SVC(C=10.0, gamma=gamma)]
    for (name, models), marker in zip(lines.items(), "osv^DPX", strict=True):
        measured = [measure(model, *parts) for model in models]
        axes.plot(*zip(*measured, strict=True), marker=marker, label=name)
        for model, (seconds, accuracy) in zip(models, measured, strict=True):
            size = getattr(model, "n_components", "")
            print(f"{name:<28}{size:>6}{seconds * 1000:>10.1f} ms{100 * accuracy:>8.2f} %")
    axes.set_xscale("log")
    axes.set(xlabel="seconds, fit and predict", ylabel="test accuracy", title="Digits: 1,347 rows to learn, 450 to test")
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.savefig(picture, dpi=150)
    print(f"written: {picture}")


def measure(model, X, X_test, y, y_test):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        accuracy = (model.fit(X, y).predict(X_test) == y_test).mean()
        times.append(time.perf_counter() - start)
    return min(times), accuracy


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "time_accuracy.png")
