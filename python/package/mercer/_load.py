"""Estimators from model files."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from mercer import _core, feature_maps, projections
from mercer._landmark import NAMES
from mercer._learner import Learner

# Rows that a model from a file is taken to know when it learns more.
ROWS_OF_FILES = 10_000


def load(path: str | os.PathLike[str]) -> Learner:
    """A fitted estimator from a model file, written by `save` or by ``mercer train``.

    Its parameters are those of the model in numbers (the width that was found, the penalty that was chosen). A model that
    fills in missing values does so here, for NaN; one of columns of words is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import mercer
    >>> from mercer.learners import KernelRegressor
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.mercer"
    >>> model = KernelRegressor(n_components=64, reg=1e-6, random_state=0).fit(X, y)
    >>> model.save(file)
    >>> bool((mercer.load(file).predict(X) == model.predict(X)).all())
    True
    """
    # Not above: that module imports this one.
    from mercer import learners

    model = _core.Model.load(os.fspath(path))
    header = json.loads(model.header())
    spec, learner = header["spec"], header["spec"]["learner"]
    map_spec, loss = dict(spec["map"]["spec"]), learner["loss"]
    columns = (header.get("encoding") or {"columns": []})["columns"]
    if any(column["kind"] == "categorical" for column in columns):
        raise ValueError(f"{os.fspath(path)} was trained on columns of words, which arrays have not: use `mercer predict`")
    classifies = header["outputs"]["task"] == "classification"
    parameters: dict[str, Any] = {
        "reg": learner["lambda"],
        "fit_intercept": learner["intercept"],
        "solver": learner["solver"],
        "preprocess": spec["preprocess"],
        "dtype": spec["dtype"],
        "random_state": spec["seed"],
    }
    names = {"squared": "ridge", "squared_hinge": "svm", "hinge": "svm", "squared_epsilon_insensitive": "svr"}
    parameters["learner"] = names.get(loss["name"], loss["name"])
    if loss["name"] == "hinge":
        parameters["loss"] = "hinge"
    parameters |= {name: loss[name] for name in ("delta", "epsilon") if name in loss}
    if classifies:
        parameters["probability"] = model.has_probabilities()
        parameters["class_weight"] = "balanced" if learner["class_weight"] == "balanced" else None
    if map_spec["name"] == "identity":
        estimator = (learners.LinearClassifier if classifies else learners.LinearRegressor)(**parameters)
    else:
        parameters |= map_parameters(map_spec)
        estimator = (learners.KernelClassifier if classifies else learners.KernelRegressor)(**parameters)
    estimator.n_features_in_ = spec["map"]["n_inputs"]
    estimator._fills_gaps = any(column.get("fill") is not None for column in columns)
    if header["input_names"]:
        estimator.feature_names_in_ = np.array(header["input_names"], dtype=object)
    if not classifies:
        estimator._flat = header["outputs"]["n_targets"] == 1
    estimator._model, estimator._online, estimator._n_rows, estimator.report_ = model, None, ROWS_OF_FILES, {}
    estimator._take_over()
    return estimator


def map_parameters(spec: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator for a map in numbers."""
    name = spec.pop("name")
    if name == "spectral":
        plain = spec["waves"] == "paired" and spec["length_scales"] is None
        frequencies, kernel = spec.pop("frequencies"), spec.pop("kernel")
        parameters = {"kernel": kernel.pop("name"), **kernel, **spec}
        if plain:
            return {"map": frequencies} | {k: v for k, v in parameters.items() if k not in ("waves", "length_scales")}
        classes = {"fourier": "RandomFourier", "orthogonal": "OrthogonalFourier", "sorf": "SORF",
                   "fastfood": "Fastfood", "quasi": "QuasiFourier"}  # fmt: skip
        return {"map": getattr(feature_maps, classes[frequencies])(**parameters)}
    for ours, theirs in {"c": "coef0", "law": "s"}.items():
        if ours in spec:
            spec[theirs] = spec.pop(ours)
    if "s" in spec:
        spec["s"] = spec["s"]["sparse"] if isinstance(spec["s"], dict) else spec["s"] if spec["s"] != "gaussian" else None
    if name == "maclaurin":
        kernel = dict(spec.pop("kernel"))
        spec["kernel"] = {"polynomial": "poly"}.get(kernel["name"], kernel["name"])
        spec |= {"degree": kernel["degree"], "coef0": kernel["c"]} if "degree" in kernel else {}
    if name == "landmark":
        return {"map": landmark_map(spec)}
    if name == "additive_chi2":
        return {"map": feature_maps.AdditiveChi2Sampler(sample_steps=spec["n_steps"], sample_interval=spec["interval"])}
    classes = {
        "arc_cosine": feature_maps.ArcCosine,
        "expansion": feature_maps.PolynomialExpansion,
        "tensor_srht": feature_maps.TensorSRHT,
        "tensor_sketch": feature_maps.TensorSketch,
        "pk_rp": feature_maps.PKRP,
        "d2pk_rp": feature_maps.D2PKRP,
        "maclaurin": feature_maps.RandomMaclaurin,
        "binning": feature_maps.RandomBinning,
        "skewed_chi2": feature_maps.SkewedChi2,
        "gaussian_projection": projections.GaussianProjection,
        "sparse_projection": projections.SparseProjection,
        "srht": projections.SRHT,
        "hadamard": projections.HadamardTransform,
    }
    if name not in classes:
        raise ValueError(f"a model of the map {name} has no estimator: use `mercer predict`")
    return {"map": classes[name](**spec)}


def landmark_map(spec: dict[str, Any]) -> Any:
    """The estimator of a map of landmarks in numbers."""
    kernel, form = dict(spec["kernel"]), dict(spec["form"])
    known = {ours: theirs for theirs, ours in NAMES.items()}
    parameters = {"kernel": known.get(kernel["name"], kernel["name"]), "gamma": spec["gamma"], "n_components": spec["n_components"]}
    parameters |= {{"c": "coef0", "alpha": "rq_alpha"}.get(key, key): value for key, value in kernel.items() if key != "name"}
    parameters |= {"budget": spec["budget"]["method"], "balanced": spec["budget"].get("balanced", False)}
    name = form.pop("name")
    if name in ("nystroem", "nystroem_symmetric"):
        return feature_maps.Nystroem(symmetric=name == "nystroem_symmetric", **parameters)
    classes = {"kg_rp": feature_maps.KGRP, "korp": feature_maps.KORP, "kernel_pca": feature_maps.KernelPCA}
    return classes[name](n_landmarks=spec["n_landmarks"], **form, **parameters)
