import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import mercer
from mercer.feature_maps import KGRP, KORP, AdditiveChi2Sampler, ArcCosine, Fastfood, KernelPCA, Nystroem, PolynomialExpansion, RandomBinning, RandomFourier
from mercer.learners import KernelClassifier, KernelRegressor, LinearClassifier, LinearRegressor
from mercer.projections import SRHT

X, y = load_digits(return_X_y=True)
X_train, y_train, X_test, y_test = X[:1300], y[:1300], X[1300:], y[1300:]


@pytest.mark.parametrize("learner", ["ridge", "svm", "logistic", "softmax"])
def test_digits(learner):
    model = KernelClassifier(n_components=1024, learner=learner, random_state=0).fit(X_train, y_train)
    assert model.score(X_test, y_test) > 0.9
    assert model.decision_function(X_test).shape == (len(X_test), 10)
    assert model.classes_.tolist() == list(range(10))


def test_equals_the_map_and_the_model_apart():
    model = KernelClassifier(
        "fastfood", 256, gamma=0.01, learner="svm", C=1.0, preprocess="none", dtype="float64", random_state=4
    ).fit(X_train, y_train)
    Z = Fastfood(256, gamma=0.01, random_state=4).fit_transform(X_train)
    apart = LinearClassifier("svm", C=1.0, preprocess="none").fit(Z, y_train)
    np.testing.assert_allclose(model.decision_function(X_train), apart.decision_function(Z), atol=1e-6)


def test_linear_models_reach_the_minima_of_scikit_learn():
    Z = X_train / 16
    ours = LinearClassifier("softmax", C=1.0, preprocess="none", tol=1e-9).fit(Z, y_train)
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=5000).fit(Z, y_train)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    ours = LinearClassifier("svm", C=1.0, preprocess="none", fit_intercept=False, tol=1e-9).fit(Z, y_train)
    theirs = LinearSVC(C=1.0, tol=1e-9, fit_intercept=False, dual=False, max_iter=10000).fit(Z, y_train)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    A, b = load_diabetes(return_X_y=True)
    ours = LinearRegressor(reg=0.01, preprocess="none").fit(A, b)
    theirs = Ridge(alpha=0.01 * len(A)).fit(A, b)
    np.testing.assert_allclose(ours.predict(A), theirs.predict(A), atol=1e-6)


def test_labels_of_all_kinds():
    two = y_train < 5
    names = np.array(["low", "high"])
    for labels in [two, two.astype(int) * 7 - 3, names[two.astype(int)], two.astype(float), two.astype(str)]:
        model = KernelClassifier(n_components=256, reg=1e-4, random_state=0).fit(X_train, labels)
        assert model.classes_.dtype.kind == np.unique(labels).dtype.kind
        assert model.score(X_train, labels) > 0.97
        # Positive scores are of the second class.
        scores = model.decision_function(X_train)
        assert ((scores > 0) == (model.predict(X_train) == model.classes_[1])).all()
    texts = np.array(["1", "2", "10"])[y_train % 3]
    model = KernelClassifier(n_components=256, reg=1e-4, learner="softmax", random_state=0).fit(X_train, texts)
    assert model.classes_.tolist() == ["1", "10", "2"]
    assert model.score(X_train, texts) > 0.97
    assert (model.classes_[model.predict_proba(X_train).argmax(axis=1)] == model.predict(X_train)).all()
    assert (model.classes_[model.decision_function(X_train).argmax(axis=1)] == model.predict(X_train)).all()
    with pytest.raises(ValueError, match="texts of fewer numbers"):
        KernelClassifier(n_components=64, reg=1e-4).fit(X_train, np.array(["1", "01"])[y_train % 2])


def test_probabilities():
    model = KernelClassifier(n_components=256, reg=1e-4, random_state=0).fit(X_train, y_train)
    assert not hasattr(model, "predict_proba")
    model = model.set_params(probability=True).fit(X_train, y_train)
    values = model.predict_proba(X_test)
    np.testing.assert_allclose(values.sum(axis=1), 1)
    scores = mercer.metrics.probability_scores(y_test, values)
    assert scores["log_loss"] < 0.5


def test_nothing_but_data_and_seed_changes_a_bit():
    X_32 = X_train.astype(np.float32)
    model = KernelClassifier("sorf", 256, learner="svm", C=1.0, n_jobs=1, random_state=0).fit(X_32, y_train)
    expected = model.decision_function(X_test)
    assert expected.dtype == np.float32
    for other in [
        clone(model).set_params(n_jobs=2).fit(X_32, y_train),
        clone(model).fit(np.asfortranarray(X_32), y_train),
        clone(model).fit(X_train, y_train),
        pickle.loads(pickle.dumps(model)),
    ]:
        np.testing.assert_array_equal(other.decision_function(X_test), expected)


def test_sparse_rows_equal_dense_ones():
    # At the minimum both are the same model; within 1e-10 of it scores agree to about its root.
    dense = LinearClassifier("svm", C=1.0, preprocess="max_abs", tol=1e-10).fit(X_train, y_train)
    sparse = clone(dense).fit(scipy.sparse.csr_matrix(X_train), y_train)
    scores = sparse.decision_function(scipy.sparse.csr_matrix(X_test))
    np.testing.assert_allclose(scores, dense.decision_function(X_test), atol=1e-4)


def test_bytes_are_divided_by_255():
    model = KernelClassifier(n_components=256, reg=1e-4, random_state=0).fit(X_train.astype(np.uint8), y_train)
    assert '"preprocess":"bytes"' in model._model.header()
    by_hand = clone(model).set_params(preprocess="none").fit((X_train / 255).astype(np.float32), y_train)
    scores = by_hand.decision_function((X_test / 255).astype(np.float32))
    np.testing.assert_allclose(model.decision_function(X_test.astype(np.uint8)), scores, atol=1e-3)
    batches = clone(model).partial_fit(X_train.astype(np.uint8), y_train, classes=range(10))
    batches.predict(X_test)
    assert '"preprocess":"bytes"' in batches._model.header()


@pytest.mark.parametrize(
    ("feature_map", "accuracy"),
    [
        ("binning", 0.6),
        (RandomFourier(256, waves="phase", kernel="cauchy"), 0.85),
        (RandomBinning(256, n_bins=1), 0.6),
        (SRHT(32), 0.75),
    ],
    ids=str,
)
def test_maps_given_whole(feature_map, accuracy):
    model = KernelClassifier(feature_map, 256, random_state=0).fit(X_train, y_train)
    assert model.score(X_test, y_test) > accuracy


def test_regression():
    A, b = load_diabetes(return_X_y=True)
    for learner in ["ridge", "huber", "svr"]:
        model = KernelRegressor(n_components=256, learner=learner, random_state=0).fit(A, b)
        assert model.score(A, b) > 0.45
    two = KernelRegressor(n_components=256, random_state=0).fit(A, np.column_stack([b, -b]))
    assert two.predict(A).shape == (len(A), 2)
    np.testing.assert_allclose(two.predict(A)[:, 0], -two.predict(A)[:, 1], rtol=1e-3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(two)).predict(A), two.predict(A))
    with pytest.raises(ValueError):
        two.partial_fit(A, b)
    assert two.predict(A).shape == (len(A), 2)


def test_partial_fit():
    model = KernelClassifier(n_components=256, learner="softmax", random_state=0)
    with pytest.raises(ValueError, match="classes must be given"):
        model.partial_fit(X_train, y_train)
    for _ in range(5):
        for part in np.array_split(np.arange(1300), 13):
            model.partial_fit(X_train[part], y_train[part], classes=range(10))
    assert model.score(X_test, y_test) > 0.9
    assert model._online.n_rows == 6500
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(other.predict(X_test), model.predict(X_test))
    other.partial_fit(X_train, y_train)
    assert other.score(X_test, y_test) > 0.9
    with pytest.raises(ValueError, match="none of the classes"):
        model.partial_fit(X_train[:2], [3, 11])
    with pytest.raises(ValueError, match="were"):
        model.partial_fit(X_train[:2], [3, 1], classes=[1, 3])
    # Sums of a ridge model do not care how rows come.
    A, b = load_diabetes(return_X_y=True)
    online = LinearRegressor(reg=1e-3, preprocess="none")
    for part in np.array_split(np.arange(len(A)), 4):
        online.partial_fit(A[part], b[part])
    np.testing.assert_allclose(online.predict(A), LinearRegressor(reg=1e-3, preprocess="none").fit(A, b).predict(A), atol=1e-6)


def test_what_partial_fit_refuses_leaves_no_trace():
    model = KernelClassifier(n_components=64, learner="softmax", random_state=0)
    with pytest.raises(ValueError, match="negative|weight"):
        model.partial_fit(X_train, y_train, classes=range(10), sample_weight=np.full(1300, np.nan))
    with pytest.raises(NotFittedError):
        model.predict(X_test)
    model.partial_fit(X_train[:, :32], y_train % 3, classes=[0, 1, 2])
    assert model.n_features_in_ == 32 and len(model.classes_) == 3
    for parameters in [{"C": 1.0}, {"learner": "svm", "probability": True}]:
        with pytest.raises(ValueError, match="for partial_fit"):
            KernelClassifier(n_components=64, **parameters).partial_fit(X_train, y_train, classes=range(10))


def test_weights_of_rows_in_batches():
    # The sums of a ridge model have no weights: it learns by stochastic gradients.
    weights = (y_train < 5).astype(float)
    model = LinearClassifier("ridge", reg=1e-3, random_state=0)
    model.partial_fit(X_train, y_train % 2, classes=[0, 1], sample_weight=weights)
    assert model.score(X_train[y_train < 5], y_train[y_train < 5] % 2) > 0.9 and model.solver_ == "sgd"
    model.partial_fit(X_train, y_train % 2, sample_weight=2.0)


def test_refits_that_fail_forget_the_model():
    model = KernelClassifier(n_components=64, reg=1e-4).fit(X_train, y_train)
    with pytest.raises(ValueError, match="reg is 0"):
        model.set_params(reg=0.0).fit(X_train, y_train.astype(str))
    with pytest.raises(NotFittedError):
        model.predict(X_test)


def test_names_and_seeds_go_along(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X_train, columns=[f"pixel {i}" for i in range(64)])
    model = KernelClassifier(n_components=64, learner="softmax", reg=1e-4, random_state=0)
    for fitted in [model.fit(frame, y_train), clone(model)]:
        fitted.partial_fit(frame, y_train, classes=range(10)).save(tmp_path / "model.mercer")
        assert mercer.load(tmp_path / "model.mercer").feature_names_in_.tolist() == frame.columns.tolist()
    twice = [KernelClassifier(RandomFourier(64, random_state=5), reg=1e-4).fit(X_train, y_train) for _ in range(2)]
    np.testing.assert_array_equal(*[model.decision_function(X_test) for model in twice])


@pytest.mark.skipif("MERCER_BIN" not in os.environ, reason="needs the command line: MERCER_BIN")
def test_models_of_the_command_line_with_gaps_and_words(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.4f},{'' if i % 7 == 0 else f'{b:.4f}'},{'red' if a > 0 else 'blue'},{a + b:.4f}"
             for i, (a, b) in enumerate(rng.normal(size=(200, 2)))]  # fmt: skip
    (tmp_path / "data.csv").write_text("a,b,colour,y\n" + "\n".join(lines) + "\n")
    arguments = ["--target", "y", "--impute", "mean", "--n-components", "64", "--output", "model.mercer"]
    run = lambda *given: subprocess.run([os.environ["MERCER_BIN"], *given], cwd=tmp_path, check=True)  # noqa: E731
    run("train", "data.csv", "--inputs", "a,b", *arguments)
    run("predict", "model.mercer", "data.csv", "--output", "out.csv")
    rows = np.genfromtxt(tmp_path / "data.csv", delimiter=",", skip_header=1, usecols=(0, 1))
    assert np.isnan(rows).any()
    model = mercer.load(tmp_path / "model.mercer")
    written = np.loadtxt(tmp_path / "out.csv", skiprows=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without the names that the model has
        np.testing.assert_allclose(model.predict(rows), written, rtol=1e-6)
    (tmp_path / "model.mercer").unlink()
    run("train", "data.csv", *arguments)
    with pytest.raises(ValueError, match="columns of words"):
        mercer.load(tmp_path / "model.mercer")


def test_model_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X_train, columns=[f"pixel {i}" for i in range(64)])
    labels = np.array(["even", "odd"])[y_train % 2]
    model = KernelClassifier("fastfood", 256, kernel="matern", nu=2.5, learner="svm", C=2.0, probability=True)
    model.set_params(random_state=3).fit(frame, labels)
    model.save(tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    test = pandas.DataFrame(X_test, columns=frame.columns)
    np.testing.assert_array_equal(loaded.predict(test), model.predict(test))
    np.testing.assert_array_equal(loaded.decision_function(test), model.decision_function(test))
    np.testing.assert_array_equal(loaded.predict_proba(test), model.predict_proba(test))
    assert loaded.get_params()["map"] == "fastfood" and loaded.kernel == "matern" and loaded.nu == 2.5
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(OSError, match="nowhere"):
        mercer.load(tmp_path / "nowhere.mercer")
    (tmp_path / "broken.mercer").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="broken"):
        mercer.load(tmp_path / "broken.mercer")
    with pytest.raises(OSError):
        model.save(tmp_path / "no folder" / "model.mercer")
    with pytest.raises(NotFittedError):
        KernelClassifier().save(tmp_path / "model.mercer")


@pytest.mark.skipif("MERCER_BIN" not in os.environ, reason="needs the command line: MERCER_BIN")
def test_the_command_line_predicts_the_same(tmp_path):
    np.save(tmp_path / "test.npy", X_test.astype(np.float32))
    np.save(tmp_path / "train.npy", X_train.astype(np.float32))
    np.save(tmp_path / "labels.npy", y_train)
    run = lambda *arguments: subprocess.run([os.environ["MERCER_BIN"], *arguments], cwd=tmp_path, check=True)  # noqa: E731
    for command in ["python", "shell"]:
        if command == "python":
            model = KernelClassifier("sorf", 512, learner="softmax", reg=1e-4, random_state=2)
            model.fit(np.load(tmp_path / "train.npy"), y_train).save(tmp_path / "model.mercer")
        else:
            run("train", "train.npy", "--labels", "labels.npy", "--map", "sorf", "--n-components", "512",
                "--learner", "softmax", "--lambda", "1e-4", "--seed", "2", "--output", "model.mercer")  # fmt: skip
            model = mercer.load(tmp_path / "model.mercer")
        run("predict", "model.mercer", "test.npy", "--output", f"{command}.csv")
        written = np.loadtxt(tmp_path / f"{command}.csv", skiprows=1)
        np.testing.assert_array_equal(written, model.predict(np.load(tmp_path / "test.npy")))
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "shell.csv").read_bytes()


def test_scikit_learn_composes_them():
    search = GridSearchCV(
        make_pipeline(RandomFourier(random_state=0), LinearClassifier(C=1.0)),
        {"randomfourier__n_components": [64, 256]},
        cv=3,
    )
    assert search.fit(X_train / 16, y_train).best_params_ == {"randomfourier__n_components": 256}
    parallel = GridSearchCV(KernelClassifier(n_components=128, reg=1e-4), {"gamma": [0.001, 0.01]}, cv=2, n_jobs=2)
    assert parallel.fit(X_train, y_train).best_score_ > 0.85


def test_what_did_not_converge_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        KernelClassifier(n_components=256, learner="softmax", reg=1e-6, max_iter=2).fit(X_train, y_train)


def test_errors_say_what_and_why():
    for parameters, text in [
        ({"map": "wavelets"}, "map is 'wavelets', must be one of fourier"),
        ({"learner": "tree"}, "learner is 'tree'"),
        ({"loss": "hinge"}, "with loss 'hinge'"),
        ({"class_weight": {0: 1}}, "class_weight is"),
        ({"reg": 0.0}, "reg is 0"),
        ({"tol": float("nan")}, "tol is nan, must be finite"),
        ({"dtype": "float16"}, "dtype is float16"),
        ({"cv": 1}, "cv is 1, must be 2 to 100"),
        ({"preprocess": "whiten"}, "whiten"),
        ({"learner": "softmax", "solver": "dual"}, "solver is dual"),
        ({"tol": 2.0}, "tol is 2"),
    ]:
        with pytest.raises(ValueError, match=text):
            KernelClassifier(n_components=64, **parameters).fit(X_train, y_train)


def test_ctrl_c_ends_a_fit():
    rows = np.random.default_rng(0).normal(size=(60_000, 100)).astype(np.float32)
    labels = (rows[:, 0] > 0).astype(int)
    model = KernelClassifier(n_components=8192, learner="svm", reg=1e-7, tol=1e-9)
    # A program started in the background ignores the signal, and hands that down to us.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT]).start()
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            model.fit(rows, labels)
        assert time.perf_counter() - start < 30
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(NotFittedError):
        model.predict(rows)


def test_forked_processes_have_threads_of_their_own():
    program = (
        "import multiprocessing, numpy as np\n"
        "from mercer.feature_maps import Fastfood\n"
        "from mercer.learners import KernelClassifier\n"
        "X = np.eye(64)\n"
        "m = Fastfood(64, random_state=0).fit(X)\n"
        "m.transform(X)\n"
        "y = np.arange(64) % 2\n"
        "def learn(_):\n"
        "    KernelClassifier(n_components=64, reg=1e-4).fit(X, y)\n"
        "    return KernelClassifier(n_components=64, random_state=0).partial_fit(X, y, classes=[0, 1]).predict(X)\n"
        "learn(0)\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    assert all((z == m.transform(X)).all() for z in pool.map(m.transform, [X] * 4))\n"
        "    assert all((p == learn(0)).all() for p in pool.map(learn, range(4)))\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    "feature_map",
    [
        Nystroem("poly", degree=2, gamma=0.1, n_components=30, budget="random_cholesky", balanced=True),
        Nystroem(n_components=30, symmetric=True),
        KGRP("rational_quadratic", rq_alpha=2.0, n_components=40, n_landmarks=30, n_terms=5, balanced=True),
        KORP(n_components=20, n_landmarks=30, budget="kmeans"),
        KernelPCA(8, kernel="rbf", n_landmarks=40, balanced=True),
        ArcCosine(64, degree=2),
        AdditiveChi2Sampler(sample_steps=3),
        PolynomialExpansion(coef0=0.5),
    ],
    ids=str,
)
def test_files_of_maps_of_every_kind(feature_map, tmp_path):
    """The estimator of a file predicts alike, names the same map in numbers, and learns again."""
    rows, labels = X_train[:300], y_train[:300]
    model = KernelClassifier(feature_map, reg=1e-4, preprocess="min_max", random_state=2).fit(rows, labels)
    model.save(tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(loaded.decision_function(X_test), model.decision_function(X_test))
    given, found = feature_map.get_params(), loaded.map.get_params()
    assert type(loaded.map) is type(feature_map)
    settled = {"gamma", "coef0", "degree", "sample_interval", "random_state"}
    assert {name: value for name, value in found.items() if name not in settled} == {name: value for name, value in given.items() if name not in settled}
    again = clone(loaded).fit(rows, labels)
    np.testing.assert_array_equal(again.predict(X_test), model.predict(X_test))
