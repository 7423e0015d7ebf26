"""Random tables: columns of numbers or words, and a target."""

import dataclasses

import numpy as np

NAMES = ["plain", "a b", "c, d", 'e "f"', "größe", "日本", "g;h", "tab\there", "new\nline", "0x1f", "it's", "-1 or #2"]
WORDS = ["red", 'a "b" c', "d, e", "f\ng", "grün", "007", "1e5", "h;i", "j\tk", "# l", "it's", '"', "-", "日本 語"]


@dataclasses.dataclass
class Table:
    """Inputs by name, each an array (NaN is missing) or a list of words (None is missing); the target likewise."""

    inputs: dict
    target: object
    target_name: str = "y"

    def matrix(self):
        """The inputs as one array, none of them words."""
        return np.column_stack(list(self.inputs.values()))

    def holds_words(self):
        return any(isinstance(column, list) for column in self.inputs.values())

    def holds(self, dtype):
        return any(not isinstance(c, list) and c.dtype == dtype for c in self.inputs.values())

    def is_missing_some(self):
        return any(None in c if isinstance(c, list) else np.isnan(c).any() for c in self.inputs.values())

    def take(self, rows):
        pick = lambda c: [c[i] for i in rows] if isinstance(c, list) else c[rows]  # noqa: E731
        return dataclasses.replace(self, inputs={n: pick(c) for n, c in self.inputs.items()}, target=pick(self.target))


def floats(rng, n, dtype):
    """All magnitudes and signs, subnormal numbers and both zeros among them; none that is not finite."""
    unsigned = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}[dtype]
    x = rng.integers(0, np.iinfo(unsigned).max, n, dtype=unsigned, endpoint=True).view(dtype)
    x = np.where(np.isfinite(x), x, dtype(1.5))
    info = np.finfo(dtype)
    edges = [0.0, -0.0, info.max, info.min, info.tiny, -info.smallest_subnormal, info.tiny / 3, 0.1, 1 / 3, 12345.67]
    edges += {np.float16: [], np.float32: [1e38, -1e-40, 16777217.0], np.float64: [1e300, -1e-300, 2.0**53 + 2]}[dtype]
    at = rng.random(n) < 0.5
    return np.where(at, rng.choice(np.array(edges, dtype), n), x).astype(dtype)


def decimals(rng, n, dtype):
    """Short ones, as people type them."""
    return (rng.integers(-9999, 9999, n) / 10.0 ** rng.integers(0, 5, n)).astype(dtype)


def wholes(rng, n, dtype):
    """Whole numbers of a type, no larger than float64 holds."""
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -(2**53)), min(info.max, 2**53), n, endpoint=True).astype(dtype)


def words(rng, n, missing=0.0):
    """More than half of them are no numbers, or the column would hold numbers."""
    column = [str(word) for word in rng.choice(WORDS, n)]
    column[: n // 2 + 1] = ["first"] * (n // 2 + 1)
    rng.shuffle(column)
    return [None if gap else word for gap, word in zip(rng.random(n) < missing, column)]


def gaps(rng, x):
    return np.where(rng.random(len(x)) < 0.2, np.array(np.nan, x.dtype), x)


def named(columns):
    return {NAMES[j]: column for j, column in enumerate(columns)}


def numbers(rng, n, dtype, d=12):
    make = [floats, decimals]
    return Table(named([make[j % 2](rng, n, dtype) for j in range(d)]), floats(rng, n, np.float64))


def integers(rng, n, dtype):
    return Table(named([wholes(rng, n, dtype) for _ in range(3)]), wholes(rng, n, np.int32))


def octets(rng, n):
    columns = [rng.integers(0, 256, n, dtype=np.uint8) for _ in range(7)]
    return Table(named(columns), [f"class {k}, {k}" for k in rng.integers(0, 3, n)])


def mixed(rng, n, missing=0.0):
    """Numbers and words, and a target of words."""
    number = lambda: gaps(rng, decimals(rng, n, np.float64)) if missing else decimals(rng, n, np.float64)  # noqa: E731
    return Table(named([number(), words(rng, n, missing), number(), words(rng, n, missing)]), words(rng, n))


def missing_numbers(rng, n, dtype):
    return Table(named([gaps(rng, floats(rng, n, dtype)) for _ in range(4)]), decimals(rng, n, np.float64))


def sparse(rng, n, d):
    """Its last column is zero: only the width tells that it is there."""
    x = np.where(rng.random((n, d)) < 0.05, rng.standard_normal((n, d)), 0.0)
    x[:, -1] = 0.0
    return Table({f"x{j + 1}": x[:, j] for j in range(d)}, rng.integers(0, 2, n) * 2 - 1, "label")


def all_tables(rng):
    """Tables by the name of their case; `many` needs several blocks, pages and dictionaries."""
    return {
        "one row": numbers(rng, 1, np.float64),
        "float64": numbers(rng, 200, np.float64),
        "float32": numbers(rng, 200, np.float32),
        "many": numbers(rng, 9000, np.float64, d=4),
        "float16": numbers(rng, 60, np.float16),
        **{name: integers(rng, 50, name) for name in ["int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]},
        "bytes": octets(rng, 120),
        "words": mixed(rng, 130),
        "missing": mixed(rng, 140, 0.2),
        "many words": mixed(rng, 9000, 0.1),
        "missing float64": missing_numbers(rng, 90, np.float64),
        "missing float32": missing_numbers(rng, 90, np.float32),
        "sparse": sparse(rng, 300, 60),
    }
