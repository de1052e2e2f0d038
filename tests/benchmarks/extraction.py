"""Compare how checkers read the answer of a response, on texts whose answer is known.

    python tests/benchmarks/extraction.py SET .. [--wrong]

`texts.jsonl` has responses that were written and judged for this study, in five sets:

- first: of the kinds that the tests of lm-evaluation-harness and lighteval cover, and of those that
  readers of logs meet. They were written after the rules of `numeric`, by their author, and two of
  its 10 wrong verdicts led to corrections, so its rates on other texts are higher.
- several-answers: several answers, thinking, a prompt that follows, layouts, other languages. They
  were judged before the rules for them were written, and three were misread at first.
- many-models: in the styles of many models, judged before any of the rules that they led to. At
  the first run 16 of the first 91 were misread, 8 of the next 60 after corrections, and 8 of the
  last 50 after further ones: 15, 7 and 7 as another number.
- letters: responses to questions with options, of which most have no text here, judged before
  `choice` was run on them. Two of its first verdicts were wrong and led to corrections.
- letters-of-many-models: judged before the rules that they led to. Of the first 67, 18 were
  misread, one as another letter, and of the other 50, after corrections, 12, one as another letter.

Two sets are not in that file. "samples" are the responses of a small model that ship with the
package. Those on which two of the four checkers disagree were read, and `numeric` was wrong on
those in `MISREAD`. Errors that all checkers share are not seen. The path of an sdist (`pip download
--no-deps --no-binary :all: math-verify`), or of a folder, is the set of texts in the tests of
another project, which its authors have judged: the lists of (gold, pred, expected) for
`pytest.mark.parametrize`. They are read, and not run. `numeric` refuses references that are not one
number, so the rates of all checkers are those of the texts whose reference it takes; a second line
has those of the other texts. A checker that a project ships passes the project's own tests, so
these texts favor it.

`--wrong` shows what each checker gets wrong. The peers run where they are installed: the filter
`flexible-extract` of the task gsm8k of lm-evaluation-harness with its `exact_match`, the extractor
of lighteval for LaTeX and expressions, and math-verify; for letters, the filter
`multi_choice_regex` of lm-evaluation-harness.
"""

from __future__ import annotations

import argparse
import ast
import json
import logging
import tarfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
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


def by_flexible_extract() -> Verdict:
    from lm_eval.api.metrics import exact_match_hf_evaluate
    from lm_eval.filters.extraction import RegexFilter

    extract = RegexFilter(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", group_select=-1)
    ignored = [",", r"\$", "(?s).*#### ", r"\.$"]

    def verdict(reference: str, response: str) -> bool:
        ((extracted,),) = extract.apply([[response]], [{}])
        scores = exact_match_hf_evaluate(
            predictions=[extracted], references=[reference], regexes_to_ignore=ignored
        )
        return bool(scores["exact_match"])

    return verdict


def by_multi_choice_regex() -> Verdict:
    """Return the filter of lm-evaluation-harness that the tasks of BBH use."""
    from lm_eval.filters.extraction import MultiChoiceRegexFilter

    extract = MultiChoiceRegexFilter(
        regex_pattern=r"(\([A-Z]\))", group_select=-1, ignore_case=True, ignore_punctuation=True
    )

    def verdict(reference: str, response: str) -> bool:
        ((extracted,),) = extract.apply([[response]], [{"choices": []}])
        return extracted.strip("()").upper() == reference.upper()

    return verdict


def by_lighteval() -> Verdict:
    from lighteval.metrics.dynamic_metrics import MultilingualExtractiveMatchMetric
    from lighteval.metrics.utils.extractive_match_utils import (
        ExprExtractionConfig,
        LatexExtractionConfig,
    )
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc
    from lighteval.utils.language import Language

    targets = (ExprExtractionConfig(), LatexExtractionConfig())
    metric = MultilingualExtractiveMatchMetric(Language.ENGLISH, targets, targets)

    def verdict(reference: str, response: str) -> bool:
        doc = Doc(query="", choices=[reference], gold_index=0)
        return bool(metric.compute(doc, ModelResponse(text=[response])))

    return verdict


def installed_checkers(is_of_letters: bool) -> dict[str, Verdict]:
    """Return the checkers of letters or of numbers, those whose libraries are installed."""
    if is_of_letters:
        checkers = {"choice": by_at_k("choice")}
        if find_spec("lm_eval"):
            checkers["multi_choice_regex of lm-eval"] = by_multi_choice_regex()
        return checkers
    checkers = {"numeric": by_at_k("numeric")}
    if find_spec("math_verify"):
        checkers["math_verify"] = by_at_k("math_verify")
    if find_spec("lm_eval"):
        checkers["flexible-extract of lm-eval"] = by_flexible_extract()
    if find_spec("lighteval"):
        checkers["lighteval"] = by_lighteval()
    return checkers


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


# --- Texts in the tests of other projects -----------------------------------------------


def cases_of_tests(source: Path) -> list[Case]:
    """Return the cases in the tests of an sdist or a folder, each once."""
    cases = (case for text in _tests(source) for case in _cases_of_module(ast.parse(text)))
    return list(dict.fromkeys(cases))


def _tests(source: Path) -> Iterator[str]:
    if source.is_dir():
        yield from (file.read_text(encoding="utf-8") for file in sorted(source.rglob("test_*.py")))
        return
    with tarfile.open(source) as archive:
        for member in archive:
            name = Path(member.name).name
            if name.startswith("test_") and name.endswith(".py"):
                content = archive.extractfile(member)
                assert content is not None
                yield content.read().decode()


def _cases_of_module(module: ast.Module) -> Iterator[Case]:
    """Yield the cases of each list for `parametrize` that has no other parameters."""
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "parametrize"):
            continue
        names, rows = node.args[:2]
        if not (isinstance(names, ast.Constant) and isinstance(rows, ast.List)):
            continue
        parameters = [name.strip() for name in str(names.value).split(",")]
        if parameters not in (["gold", "pred", "expected"], ["gold", "pred", "result"]):
            continue
        for row in rows.elts:
            if not any(isinstance(node, ast.JoinedStr | ast.Name) for node in ast.walk(row)):
                gold, response, expected = ast.literal_eval(row)
                yield Case(gold, response, bool(expected))


def takes_reference(reference: str) -> bool:
    """Whether `numeric` takes a reference: whether it is one number."""
    try:
        by_at_k("numeric")(reference, "1")
    except ValueError:
        return False
    return True


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
    parser.add_argument("sets", metavar="SET", nargs="+", help="a name, or the path of tests")
    parser.add_argument("--wrong", action="store_true", help="print what is judged wrongly")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    for name in arguments.sets:
        checkers = installed_checkers(is_of_letters=name.startswith("letters"))
        if Path(name).exists():
            cases = cases_of_tests(Path(name))
            numbers = [case for case in cases if takes_reference(case.reference)]
            print_rates(numbers, checkers, arguments.wrong)
            del checkers["numeric"]
            cases = [case for case in cases if case not in numbers]
        elif name == "samples":
            cases = cases_of_samples()
        else:
            cases = read_cases(name)
            if name == "letters":  # and not yes or no, which the peer cannot read
                cases = [case for case in cases if len(case.reference) == 1]
        print_rates(cases, checkers, arguments.wrong)


if __name__ == "__main__":
    main()
