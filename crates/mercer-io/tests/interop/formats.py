"""Independent writers and readers: NumPy, pandas, scikit-learn, PyArrow, the standard library."""

import bz2
import gzip
import io
import lzma
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from tables import Table

TEXT = ["csv", "tsv", "svm"]


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
UNPACK = {"gz": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress,
          "zst": lambda data: pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()}


# Writers: each gives the arguments of `mercer convert` and the table that they must be read as.

def frame(table):
    """Of float16, text would be too short."""
    table = stored(table) if table.holds(np.float16) else table
    return pd.DataFrame(dict(table.inputs) | {table.target_name: table.target})


def stored(table, text=False):
    """As mercer keeps it: bytes as they are, float16 as float32, all else float64. In text, bytes are numbers."""
    def kept(column):
        if isinstance(column, list) or column.dtype == np.uint8 and not text:
            return column
        return column.astype(np.float32 if column.dtype in (np.float16, np.float32) else np.float64)
    inputs = {name: kept(column) for name, column in table.inputs.items()}
    target = table.target if isinstance(table.target, list) else table.target.astype(np.float64)
    return Table(inputs, target, table.target_name)


def dtype(table):
    """The option that makes text float32 again."""
    return ["--dtype", "float32"] if table.holds(np.float16) or table.holds(np.float32) else []


def csv(path, table, **options):
    frame(table).to_csv(path, index=False, **options)
    return [path, *dtype(table)], stored(table, text=True)


def csv_na(path, table):
    return csv(path, table, na_rep="NA", quoting=2, sep=";", lineterminator="\r\n", encoding="utf-8-sig")


def csv_target_inside(path, table):
    first, *rest = frame(table).columns
    frame(table)[[first, table.target_name, *[name for name in rest if name != table.target_name]]].to_csv(
        path, index=False, sep="\t")
    return [path, *dtype(table)], stored(table, text=True)


def svm(path, table):
    """Its numbers have 16 digits, so what must be read is what scikit-learn reads."""
    x, y = stored(table, text=True).matrix(), table.target
    if x.dtype == np.float64:
        x = np.clip(x, -1e308, 1e308)
    with np.errstate(all="ignore"):
        dump_svmlight_file(x, np.clip(y, -1e308, 1e308), str(path), zero_based=False)
    x, y = load_svmlight_file(str(path), n_features=x.shape[1])
    x = x.toarray().astype(np.float32 if dtype(table) else np.float64)
    inputs = {f"x{j + 1}": column for j, column in enumerate(x.T)}
    return [path, "--n-inputs", x.shape[1], *dtype(table)], Table(inputs, y, "label")


def labels(path, table):
    """The target in a file of its own."""
    words = isinstance(table.target, list)
    beside = path.with_name(f"{path.name}.y.{'parquet' if words else 'npy'}")
    if words:
        pq.write_table(pa.table({"label": table.target}), beside)
    else:
        np.save(beside, table.target)
    return ["--labels", beside]


def array(path, table, write):
    write(path, table.matrix())
    inputs = {f"x{j + 1}": column for j, column in enumerate(table.inputs.values())}
    return [path, *labels(path, table)], stored(Table(inputs, table.target, "label"))


def npz(save):
    def write(path, table):
        with open(path, "wb") as file:
            save(file, X=table.matrix(), other=np.arange(3))
        (_, *rest), expected = array(path.with_suffix(".npy"), table, np.save)
        return [f"{path}::X", *rest], expected
    return write


IDX = {"uint8": 0x08, "int8": 0x09, "int16": 0x0B, "int32": 0x0C, "float32": 0x0D, "float64": 0x0E}


def idx(path, table):
    def write(path, x):
        head = struct.pack(f">BBBB{x.ndim}I", 0, 0, IDX[x.dtype.name], x.ndim, *x.shape)
        path.write_bytes(head + x.astype(x.dtype.newbyteorder(">")).tobytes())
    return array(path, table, write)


def arrow_table(table, dictionary=False, nan=False, required=False):
    """With gaps as nulls, or as NaN; with words as they are, or in a dictionary; with or without room for nulls."""
    def column(values):
        coded = pa.array(values, from_pandas=not nan)
        return coded.dictionary_encode() if dictionary and isinstance(values, list) else coded
    columns = [column(values) for values in [*table.inputs.values(), table.target]]
    names = [*table.inputs, table.target_name]
    fields = [pa.field(name, column.type, nullable=not required) for name, column in zip(names, columns)]
    return pa.table(columns, schema=pa.schema(fields))


def nullable(table):
    """Bytes where a null might be are read as numbers."""
    return stored(table, text=True)


def parquet(**options):
    def write(path, table):
        pq.write_table(arrow_table(table, nan=True), path, **options)
        return [path], nullable(table)
    return write


def parquet_required(path, table):
    pq.write_table(arrow_table(table, required=not table.is_missing_some()), path, compression="gzip")
    return [path], stored(table)


def arrow(stream=False, **options):
    def write(path, table):
        new = ipc.new_stream if stream else ipc.new_file
        whole = arrow_table(table, dictionary=stream)
        with new(path, whole.schema, options=ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(whole, max_chunksize=64)
        return [path], nullable(table)
    return write


def feather_file(path, table):
    feather.write_feather(arrow_table(table, dictionary=True), str(path))
    return [path], nullable(table)


ARRAYS = {
    "c.npy": lambda path, table: array(path, table, np.save),
    "fortran.npy": lambda path, table: array(path, table, lambda p, x: np.save(p, np.asfortranarray(x))),
    "big.npy": lambda path, table: array(path, table, lambda p, x: np.save(p, x.astype(x.dtype.newbyteorder(">")))),
    "stored.npz": npz(np.savez),
    "packed.npz": npz(np.savez_compressed),
}
COLUMNS = {
    "pandas.csv": csv,
    "quoted.csv": csv_na,
    "inside.tsv": csv_target_inside,
    "snappy.parquet": parquet(compression="snappy", row_group_size=100),
    "zstd.parquet": parquet(compression="zstd", use_dictionary=False, data_page_version="2.0"),
    "required.parquet": parquet_required,
    "feather.feather": feather_file,
    "file.arrow": arrow(compression="zstd"),
    "stream.arrows": arrow(stream=True),
}


def writers(table):
    """Those that can hold the table."""
    chosen = dict(COLUMNS)
    if not table.holds_words():
        chosen |= ARRAYS
        if table.matrix().dtype.name in IDX:
            chosen["array.idx"] = idx
        if not table.is_missing_some() and not isinstance(table.target, list):
            chosen["sklearn.svm"] = svm
    return chosen


# Readers: each gives a Table from what mercer wrote; `like` says which columns are words.

def read(path, like):
    kind, *packing = path.name.split(".")[1:]
    data = path.read_bytes()
    for extension in packing:
        data = UNPACK[extension](data)
    return {"csv": read_csv, "tsv": read_csv, "svm": read_svm, "npy": read_npy, "parquet": read_arrow,
            "arrow": read_arrow}[kind](path, data, like)


def read_csv(path, data, like):
    separator = "\t" if ".tsv" in path.name else ","
    is_words = {n: isinstance(c, list) for n, c in (like.inputs | {like.target_name: like.target}).items()}
    types = {name: str for name, words in is_words.items() if words}
    gaps = {name: [""] for name, words in is_words.items() if not words}
    found = pd.read_csv(io.BytesIO(data), sep=separator, float_precision="round_trip", dtype=types,
                        keep_default_na=False, na_values=gaps, skip_blank_lines=False)
    columns = {n: [w or None for w in found[n]] if n in types else found[n].to_numpy() for n in found.columns}
    target = list(columns)[-1]
    return Table({name: c for name, c in columns.items() if name != target}, columns[target], target)


def read_svm(_, data, like):
    x, y = load_svmlight_file(io.BytesIO(data))
    return Table({f"x{j + 1}": column for j, column in enumerate(x.toarray().T)}, y, like.target_name)


def read_npy(path, data, like):
    x = np.load(io.BytesIO(data))
    beside = path.with_name(path.name.split(".")[0] + "-labels." + ("csv" if isinstance(like.target, list) else "npy"))
    if beside.suffix == ".npy":
        target = np.load(beside)
    else:
        target = list(pd.read_csv(beside, dtype=str, keep_default_na=False).iloc[:, 0])
    return Table({f"x{j + 1}": column for j, column in enumerate(x.T)}, target, like.target_name)


def arrow_file(path):
    # By name alone PyArrow would take folders such as `a=b` for columns.
    return pq.ParquetFile(path).read() if path.suffix == ".parquet" else feather.read_table(str(path))


def frame_of(path, **types):
    """All columns, whatever they are."""
    if path.suffix in (".parquet", ".arrow"):
        return arrow_file(path).to_pandas()
    separator = "\t" if ".tsv" in path.name else ","
    return pd.read_csv(path, sep=separator, float_precision="round_trip", dtype=types)


def read_arrow(path, _, __):
    found = arrow_file(path)
    columns = {}
    for name in found.column_names:
        kind = found[name].type
        if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
            columns[name] = found[name].to_pylist()
        else:
            columns[name] = found[name].to_numpy().astype(kind.to_pandas_dtype())
    target = found.column_names[-1]
    return Table({name: c for name, c in columns.items() if name != target}, columns[target], target)
