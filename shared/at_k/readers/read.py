"""`at_k.read`: what `compute` takes, from a file, a log, a data frame or a dataset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .names import SelectionError
from .questions import Names, read_questions


def read(
    source: Any,
    *,
    predictions: str | None = None,
    outcomes: str | None = None,
    references: str | Mapping[Any, Any] | None = None,
    questions: Names | None = None,
    n: str | None = None,
    correct: str | None = None,
    counts: Names | Mapping[Any, str] | None = None,
    groups: str | None = None,
    R0: str | None = None,
    clusters: str | None = None,
    correct_values: Collection[Any] = (),
    where: Mapping[str, Any] | None = None,
    pool: Names = (),
    group_size: int | None = None,
    config: str | None = None,
    split: str | None = None,
) -> dict[str, Any]:
    """Read samples or outcomes from a file, log, data frame or dataset, as arguments of `compute`.

    A row of the source is a question with the list of its samples, or one sample, or the counts of
    a question. Rows with the same question id belong to one question. Columns are found by their
    usual names if they are not given, except `R0` and `clusters`. A name such as `response.choices`
    leads to the fields of nested objects.

    Args:
        source: the path of a file or folder, the name of a dataset that `datasets` can load, or a
            list of files with parts of one run; or an object: a data frame, an Arrow table, a
            `datasets.Dataset`, or a dict of columns.
        predictions: the column of samples to be checked.
        outcomes: the column of already-graded outcomes, instead of `predictions`.
        references: the column to check the samples against. If the log has none: a dict with the
            reference of each question, or a file with columns of questions and references.
        questions: the column with the id of the question, or several that identify it together.
        n: the column of numbers of samples, if the source has counts.
        correct: the column of numbers of correct samples, if the source has counts.
        counts: the columns of numbers of samples, one for each category 0, 1, .., in this order, or
            named by their outcomes, such as 0, 0.5 and 1; or a dict with the column of each
            outcome. A single column has lists of such numbers. Beside `predictions` or `outcomes`,
            it has the number of times that the sample of its row occurs.
        groups: the column of groups.
        R0: the column of prior outcomes.
        clusters: the column of clusters.
        correct_values: the outcomes that are correct, such as ["C"] or ["yes", "true"]. All others
            are incorrect.
        where: the rows to read, by their entries: {"filter": "strict-match"}.
        pool: columns whose entries may differ between the samples of a question. Without it, a
            column such as run or filter with different entries is an error. With `pool=["run"]`,
            rows of different runs are different samples. The rows of two filters of
            lm-evaluation-harness have the same responses: select one filter with `where` instead.
        group_size: the number of consecutive rows that belong to a question, such as 8 for the
            rewards of TRL or verl with 8 samples of each prompt.
        config: the configuration of a dataset.
        split: the split of a dataset.

    Returns:
        A dict of arguments of `compute`: predictions; references and groups, if the source has
        them; R0 and clusters, if their columns are named.

    Raises:
        SelectionError: (a ValueError) if columns are missing or ambiguous; the message names the
            argument to give.
        ValueError: if the source cannot be read. The message names the line or row if it can.
        FileNotFoundError: if there is no such file or folder.

    Examples:
        >>> columns = {"question": ["q1", "q1", "q2"], "answer": ["12", "13", "7"]}
        >>> read(columns, predictions="answer", references={"q1": "12", "q2": "8"})
        {'predictions': [['12', '13'], ['7']], 'references': ['12', '8']}
    """
    others = {"R0": R0, "clusters": clusters}
    named: dict[str, Any] = {role: name for role, name in others.items() if name is not None}
    try:
        found = read_questions(
            source,
            questions=questions,
            correct_values=correct_values,
            where=(where or {}).items(),
            pool=pool,
            group_size=group_size,
            config=config,
            split=split,
            predictions=predictions,
            outcomes=outcomes,
            references=references,
            n=n,
            correct=correct,
            counts=counts,
            groups=groups,
            **named,
        )
    except SelectionError as error:
        problem = f"{error} Pass {' or '.join(dict.fromkeys(error.roles))}."
        raise SelectionError(problem, error.roles, error.choices, error.examples) from None
    return found.arguments
