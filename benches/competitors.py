"""Measures the competitors written for Python, one bench a call.

    competitors.py about                    versions, in one line
    competitors.py <name>                   one JSON object a line, as mercer-bench prints them
    competitors.py train-child <threads>    one run of the train bench, for its peak memory
    competitors.py accuracy-child <name>    one pipeline of the accuracy bench
    competitors.py python-child <case>      one estimator of the python bench, for its peak memory; those that need
                                            numpy before 2 under the Pythons that MERCER_SKLEARN_EXTRA and
                                            MERCER_PYRFM name
    competitors.py polars-child <file>      polars' part of the read bench, with POLARS_MAX_THREADS of the environment
    competitors.py extra-child              scikit-learn-extra's part of the spectral bench: its last release needs
                                            numpy before 2, so it runs under the Python that MERCER_SKLEARN_EXTRA names

Names, variants, shapes, types and threads are those of mercer-bench, whose `list` states the conditions.
`cargo xtask bench` sets up the environment and runs both sides in turn.
"""

import gzip
import importlib
import importlib.metadata
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_info, threadpool_limits

THREADS = [1, 2]

# As in measure.rs.
LEAST_REPEATS = 3
LEAST_TIME = 1.0
MOST_REPEATS = 2_000


def fastest(work):
    """(seconds, repeats) of the fastest run, after one unmeasured; freeing the result is not counted."""
    work()
    least, total, repeats = float("inf"), 0.0, 0
    while repeats < LEAST_REPEATS or (total < LEAST_TIME and repeats < MOST_REPEATS):
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        del result
        least, total, repeats = min(least, seconds), total + seconds, repeats + 1
    return least, repeats


def fastest_in_turn(*works):
    """`fastest` of each, one call after the other: where they differ by little, a disturbance must meet all alike."""
    least, total, repeats = [float("inf")] * len(works), 0.0, 0
    while repeats < LEAST_REPEATS or total < 5 * LEAST_TIME * len(works):
        for at, work in enumerate(works):
            start = time.perf_counter()
            result = work()
            seconds = time.perf_counter() - start
            del result
            least[at], total = min(least[at], seconds), total + seconds
        repeats += 1
    return [(seconds, repeats) for seconds in least]


def report(name, variant, threads, by, timing, work, unit, **further):
    seconds, repeats = timing
    line = {"name": name, "variant": variant, "threads": threads, "by": by, "seconds": seconds, "repeats": repeats}
    line |= {"work": work, "unit": unit, "unit_rate": work / seconds}
    print(json.dumps(line | further), flush=True)


def skip(name, by, reason):
    print(json.dumps({"name": name, "by": by, "skipped": reason}), flush=True)


def bench_map():
    from sklearn.kernel_approximation import RBFSampler

    rows = np.random.default_rng(1).random((10_000, 784), dtype=np.float32)
    for n_components in [2048, 4096, 8192]:
        sampler = RBFSampler(gamma=0.01, n_components=n_components, random_state=0).fit(rows)
        assert sampler.transform(rows[:8]).dtype == np.float32

        def blocks(size):
            for start in range(0, len(rows), size):
                sampler.transform(rows[start : start + size])

        for threads in THREADS:
            with threadpool_limits(threads):
                array = fastest(lambda: sampler.transform(rows))
                streamed = min(fastest(lambda: blocks(512)), fastest(lambda: blocks(2048)))
            for form, timing in [("array", array), ("blocks", streamed)]:
                report("map", f"D = {n_components}, {form}, f32", threads, "scikit-learn", timing, len(rows), "row")


def bench_hadamard():
    """Its competitor is a C library, which mercer-bench calls itself."""


def bench_spectral():
    from sklearn.kernel_approximation import RBFSampler

    rows = np.random.default_rng(1).random((2048, 784), dtype=np.float32)
    sampler = RBFSampler(gamma=0.01, n_components=4096, random_state=0).fit(rows)
    assert sampler.transform(rows[:8]).dtype == np.float32
    with threadpool_limits(1):
        timing = min(
            fastest(lambda: sampler.transform(rows)),
            fastest(lambda: in_panels(sampler, rows)),
        )
    for name in ["fourier", "orthogonal", "sorf", "fastfood", "quasi"]:
        report("spectral", f"784 to 4,096, f32, {name}", 1, "scikit-learn", timing, len(rows), "row")
    python = os.environ.get("MERCER_SKLEARN_EXTRA")
    if python is None:
        skip("spectral", "scikit-learn-extra", "MERCER_SKLEARN_EXTRA does not name a Python that has it")
    else:
        subprocess.run([python, __file__, "extra-child"], check=True)


def bench_products():
    from scipy.sparse import random as random_rows
    from sklearn.kernel_approximation import PolynomialCountSketch

    rows = np.random.default_rng(1).random((2048, 784), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    exact = rows[:512].astype(float) @ rows[:512].T.astype(float)
    with threadpool_limits(1):
        for degree in [2, 3]:
            sketch = PolynomialCountSketch(gamma=1.0, degree=degree, n_components=4096, random_state=0).fit(rows)
            features = sketch.transform(rows[:512]).astype(float)
            rmse = float(np.sqrt(np.mean((features @ features.T - exact**degree) ** 2)))
            timing = min(fastest(lambda: sketch.transform(rows)), fastest(lambda: in_panels(sketch, rows)))
            for name in ["complex TensorSRHT", "real TensorSRHT", "TensorSketch"]:
                variant = f"784 to 4,096, f32, degree {degree}, {name}"
                report("products", variant, 1, "scikit-learn", timing, len(rows), "row", kernel_rmse=rmse)
        from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

        projections = {"normal": GaussianRandomProjection(2000, random_state=0)}
        for s in [3, 30, 200]:
            projections[f"s = {s}"] = SparseRandomProjection(2000, density=1 / s, dense_output=True, random_state=0)
        for name, projection in projections.items():
            projection.fit(rows)
            timing = fastest(lambda: projection.transform(rows))
            report("products", f"784 to 2,000, f32, projection, {name}", 1, "scikit-learn", timing, len(rows), "row")
        rows = random_rows(2000, 5000, density=0.01, format="csr", dtype=np.float32, random_state=0)
        sketch = PolynomialCountSketch(gamma=1.0, degree=2, n_components=300, random_state=0).fit(rows)
        timing = fastest(lambda: sketch.transform(rows))
        report("products", "CSR, 5,000 to 300, f32, degree 2, TensorSketch", 1, "scikit-learn", timing, 2000, "row")
        rows = rows.toarray()
        timing = fastest(lambda: sketch.transform(rows))
        report("products", "the same rows, dense, TensorSketch", 1, "scikit-learn", timing, 2000, "row")


def bench_landmarks():
    from sklearn.kernel_approximation import Nystroem
    from sklearn.metrics.pairwise import rbf_kernel

    rows = np.random.default_rng(1).random((10_000, 784), dtype=np.float32)
    exact = rbf_kernel(rows[:512].astype(float), gamma=0.02)
    for m in [512, 2048]:
        nystroem = Nystroem(gamma=0.02, n_components=m, random_state=0)
        for threads in THREADS:
            with threadpool_limits(threads):
                fit = fastest(lambda: nystroem.fit(rows))
                transform = fastest(lambda: nystroem.transform(rows))
            features = nystroem.transform(rows[:512])
            assert features.dtype == np.float32
            features = features.astype(float)
            rmse = float(np.sqrt(np.mean((features @ features.T - exact) ** 2)))
            report("landmarks", f"m = {m}, fit, f32", threads, "scikit-learn", fit, len(rows), "row")
            report("landmarks", f"m = {m}, transform, f32", threads, "scikit-learn", transform, len(rows), "row", kernel_rmse=rmse)


def in_panels(transformer, rows):
    return [transformer.transform(rows[start : start + 512]) for start in range(0, len(rows), 512)]


def extra_child():
    from sklearn_extra.kernel_approximation import Fastfood

    rows = np.random.default_rng(1).random((2048, 784), dtype=np.float32)
    timings = []
    for n_components, form in [(2048, "accuracy"), (4096, "mem")]:
        fastfood = Fastfood(sigma=50**0.5, n_components=n_components, tradeoff_mem_accuracy=form, random_state=0)
        fastfood.fit(rows)
        assert fastfood.transform(rows[:8]).shape == (8, 4096)
        with threadpool_limits(1):
            timings.append(fastest(lambda: fastfood.transform(rows)))
    report("spectral", "784 to 4,096, f32, fastfood", 1, "scikit-learn-extra", min(timings), len(rows), "row")


def bench_matmul():
    for m, k, n in [(10_000, 784, 4_096), (2_048, 2_048, 2_048)]:
        for label, dtype in [("f32", np.float32), ("f64", np.float64)]:
            rng = np.random.default_rng(1)
            a, b = rng.random((m, k), dtype=dtype) - dtype(0.5), rng.random((k, n), dtype=dtype) - dtype(0.5)
            c = np.zeros((m, n), dtype=dtype)
            with threadpool_limits(1):
                timing = fastest(lambda: np.matmul(a, b, out=c))
            report("matmul", f"{m} x {k} x {n}, {label}", 1, "numpy", timing, 2.0 * m * k * n, "flop")


def bench_sincos():
    for size, n in [("16 k", 16_384), ("1 M", 1_048_576)]:
        for label, dtype in [("f32", np.float32), ("f64", np.float64)]:
            angles = (np.random.default_rng(1).random(n) * 40 - 20).astype(dtype)
            cos, sin = np.zeros_like(angles), np.zeros_like(angles)

            def both():
                np.cos(angles, out=cos)
                np.sin(angles, out=sin)

            report("sincos", f"{size}, {label}", 1, "numpy", fastest(both), float(n), "element")


def bench_csr():
    m, k, n, per_row = 50_000, 300, 512, 12
    rng = np.random.default_rng(1)
    columns = np.sort(rng.random((m, k)).argpartition(per_row, axis=1)[:, :per_row], axis=1).astype(np.int32)
    pointers = np.arange(0, m * per_row + 1, per_row, dtype=np.int32)
    values = rng.random(m * per_row, dtype=np.float32)
    rows = scipy.sparse.csr_matrix((values, columns.ravel(), pointers), shape=(m, k))
    dense = rng.standard_normal((k, n), dtype=np.float32)
    assert (rows @ dense).dtype == np.float32
    blocks = [rows[start : start + 512] for start in range(0, m, 512)]

    def by_blocks():
        for block in blocks:
            block @ dense

    with threadpool_limits(1):
        timings = [("array", fastest(lambda: rows @ dense)), ("blocks", fastest(by_blocks))]
    for form, timing in timings:
        report("csr", f"{m} x {k} x {n}, 4 %, {form}, f32", 1, "scipy", timing, 2.0 * m * per_row * n, "flop")


def bench_normals():
    d, n = 784, 4_096
    for label, bits in [("numpy, Philox", np.random.Philox(1)), ("numpy, PCG64", np.random.PCG64(1))]:
        generator = np.random.Generator(bits)
        timing = fastest(lambda: generator.standard_normal((d, n), dtype=np.float32))
        report("normals", f"{d} x {n}, f32", 1, label, timing, float(d * n), "element")


def bench_cholesky():
    from scipy.linalg import cho_factor, cho_solve

    n_targets = 10
    for n in [2_048, 4_096]:
        rng = np.random.default_rng(1)
        features = rng.standard_normal((512, n))
        matrix = np.asfortranarray(features.T @ features + np.eye(n))
        right = np.asfortranarray(rng.standard_normal((n, n_targets)))

        def solve():
            factor = cho_factor(matrix, lower=True, overwrite_a=False, check_finite=False)
            return cho_solve(factor, right, overwrite_b=False, check_finite=False)

        for threads in THREADS:
            with threadpool_limits(threads):
                timing = fastest(solve)
            work = n**3 / 3 + 2.0 * n * n * n_targets
            report("cholesky", f"D = {n}, f64", threads, "scipy", timing, work, "flop")


def bench_gram():
    n, d = 10_000, 2_048
    features = np.random.default_rng(1).standard_normal((n, d), dtype=np.float32)
    for threads in THREADS:
        with threadpool_limits(threads):
            timing = fastest(lambda: features.T @ features)
        report("gram", f"{n} x {d}, f32", threads, "numpy", timing, float(n * d * (d + 1)), "flop")


def bench_kernels():
    from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, rbf_kernel

    n, d = 2_000, 784
    for density, least in [("dense", 0.0), ("20 %", 0.8)]:
        x, y = (np.random.default_rng(seed).random((n, d)) for seed in [1, 2])
        x[x < least], y[y < least] = 0, 0
        for name, kernel in [("rbf", rbf_kernel), ("laplace", laplacian_kernel), ("chi2", chi2_kernel)]:
            with threadpool_limits(1):
                timing = fastest(lambda: kernel(x, y, gamma=0.01))
            report("kernels", f"{name}, {density}, f64", 1, "scikit-learn", timing, float(n * n * d), "element")


def bench_train():
    if not os.path.isdir(mnist_folder()):
        return skip("train", "scikit-learn", "MERCER_DATA names no folder with mnist in it")
    for threads in THREADS:
        # A child has a peak of memory of its own.
        child = [sys.executable, __file__, "train-child", str(threads)]
        result = json.loads(subprocess.run(child, check=True, stdout=subprocess.PIPE).stdout)
        timing = (result.pop("seconds"), 1)
        report("train", "MNIST, D = 4096, lambda 1e-6", threads, "scikit-learn", timing, 60_000.0, "row", **result)


def train_child(threads):
    import resource

    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    penalty = 1e-6
    with threadpool_limits(threads):
        start = time.perf_counter()
        x, y, test_x, test_y = read_mnist()
        sampler = RBFSampler(gamma="scale", n_components=4_096, random_state=0)
        ridge = RidgeClassifier(alpha=len(x) * penalty, solver="cholesky", copy_X=False)
        accuracy = make_pipeline(sampler, ridge).fit(x, y).score(test_x, test_y)
        seconds = time.perf_counter() - start
    assert ridge.coef_.dtype == np.float32
    # Kilobytes, except on macOS.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps({"seconds": seconds, "accuracy": accuracy, "peak_memory_bytes": peak}))


# As in read.rs: variant, file in the data folder, whether it is unpacked first, rows. Parquet will stand beside CSV.
READ_LIBSVM = [("w8a, LIBSVM", "w8a/w8a.gz", True), ("w8a, LIBSVM, gzip", "w8a/w8a.gz", False)]
READ_CSV = [
    ("covertype, CSV", "covtype/covtype.data.gz", True),
    ("covertype, CSV, gzip", "covtype/covtype.data.gz", False),
]
COVERTYPE_COLUMNS = 55


def bench_read():
    with tempfile.TemporaryDirectory() as folder:
        for variant, name, unpack in READ_LIBSVM:
            if path := data_file(name, unpack, folder, "scikit-learn"):
                read_libsvm(variant, path)
        for variant, name, unpack in READ_CSV:
            if path := data_file(name, unpack, folder, "pandas, polars, pyarrow"):
                read_pandas(variant, path)
                read_pyarrow(variant, path)
                if unpack:
                    read_polars(variant, path)
    read_parquet("covertype, Parquet", os.path.join(tempfile.gettempdir(), "mercer-bench-covtype.parquet"))


def read_parquet(variant, path):
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        return skip("read", "pyarrow", str(error))
    if not os.path.isfile(path):
        return skip("read", "pyarrow", f"{os.path.basename(path)} was not written by mercer")

    def rows(threads):
        table = parquet.read_table(path, use_threads=threads > 1)
        out = np.empty((table.num_rows, table.num_columns), np.float32)
        start = 0
        for batch in table.to_batches(max_chunksize=4096):
            end = start + batch.num_rows
            for column in range(table.num_columns):
                out[start:end, column] = batch.column(column).to_numpy(zero_copy_only=False)
            start = end
        return out

    for threads in THREADS:
        pyarrow.set_cpu_count(threads)
        timing = fastest(lambda: parquet.read_table(path, use_threads=threads > 1))
        report("read", variant, threads, "pyarrow (columns)", timing, 581_012.0, "row")
        timing = fastest(lambda: rows(threads))
        report("read", variant, threads, "pyarrow (rows)", timing, 581_012.0, "row")


def data_file(name, unpack, folder, by):
    """The path of a data file, unpacked into `folder` where that is wanted; none where there is no such file."""
    path = os.path.join(os.environ.get("MERCER_DATA", ""), name)
    if not os.path.isfile(path):
        return skip("read", by, f"MERCER_DATA names no folder with {name} in it")
    if unpack:
        plain = os.path.join(folder, os.path.basename(name).removesuffix(".gz"))
        with gzip.open(path) as packed, open(plain, "wb") as file:
            shutil.copyfileobj(packed, file)
        path = plain
    return path


def read_libsvm(variant, path):
    from sklearn.datasets import load_svmlight_file

    timing = fastest(lambda: load_svmlight_file(path, dtype=np.float32))
    report("read", variant, 1, "scikit-learn", timing, 49_749.0, "row")


def read_pandas(variant, path):
    try:
        import pandas
    except ImportError as error:
        return skip("read", "pandas", str(error))
    timing = fastest(lambda: pandas.read_csv(path, engine="c", dtype=np.float32, header=None))
    report("read", variant, 1, "pandas", timing, 581_012.0, "row")


def read_pyarrow(variant, path):
    try:
        import pyarrow
        from pyarrow import csv
    except ImportError as error:
        return skip("read", "pyarrow", str(error))
    names = [str(column) for column in range(COVERTYPE_COLUMNS)]
    convert = csv.ConvertOptions(column_types={name: pyarrow.float32() for name in names})
    for threads in THREADS:
        pyarrow.set_cpu_count(threads)
        options = csv.ReadOptions(column_names=names, use_threads=threads > 1)
        timing = fastest(lambda: csv.read_csv(path, read_options=options, convert_options=convert))
        report("read", variant, threads, "pyarrow", timing, 581_012.0, "row")


def read_polars(variant, path):
    for threads in THREADS:
        child = [sys.executable, __file__, "polars-child", path]
        environment = os.environ | {"POLARS_MAX_THREADS": str(threads)}
        result = subprocess.run(child, env=environment, stdout=subprocess.PIPE)
        if result.returncode != 0:
            return skip("read", "polars", "it cannot be imported, or it failed")
        report("read", variant, threads, "polars", json.loads(result.stdout), 581_012.0, "row")


def polars_child(path):
    import polars

    schema = {f"column_{column + 1}": polars.Float32 for column in range(COVERTYPE_COLUMNS)}
    print(json.dumps(fastest(lambda: polars.read_csv(path, has_header=False, schema=schema))))


def mnist_folder():
    return os.path.join(os.environ.get("MERCER_DATA", ""), "mnist")


def read_mnist():
    """Images / 255 in float32 and labels, of the training and the test part."""
    parts = []
    for part in ["train", "t10k"]:
        images = read_idx(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784)
        # In place: no second float array.
        images = images.astype(np.float32)
        images /= 255
        parts += [images, read_idx(f"{part}-labels-idx1-ubyte.gz", 8)]
    return parts


def read_idx(name, header):
    with gzip.open(os.path.join(mnist_folder(), name)) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)


def read_linear(name):
    """Rows in the form that is the fastest, and their classes."""
    from sklearn.datasets import load_svmlight_file

    folder = os.environ.get("MERCER_DATA", "")
    if name == "MNIST":
        rows, labels = read_mnist()[:2]
        return scipy.sparse.csr_matrix(rows.astype(np.float64)), labels
    if name == "covertype":
        import pandas

        data = pandas.read_csv(os.path.join(folder, "covtype/covtype.data.gz"), header=None, dtype=np.float64).to_numpy()
        return scipy.sparse.csr_matrix(data[:, :-1] / np.abs(data[:, :-1]).max(axis=0)), data[:, -1]
    rows, labels = load_svmlight_file(os.path.join(folder, f"{name}/{name}.gz"))
    # LIBLINEAR takes no others.
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows, labels


def margins(rows, labels, weights, intercept):
    """y (w x + b) for every class against the rest, or for two classes the second against the first."""
    classes = np.unique(labels)
    positive = classes[1:] if len(classes) == 2 else classes
    signs = np.where(labels[:, None] == positive[None, :], 1.0, -1.0)
    return signs * (rows @ weights.T + intercept)


def objective(loss, rows, labels, model):
    """The mean loss and lambda times the squared weights, for C = 1."""
    penalty = np.sum(model.coef_**2) / (2 * rows.shape[0])
    if loss == "softmax" and len(model.classes_) > 2:
        scores = rows @ model.coef_.T + model.intercept_
        right = scores[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]
        top = scores.max(axis=1)
        return np.mean(top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - right) + penalty
    m = margins(rows, labels, model.coef_, model.intercept_)
    if loss == "softmax":
        return np.logaddexp(0, -m).mean() + penalty
    slack = np.maximum(0, 1 - m)
    return np.mean(np.sum(slack if loss == "hinge" else slack**2, axis=1)) + penalty


def linear_models(loss, n_classes):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if loss == "softmax":
        solvers = ["lbfgs", "newton-cholesky", "newton-cg"] + ["liblinear"] * (n_classes == 2)
        for solver in solvers:
            for tol in [1e-2, 1e-3, 1e-4]:
                yield LogisticRegression(C=1.0, solver=solver, tol=tol, max_iter=2000)
        return
    for dual in [True] if loss == "hinge" else [True, False]:
        for tol in [1.0, 1e-1, 1e-2, 1e-3]:
            name = "hinge" if loss == "hinge" else "squared_hinge"
            yield LinearSVC(loss=name, dual=dual, tol=tol, C=1.0, fit_intercept=False, max_iter=1000, random_state=0)


# The least objectives of hinge, squared hinge and softmax, as in linear.rs: numbers of the data.
LINEAR = {
    "w8a": (49_749, [0.132764, 0.157112, 0.0510740]),
    "ijcnn1": (49_990, [0.171954, 0.220507, 0.187822]),
    "covertype": (581_012, [1.354271, 1.649921, 0.642365]),
    "MNIST": (60_000, [0.568438, 0.811648, 0.232225]),
}
NEAR = 1e-3


def bench_linear():
    import warnings

    warnings.simplefilter("ignore")
    for name, (n_rows, least) in LINEAR.items():
        try:
            rows, labels = read_linear(name)
        except OSError as error:
            skip("linear", "scikit-learn", f"no data: {error}")
            continue
        assert rows.shape[0] == n_rows
        for loss, lowest in zip(["hinge", "squared hinge", "softmax"], least, strict=True):
            near = try_linear(loss, rows, labels, 1, lowest)
            report_linear(f"{name}, {loss}", near, n_rows, [1] if loss == "softmax" else THREADS)
            if loss == "softmax" and near:
                # Two threads halve a time at most: others cannot become the fastest.
                fast = {solver for seconds, _, solver in near if seconds < 2.2 * min(near)[0]}
                report_linear(f"{name}, {loss}", try_linear(loss, rows, labels, 2, lowest, fast), n_rows, [2])


def report_linear(variant, near, n_rows, threads):
    """The fastest; LIBLINEAR has one thread however many there are."""
    if not near:
        return skip("linear", "scikit-learn", f"no solver came near the least objective of {variant}")
    seconds, value, solver = min(near)
    for reported in threads:
        further = {"objective": value, "solver": solver}
        report("linear", variant, reported, "scikit-learn", (seconds, 1), n_rows, "row", **further)


# No fit goes on for longer.
LONGEST_FIT = 300


def try_linear(loss, rows, labels, threads, least, among=None):
    """Seconds, objective and name of every solver and form of the rows, with the loosest tolerance that is near enough."""
    near, done = [], set()
    # The solvers of the logistic loss multiply matrices, which may be faster for dense rows.
    forms = {"sparse": rows, "dense": rows.toarray()} if loss == "softmax" else {"sparse": rows}
    for form, matrix in forms.items():
        for model in linear_models(loss, len(np.unique(labels))):
            solver = f"{getattr(model, 'solver', getattr(model, 'dual', None))}, {form}"
            if solver in done or (among is not None and solver not in among):
                continue
            with threadpool_limits(threads):
                # Whoever is slower than the fastest that came near is of no interest: its fit is ended, where it can be.
                seconds = timed_fit(model, matrix, labels, min(near)[0] + 1.0 if near else LONGEST_FIT)
                if seconds is None:
                    print(f"{loss} {threads} {solver} {model.tol}: slower", file=sys.stderr)
                    done.add(solver)
                    continue
                if seconds < 1.0:
                    seconds = min(seconds, *(timed_fit(model, matrix, labels) for _ in range(4)))
            value = objective(loss, rows, labels, model)
            print(f"{loss} {threads} {solver} {model.tol}: {seconds:.2f} s, {value:.6f}", file=sys.stderr)
            if value <= least * (1 + NEAR):
                near.append((seconds, value, solver))
                done.add(solver)
            elif near and seconds > min(near)[0]:
                # Slower already, and not near enough: smaller tolerances take longer.
                done.add(solver)
    return near


def timed_fit(model, matrix, labels, longest=None):
    """Seconds of a fit; None where it was ended after `longest`."""
    start = time.perf_counter()
    signal.signal(signal.SIGALRM, end_fit)
    signal.setitimer(signal.ITIMER_REAL, longest or 0)
    try:
        model.fit(matrix, labels)
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.perf_counter() - start


def end_fit(*_):
    raise TimeoutError


ACCURACY = {
    "exact SVC": "SVC",
    "Nystroem 4000, LinearSVC": ("Nystroem", 4000, "LinearSVC"),
    "Nystroem 4000, SGDClassifier": ("Nystroem", 4000, "SGDClassifier"),
    "Nystroem 8000, RidgeClassifier": ("Nystroem", 8000, "RidgeClassifier"),
    "RBFSampler 16384, RidgeClassifier": ("RBFSampler", 16384, "RidgeClassifier"),
    "RBFSampler 8192, LinearSVC": ("RBFSampler", 8192, "LinearSVC"),
}


# Who is not done by then is reported as slower than this.
LONGEST_ACCURACY = {"exact SVC": 900}
LONGEST_PIPELINE = 120


def bench_falkon():
    bench_accuracy("falkon", [name for name, pipeline in ACCURACY.items() if pipeline == "SVC"])


def bench_accuracy(bench="accuracy", names=None):
    for name in names or ACCURACY:
        child = [sys.executable, __file__, "accuracy-child", name]
        longest = LONGEST_ACCURACY.get(name, LONGEST_PIPELINE)
        try:
            result = subprocess.run(child, stdout=subprocess.PIPE, text=True, timeout=longest)
        except subprocess.TimeoutExpired:
            skip(bench, "scikit-learn", f"{name} had not ended after {longest} s")
            continue
        if result.returncode != 0:
            skip(bench, "scikit-learn", f"{name} failed")
            continue
        seconds, accuracy, memory = json.loads(result.stdout)
        further = {"accuracy": accuracy, "peak_memory_bytes": memory}
        report(bench, name, 2, "scikit-learn", (seconds, 1), 60_000, "row", **further)


def accuracy_child(name):
    import resource

    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import RidgeClassifier, SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, LinearSVC

    train, labels, test, test_labels = read_mnist()
    if ACCURACY[name] == "SVC":
        model = SVC(C=5, gamma=0.02, cache_size=2000)
    else:
        map_name, n_components, learner = ACCURACY[name]
        maps = {"Nystroem": Nystroem, "RBFSampler": RBFSampler}
        learners = {
            "LinearSVC": lambda: LinearSVC(C=5, tol=1e-2),
            "RidgeClassifier": lambda: RidgeClassifier(alpha=0.01, solver="cholesky", copy_X=False),
            "SGDClassifier": lambda: SGDClassifier(alpha=1e-6, max_iter=30, average=True, n_jobs=2, random_state=0),
        }
        feature_map = maps[map_name](gamma=0.02, n_components=n_components, random_state=0)
        model = make_pipeline(feature_map, learners[learner]())
    with threadpool_limits(2):
        start = time.perf_counter()
        model.fit(train, labels)
        accuracy = float((model.predict(test) == test_labels).mean())
        seconds = time.perf_counter() - start
    print(json.dumps([seconds, accuracy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))


def bench_auto():
    import automatic

    automatic.bench_auto(report, skip)


def bench_scale():
    """Nobody else trains from such files in so little memory."""


PYTHON_FORMS = ["f32", "f64", "CSR f32"]
PYTHON_ROWS, PYTHON_GAMMA = 10_000, 0.01
# Our maps, with the number of components.
PYTHON_MAPS = dict.fromkeys(["RBFSampler", "RandomFourier", "OrthogonalFourier", "QuasiFourier", "SORF", "Fastfood"], 2048)
# pyrfm's SRHT has no more components than places, 1,024 for 784 inputs, and with all of them nothing is random.
PYTHON_PROJECTIONS = {"GaussianProjection": 2048, "SparseProjection": 2048, "SRHT": 512}
PYTHON_MAPS |= PYTHON_PROJECTIONS
SKLEARN_RBF = ("sklearn.kernel_approximation.RBFSampler", {"gamma": PYTHON_GAMMA})
SKLEARN_GAUSSIAN = ("sklearn.random_projection.GaussianRandomProjection", {})
# Who stands beside them: the variable that names their Python (none for this one), and their classes with parameters.
PYTHON_RIVALS = {
    "scikit-learn": (
        None,
        dict.fromkeys(["RBFSampler", "RandomFourier", "OrthogonalFourier", "QuasiFourier", "SORF", "Fastfood"], SKLEARN_RBF)
        | dict.fromkeys(["GaussianProjection", "SRHT"], SKLEARN_GAUSSIAN)
        | {"SparseProjection": ("sklearn.random_projection.SparseRandomProjection", {"dense_output": True})},
    ),
    "scikit-learn-extra": (
        "MERCER_SKLEARN_EXTRA",
        # A cosine and a sine for each of its components: 2,048 features, as ours.
        {"Fastfood": ("sklearn_extra.kernel_approximation.Fastfood", {
            "sigma": (0.5 / PYTHON_GAMMA) ** 0.5, "tradeoff_mem_accuracy": "accuracy", "n_components": 1024,
        })},
    ),
    "pyrfm": (
        "MERCER_PYRFM",
        {
            "RandomFourier": ("pyrfm.random_feature.RandomFourier", {"gamma": PYTHON_GAMMA}),
            # Its components are a multiple of twice the inputs.
            "OrthogonalFourier": (
                "pyrfm.random_feature.OrthogonalRandomFeature", {"gamma": PYTHON_GAMMA, "n_components": 2 * 784}
            ),
            "SORF": ("pyrfm.random_feature.StructuredOrthogonalRandomFeature", {"gamma": PYTHON_GAMMA}),
            "Fastfood": ("pyrfm.random_feature.FastFood", {"gamma": PYTHON_GAMMA}),
            "GaussianProjection": ("pyrfm.random_feature.RandomProjection", {"distribution": "gaussian"}),
            "SparseProjection": ("pyrfm.random_feature.RandomProjection", {"distribution": "sparse_rademacher"}),
            "SRHT": ("pyrfm.random_feature.SubsampledRandomHadamard", {}),
        },
    ),
}  # fmt: skip


def bench_python():
    """Both sides from Python: what a user of scikit-learn sees."""
    for by, (variable, _) in PYTHON_RIVALS.items():
        if variable and variable not in os.environ:
            skip("python", by, f"{variable} does not name a Python that has it")
    for name, n_components in PYTHON_MAPS.items():
        for form in PYTHON_FORMS:
            for threads in THREADS:
                for by, python, path, parameters in python_sides(name):
                    parameters = {"n_components": n_components} | parameters
                    parameters |= {"n_jobs": threads} if by == "mercer" else {}
                    case = {"class": path, "parameters": parameters, "form": form, "threads": threads}
                    case |= {"n_rows": PYTHON_ROWS, "n_components": n_components, "rbf": name not in PYTHON_PROJECTIONS}
                    python_case(case, f"{name}, {form}", by, python)
    call = {"class": "mercer.feature_maps.RandomFourier", "form": "f32", "rbf": True}
    for threads in THREADS:
        parameters = {"gamma": PYTHON_GAMMA, "n_components": 1024, "n_jobs": threads}
        case = call | {"threads": threads, "parameters": parameters, "n_rows": 1000, "n_components": 1024, "core": True}
        python_case(case, "RandomFourier, 1,000 to 1,024, f32", "mercer")
    parameters = {"gamma": PYTHON_GAMMA, "n_components": 4096, "n_jobs": 2}
    case = call | {"threads": 2, "parameters": parameters, "n_rows": 200_000, "n_components": 4096, "once": True}
    python_case(case, "RandomFourier, 200,000 to 4,096, f32", "mercer")


def python_sides(name):
    """Whoever has a map like ours of this name: (who, their Python, class, parameters), ours first."""
    if name in PYTHON_PROJECTIONS:
        sides = [("mercer", sys.executable, f"mercer.projections.{name}", {})]
    else:
        sides = [("mercer", sys.executable, f"mercer.feature_maps.{name}", {"gamma": PYTHON_GAMMA})]
    for by, (variable, classes) in PYTHON_RIVALS.items():
        python = os.environ.get(variable) if variable else sys.executable
        if python and name in classes:
            sides.append((by, python, *classes[name]))
    return sides


def python_case(case, variant, by, python=sys.executable):
    """What the result is and takes, then how long it takes, each in a process of its own."""
    # Every larger block is the system's before and after: memory that was freed is not taken again unseen.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    try:
        further = python_run(python, case | {"look": True}, environment)
        timing, core = python_run(python, case, os.environ)
    except RuntimeError as error:
        return skip("python", by, f"{variant}: {error}")
    report("python", variant, case["threads"], by, timing, case["n_rows"], "row", **further)
    if core is not None:
        report("python", variant, case["threads"], "the extension alone", core, case["n_rows"], "row")


def python_run(python, case, environment):
    child = [python, __file__, "python-child", json.dumps(case)]
    result = subprocess.run(child, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        raise RuntimeError((result.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(result.stdout)


def peak_memory(reset=False):
    """Bytes of the process at most, since it was reset (Linux)."""
    if reset:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def python_child(case):
    module, name = case["class"].rsplit(".", 1)
    estimator = getattr(importlib.import_module(module), name)(**case["parameters"], random_state=0)
    rows = python_rows(case["form"], case["n_rows"])
    with threadpool_limits(case["threads"]):
        estimator.fit(rows[:1000])
        estimator.transform(rows[:8])
        measure = python_look if case.get("look") else python_timings
        print(json.dumps(measure(case, estimator, rows)))


def python_look(case, estimator, rows):
    """Memory beside the result, its error, and what is not as it was asked for."""
    before = peak_memory(reset=True)
    features = estimator.transform(rows)
    found = {"extra_memory_bytes": peak_memory() - before - features.nbytes}
    few = rows[:300].toarray() if scipy.sparse.issparse(rows) else rows[:300]
    gamma = PYTHON_GAMMA if case["rbf"] else None
    found["kernel_rmse"] = kernel_rmse(few.astype(np.float64), features[:300].astype(np.float64), gamma)
    if features.dtype != rows.dtype:
        found["result_bits"] = 8 * features.itemsize
    if features.shape[1] != case["n_components"]:
        found["n_components"] = features.shape[1]
    return found


def python_rows(form, n_rows):
    rows = np.random.default_rng(1).random((n_rows, 784), dtype=np.float64 if form == "f64" else np.float32)
    if form.startswith("CSR"):
        # One value in ten, as in bags of words and images of strokes.
        rows[np.random.default_rng(2).random(rows.shape, dtype=np.float32) > 0.1] = 0
        rows = scipy.sparse.csr_matrix(rows)
    return rows


def python_timings(case, estimator, rows):
    """Of the estimator, and where it is asked for of the extension alone: in turn, so that a disturbance meets both."""
    if case.get("once"):
        start = time.perf_counter()
        estimator.transform(rows)
        return (time.perf_counter() - start, 1), None
    if not case.get("core"):
        return fastest(lambda: estimator.transform(rows)), None
    return fastest_in_turn(
        lambda: estimator.transform(rows), lambda: estimator._map.transform(rows, case["threads"])
    )


def kernel_rmse(rows, features, gamma):
    """The error of inner products; of the linear kernel relative to the lengths of the rows."""
    if gamma is not None:
        squares = (rows**2).sum(axis=1)
        exact = np.exp(-gamma * np.maximum(0, squares[:, None] + squares - 2 * rows @ rows.T))
        return float(np.sqrt(np.mean((features @ features.T - exact) ** 2)))
    lengths = np.linalg.norm(rows, axis=1)
    return float(np.sqrt(np.mean(((features @ features.T - rows @ rows.T) / np.outer(lengths, lengths)) ** 2)))


def about():
    blas = sorted({f"{x['internal_api']} {x['version']}" for x in threadpool_info() if x["user_api"] == "blas"})
    names = ["numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow"]
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"Python {platform.python_version()}, {versions}, {', '.join(blas)}")


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


BENCHES = {
    "hadamard": bench_hadamard,
    "spectral": bench_spectral,
    "products": bench_products,
    "landmarks": bench_landmarks,
    "map": bench_map,
    "matmul": bench_matmul,
    "sincos": bench_sincos,
    "csr": bench_csr,
    "normals": bench_normals,
    "cholesky": bench_cholesky,
    "gram": bench_gram,
    "read": bench_read,
    "kernels": bench_kernels,
    "train": bench_train,
    "linear": bench_linear,
    "accuracy": bench_accuracy,
    "falkon": bench_falkon,
    "auto": bench_auto,
    "scale": bench_scale,
    "python": bench_python,
}


def main(arguments):
    match arguments:
        case ["about"]:
            about()
        case ["train-child", threads]:
            train_child(int(threads))
        case ["python-child", case]:
            python_child(json.loads(case))
        case ["accuracy-child", pipeline]:
            accuracy_child(pipeline)
        case ["polars-child", path]:
            polars_child(path)
        case ["extra-child"]:
            extra_child()
        case [name] if name in BENCHES:
            BENCHES[name]()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
