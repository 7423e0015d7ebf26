"""What `transform`, `predict` and `split` write: the same numbers in every format, every row once."""

import json

import numpy as np
from sklearn.datasets import load_digits

import formats
import tables
from formats import Table

SMALL = ["--n-components", "64", "--quiet"]


def digits(words):
    """Digits as bytes with their labels, in several formats of the same rows."""
    data = load_digits()
    x, y = data.data.astype(np.uint8)[:600], data.target[:600]
    target = [f"digit {k}" for k in y] if words else y
    return Table({f"x{j + 1}": column for j, column in enumerate(x.T)}, target, "label")


def trained(checks, folder, words, *options):
    table = digits(words)
    source = folder / f"digits-{'words' if words else 'numbers'}.npy"
    arguments, expected = formats.ARRAYS["c.npy"](source, table)
    model = source.with_suffix(".mercer")
    checks.runs("train", ["train", *arguments, "-o", model, *SMALL, *options])
    return source, arguments, model, expected


def transform(checks, folder):
    """NPY holds the bits themselves; each other format must hold the same, in either type."""
    for dtype, words in [("float32", False), ("float64", True)]:
        source, arguments, model, expected = trained(checks, folder, words, "--dtype", dtype)
        features = {}
        for kind in ["npy", "parquet", "arrow", "csv", "tsv.zst", "svm"]:
            output = folder / f"features-{dtype}.{kind}"
            run = ["transform", *arguments, "--model", model, "-o", output, "--quiet"]
            if kind == "svm" and words:
                checks.refused("transform", run, output)
            elif checks.runs("transform", run):
                features[kind] = formats.read(output, expected)
                inputs = features["npy"].inputs
                checks.check(len(inputs) == 64, f"transform, {output}", f"{len(inputs)} features, not 64")
                like = Table(inputs, expected.target, "label")
                checks.same(f"transform to {dtype}", output, like, features[kind])
                checks.check(inputs["x1"].dtype == dtype, f"transform, {output}", f"type {inputs['x1'].dtype}")


def predict(checks, folder):
    for words in [False, True]:
        source, _, model, expected = trained(checks, folder, words)
        case = f"predict {'words' if words else 'numbers'}"
        outputs = {kind: folder / f"scores-{words}.{kind}" for kind in ["csv", "npy", "parquet", "arrow", "tsv.gz"]}
        for output in outputs.values():
            checks.runs(case, ["predict", model, source, "--scores", "-o", output, "--quiet"])
        scores = np.load(outputs["npy"])
        classes = sorted(set(expected.target))
        labels = [classes[k] for k in scores.argmax(axis=1)]
        like = Table({f"score {shown(c)}": scores[:, k] for k, c in enumerate(classes)}, target(labels), "prediction")
        for kind, output in outputs.items():
            if kind != "npy":
                checks.same(case, output, like, label_first(output, words))
        said = json.loads(checks.run(["predict", model, source, "--scores", "--json"]).stdout)
        checks.same_column(f"{case}, --json", scores.ravel(), np.array(said["scores"]).ravel())
        checks.same_column(f"{case}, --json", like.target, target(said["predictions"]))
        agree = np.mean([a == b for a, b in zip(labels, expected.target)])
        checks.check(agree > 0.9, case, f"accuracy {agree} on its own rows")


def shown(label):
    return label if isinstance(label, str) else f"{label:g}"


def target(labels):
    return list(labels) if isinstance(labels[0], str) else np.array(labels, float)


def label_first(path, words):
    """Predictions: the label stands before its scores."""
    found = formats.frame_of(path, prediction=str if words else float)
    first, *rest = found.columns
    labels = list(found[first]) if words else found[first].to_numpy()
    return Table({name: found[name].to_numpy() for name in rest}, labels, first)


def split(checks, rng, folder):
    """The parts put together by the number of the row are the whole."""
    whole = {"words": tables.mixed(rng, 500, 0.1), "numbers": tables.numbers(rng, 5000, np.float64)}
    for case, table in whole.items():
        n = len(table.target)
        table.inputs = {"id": np.arange(n, dtype=np.float64), **table.inputs}
        table.target = [f"class {k}" for k in rng.integers(0, 3, n)] if case == "words" else rng.integers(0, 3, n)
        for name in ["pandas.csv", "snappy.parquet", "file.arrow"]:
            source = folder / f"split-{case}-{name}"
            arguments, expected = formats.COLUMNS[name](source, table)
            for kind in ["csv", "tsv.xz", "parquet", "arrow"] + (["npy", "svm"] if case == "numbers" else []):
                parts = [folder / f"{source.stem}-{part}.{kind}" for part in ["train", "test"]]
                run = ["split", *arguments, "--train", parts[0], "--test", parts[1], "--quiet"]
                if checks.runs(f"split {case}", run):
                    put_together(checks, f"split {case}, {name}", parts, expected)


def put_together(checks, case, parts, expected):
    n, seen = len(expected.target), []
    for part in parts:
        found = formats.read(part, expected)
        rows = next(iter(found.inputs.values())).astype(int)
        checks.check(np.all(np.diff(rows) > 0), f"{case}, {part}", "rows are not in their order")
        checks.same(case, part, expected.take(rows), found)
        seen.append(rows)
    together = np.sort(np.concatenate(seen))
    checks.check(np.array_equal(together, np.arange(n)), f"{case}, {parts}", "the parts are not the whole")
    share = len(seen[1]) / n
    checks.check(abs(share - 0.25) < 0.01, f"{case}, {parts[1]}", f"{share} of the rows, not a quarter")
