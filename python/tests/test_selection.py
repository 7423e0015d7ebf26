"""Pipelines found by the data."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons

import mercer
from mercer.selection import AutoClassifier, AutoRegressor


def test_moons_need_a_kernel():
    X, y = make_moons(600, noise=0.1, random_state=0)
    model = AutoClassifier(trials=8, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.97
    search = model.search_
    assert search["trials"][search["chosen"]]["contender"]["kernel"]["name"] != "linear"
    gain, error = search["beyond_linear"]
    assert gain > error > 0


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    X, y = load_digits(return_X_y=True)
    files = []
    for name, n_jobs in [("a", 1), ("b", 2)]:
        model = AutoClassifier(trials=5, random_state=3, n_jobs=n_jobs).fit(X[:500], y[:500])
        model.save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert np.array_equal(mercer.load(tmp_path / "a").predict(X), model.predict(X))
    # The later rows are of other writers.
    assert model.score(X[500:], y[500:]) > 0.8


def test_a_line_needs_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X @ np.arange(5.0) + 0.1 * rng.normal(size=400)
    model = AutoRegressor(trials=6, random_state=0).fit(X, y)
    assert model.spec_["map"]["spec"]["name"] == "identity"
    assert model.search_["confirmation"]["score"] > 0.99


def test_probabilities_and_refusals():
    X, y = make_moons(300, noise=0.2, random_state=1)
    model = AutoClassifier(trials=4, probability=True, random_state=0).fit(X, y)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match="objective is r2"):
        AutoClassifier(objective="r2").fit(X, y)
    with pytest.raises(ValueError, match="trials is 0"):
        AutoClassifier(trials=0).fit(X, y)
