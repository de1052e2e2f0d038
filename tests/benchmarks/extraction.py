"""Compare how checkers read the answer of a response, on texts whose answer is known.

    python tests/benchmarks/extraction.py SET .. [--wrong]

`texts.jsonl` has responses that were written for this study, and whether a person takes each as
correct. The page on checkers says what the sets are. The set "samples" has the responses of a small
model that ship with the package. Those on which checkers disagree were read, and `numeric` was
wrong on those in `MISREAD`; errors that all checkers share are not seen.

`--wrong` shows what each checker gets wrong.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path
from typing import Any, NamedTuple

import at_k
import lm_eval
import yaml
from lm_eval.api.metrics import exact_match_hf_evaluate
from lm_eval.filters.extraction import RegexFilter


class Case(NamedTuple):
    """A response, and whether it is correct, as a person takes it."""

    reference: Any
    response: str
    is_correct: bool


MISREAD = (
    'This is a classic example of a mathematical identity, often referred to as the "7 Identity"',
    "6 + 3 = 9\n\nIn this context, you are asked to calculate 6 + 3,",
    "5 * 6 = 30\n\nYour answer is correct",
    "Ines has 3 - 3 = 0 pens.\nInes has 3 - 3 =",
    "Dara has 12 + 2 = 14 pens.\nDara has now 14 -",
    "Dara has 12 + 2 = 14 pens.\nDara now has 14 -",
    "Dara has 12 + 2 = 14 pens, so Dara now has 14 -",
    "The number 7 - 6 is 11, which is 7 - 6 = 1.",
)
"""How the responses of the samples begin that `numeric` judges otherwise than a person."""


def read_cases(name: str) -> list[Case]:
    """Return the cases of one set of `texts.jsonl`."""
    lines = Path(__file__).with_name("texts.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.pop("set") == name]
    return [Case(**row) for row in rows]


def cases_of_samples() -> list[Case]:
    """Return the distinct responses that ship with the package."""
    files = sorted(Path(at_k.__file__).with_name("samples").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    pairs = dict.fromkeys((row["reference"], text) for row in rows for text in row["predictions"])
    cases = [Case(*pair, False) for pair in pairs]
    return [
        case._replace(is_correct=verdict != case.response.startswith(MISREAD))
        for case, verdict in zip(cases, verdicts("numeric", cases), strict=True)
    ]


def by_lm_eval(cases: list[Case]) -> list[bool]:
    """Return whether lm-evaluation-harness accepts each response, as in its task GSM8K.

    Its filter flexible-extract takes the last number, and exact_match ignores commas and the like.
    """
    file = Path(lm_eval.__file__).with_name("tasks") / "gsm8k" / "gsm8k.yaml"
    task = yaml.safe_load(file.read_text(encoding="utf-8"))
    filters = {entry["name"]: entry["filter"] for entry in task["filter_list"]}
    pattern, *_ = filters["flexible-extract"]
    options = {name: value for name, value in pattern.items() if name != "function"}
    numbers = RegexFilter(**options).apply([[case.response] for case in cases], [])
    ignored = task["metric_list"][0]["regexes_to_ignore"]
    return [
        bool(exact_match_hf_evaluate([number], [case.reference], ignored)["exact_match"])
        for case, (number,) in zip(cases, numbers, strict=True)
    ]


def verdicts(checker: str, cases: list[Case]) -> list[bool]:
    """Return whether a checker accepts each response: one of at_k, or "flexible-extract"."""
    if checker == "flexible-extract":
        return by_lm_eval(cases)
    scores = at_k.load("gpassk").compute(
        predictions=[[case.response] for case in cases],
        references=[case.reference for case in cases],
        check_correct_fn=checker,
        k=1,
        include="pass@k",
        return_per_question=True,
    )
    return [*map(bool, scores["per_question"]["pass@1"])]


def wrong_verdicts(checker: str, cases: list[Case]) -> list[Case]:
    """Return the cases that a checker judges in another way than a person."""
    pairs = zip(cases, verdicts(checker, cases), strict=True)
    return [case for case, verdict in pairs if verdict != case.is_correct]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", metavar="SET", nargs="+", help="the name of a set")
    parser.add_argument("--wrong", action="store_true", help="print what is judged wrongly")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    for name in arguments.sets:
        cases = cases_of_samples() if name == "samples" else read_cases(name)
        correct = sum(case.is_correct for case in cases)
        print(f"{name}: {len(cases)} texts, of which {correct} are correct")
        of_numbers = ("numeric", "math_verify", "flexible-extract")
        for checker in ("choice",) if name.startswith("letters") else of_numbers:
            wrong = wrong_verdicts(checker, cases)
            misses = sum(case.is_correct for case in wrong)
            false = len(wrong) - misses
            print(
                f"  {checker}: {false} ({false / max(1, len(cases) - correct):.1%}) false "
                f"positives, {misses} ({misses / max(1, correct):.1%}) false negatives"
            )
            if arguments.wrong:
                print(*wrong, sep="\n")


if __name__ == "__main__":
    main()
