"""Proves mercer's readers and writers by others: python main.py MERCER FOLDER (see `cargo xtask interop`)

Each table is written by an independent writer, converted by `mercer convert`, and read by an independent reader; the
values must have kept their bits. The files stay in FOLDER.
"""

import itertools
import pathlib
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import commands
import formats
import tables
from checks import Checks

WRITTEN = ["csv", "tsv", "npy", "svm", "parquet", "arrow", "csv.gz", "csv.bz2", "csv.xz", "csv.zst", "svm.gz", "npy.zst"]
# However the rows are read.
READING = itertools.cycle([[], ["--block-rows", "7"], ["--block-rows", "64", "--cache", "0"]])


def can_hold(kind, table):
    """Words and gaps have no place in LIBSVM, words none among the inputs of NPY."""
    if kind.startswith("svm"):
        return not (table.holds_words() or table.is_missing_some() or isinstance(table.target, list))
    return not (kind.startswith("npy") and table.holds_words())


def convert(checks, case, source, arguments, expected):
    """One source into every format."""
    for number, kind in enumerate(WRITTEN):
        output = source.parent / f"{source.stem}-{number}.{kind}"
        run = ["convert", *arguments, *next(READING), "-o", output]
        if not can_hold(kind, expected):
            checks.refused(case, run, output)
        elif checks.runs(case, run):
            checks.same(case, output, expected, formats.read(output, expected))


def round_trips(checks, rng, folder):
    for case, table in tables.all_tables(rng).items():
        place = folder / case.replace(" ", "_")
        place.mkdir()
        for name, write in formats.writers(table).items():
            source = place / name
            arguments, expected = write(source, table)
            convert(checks, f"{case}, {name}", source, arguments, expected)
            if source.suffix[1:] in formats.TEXT:
                packed_sources(checks, case, source, arguments, expected)


def packed_sources(checks, case, source, arguments, expected):
    for extension, pack in formats.PACK.items():
        packed = source.with_name(f"{source.name}.{extension}")
        packed.write_bytes(pack(source.read_bytes()))
        output = packed.with_name(f"{source.stem}-{extension}.parquet")
        if checks.runs(case, ["convert", packed, *arguments[1:], "-o", output]):
            checks.same(f"{case}, {packed.name}", output, expected, formats.read(output, expected))


def no_rows(checks, rng, folder):
    table = tables.numbers(rng, 5, np.float64).take(np.arange(0))
    for name, write in (formats.COLUMNS | formats.ARRAYS).items():
        arguments, _ = write(folder / f"empty-{name}", table)
        output = folder / "empty.csv"
        checks.refused(f"no rows, {name}", ["convert", *arguments, "-o", output], output)


def other_types(checks, rng, folder):
    """`--dtype` rounds to the nearest, once."""
    sources = [tables.decimals(rng, 40, np.float64), tables.floats(rng, 40, np.float32), np.arange(40, dtype=np.uint8)]
    for number, x in enumerate(sources):
        source = folder / f"dtype-{number}.npy"
        np.save(source, x.reshape(10, 4))
        for dtype in ["float32", "float64"]:
            output = folder / f"dtype-{number}-{dtype}.npy"
            if checks.runs("dtype", ["convert", source, "--dtype", dtype, "-o", output]):
                checks.same_column(f"dtype, {output}", x.astype(dtype), np.load(output).ravel())


def several_targets(checks, rng, folder):
    """A matrix of targets is a column for each, and one array beside NPY."""
    x, y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    np.save(folder / "rows.npy", x)
    np.save(folder / "targets.npy", y)
    for kind in ["csv", "parquet", "arrow", "npy"]:
        output = folder / f"several.{kind}"
        run = ["convert", folder / "rows.npy", "--labels", folder / "targets.npy", "-o", output]
        if checks.runs("several targets", run):
            if kind == "npy":
                found = np.hstack([np.load(output), np.load(folder / "several-labels.npy")])
            else:
                found = formats.frame_of(output).to_numpy()
            checks.same_column(f"several targets, {output}", np.hstack([x, y]).ravel(), found.ravel())


def layout(checks, folder):
    """How Parquet and Arrow files are made: row groups, packing, and words."""
    np.save(folder / "long.npy", np.arange(300_000.0).reshape(150_000, 2))
    output = folder / "long.parquet"
    checks.runs("layout", ["convert", folder / "long.npy", "-o", output])
    about = pq.ParquetFile(output).metadata
    checks.check(about.num_row_groups == 3, f"layout, {output}", f"{about.num_row_groups} row groups")
    column = about.row_group(0).column(1)
    checks.check(column.compression == "ZSTD", f"layout, {output}", column.compression)
    checks.check(column.statistics.max == 131_071.0, f"layout, {output}", f"maximum {column.statistics.max}")
    for kind in ["parquet", "arrow"]:
        output = folder / "words" / f"pandas-{'4' if kind == 'parquet' else '5'}.{kind}"
        of_words = formats.arrow_file(output).schema.field("a b").type
        coded = pa.types.is_dictionary(of_words)
        checks.check(coded == (kind == "parquet"), f"layout, {output}", f"words as {of_words}")


def leading_zeros(checks, folder):
    """Codes that look like numbers stay as they are typed where columns of words are named, and in the target."""
    codes = ["007", "07", "7", "1e1", "10", "0x7"] * 3
    table = formats.Table({"id": np.arange(18.0), "code": codes}, codes[::-1])
    for name in ["pandas.csv", "snappy.parquet"]:
        source = folder / f"codes-{name}"
        arguments, expected = formats.COLUMNS[name](source, table)
        convert(checks, f"leading zeros, {name}", source, [*arguments, "--categorical", "code"], expected)


def main(mercer, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rng = np.random.default_rng(2026)
    checks = Checks(mercer)
    round_trips(checks, rng, folder)
    no_rows(checks, rng, folder)
    leading_zeros(checks, folder)
    other_types(checks, rng, folder)
    several_targets(checks, rng, folder)
    layout(checks, folder)
    commands.transform(checks, folder)
    commands.predict(checks, folder)
    commands.split(checks, rng, folder)
    return checks.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
