"""Record a table of results, and compare the results of another version with it.

    python tests/golden.py record              # write the table of the repository, golden.json.xz
    python tests/golden.py compare             # compare every case with it
    python tests/golden.py record TABLE.json   # write a table with all digits
    python tests/golden.py compare TABLE.json  # compare every case with that table, to the digit

The script uses the public interface of the `at_k` that Python imports, and data from fixed seeds.
A result is the repr of a number, the name of an interval, the keys of a dict in order, a printed
line, or the type of an error. `compare` exits with 1 if a result differs. Texts are compared to
the letter, and decimals with the tolerance of their kind in KINDS. The table of the repository has
two digits more than that. In a table with all digits, scores have to be equal.
"""

import inspect
import itertools
import json
import lzma
import math
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# Read at import. The folder is new, so that evaluate copies the scripts of this at_k there.
os.environ["HF_HOME"] = (HOME := tempfile.TemporaryDirectory(prefix="at-k-golden-")).name
os.environ |= dict.fromkeys(("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "OPENBLAS_NUM_THREADS"), "1")

import at_k
from golden_cases import ACCEPTED, COMPUTES, FAMILIES, LOADED

Table = dict[str, dict[str, dict[str, str]]]  # case family, case, key, result

TABLE = Path(__file__).with_suffix(".json.xz")
EXAMPLES = 20
SUMMARY_ENDS = ("_mu", "_sigma", "_lo", "_hi")


class Kind(NamedTuple):
    """How far results of a kind may differ between processors, libraries and their versions.

    Args:
        pattern: of "family|case:key".
        digits: that agree. The relative tolerance is 10^-digits, and the absolute one 10 % of it.
    """

    pattern: str
    digits: int

    @property
    def relative(self) -> float:
        return 10.0**-self.digits

    @property
    def absolute(self) -> float:
        return self.relative / 10


# The first whose pattern matches.
KINDS = [
    # Limits of the mean score of priors that fit: bracketed to 1e-12 of the range of the score. The
    # misfits have about 1e-11, from least squares with weights of 1e5.
    Kind(r"interval='(hierarchical|auto)'.*(_mu|_sigma|_lo|_hi)$", 9),
    # Limits of a band: an arc between correlations near 1 has half of their digits.
    Kind(r"_band_(lo|hi)$", 9),
    # Limits between members of a family of 123: a linear interpolation of their standard
    # deviations, which are differences of sums. Student's quantile has 1e-11 in SciPy. The
    # command prints limits and scores together.
    Kind(r"(_mu|_sigma|_lo|_hi| lo| hi)$|half_width|ci\[\d+\]$|^command", 9),
    SCORES := Kind(r"", 12),
]
WITHOUT_CASE = ("compare(R_b)", "read(unfinished)")  # in each case of a pair; no source has it
DECIMAL = re.compile(r"-?\d+(?:\.\d+)?e[+-]\d+|-?\d+\.\d+")


def results(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each single result of a case, with its key."""
    if isinstance(value, dict):
        yield f"{key} keys", " ".join(value)
        for name, result in value.items():
            yield from results(result, f"{key} {name}")
    elif isinstance(value, list):
        for index, result in enumerate(value):
            yield from results(result, f"{key}[{index}]")
    elif isinstance(value, tuple):  # of a function
        ends = ("", "_sigma") if len(value) == 2 else SUMMARY_ENDS
        for end, result in zip(ends, value, strict=True):
            yield f"{key} score{end}", repr(result)
    else:
        yield key or " score", repr(value)


def compute_table() -> Table:
    """Return the results of all cases."""
    table: Table = {}
    for family, name, compute in itertools.chain.from_iterable(cases() for cases in FAMILIES):
        of_family = table.setdefault(family, {})
        assert name not in of_family, f"a second case {name}"
        try:
            of_family[name] = dict(results(compute()))
        except Exception as error:
            # A ValueError of at_k is one that carries its place.
            kind = type(error).__name__.replace("InputError", "ValueError")
            of_family[name] = {" error": kind}
    return table


def missing_parameters() -> list[str]:
    """Return the functions, and the parameters, that no case without an error has."""
    missing = []
    for name in sorted({*at_k.__all__} - {"Counts", "load"}):
        _, *parameters = inspect.signature(getattr(at_k, name)).parameters.values()
        names = [x.name for x in parameters if x.kind is not inspect.Parameter.VAR_KEYWORD]
        missing += [f"{name}({x})" for x in names if x not in ACCEPTED[name]]
    for name in COMPUTES:
        _, *options = inspect.signature(LOADED[name]._compute).parameters
        missing += [f"{name}({x})" for x in options if x not in ACCEPTED[name]]
    return [x for x in missing if x not in WITHOUT_CASE]


def full_form(table: Table) -> dict[str, dict[str, str]]:
    """Return the results of each family under the name of the case with the key."""
    return {
        family: {
            f"{case}:{key}": x for case, of_case in cases.items() for key, x in of_case.items()
        }
        for family, cases in table.items()
    }


def kind_of(name: str) -> Kind:
    """Return the kind of the result with this "family|case:key"."""
    return next(kind for kind in KINDS if re.search(kind.pattern, name))


def rounded(table: Table) -> Table:
    """Return the results with two digits more of each decimal than its kind has."""

    def with_digits(name: str, result: str) -> str:
        if "." not in result and "e" not in result:
            return result
        digits = kind_of(name).digits + 2
        return DECIMAL.sub(lambda x: repr(float(f"{float(x[0]):.{digits}g}")), result)

    return {
        family: {
            case: {key: with_digits(f"{family}|{case}:{key}", x) for key, x in of_case.items()}
            for case, of_case in cases.items()
        }
        for family, cases in table.items()
    }


def short_form(table: Table) -> dict[str, dict[str, list[str]]]:
    """Return the results of each case without their keys, with fewer digits."""
    return {
        family: {case: [*of_case.values()] for case, of_case in cases.items()}
        for family, cases in rounded(table).items()
    }


def from_short_form(short: dict[str, dict[str, list[str]]], table: Table) -> Any:
    """Return the full form of a short one, with the keys of `table` where their number is equal."""
    full: dict[str, dict[str, str]] = {}
    for family, cases in short.items():
        of_family = full[family] = {}
        for case, values in cases.items():
            keys = [*table.get(family, {}).get(case, {})]
            if len(keys) != len(values):
                keys = [f" recorded[{index}]" for index in range(len(values))]
            of_family.update(zip([f"{case}:{key}" for key in keys], values, strict=True))
    return full


def difference(old: str, new: str, relative: float, absolute: float) -> tuple[bool, float]:
    """Return whether results differ by more than a tolerance, and their relative difference."""
    if DECIMAL.sub("", old) != DECIMAL.sub("", new):
        return True, math.inf
    numbers = [[*map(float, DECIMAL.findall(text))] for text in (old, new)]
    gaps = [(abs(y - x), abs(x)) for x, y in zip(*numbers, strict=True)]
    is_beyond = any(gap > absolute + relative * size for gap, size in gaps)
    return is_beyond, max((gap / (size or 1.0) for gap, size in gaps), default=0.0)


def compare_tables(before: Any, now: Any, scores_are_equal: bool) -> int:
    """Print how the results differ, and return how many differ by more than the tolerance."""
    total = beyond = 0
    for family in before | now:
        old, new = before.get(family, {}), now.get(family, {})
        pairs = {key: (old.get(key, "absent"), new.get(key, "absent")) for key in old | new}
        unequal = []
        for key, pair in pairs.items():
            if pair[0] != pair[1]:
                kind = kind_of(f"{family}|{key}")
                exact = scores_are_equal and kind is SCORES
                tolerance = (0.0, 0.0) if exact else (kind.relative, kind.absolute)
                unequal.append((*difference(*pair, *tolerance), key, *pair))
        differ = sum(is_beyond for is_beyond, *_ in unequal)
        total, beyond = total + len(pairs), beyond + differ
        if unequal:
            print(f"{family}: {len(pairs)} results, {differ} differ;", end=" ")
            largest = max(relative for _, relative, *_ in unequal)
            print(f"{len(unequal) - differ} within tolerance; largest {largest:.2g}")
        for _, relative, key, was, is_now in sorted(unequal, reverse=True)[:EXAMPLES]:
            print(f"    {key}: {was} -> {is_now} (relative {relative:.2g})")
    print(f"{total} results, {beyond} differ")
    return beyond


def compare(table: Table, path: str | None) -> int:
    """Compare with the table of the repository, or with one that has all digits."""
    if path:
        recorded = json.loads(Path(path).read_text())
    else:
        table = rounded(table)
        short = json.loads(lzma.decompress(TABLE.read_bytes()))
        recorded = from_short_form(short, table)
    differ = compare_tables(recorded, full_form(table), scores_are_equal=path is not None)
    if differ:
        print("If all of these changes are meant: python tests/golden.py record", path or "")
    return differ


def record(table: Table, path: str | None) -> None:
    """Write the table of the repository, or one with all digits."""
    if path:
        Path(path).write_text(json.dumps(full_form(table), indent=1))
    else:
        text = json.dumps(short_form(table), indent=0)
        TABLE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    errors = sum(" error" in of_case for cases in table.values() for of_case in cases.values())
    numbers = [len(of_case) for cases in table.values() for of_case in cases.values()]
    print(f"{len(numbers)} cases with {sum(numbers)} results, of which {errors} are errors")


def main(command: str, path: str | None = None) -> int:
    """Record or compare, and return the exit code."""
    print(f"at_k of {at_k.__file__}")
    warnings.simplefilter("ignore")
    table = compute_table()
    if missing := missing_parameters():
        print(f"No case without an error has {', '.join(missing)}: add one to golden_cases.py")
        return 1
    if command == "compare":
        return int(compare(table, path) > 0)
    record(table, path)
    return 0


if __name__ == "__main__":
    is_valid = len(sys.argv) in (2, 3) and sys.argv[1] in ("record", "compare")
    sys.exit(main(*sys.argv[1:]) if is_valid else __doc__)
