"""Columns of counts: by category, by outcome, and how often each sample occurs."""

import itertools
import random
from decimal import Decimal
from typing import Any

import at_k
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from at_k.readers.run import read_run
from run_command import error_of, output_of, pass_at_k, scores_of, write_json_lines
from scored import bayes_at_n, compute, max_at_k, score_agg

CATEGORIES = [[2, 5, 1], [0, 3, 5], [4, 4, 0]]
COUNTED = {"predictions": {"counts": CATEGORIES}}
SAMPLES = [
    [category for category, count in enumerate(row) for _ in range(count)] for row in CATEGORIES
]
W = ("--w", 0, 0.5, 1)


def rows_with(*names: str) -> list[dict]:
    """Return a row for each question, with the counts of the categories in these columns."""
    return [
        {"id": i, **dict(zip(names, row, strict=True))} for i, row in enumerate(CATEGORIES, start=7)
    ]


@pytest.mark.parametrize("names", [("c0", "c1", "c2"), ("0", "1", "2"), ("bad", "fair", "good")])
def test_a_column_for_each_category(capsys, tmp_path, names):
    rows = rows_with(*names)
    file = write_json_lines(tmp_path / "counts.jsonl", rows)
    for source in (file, rows, pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows)):
        assert at_k.read(source, columns={"counts": names}) == COUNTED
    samples = write_json_lines(tmp_path / "samples.jsonl", [{"outcomes": row} for row in SAMPLES])
    for metric in ("bayes_at_n", "max_at_k"):
        expected = scores_of(capsys, metric, samples, *W)
        assert scores_of(capsys, metric, file, "--counts", *names, *W) == expected
    printed = output_of(capsys, "bayes_at_n", file, "--counts", *names, *W)
    assert printed.startswith(f"3 questions, 8 samples each, counted in {', '.join(names)}; ")


def test_columns_that_are_named_by_numbers_count_these_outcomes():
    rows = rows_with("0", "1", "2")
    for order in itertools.permutations("012"):
        assert at_k.read(rows, columns={"counts": order}) == COUNTED
    counts = [[5, 2, 1], [3, 0, 5], [4, 4, 0]]
    rewards = {"answers": [[-1, 0.5, 2]] * 3, "counts": counts}
    read = at_k.read(rows_with("0.5", "-1", "2"), columns={"counts": ["2", "-1", "0.5"]})
    assert read == {"predictions": rewards}
    samples = [[-1] * a + [0.5] * b + [2] * c for a, b, c in counts]
    expected = max_at_k(samples, k=3)
    assert max_at_k(rewards, k=3) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"two columns of the same outcome: 1, 1\.0"):
        at_k.read(rows, columns={"counts": ["1", "1.0"]})


def test_columns_of_verdicts_are_scored(capsys, tmp_path):
    names = ("none", "partial", "fully")
    file = write_json_lines(tmp_path / "verdicts.jsonl", rows_with(*names))
    labels = [[names[category] for category in row] for row in SAMPLES]
    expected = score_agg(labels)
    for order in itertools.permutations(names):
        assert scores_of(capsys, "score_agg", file, "--counts", *order) == pytest.approx(expected)
        flags = ("--counts", *order, "--categories", *names, *W)
        assert scores_of(capsys, "bayes_at_n", file, *flags) == bayes_at_n(SAMPLES, w=[0, 0.5, 1])
    read = at_k.read(file, columns={"counts": {name: name for name in names}})
    assert score_agg(**read) == pytest.approx(expected)
    by_number = at_k.read(file, columns={"counts": {1: "partial", 0: "none", 2: "fully"}})
    assert by_number["predictions"] == {
        "answers": [[1, 0, 2]] * 3,
        "counts": [[5, 2, 1], [3, 0, 5], [4, 4, 0]],
    }
    message = error_of(capsys, "score_agg", file, "--counts", "none", "fully", "none")
    assert "two columns of the same outcome: none, fully, none" in message


def test_counts_of_a_question_are_added_and_have_groups(capsys, tmp_path):
    rows = [
        {"id": 1, "group": "x", "c0": 1, "c1": 2, "c2": 0},
        {"id": 2, "group": "y", "c0": 1, "c1": 0, "c2": 1},
        {"id": 1, "group": "x", "c0": 0, "c1": 1, "c2": 3},
    ]
    assert at_k.read(rows, columns={"counts": ["c0", "c1", "c2"]}) == {
        "predictions": {"counts": [[1, 3, 3], [1, 0, 1]]},
        "groups": ["x", "y"],
    }
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    flags = ("--counts", "c0", "c1", "c2", *W)
    printed = output_of(capsys, "bayes_at_n", file, *flags)
    assert printed.startswith("2 questions, 2 to 7 samples each (added from 3 rows), counted in c0")
    scores = scores_of(capsys, "bayes_at_n", file, *flags)
    expected = bayes_at_n([[0, 1, 1, 1, 2, 2, 2], [0, 2]], groups=["x", "y"], w=[0, 0.5, 1])
    assert scores == expected


# --- How often each sample occurs -------------------------------------------------------

SAMPLED = {
    "q1": (["12", "13", "12", "7", "12", "13"], "12"),
    "q2": (["5", "5", "6"], "6"),
    "q3": (["1"] * 4, "1"),
}


def rows_of_answers() -> list[dict]:
    """Return a row for each question and answer, as after a GROUP BY, in random order."""
    rows = [
        {"question": question, "answer": answer, "count": samples.count(answer), "gold": gold}
        for question, (samples, gold) in SAMPLED.items()
        for answer in dict.fromkeys(samples)
    ]
    random.Random(5).shuffle(rows)
    return rows


def test_answers_and_how_often_each_occurs_are_votes(capsys, tmp_path):
    samples, golds = zip(*SAMPLED.values(), strict=True)
    file = write_json_lines(tmp_path / "votes.jsonl", rows_of_answers())
    flags = ("--predictions", "answer", "--references", "gold", "--counts", "count")
    for metric in ("cons_at_k", "gpassk", "max_at_k"):
        expected = compute(metric, samples, references=golds, k=[1, 2, 3])
        scores = scores_of(capsys, metric, file, *flags, "--k", 1, 2, 3)
        assert scores == pytest.approx(expected)
    assert "vote@3" in scores_of(capsys, "cons_at_k", file, *flags, "--k", 3)
    printed = output_of(capsys, "cons_at_k", file, *flags)
    assert printed.startswith("3 questions, 3 to 6 samples each in answer, checked against gold")
    assert ", counted in count; questions from question.\n" in printed


def test_lists_of_answers_and_how_often_each_occurs():
    rows = [
        {"id": 1, "samples": ["12", "13"], "times": [3, 1], "gold": "12"},
        {"id": 2, "samples": ["5"], "times": [4], "gold": "6"},
    ]
    assert at_k.read(rows, columns={"counts": "times"}) == {
        "predictions": {"answers": [["12", "13"], ["5"]], "counts": [[3, 1], [4]]},
        "references": ["12", "6"],
    }


def test_graded_outcomes_and_how_often_each_occurs():
    rows = [{"id": 1, "reward": 0.5, "c": 3}, {"id": 1, "reward": 1.0, "c": 1}]
    read = at_k.read(rows, outcomes="reward", columns={"counts": "c"})
    assert read == {"predictions": {"answers": [[0.5, 1.0]], "counts": [[3, 1]]}}
    for wrong in (-1, 0.5, None, "many"):
        with pytest.raises(ValueError, match=r"row 1 \(from 0\): c is .* a whole number"):
            at_k.read(
                [rows[0], {**rows[1], "c": wrong}], outcomes="reward", columns={"counts": "c"}
            )


@pytest.mark.parametrize("name", ["count", "Counts", "n"])
def test_a_column_that_can_say_how_often_a_sample_occurs_is_not_ignored(capsys, tmp_path, name):
    rows = [
        {"id": i, "response": x, name: n, "gold": "ab"[i - 1]}
        for i, x, n in ((1, "a", 3), (1, "b", 1), (2, "a", 4))
    ]
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    error = error_of(capsys, "cons_at_k", file)
    checked = "--predictions response --references gold"
    often = f"--counts {name} {checked} (each row is a sample that occurs so often)"
    assert error.endswith(f"Add {often}, or {checked} (each row is one sample).\n")
    counted = {"answers": [["a", "b"], ["a"]], "counts": [[3, 1], [4]]}
    assert at_k.read(rows[:1], columns={"counts": name})["predictions"]["counts"] == [[3]]
    assert at_k.read(rows, predictions="response", references="gold", columns={"counts": name}) == {
        "predictions": counted,
        "references": ["a", "b"],
    }
    assert at_k.read(rows, predictions="response")["predictions"] == [["a", "b"], ["a"]]
    # A number that all rows share was requested, and repeated samples have not been grouped.
    assert at_k.read([{**row, name: 4} for row in rows])["predictions"] == [["a", "b"], ["a"]]
    repeated = [{**row, "response": "a"} for row in rows]
    assert at_k.read(repeated)["predictions"] == [["a", "a"], ["a"]]


def test_columns_of_counts_exclude_others():
    rows = [{"id": 1, "c0": 1, "c1": 2, "n": 3, "correct": 2, "samples": ["a"]}]
    others = {"predictions": "samples", "outcomes": "correct", "references": "samples", "n": "n"}
    for role, name in others.items():
        columns = {"n": "n", "correct": "correct"} if role == "n" else {role: name}
        with pytest.raises(ValueError, match=f"already graded: leave out {role}"):
            read_run(rows, counts=["c0", "c1"], **columns)


def test_how_often_a_sample_occurs_does_not_go_with_counts_of_questions():
    rows = [{"id": 1, "n": 8, "correct": 3, "times": 2}]
    with pytest.raises(ValueError, match=r"times says how often .* and n counts the samples"):
        at_k.read(rows, columns={"counts": "times"})


def test_runs_of_counts_are_compared(capsys, tmp_path):
    a = write_json_lines(tmp_path / "a.jsonl", [{"id": i, "0": 3 - i, "1": i} for i in range(4)])
    b = write_json_lines(tmp_path / "b.jsonl", [{"id": i, "n": 3, "correct": 2} for i in range(4)])
    of_a = at_k.read(a, columns={"counts": ["0", "1"]})["predictions"]
    expected = at_k.compare(of_a, at_k.Counts([3] * 4, [2] * 4), metric="pass@k", k=[1, 2])
    c = write_json_lines(tmp_path / "c.jsonl", [{"id": i, "0": 1, "1": 2} for i in range(4)])
    scores = scores_of(capsys, "compare", a, c, "--counts", 0, 1, "--k", 1, 2)
    assert scores == expected == at_k.compare(of_a, at_k.read(b)["predictions"], k=[1, 2])
    fewer = write_json_lines(tmp_path / "d.jsonl", [{"0": 1, "1": 2}])
    error = error_of(capsys, "compare", a, fewer, "--counts", 0, 1)
    assert "d has no ids, so its questions cannot be paired" in error
    error = error_of(capsys, "compare", a, fewer, "--counts", 0, 1, "--by-order")
    assert "a has 4 questions and d has 1" in error


def test_sums_of_duckdb_are_counts():
    columns = {"question_id": [1, 2], "n": [4, 4], "correct": [Decimal(2), Decimal(4)]}
    table = pa.table(columns | {"correct": pa.array(columns["correct"], pa.decimal128(38, 0))})
    for source in (columns, table):
        assert at_k.read(source)["predictions"] == {"n": [4, 4], "correct": [2, 4]}


def test_two_columns_of_correct_samples_are_asked_about(capsys, tmp_path):
    (file := tmp_path / "a.csv").write_text("id,correct,n_correct,n\na,1,1,2\nb,1,2,2\n")
    assert "--n n --correct n_correct" in error_of(capsys, "gpassk", file)
    flags = ("--n", "n", "--correct", "n_correct", "--k", 1)
    assert pass_at_k(capsys, file, *flags, "--include", "pass@k") == {"pass@1": 0.75}


def test_labels_name_counts_and_thresholds_are_for_outcomes(tmp_path):
    (tmp_path / "a.csv").write_text("item,fully,none\na,3,1\n")
    verdicts: dict[str, Any] = {"questions": "item", "columns": {"counts": ["none", "fully"]}}
    run = at_k.read(tmp_path / "a.csv", **verdicts, correct_values=None)
    assert run["predictions"] == {"answers": [["none", "fully"]], "counts": [[1, 3]]}
    with pytest.raises(ValueError, match=r"correct_values is for outcomes, and .* has counts"):
        at_k.read(tmp_path / "a.csv", **verdicts, correct_values=["fully"])


def test_a_threshold_above_all_scores_is_warned_about():
    with pytest.warns(UserWarning, match=r"score has scores up to 0\.8, and .* no sample"):
        at_k.read({"id": [1, 2], "score": [0.2, 0.8]}, correct_at_least=75)
