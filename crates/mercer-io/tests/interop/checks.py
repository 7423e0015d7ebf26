"""Runs of the command and comparisons to the bit, counted."""

import subprocess

import numpy as np

# Formats without types, and without names.
TEXT, NAMELESS = ("csv", "tsv", "svm"), ("npy", "svm")


class Checks:
    def __init__(self, mercer):
        self.mercer, self.n_runs, self.passed, self.failed = mercer, 0, 0, 0

    def check(self, good, case, what):
        self.passed += bool(good)
        if not good:
            self.failed += 1
            print(f"FAILED {case}: {what}", flush=True)
        return good

    def run(self, arguments):
        self.n_runs += 1
        command = [self.mercer, *map(str, arguments)]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")

    def runs(self, case, arguments):
        done = self.run(arguments)
        said = f"mercer {' '.join(map(str, arguments))}: exit status {done.returncode}: {done.stderr.strip()}"
        return self.check(done.returncode == 0 and not done.stderr, case, said)

    def refused(self, case, arguments, output):
        """Bad input: status 2, a message, and no file."""
        done = self.run(arguments)
        good = done.returncode == 2 and done.stderr and not output.exists()
        said = f"exit status {done.returncode} where 2 was due: {done.stderr.strip()}"
        self.check(good, case, f"mercer {' '.join(map(str, arguments))}: {said}")

    def same(self, case, path, expected, found):
        """All of a table: names, types, values, words, target."""
        kind = path.name.split(".")[1]
        where = f"{case}, {path}"
        if kind not in NAMELESS:
            names = [[*t.inputs, t.target_name] for t in (expected, found)]
            self.check(names[0] == names[1], where, f"names {names[1]} where {names[0]} were due")
        n_inputs = len(found.inputs)
        if not self.check(n_inputs == len(expected.inputs), where, f"{n_inputs} inputs, not {len(expected.inputs)}"):
            return
        columns = zip(expected.inputs, expected.inputs.values(), found.inputs.values())
        for name, a, b in [*columns, (expected.target_name, expected.target, found.target)]:
            self.same_column(f"{where}, column {name!r}", a, b, kind)

    def same_column(self, where, expected, found, kind="npy"):
        if not self.check(len(expected) == len(found), where, f"{len(found)} rows, not {len(expected)}"):
            return
        if isinstance(expected, list):
            wrong = [i for i, (a, b) in enumerate(zip(expected, found)) if a != b]
        else:
            found = np.asarray(found)
            if kind in TEXT:
                found = found.astype(expected.dtype)
            if not self.check(expected.dtype == found.dtype, where, f"{found.dtype} where {expected.dtype} was due"):
                return
            wrong = np.flatnonzero(different(expected, found, signed_zeros=kind != "svm"))
        first = f"row {wrong[0] + 1} is {found[wrong[0]]!r}, not {expected[wrong[0]]!r}" if len(wrong) else ""
        self.check(not len(wrong), where, f"{first} ({len(wrong)} of {len(expected)} differ)")

    def report(self):
        runs = f"in {self.n_runs} runs of mercer"
        print(f"{self.failed} of {self.passed + self.failed} checks failed {runs}" if self.failed
              else f"{self.passed} checks passed {runs}")
        return 1 if self.failed else 0


def different(a, b, signed_zeros=True):
    """Where the bits differ; any NaN is missing."""
    if a.dtype.kind != "f":
        return a != b
    bits = f"u{a.dtype.itemsize}"
    same = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    same |= np.isnan(a) & np.isnan(b)
    return ~(same if signed_zeros else same | (a == 0) & (b == 0))
