"""Measure speed as ratios: our time over the time of a peer.

    python tests/benchmarks/speed.py [--quick] [--only GROUP ...] [--json FILE] [--plot FILE]

A ratio below 1 means that we are faster. Both take turns in one process, and the minimum over
several repeats counts, so that the load of the machine affects the ratio little.

`speed_cases.py` says what is compared, `speed_peers.py` has the data and the peers, and `timing.py`
the clock. Everything takes about eight minutes on two cores, and `--plot` three more and 2 GB of
memory (tests/benchmarks/pictures/speed.svg is such a plot). Needs the `test` extra and a package
index, where the published releases of score_agg are downloaded from; `--plot` needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import datasets
import speed_cases as cases
import speed_growth as growth
from timing import Row

sys.path.insert(0, str(Path(__file__).parents[1]))
from releases import RELEASES, published_score_agg

LIBRARIES = ("numpy", "scipy", "pyarrow", "datasets", "evaluate", "scorio")
Groups = dict[str, Callable[[], Iterator[Row]]]


def groups(divisor: int, published: dict[str, Callable[..., float]]) -> Groups:
    """Return the groups of cases by name, with numbers of questions divided by the divisor."""
    return {
        "end-to-end": lambda: cases.end_to_end(100_000 // divisor),
        "scores": lambda: cases.scores(1000),
        "intervals": lambda: cases.intervals(1000 // divisor),
        "first-calls": cases.first_calls,
        "counting": lambda: cases.counting(1_000_000 // divisor),
        "checkers": lambda: cases.checkers(2000 // divisor),
        "rewards": lambda: cases.rewards(100_000 // divisor),
        "advantages": lambda: cases.training(4096 // divisor),
        "verdicts": lambda: cases.verdicts(100_000 // divisor, published),
        "imports": cases.imports,
    }


def machine() -> str:
    """Return the machine and the versions of the libraries."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    cores = os.cpu_count()
    return f"Python {platform.python_version()}, {platform.machine()}, {cores} cores; {libraries}"


def table(rows: list[Row]) -> str:
    """Return the rows as aligned text."""
    lines = [("", "compared with", "ratio", "limit")]
    lines += [(row.what, row.peer, f"{row.ratio:.3g}", limit_text(row)) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    return "\n".join(
        f"{what:<{widths[0]}}  {peer:<{widths[1]}}  {ratio:>{widths[2]}}  {limit}".rstrip()
        for what, peer, ratio, limit in lines
    )


def limit_text(row: Row) -> str:
    """Return the limit of a row, marked if it is exceeded."""
    if row.limit is None:
        return ""
    return f"{row.limit:.2f}" if row.ratio <= row.limit else f"{row.limit:.2f} (exceeded)"


def parse_arguments() -> argparse.Namespace:
    """Return the arguments, after checking everything that could fail at the end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="use a tenth of the questions")
    parser.add_argument(
        "--only", nargs="+", metavar="GROUP", choices=[*groups(1, {})], help="measure these groups"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the results as JSON")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="measure growth and plot it")
    options = parser.parse_args()
    if options.plot and find_spec("matplotlib") is None:
        parser.error("--plot needs matplotlib, which is not installed: pip install matplotlib")
    for file in (options.json, options.plot):
        if file and not file.absolute().parent.is_dir():
            parser.error(f"there is no folder {file.absolute().parent} to write {file.name} to")
    return options


def main() -> None:
    options = parse_arguments()
    divisor = 10 if options.quick else 1
    results: dict[str, Any] = {"machine": machine()}

    def save(**more: Any) -> None:
        results.update(more)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

    datasets.disable_progress_bars()
    print(results["machine"], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        published = {
            release: published_score_agg(release, Path(folder))
            for release in RELEASES.values()
            if not options.only or "verdicts" in options.only
        }
    rows: list[Row] = []
    for name, measure in groups(divisor, published).items():
        if not options.only or name in options.only:
            print(f"measuring {name}", file=sys.stderr, flush=True)
            rows += measure()
            save(ratios=[row._asdict() for row in rows])
    print(f"\n{table(rows)}", flush=True)
    if options.plot:
        print("measuring growth", file=sys.stderr, flush=True)
        over_outcomes = growth.over_outcomes(10**8 // divisor)
        over_scores = growth.over_scores(10_000 // divisor)
        save(growth=over_outcomes, scores=over_scores)
        growth.draw(over_outcomes, over_scores, options.plot)


if __name__ == "__main__":
    main()
