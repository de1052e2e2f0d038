"""Compare how checkers read the answer of a response, on texts whose answer is known.

    python tests/benchmarks/extraction.py SET .. [--wrong]

`texts.jsonl` has responses that were written and judged for this study, in five sets: "first", of
many kinds, written after the rules of `numeric` by their author; "several-answers" and
"many-models", judged before the rules that they led to; and "letters" and "letters-of-many-models",
judged before `choice` was run on them. The page on checkers says how many were misread at first.

The set "samples" has the responses of a small model that ship with the package. Those on which
`numeric`, `math_verify`, the filter `flexible-extract` of lm-evaluation-harness and lighteval
disagree were read, and `numeric` was wrong on those in `MISREAD`. Errors that all share are not
seen.

`--wrong` shows what each checker gets wrong.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import at_k


class Case(NamedTuple):
    """A response, and whether it is correct, as a person takes it."""

    reference: str
    response: str
    is_correct: bool


Verdict = Callable[[str, str], bool]
"""Whether a checker accepts a response, called as verdict(reference, response)."""


def read_cases(name: str) -> list[Case]:
    """Return the cases of one set of `texts.jsonl`."""
    lines = Path(__file__).with_name("texts.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Case(row["reference"], row["response"], row["is_correct"])
        for row in rows
        if row["set"] == name
    ]


def by_at_k(checker: str) -> Verdict:
    metric = at_k.load("gpassk")

    def verdict(reference: str, response: str) -> bool:
        scores = metric.compute(
            predictions=[[response]],
            references=[reference],
            check_correct_fn=checker,
            k=1,
            include="pass@k",
        )
        return bool(scores["pass@1"])

    return verdict


def wrong_verdicts(verdict: Verdict, cases: list[Case]) -> list[Case]:
    """Return the cases that a checker judges in another way than a person."""
    return [case for case in cases if verdict(case.reference, case.response) != case.is_correct]


# --- Responses that ship with the package -----------------------------------------------

MISREAD = (
    'This is a classic example of a mathematical identity, often referred to as the "7 Identity"',
    "6 + 3 = 9\n\nIn this context, you are asked to calculate 6 + 3,",
    "5 * 6 = 30\n\nYour answer is correct",
    "Ines has 3 - 3 = 0 pens.\nInes has 3 - 3 =",
)
"""How the responses begin that `numeric` judges otherwise than a person."""


def cases_of_samples() -> list[Case]:
    """Return the distinct responses of the package."""
    files = sorted(Path(at_k.__file__).with_name("samples").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    pairs = dict.fromkeys((row["reference"], text) for row in rows for text in row["predictions"])
    numeric = by_at_k("numeric")
    return [Case(*pair, numeric(*pair) != pair[1].startswith(MISREAD)) for pair in pairs]


# --- The study --------------------------------------------------------------------------


def print_rates(cases: list[Case], checkers: dict[str, Verdict], shows_wrong: bool) -> None:
    correct = sum(case.is_correct for case in cases)
    print(f"{len(cases)} texts, of which {correct} are correct")
    for name, verdict in checkers.items():
        wrong = wrong_verdicts(verdict, cases)
        misses = sum(case.is_correct for case in wrong)
        false = len(wrong) - misses
        print(
            f"{name}: {false} false positives ({false / max(1, len(cases) - correct):.0%}), "
            f"{misses} false negatives ({misses / max(1, correct):.0%})"
        )
        if shows_wrong:
            print(*wrong, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", metavar="SET", nargs="+", help="the name of a set")
    parser.add_argument("--wrong", action="store_true", help="print what is judged wrongly")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    for name in arguments.sets:
        checkers = ["choice"] if name.startswith("letters") else ["numeric", "math_verify"]
        cases = cases_of_samples() if name == "samples" else read_cases(name)
        print_rates(cases, {checker: by_at_k(checker) for checker in checkers}, arguments.wrong)


if __name__ == "__main__":
    main()
