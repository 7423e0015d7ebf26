"""scikit-learn's side of the bench `auto`: HalvingRandomSearchCV over maps and linear models.

Its limits are numbers of candidates, not a time. LinearSVC is among the learners where it ends within minutes: of up to 20,000 rows,
or of two classes. Of more rows and classes there are RidgeClassifier and SGDClassifier, which a user in a hurry would take too.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

SETS = ["MNIST", "Fashion-MNIST", "ISOLET", "ijcnn1", "w8a", "covertype", "COIL-100"]
MADE = os.path.join(tempfile.gettempdir(), "mercer-bench-auto")
# Four times what mercer is given: HalvingRandomSearchCV knows no limit of time.
LONGEST = 240
CANDIDATES, FOLDS, FACTOR = 12, 3, 3
COMPONENTS = [200, 500, 1000, 2000]
MOST_ROWS_OF_LINEAR_SVC = 20_000


def bench_auto(report, skip):
    for name in SETS:
        child = [sys.executable, os.path.abspath(__file__), name]
        # A session of its own, so that its workers end with it and do not slow down the next.
        with subprocess.Popen(child, stdout=subprocess.PIPE, text=True, start_new_session=True) as running:
            try:
                printed, _ = running.communicate(timeout=LONGEST)
            except subprocess.TimeoutExpired:
                skip("auto", "scikit-learn", f"{name} had not ended after {LONGEST} s")
                continue
            finally:
                end_all(running.pid)
        if running.returncode != 0:
            skip("auto", "scikit-learn", f"{name} failed")
            continue
        seconds, n_rows, score, memory = json.loads(printed)
        further = {"score": score, "peak_memory_bytes": memory}
        report("auto", name, 2, "scikit-learn", (seconds, 1), n_rows, "row", **further)
    shutil.rmtree(MADE, ignore_errors=True)


def end_all(group):
    """Ends what is left of the processes of a group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def read(name):
    """Rows and classes of the training and the test part, float32."""
    from sklearn.datasets import load_svmlight_file

    folder = os.environ.get("MERCER_DATA", "")
    if name in ["MNIST", "Fashion-MNIST"]:
        import gzip

        def idx(file, header):
            with gzip.open(os.path.join(folder, name.lower(), file)) as opened:
                return np.frombuffer(opened.read(), dtype=np.uint8, offset=header)

        parts = []
        for part in ["train", "t10k"]:
            images = idx(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784)
            parts += [images.astype(np.float32) / np.float32(255), idx(f"{part}-labels-idx1-ubyte.gz", 8)]
        return parts
    if name == "ISOLET":
        with np.load(os.path.join(folder, "isolet/isolet.npz")) as arrays:
            return [arrays[key] for key in ["X_train", "y_train", "X_test", "y_test"]]
    if name == "COIL-100":
        parts = []
        for part in ["train", "test"]:
            images = np.load(os.path.join(MADE, f"coil-{part}.npy")).astype(np.float32) / np.float32(255)
            parts += [images, np.load(os.path.join(MADE, f"coil-{part}-labels.npy"))]
        return parts
    if name == "covertype":
        import pandas

        parts = []
        for part in ["train", "test"]:
            data = pandas.read_csv(os.path.join(MADE, f"covertype-{part}.csv"), dtype=np.float32).to_numpy()
            parts += [np.ascontiguousarray(data[:, :-1]), data[:, -1].astype(np.int32)]
        return parts
    rows, labels = load_svmlight_file(os.path.join(folder, f"{name}/{name}.gz"), dtype=np.float32)
    test, test_labels = load_svmlight_file(
        os.path.join(folder, f"{name}/{name}.t.gz"), n_features=rows.shape[1], dtype=np.float32
    )
    return [rows, labels, test, test_labels]


def space(name, rows, n_classes):
    """Distributions of what is tried: a list, one for each scaling, map and learner."""
    from scipy.stats import loguniform
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import RidgeClassifier, SGDClassifier
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
    from sklearn.svm import LinearSVC

    if name in ["MNIST", "Fashion-MNIST", "COIL-100"]:
        scalings = ["passthrough"]
    elif name in ["ijcnn1", "w8a"]:
        scalings = [MaxAbsScaler()]
    else:
        scalings = [StandardScaler(), MinMaxScaler()]
    learners = [
        (RidgeClassifier(solver="cholesky"), {"learner__alpha": loguniform(1e-3, 1e2)}),
        (SGDClassifier(average=True, max_iter=30, random_state=0), {"learner__alpha": loguniform(1e-7, 1e-4)}),
    ]
    if rows.shape[0] <= MOST_ROWS_OF_LINEAR_SVC or (n_classes == 2 and rows.shape[0] <= 100_000):
        learners = [(LinearSVC(tol=1e-2), {"learner__C": loguniform(1e-2, 1e2)})] + learners[:1]
    found = []
    for scaling in scalings:
        some = rows[:5000] if scaling == "passthrough" else scaling.fit_transform(rows[:5000])
        dense = some.toarray() if hasattr(some, "toarray") else some
        scale = 1 / (dense.shape[1] * dense.var())
        for feature_map in [Nystroem(random_state=0), RBFSampler(random_state=0)]:
            for learner, penalty in learners:
                widths = {"map__gamma": loguniform(0.05 * scale, 20 * scale), "map__n_components": COMPONENTS}
                found.append({"scale": [scaling], "map": [feature_map], "learner": [learner], **widths, **penalty})
    return found


def search(name):
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.model_selection import HalvingRandomSearchCV, StratifiedKFold
    from sklearn.pipeline import Pipeline

    rows, labels, test, test_labels = read(name)
    start = time.perf_counter()
    pipeline = Pipeline([("scale", "passthrough"), ("map", "passthrough"), ("learner", "passthrough")])
    halving = HalvingRandomSearchCV(
        pipeline,
        space(name, rows, len(np.unique(labels))),
        n_candidates=CANDIDATES,
        min_resources="exhaust",
        factor=FACTOR,
        # A number would not be stratified: a pipeline of placeholders is no classifier yet, and rows of some files are sorted by class.
        cv=StratifiedKFold(FOLDS, shuffle=True, random_state=0),
        scoring="f1" if name == "w8a" else "accuracy",
        n_jobs=2,
        random_state=0,
    )
    predicted = halving.fit(rows, labels).predict(test)
    score = f1_score(test_labels, predicted) if name == "w8a" else accuracy_score(test_labels, predicted)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(halving.best_params_, file=sys.stderr)
    print(json.dumps([seconds, rows.shape[0], float(score), memory]))


if __name__ == "__main__":
    search(sys.argv[1])
