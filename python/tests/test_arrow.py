"""Tables through Arrow's C data interface: what they become, and what is refused."""

import gc
import warnings

import numpy as np
import pyarrow as pa
import pytest

from mercer import _core
from mercer.feature_maps import RandomFourier
from mercer.kernels import rbf_kernel
from mercer.learners import KernelClassifier, LinearRegressor
from mercer.metrics import approximation


class OnlyStream:
    """A table of a library that nobody knows: no array, no shape, no columns."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture
def table(X):
    return pa.table({name: X[:, i] for i, name in enumerate("abc")})


def rows(**columns):
    return _core.arrow_rows(OnlyStream(pa.table(columns)))


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["uint8", "uint8"], np.uint8),
        (["uint8", "bool"], np.float32),
        (["float16", "float32"], np.float32),
        (["int8", "int16", "uint16", "float32"], np.float32),
        (["int32", "float32"], np.float64),
        (["int64", "uint32", "uint64"], np.float64),
        (["float64", "uint8"], np.float64),
        (["decimal128(21, 2)", "float32"], np.float64),
    ],
)
def test_types_decide_the_type_of_the_rows(types, expected):
    known = {"decimal128(21, 2)": pa.decimal128(21, 2), "bool": pa.bool_()}
    values = [1, 0, 1]
    columns = {f"c{i}": pa.array(values).cast(known.get(t) or pa.type_for_alias(t)) for i, t in enumerate(types)}
    array, names = rows(**columns)
    assert array.dtype == expected and array.flags.c_contiguous and names == list(columns)
    np.testing.assert_array_equal(array, np.repeat([[1], [0], [1]], len(types), axis=1))


def test_nulls_are_nan():
    array, _ = rows(a=pa.array([1, None, 3], pa.uint8()), b=pa.array([None, 0.5, 1.5], pa.float32()))
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, [[1, np.nan], [np.nan, 0.5], [3, 1.5]])


def test_dictionaries_are_looked_up():
    coded = pa.array([2.5, 7.0, None, 2.5], pa.float32()).dictionary_encode()
    np.testing.assert_array_equal(rows(a=coded)[0], [[2.5], [7.0], [np.nan], [2.5]])


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.large_list(pa.int16()), pa.list_(pa.uint8(), 2)])
def test_lists_are_as_many_columns(kind):
    array, names = rows(a=pa.array([1.0, 2.0], pa.float32()), e=pa.array([[1, 2], [3, 4]], kind))
    assert names == ["a", "e[0]", "e[1]"] and array.dtype == np.float32
    np.testing.assert_array_equal(array, [[1, 1, 2], [2, 3, 4]])


def test_lists_of_bytes_are_bytes_and_may_be_null():
    kind = pa.list_(pa.uint8(), 2)
    lists = pa.array([[9, 9], [1, 2], [3, 4]], kind)
    array, _ = rows(e=lists[1:])
    assert array.dtype == np.uint8
    np.testing.assert_array_equal(array, [[1, 2], [3, 4]])
    array, _ = rows(e=pa.array([[1, 2], None, [3, 4]], kind))
    np.testing.assert_array_equal(array, [[1, 2], [np.nan, np.nan], [3, 4]])


def test_chunks_and_slices_are_joined(X):
    def chunked(values, sizes):
        return pa.chunked_array([values[a:b] for a, b in zip(np.cumsum([0, *sizes]), np.cumsum(sizes))])

    table = pa.table({"a": chunked(X[:, 0], [10, 0, 37, 3]), "b": chunked(X[:, 1], [25, 25])})
    np.testing.assert_array_equal(_core.arrow_rows(table)[0], X[:, :2])
    np.testing.assert_array_equal(_core.arrow_rows(table.slice(7, 31))[0], X[7:38, :2])
    array, _ = rows(flag=pa.array(X[:, 0] > 0)[3:20], small=pa.array([None, *range(20)], pa.int8())[1:18])
    np.testing.assert_array_equal(array, np.c_[X[3:20, 0] > 0, np.arange(17)])


def test_large_tables_are_converted_in_pieces():
    values = np.arange(3_000_000, dtype=np.int32)
    array, _ = rows(a=values, b=values[::-1].copy())
    np.testing.assert_array_equal(array, np.c_[values, values[::-1]])


@pytest.mark.parametrize("make", [lambda t: t, OnlyStream, lambda t: t.to_batches()[0], lambda t: t.to_reader(7)])
def test_maps_take_tables(make, X, table):
    fitted = RandomFourier(64, gamma=0.5, random_state=0).fit(make(table))
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"] and fitted.n_features_in_ == 3
    expected = RandomFourier(64, gamma=0.5, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(fitted.transform(make(table)), expected)
    np.testing.assert_array_equal(fitted.transform(table.to_pandas()), expected)
    assert approximation(fitted, make(table))["kernel"]["rmse"] < 0.2


def test_features_of_tables_as_frames(X, table):
    fitted = RandomFourier(8, random_state=0).set_output(transform="pandas").fit(table)
    assert list(fitted.transform(OnlyStream(table)).columns) == list(fitted.get_feature_names_out())


def test_learners_take_tables(X, table):
    y = pa.array(np.where(X[:, 0] > 0, "up", "down"))
    model = KernelClassifier(n_components=64, reg=1e-3, random_state=0).fit(table, y)
    other = KernelClassifier(n_components=64, reg=1e-3, random_state=0).fit(X, np.asarray(y))
    np.testing.assert_array_equal(model.predict(OnlyStream(table)), other.predict(X))
    np.testing.assert_array_equal(model.decision_function(table), other.decision_function(X))
    target = pa.chunked_array([X[:20, 1], X[20:, 1]])
    online = LinearRegressor(random_state=0).partial_fit(table, target).partial_fit(OnlyStream(table), target)
    assert online.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(online.predict(table), X[:, 1], atol=1e-2)


def test_bytes_are_scaled_as_bytes():
    values = np.random.default_rng(1).integers(0, 256, size=(60, 2), dtype=np.uint8)
    table = pa.table({"a": values[:, 0], "b": values[:, 1]})
    y = (values[:, 0] > 99).astype(int)
    model, other = (KernelClassifier(n_components=32, reg=1e-3, random_state=0).fit(X, y) for X in (table, values))
    np.testing.assert_array_equal(model.decision_function(table), other.decision_function(values))


def test_kernels_take_tables(X, table):
    np.testing.assert_array_equal(rbf_kernel(OnlyStream(table), table), rbf_kernel(X, X))


def test_names_are_compared(X, table):
    fitted = RandomFourier(8, random_state=0).fit(table)
    with pytest.raises(ValueError, match="names should match .* 'b' was, 'c' is given"):
        fitted.transform(table.select(["a", "c", "b"]))
    with pytest.raises(ValueError, match="names should match .* 'c' was, None is given"):
        fitted.transform(table.select(["a", "b"]))
    unnamed = RandomFourier(8, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        unnamed.transform(table)
    with pytest.raises(ValueError, match="X has 2 features"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unnamed.transform(table.select(["a", "b"]))
    assert not hasattr(fitted.fit(X), "feature_names_in_")


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (pa.array(["x", "y"]), "words"),
        (pa.array(["x", "y"]).dictionary_encode(), "words"),
        (pa.array([1, 2], pa.timestamp("s")), "timestamps"),
        (pa.array([{"u": 1}, {"u": 2}]), "structs"),
        (pa.nulls(2), "nothing but nulls"),
        (pa.array([["x"], ["y"]]), "lists of words"),
        (pa.array([[], None], pa.list_(pa.float64())), "no list with numbers"),
    ],
)
def test_columns_that_are_no_numbers_are_named(column, found):
    with pytest.raises(ValueError, match=f'^X: column "b" holds {found}; encode it as numbers'):
        rows(a=pa.array([1.0, 2.0]), b=column)


def test_bad_values_are_placed(table):
    with pytest.raises(ValueError, match=r'^X, row 2, column 1 \("a"\).*inf'):
        rows(a=pa.array([1.0, np.inf]))
    with pytest.raises(ValueError, match=r'^X, row 3, column 1 \("e"\) holds a list of 3 numbers, expected 2'):
        rows(e=pa.array([[1, 2], None, [3, 4, 5]]))
    with pytest.raises(ValueError, match="contains NaN"):
        RandomFourier(8).fit(pa.table({"a": pa.array([1.0, None])}))


def test_what_gives_no_rows_is_refused(table):
    with pytest.raises(ValueError, match="X has no rows"):
        RandomFourier(8).fit(table.slice(0, 0))
    with pytest.raises(ValueError, match="X has no rows"):
        RandomFourier(8).fit(table.schema.empty_table())
    reader = table.to_reader()
    _core.arrow_rows(reader)
    with pytest.raises(ValueError, match="gives its rows only once"):
        _core.arrow_rows(reader)
    with pytest.raises(ValueError, match="X gives no table"):
        RandomFourier(8).fit(pa.chunked_array([[1.0, 2.0]]))
    with pytest.raises(ValueError, match="0 feature"):
        RandomFourier(8).fit(table.select([]))


def test_wrong_capsules_are_refused(table):
    class Given:
        def __init__(self, given):
            self.given = given

        def __arrow_c_stream__(self, requested_schema=None):
            return self.given

    once = Given(table.__arrow_c_stream__())
    assert _core.arrow_rows(once)[0].shape == (50, 3)
    with pytest.raises(ValueError, match="already released"):
        _core.arrow_rows(once)
    for given in [None, 3, table.schema.__arrow_c_schema__()]:
        with pytest.raises(TypeError, match="gives no capsule of an Arrow stream"):
            _core.arrow_rows(Given(given))
    with pytest.raises(AttributeError, match="__arrow_c_stream__"):
        _core.arrow_rows(3)


def test_a_reader_that_fails_is_an_error():
    schema = pa.schema({"a": pa.float64()})

    def batches():
        yield pa.record_batch({"a": [1.0]})
        raise RuntimeError("the line is cut")

    with pytest.raises(ValueError, match="X gives no table.*the line is cut"):
        RandomFourier(8).fit(pa.RecordBatchReader.from_batches(schema, batches()))


def test_nothing_leaks(table):
    def taken():
        gc.collect()
        return pa.total_allocated_bytes()

    words = pa.table({"a": np.ones(100_000), "b": pa.array(["x"] * 100_000)})
    before = taken()
    for _ in range(5):
        copy = pa.table({"a": pa.array(np.ones(100_000).tolist())})
        array, _ = _core.arrow_rows(OnlyStream(copy))
        unused = copy.__arrow_c_stream__()
        with pytest.raises(ValueError, match="words"):
            _core.arrow_rows(words)
        del copy, unused
    # The array has its own memory.
    assert taken() == before and array.sum() == 100_000
