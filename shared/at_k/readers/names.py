"""List the exact names by which the column of each role is found, and look columns up by them.

A column is never found by what it holds. Case does not matter, nor whether words are joined by
underscores, spaces, hyphens or capitals: see `plain_name`. All names here are plain.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .words import as_whole_number, is_missing


def _names(text: str) -> tuple[str, ...]:
    """Return the names in a text, which spaces separate."""
    return tuple(text.split())


IDS = (
    *_names(
        "question_id task_id problem_id prompt_id doc_id example_id instance_id qid custom_id "
        "item_id case_id unique_id"
    ),
    *(
        f"{noun}_{suffix}"
        for noun in ("question", "task", "problem", "doc", "example", "instance", "item", "case")
        for suffix in ("idx", "index", "number", "num", "no")
    ),
    *_names("id _id"),
)
INDICES = ("idx", "index")
QUESTION_TEXTS = ("question", "problem", "prompt")

COLUMN_NAMES = {
    "predictions": _names(
        "predictions prediction pred samples sample responses response completions completion "
        "generations generation outputs output"
    ),
    "outcomes": _names(
        "outcomes outcome correct is_correct passed is_passed resolved is_resolved solved success "
        "rewards reward verdicts verdict"
    ),
    "references": _names(
        "references reference answers answer targets target ground_truth gold expected "
        "expected_answer label solution tests test"
    ),
    "questions": (*IDS, *INDICES, *QUESTION_TEXTS),
    "n": _names("n n_samples num_samples total samples attempts num_attempts trials num_trials"),
    "correct": ("c", "correct", "num_correct", "n_correct", "passed"),
    "groups": ("groups", "group"),
    "R0": ("r0",),
    "clusters": ("clusters", "cluster"),
    "question_weights": (),
}
"""The exact names of the column for each role, in lower case and in order of precedence."""

SCORES = ("score", "scores", "grade", "grades")
"""Names of outcomes if `correct_at_least` says which scores are correct."""

OPTIONS = ("choices", "options")
"""Names of the lists of options of a question."""

PER_QUESTION = ("groups", "R0", "clusters", "question_weights")
"""The optional parameters of `compute` that take one value per question, each from a column."""

PER_SAMPLE = ("labels", "picked_by", "vote_weights")
"""The optional parameters of `compute` that take a number per sample, each from a named column."""

_ANSWERS = _names("answer choice prediction forecast verdict label class outcome")
ANSWERS = (
    *_names("answer answers pred prediction predictions forecast choice guess"),
    *("extracted_answer", "parsed_answer"),
    *(f"{x}_{y}" for x in ("predicted", "pred", "model", "llm") for y in _ANSWERS),
)
"""Names of answers. Beside such a column, one with a name of outcomes may hold gold answers."""

SINGLE = _names(
    "prediction pred sample response completion generation output answer predicted_answer"
)
"""Columns of one sample in each row: a text such as "[1, 2]" in them is one answer."""

ERRORS = _names(
    "error errors error_message error_msg error_type error_code err exception exceptions "
    "exception_type exception_info"
)
"""A text in one of these columns says that the row has no outcome."""

STATUSES = ("status", "state", "run_status", "exit_status")
BROKEN_OFF = frozenset(_names("error errored exception crashed aborted cancelled canceled skipped"))
"""Entries of `STATUSES` of a sample that broke off, so that the row has no outcome."""

SUBTOTALS = _names("subtotal sub_total sous_total zwischensumme \u5c0f\u8ba1 \u5c0f\u8a08")
"""Texts in place of an id in a row that sums up some of the other rows."""

SUMMARIES = frozenset(
    _names(
        "total totals grand_total total_result sum all overall average avg mean median std "
        "accuracy pass@1 summary count n macro_average macro_avg micro_average micro_avg "
        "weighted_average weighted_avg "
        # German, French, Italian, Spanish, Portuguese and Dutch
        "summe gesamt gesamtsumme gesamtergebnis ergebnis insgesamt mittelwert durchschnitt "
        "moyenne moy somme total_g\xe9n\xe9ral totale somma media suma total_general promedio soma "
        "totaal "
        # Russian, Chinese, Japanese, Korean, and signs of a sum and of a mean
        "\u0438\u0442\u043e\u0433\u043e \u0432\u0441\u0435\u0433\u043e \u5408\u8ba1 \u603b\u8ba1 "
        "\u5e73\u5747 \u5e73\u5747\u503c \u5408\u8a08 \ud569\uacc4 \ud3c9\uade0 \u03c3 \u2211 \xf8"
    )
    + SUBTOTALS
)
"""Texts in place of an id in a row that sums up all other rows."""

FINISH = ("finish_reason", "stop_reason", "finish_reasons", "stop_reasons")
"""Columns that say why a response ended."""

CUT_OFF = ("length", "max_tokens", "max_length", "max_output_tokens", "model_length")
"""Entries of `FINISH` of a response that was cut off by length, in lower case."""

_SAMPLE_NOUNS = _names(
    "sample completion response generation output rollout attempt trial epoch repeat repetition "
    "replicate replica iteration iter try seed run turn draw pass round rep"
)
_SUFFIXES = _names("_id _ids _idx _index _num _number _no _nr id idx index")
_TEXTS_OF_SAMPLES = frozenset(("completion", "response", "output", "pass"))
SAMPLE_NUMBERS = frozenset(
    {f"{name}{suffix}" for name, suffix in itertools.product(_SAMPLE_NOUNS, _SUFFIXES)}
    | {
        f"{one}_{other}"
        for one, other in itertools.permutations(_SAMPLE_NOUNS, 2)
        if other not in _TEXTS_OF_SAMPLES
    }
    | {*_SAMPLE_NOUNS, "seeds"} - _TEXTS_OF_SAMPLES
)
"""Columns that number the samples of a question."""

SHARED_NUMBERS = frozenset(
    name for name in SAMPLE_NUMBERS if name.startswith(("seed", "run", "turn", "round", "iter"))
)
"""Sample numbers that may be the same in all rows, such as the seed of a program."""

MODELS = frozenset(("model", "model_name", "model_id", "llm", "checkpoint"))
"""Columns whose entries are equal in all rows of a run."""

CRITERIA = _names("criterion criteria criterion_id rubric rubric_id rubric_item")
"""Columns that say what is asked about an answer that is judged several times."""

SETTINGS = frozenset(
    _names(
        # which model gave the sample, and how it was run
        "model model_name model_id model_args checkpoint revision policy run run_id run_name "
        "eval_id eval experiment experiment_id log step global_step training_step iteration "
        "temperature temp t config system solver method variant agent prompt_template template "
        "num_fewshot condition setting arm source file filename path strategy provider llm "
        "prompt_version shots quant thinking budget reasoning_effort effort top_p top_k max_tokens "
        "mode engine quantization precision adapter lora context_length persona scaffold framework "
        "harness version decoding n_shot k_shot num_shots few_shot fewshot backend prompt_name "
        "prompt_type prompt_style prompt_format system_prompt cot use_cot edit_format user_model "
        # what became of it
        "filter filter_key scorer scorer_name metric metric_name grader judge judge_name "
        "judge_model rater annotator evaluator check checker test_case test_name test_id"
    )
    + CRITERIA
)
"""Columns whose entries are equal in all samples of a question."""

PARTS = frozenset(
    _names(
        "task task_name subtask dataset dataset_name benchmark subset split subject category topic "
        "level language lang domain exam suite contest competition track scenario environment env "
        "repo area field discipline chapter year test_set collection corpus key part section paper "
        "volume book fold"
    )
)
"""Columns that identify a question together with its id."""

OF_QUESTION = frozenset(
    _names(
        "question problem prompt input inputs query instruction problem_statement question_text "
        "reference references target targets ground_truth gold expected expected_answer"
    )
)
"""Columns that are equal in all rows of a question: its text, and its correct answer."""

OF_SAMPLE = frozenset(
    (
        *(*COLUMN_NAMES["predictions"], *COLUMN_NAMES["outcomes"], *ANSWERS, *SCORES, *ERRORS),
        *(*STATUSES, *FINISH, "statement", "claim"),
        # what a person says of it
        *("label", "labels", "human", "human_label", "human_grade", "annotation"),
        *(SAMPLE_NUMBERS - SETTINGS),
    )
)
"""Columns that differ between the samples of a question, and are no settings."""


VERDICTS = (
    *SCORES,
    *_names("accuracy acc hit hits correctness judge judged judgement judgment graded match"),
    *("exact_match", "em", "rating"),
    *COLUMN_NAMES["outcomes"],
)
"""Names of columns that may have the verdict of a sample, or its score."""
_OF_VERDICT = "|".join(
    (*VERDICTS, "result", "evaluation", "assessment", "accurate", "pass", "pass@1", "matches", "f1")
)
_VERDICT = re.compile(f"(is_)?(({_OF_VERDICT})(_.+)?|.+_({_OF_VERDICT}))")
_NO_VERDICT = re.compile(
    ".+_(ids?|idx|index|counts?|total|num|max|min|time|seconds|tokens|length|level|threshold|cost|"
    r"version|rate|std|stderr|weights?|model|name|type|answers?|options?|choices?|letter|key)"
    "|(max|min|num|n)_.+"
)


def is_verdict(name: str) -> bool:
    """Return whether a column has verdicts or scores by its name, such as correctness_of_judge."""
    part = last_part(name)
    return _VERDICT.fullmatch(part) is not None and not _NO_VERDICT.fullmatch(part)


def shown_name(name: str) -> str:
    """Return a name for a message: cut after 60 characters, in quotes if it has spaces."""
    name = name if len(name) <= 60 else f"{name[:60]}.."
    return name if re.fullmatch(r"[\w.:/@^%+-]+", name) else repr(name)


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """Return a name in lower case with underscores: is_correct for "Is correct" and isCorrect."""
    return re.sub(r"(?<=[a-z\d])(?=[A-Z])|[\s-]+", "_", name.strip()).lower()


def last_part(name: str) -> str:
    """Return the plain name of the last part of a dotted path."""
    return plain_name(name).rpartition(".")[2]


def columns_named(columns: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return all columns that have one of these plain names, in the order of the names."""
    by_plain_name: dict[str, list[str]] = {}
    for column in columns:
        by_plain_name.setdefault(plain_name(column), []).append(column)
    return [column for name in names for column in by_plain_name.get(name, ())]


def sample_numbers(columns: Mapping[str, Sequence[Any]], used: Iterable[str] = ()) -> list[str]:
    """Return the columns that number samples, without those in `used`.

    `sample`, `run` and a few others do only if they hold whole numbers: texts in them are samples
    or settings.
    """
    taken = {*used}
    numbering = []
    for name, cells in columns.items():
        noun = last_part(name)
        if noun not in SAMPLE_NUMBERS or name in taken:
            continue
        try:
            entries = {*cells}
        except TypeError:  # lists or objects
            continue
        numbers = [as_whole_number(cell) for cell in entries if not is_missing(cell)]
        needs_numbers = noun in ("sample", "rollout", "generation", "draw") or noun in SETTINGS
        if numbers and not (needs_numbers and None in numbers):
            numbering.append(name)
    return numbering
