"""The rules of reading: what decides a number is told, and never concluded from values."""

import copy
import csv
import io
import itertools
import json
import pickle
import random
import shutil
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import at_k
import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.readers.questions import are_repeated_runs
from at_k.readers.run import read_run
from at_k.readers.settings import is_setting, z_of_equal_pairs
from logs import FIXTURES, refused
from run_command import error_of, output_of, pass_at_k, scores_of, write_json_lines


def write(file, text):
    """Write a text to a file, and return the file."""
    file.write_text(text)
    return file


def write_parts(folder, name, *parts):
    """Write parts of rows to files whose name has their number, and return the files."""
    return [write_json_lines(folder / name.format(i), part) for i, part in enumerate(parts)]


CASES = FIXTURES / "cases"
QUESTIONS = ("--interval", "questions")
LONG: list[dict[str, Any]] = [
    {"id": f"q{q}", "trial": t, "passed": bool((q + t) % 3)}
    for q, t in itertools.product(range(5), range(4))
]

# --- 1. Columns ---------------------------------------------------------------------------


def test_a_column_correct_beside_answers_may_hold_the_gold_answers(capsys):
    file = CASES / "gold_in_correct.csv"
    error = error_of(capsys, "gpassk", file, "--k", 1)
    gold = "--predictions answer --references correct (the column has correct answers)"
    assert error.endswith(f"Add --outcomes correct (already graded), or {gold}.\n")
    assert pass_at_k(capsys, file, "--outcomes", "correct") == {"pass@1": 0.5}
    rows = list(csv.DictReader(file.read_text().splitlines()))
    right = sum(row["answer"] == row["correct"] for row in rows) / len(rows)
    flags = ("--predictions", "answer", "--references", "correct")
    assert pass_at_k(capsys, file, *flags) == {"pass@1": right}


def test_the_fields_of_samples_that_are_objects_are_listed():
    fields = {f"x{i}": i for i in range(20)} | {"steps": [1], "result": {"ok": 1}}
    error = refused([{"id": 1, "output": fields}], r"one of their fields, output\.x0, output\.x1")
    remedy = "Pass predictions=.. (samples to be checked), or outcomes=.. (already graded)."
    assert str(error).endswith(f"output.x11, ... {remedy}")
    rows = [{"id": 1, "samples": [{"answer": "1", "correct": True}]}]
    error = refused(rows, "name one of their fields, samples")
    assert f"samples.answer, samples.correct. {remedy}" in str(error)
    assert at_k.read(rows, outcomes="samples.correct")["predictions"] == [[True]]


def test_a_text_that_is_a_list_is_one_answer_in_a_column_of_one():
    rows = [{"id": i // 2, "pred": "[1, 2]", "gold": "[1, 2]"} for i in range(4)]
    assert at_k.read(rows)["predictions"] == [["[1, 2]"] * 2] * 2
    lists = [{"id": i, "predictions": '["1", "2"]', "gold": "1"} for i in range(2)]
    assert at_k.read(lists)["predictions"] == [["1", "2"]] * 2


def test_classes_of_a_dataset_are_read_by_their_names(tmp_path):
    features = datasets.Features(
        {"id": datasets.Value("int64"), "verdict": datasets.ClassLabel(names=["right", "wrong"])}
    )
    dataset = datasets.Dataset.from_dict({"id": [1, 2], "verdict": [0, 1]}, features=features)
    dataset.to_parquet(tmp_path / "a.parquet")
    for source in (dataset, tmp_path / "a.parquet"):
        assert at_k.read(source)["predictions"] == [[True], [False]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1,2\n0.5,1,2\n", "can number the samples or hold those"),
        ("q1,1\nq1,0\nq2,1\n", "no column with a usual name"),
        ("q1,0,1\nq2,1,1\n", "no column with a usual name"),
    ],
)
def test_a_first_row_of_values_is_not_taken_for_names(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    refused(tmp_path / "a.csv", message)


def test_the_first_line_is_on_standard_error_beside_json(capsys, tmp_path):
    from at_k.cli.command import main

    copied = shutil.copy(CASES / "words_yes.csv", tmp_path)
    for arguments in (
        ["gpassk", CASES / "words_yes.csv", "--k", "1"],
        ["gate", CASES / "words_yes.csv", "--at-least", "0.1"],
        ["compare", CASES / "words_yes.csv", copied],
        ["plan", CASES / "words_yes.csv", "--number-of-questions", "9", "--number-of-samples", "2"],
    ):
        main([*map(str, arguments), "--format", "json"])
        printed = capsys.readouterr()
        json.loads(printed.out)
        assert "4 questions, 2 samples each, already graded in passed; questions" in printed.err


# --- 2. Questions -------------------------------------------------------------------------


def test_questions_of_two_domains_are_told_apart(capsys):
    files = [CASES / f"tau2_{name}.json" for name in ("telecom", "mock")]
    run = at_k.read(files)
    assert run.ids == [(d, str(i)) for d in ("telecom", "mock") for i in range(3)]
    scores = scores_of(capsys, "gpassk", *files, "--k", 2, "--include", "pass^k")
    assert scores == {"pass^2": pytest.approx(1 / 3)}
    assert "mock lacks 3 of the questions of" in error_of(capsys, "compare", *files)


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ({"index": [0, 0, 1, 1], "question": ["a", "a", "b", "b"]}, "index"),
        ({"idx": [7, 8, 9, 10], "task_id": ["x", "x", "y", "y"]}, "task_id"),
        ({"_id": [1, 2, 3, 4], "problem_id": [1, 1, 2, 2]}, "problem_id"),
        ({"id": [0, "0", 1, "1"]}, "id"),
        ({"Prompt": ["p", "p", "q", "q"]}, "Prompt"),
        ({"question": ["a"] * 4, "question_id": [1, 1, 2, 2]}, "question_id"),
        ({"problem": ["a"] * 4, "problem_idx": [0, 0, 1, 1]}, "problem_idx"),
    ],
)
def test_an_id_is_preferred_to_an_index_and_both_to_a_text(columns, key):
    run = at_k.read({**columns, "passed": [1, 0, 1, 1]})
    assert run.columns["questions"] == key
    assert run["predictions"] == [[1, 0], [1, 1]]


def test_a_text_with_two_references_is_no_id():
    rows = [{"question": "so?", "response": x, "gold": x} for x in "ab"]
    refused(rows, "same question 'so\\?', but different references")


@pytest.mark.parametrize("name", ["question", "input", "gold", "exam", "category", "info.lang"])
def test_an_id_that_starts_again_in_another_part_is_asked_about(name):
    outer, _, inner = name.partition(".")
    rows = [
        {"id": i, "passed": 1, outer: {inner: part} if inner else part}
        for part, size in (("a", 6), ("b", 3))
        for i in range(size)
    ]
    refused(rows, f"different values of {name}: 'a', 'b'")
    assert len(at_k.read(rows, questions=["id", name])["predictions"]) == 9


@pytest.mark.parametrize("group", ["source", "topic", "model"])
def test_a_question_has_one_group(group):
    rows = [
        {"id": q, group: "x" if (q, s) != (2, 1) else "X", "passed": 1}
        for q in range(4)
        for s in range(2)
    ]
    refused(rows, "id 2, but different groups: 'x' and 'X'", groups=group)
    run = at_k.read(rows, groups=group, questions=["id", group])
    assert run["predictions"] == [[1, 1], [1, 1], [1], [1], [1, 1]]


@pytest.mark.parametrize(
    ("first", "others"),
    [(0.0, ["0", "0.0", 0, Decimal(0), np.float32(0)]), (-2, ["-2.0", -2.0]), ("1.10", ["1.10"])],
)
def test_ids_of_one_number_are_the_same_in_all_forms(first, others):
    rows = [{"id": id_, "correct": 1} for id_ in (first, *others, "1.1")]
    assert at_k.read(rows)["predictions"] == [[1] * (1 + len(others)), [1]]


def test_digits_of_other_scripts_are_texts(capsys, tmp_path):
    rows = [{"id": id_, "correct": 1} for id_ in ("1", "\u0661", "\uff11")]
    assert at_k.read(rows).ids == ["1", "\u0661", "\uff11"]
    file = write_json_lines(tmp_path / "a.jsonl", [{"id": 1, "correct": "\u0661"}])
    assert "name those that are correct with --correct-values" in error_of(capsys, "gpassk", file)


@pytest.mark.parametrize("name", ["Subtotal", "Sub-total:", "SOUS-TOTAL", "Zwischensumme"])
def test_a_subtotal_is_no_question_wherever_it_is(name):
    rows = [{"id": x, "correct": 1} for x in ("a", "b", name, "c", name, "d")]
    refused(rows, f"row 2 .* has '{name}' as id, as a row that sums up")
    assert len(at_k.read(rows, questions="id").ids) == 5
    assert len(at_k.read([row | {"id": f"{row['id']}-1"} for row in rows]).ids) == 5


def test_an_answer_in_the_last_row_is_no_total(tmp_path):
    (tmp_path / "a.csv").write_text("id,flag,correct\n1,Y,1\n2,Y,0\n3,N,1\n")
    assert len(at_k.read(tmp_path / "a.csv").ids) == 3


@pytest.mark.parametrize(
    "name",
    [
        *("Total", "**AVERAGE:**", "mean", "Grand Total", "Avg.", "macro avg", "N", "Gesamt"),
        *("Algebra total", "Grand total geo", "Moyenne", "\u5408\u8ba1", "\u03a3"),
    ],
)
@pytest.mark.parametrize("head", ["id,n,c", "item,n,c", "id,correct,x", "problem,run1,run2"])
@pytest.mark.parametrize("start", ["", "q0,1,1\n"])
def test_a_row_that_sums_up_the_others_is_no_question(capsys, tmp_path, head, name, start):
    file, column = tmp_path / "a.csv", head.partition(",")[0]
    file.write_text(f"{head}\n{start}{name},1,1\n" + ("" if start else "q1,1,0\nq2,1,1\n"))
    error = error_of(capsys, "gpassk", file)
    message = f"row {bool(start):d} (from 0) has {name!r} as {column}, as a row that sums up others"
    assert message in error
    assert error.endswith(f"Add --questions {column} (what identifies a question).\n")
    assert len(at_k.read(file, questions=column).ids or ()) == (2 if start else 3)


def test_a_name_of_a_summary_may_be_that_of_a_question(tmp_path):
    for ids in (["q", "total", "r"], ["total", "q", "total"], ["totals of q", "r"]):
        rows = [{"id": x, "correct": i == 0} for i, x in enumerate(ids)]
        assert len(at_k.read(rows)["predictions"]) == len({*ids})
    refused(
        write(tmp_path / "a.json", '{"a": true, "b": true, "accuracy": 1.0}'),
        r"row 2 .* has 'accuracy' as id",
    )
    counts = [{"name": x, "n": 4, "c": 2} for x in ("a", "b", "Total")]
    for source in (counts, pd.DataFrame(counts), pl.DataFrame(counts)):
        refused(source, r"row 2 .* has 'Total' as name")
    of_group = write(tmp_path / "a.csv", "category,id,n,c\nx,q1,4,2\nAll,2,4,2\n")
    refused(of_group, r"row 1 .* has 'All' as category.* questions='id'")


# --- 3. Repeats ---------------------------------------------------------------------------


def test_equal_rows_are_samples_unless_a_column_identifies_rows():
    plain = [{"id": q, "passed": x} for q in "ab" for x in (1, 1, 0)]
    assert at_k.read(plain)["predictions"] == [[1, 1, 0]] * 2
    uuids = [f"{random.Random(i).getrandbits(128):032x}" for i in range(6)]
    with_uuid = [row | {"uid": uid} for row, uid in zip(plain, uuids, strict=True)]
    assert at_k.read(with_uuid)["predictions"] == [[1, 1, 0]] * 2
    refused([*with_uuid, with_uuid[4]], r"rows 4 and 6 .* same sample: uid '.*' of id 'b'")
    few = [row | {"seconds": i} for i, row in enumerate(plain)]
    assert at_k.read([*few, few[4]])["predictions"] == [[1, 1, 0], [1, 1, 0, 1]]
    many = [row | {"seconds": i} for i, row in enumerate(plain * 4)]
    refused([*many, many[4]], "have the same sample: seconds 4 of id 'b'")
    responses = [{"id": i // 2, "response": f"text {i}", "passed": i % 2} for i in range(24)]
    refused(responses * 2, r"rows 0 and 24 .* the same sample: response")
    greedy = [row | {"id": i} for i, row in enumerate(responses)]
    assert at_k.read([*responses, responses[3]])["predictions"][1] == [0, 1, 1]  # equal by chance
    assert len(at_k.read(greedy * 2)["predictions"]) == 24


def test_rows_with_all_samples_of_a_question_are_not_repeated_for_some_of_them(tmp_path):
    a, b = ({"id": x, "passed": [1, 0, 1]} for x in "ab")
    refused([a, b, b], r"rows 1 and 2 \(from 0\) are equal, and each has the sa")
    assert at_k.read([a, b, a, b])["predictions"] == [[1, 0, 1] * 2] * 2  # two parts of a run
    assert at_k.read([a, b, b | {"passed": [0]}])["predictions"] == [[1, 0, 1], [1, 0, 1, 0]]
    (tmp_path / "a.csv").write_text("question,1,2,3\na,1,0,1\nb,0,0,1\nb,0,0,1\n")
    refused(tmp_path / "a.csv", r"a\.csv, rows 1 and 2 \(from 0\) are equal")
    refused(
        {"q": [1, 2, 2], "n": [8] * 3, "c": [1, 5, 5]}, "each has the samples of q 2", questions="q"
    )


def test_messages_number_the_rows_of_the_file(tmp_path):
    rows = [{"id": 0, "t": i % 2, "sample": i // 4, "passed": 1} for i in range(8)]
    files = [write_json_lines(tmp_path / f"{name}.jsonl", rows) for name in "ab"]
    chosen: dict[str, Any] = {"where": {"t": 1}}
    refused(files[0], r"a\.jsonl, rows 1 and 3 \(from 0\) have the same sample", **chosen)
    message = r"a\.jsonl, row 1 \(from 0\) and .*a\.jsonl, row 3 \("
    refused(files, message, pool=["files"], **chosen)
    without_ids: list[dict[str, Any]] = [{**row, "id": None if row["t"] else 1} for row in rows]
    refused(without_ids, r"row 1 \(from 0\) has no id", **chosen)


def test_a_copy_of_a_file_is_refused(tmp_path):
    rows = [{"id": i, "passed": i % 2, "seconds": i / 7} for i in range(6)]
    one = write_json_lines(tmp_path / "run1.jsonl", rows[:4])
    other = write_json_lines(tmp_path / "run2.jsonl", rows)
    refused([one, other], r"run2\.jsonl contains all rows of .*run1\.jsonl")
    assert len(at_k.read([one, other], pool="files")["predictions"][0]) == 2


def test_a_sample_that_is_in_both_parts_of_a_run_counts_once(tmp_path):
    rows = [{"id": q, "attempt": a, "passed": a} for q in "abcd" for a in range(2)]
    for parts in ((rows[:3], rows[2:]), (rows[:4], rows[3:]), (rows[:6], rows[2:])):
        files = write_parts(tmp_path, "{}.jsonl", *parts)
        caught = refused(files, "have the same sample: attempt", pool="files")
        (way,) = caught.ways
        assert way.arguments == {"pool": ("files", "attempt")}
        assert max(map(len, at_k.read(files, **way.arguments)["predictions"])) > 2
    # Runs of the same questions number their samples anew, also if one of them broke off.
    for parts in ((rows, rows), (rows, rows[:5]), (rows[:3], rows[3:])):
        files = write_parts(tmp_path, "{}.jsonl", *parts)
        read = at_k.read(files, pool="files")["predictions"]
        assert sum(map(len, read)) == sum(map(len, parts))


def test_numbers_of_samples_are_looked_at_in_objects_and_lists_and_as_texts():
    metas = [{"attempt": f"attempt {a}"} for a in range(3)]
    rows = [{"id": q, "meta": meta, "passed": 1} for q in range(3) for meta in metas]
    assert len(at_k.read(rows)["predictions"]) == 3
    refused([*rows, rows[1]], r"same sample: meta\.attempt 'attempt 1' of id 0")
    nested = [
        {"id": q, "samples": [{"seed": s % 3, "correct": 1} for s in range(4)]} for q in range(3)
    ]
    refused(nested, r"row 0 .* two samples have the same .*seed 0", outcomes="samples.correct")
    lists = [{"id": q, "run": r, "passed": [1, 0]} for q in range(3) for r in range(2)]
    refused([*lists, lists[-1]], "same sample: run 1 of id 2")


def test_shards_that_overlap_are_refused(tmp_path):
    rows = [{"id": i // 4, "attempt": i % 4, "passed": 1} for i in range(20)]
    shards = write_parts(tmp_path, "part-{}.jsonl", rows[:12], rows[10:])
    refused(shards, r"part-0.*row 10 .* and .*part-1.*row 0 .*attempt 2", pool="files")
    random_ids = [f"{random.Random(i).getrandbits(128):032x}" for i in range(12)]
    uids = [{"id": i // 2, "uid": x, "passed": i % 2} for i, x in enumerate(random_ids)]
    runs = write_parts(tmp_path, "run{}.jsonl", uids[:8], uids[6:])
    refused(runs, r"run0.*row 6 .* and .*run1.*row 0 .* the same sample: uid")


# --- 4. Settings --------------------------------------------------------------------------


def test_settings_are_no_samples(capsys):
    file = CASES / "settings.jsonl"
    error = error_of(capsys, "gpassk", file, "--k", 1)
    assert "strategy" in error
    assert "budget" in error
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    direct = [x["correct"] for x in rows if x["strategy"] == "direct" and x["budget"] == 1]
    chosen = ("--where", "strategy=direct", "--where", "budget=1")
    assert pass_at_k(capsys, file, *chosen) == {"pass@1": sum(direct) / len(direct)}
    pooled = pass_at_k(capsys, file, "--pool", "strategy", "budget")["pass@1"]
    assert pooled == pytest.approx(sum(x["correct"] for x in rows) / len(rows))
    error = error_of(capsys, "gpassk", file, "--groups", "strategy", "--pool", "budget")
    assert error.endswith("Add --questions problem strategy (what identifies a question).\n")
    flags = ("--groups", "strategy", "--questions", "problem", "strategy", "--pool", "budget")
    groups = pass_at_k(capsys, file, *flags)
    assert groups["direct/pass@1"] == pytest.approx(
        np.mean([x["correct"] for x in rows if x["strategy"] == "direct"])
    )


@pytest.mark.parametrize("name", ["decoder", "note", "info.width", "K"])
def test_a_crossed_column_is_a_setting_whatever_its_name(name):
    rows = []
    for q, value, sample in itertools.product(range(8), ("x", "y", None), range(2)):
        row = {"id": q, "passed": (q + sample) % 2}
        outer, _, inner = name.partition(".")
        rows.append(row | {outer: {inner: value} if inner else value})
    refused(rows, f"different values of {name}: ")
    assert len(at_k.read(rows, pool=name)["predictions"][0]) == 6
    one = at_k.read(rows, where={name: "x"})
    assert [len(row) for row in one["predictions"]] == [2] * 8
    # A row that is missing here and there does not hide the design.
    refused(rows[:17] + rows[18:], f"different values of {name}: ")


@pytest.mark.parametrize(
    "row",
    [
        lambda x: {"zeta": x},
        lambda x: {"config": {"sampling": {"zeta": x}}},
        lambda x: {"config": {"sampling": {"temperature": x}}},
        lambda x: {"top_p": x},
        lambda x: {"judge": x},
    ],
)
@pytest.mark.parametrize("is_nested", [False, True])
def test_settings_are_looked_at_in_objects_and_lists(row, is_nested):
    samples = [[row(x) | {"ok": int(x == "a")} for x in "ab" for _ in range(2)] for _ in range(5)]
    name = "samples.ok" if is_nested else "ok"
    rows: list[dict[str, Any]] = [{"id": q, "samples": x} for q, x in enumerate(samples)]
    if not is_nested:
        rows = [{"id": row["id"], **x} for row in rows for x in row["samples"]]
    raised = refused(rows, r"different values of .*: 'a', 'b'", outcomes=name)
    (setting,) = raised.ways[-1].arguments["pool"]
    one = at_k.read(rows, outcomes=name, where={setting: "b"})
    assert one["predictions"] == [[0, 0]] * 5
    assert at_k.read(rows, outcomes=name, pool=setting)["predictions"] == [[1, 1, 0, 0]] * 5
    both = at_k.read(rows, outcomes=name, questions=["id", setting], groups=setting)
    assert both["predictions"] == [[1, 1], [0, 0]] * 5


def test_lists_beside_the_outcomes_are_settings_too():
    rows = [{"id": q, "passed": [1, 0, 0, 0], "zeta": [*"aabb"]} for q in range(5)]
    refused(rows, "different values of zeta: 'a', 'b'")
    without_ids = [{"passed": [1, 0], "zeta": [*"ab"]} for q in range(5)]
    assert at_k.read(without_ids, pool="zeta")["predictions"] == [[1, 0]] * 5
    assert at_k.read(without_ids, pool="zeta").ids is None


def test_rows_of_two_models_are_no_run_even_of_different_questions(tmp_path):
    rows = [{"id": i, "meta": {"model": "ab"[i // 2]}, "passed": 1} for i in range(4)]
    files = write_parts(tmp_path, "{}.jsonl", rows[:2], rows[2:])
    for source in (rows, files):
        refused(source, r"different values of meta\.model: 'a', 'b'")
        assert len(at_k.read(source, pool="meta.model")["predictions"]) == 4
    assert len(at_k.read(rows, where={"meta.model": "b"})["predictions"]) == 2


def test_an_entry_that_is_chosen_is_compared_with_its_case_first():
    rows = [{"id": i, "level": x, "passed": 1} for i, x in enumerate(("Easy", "easy", "EASY"))]
    assert at_k.read(rows, where={"level": "easy"}).ids == ["1"]
    refused(rows, "No row has 'hard' in level", where={"level": "hard"})
    assert at_k.read(rows[:1], where={"level": "easy"}).ids == ["0"]


def test_columns_that_describe_samples_are_no_settings():
    """Columns as logs have them, drawn at random: about 3 in 1000 may be taken for settings."""
    rng = random.Random(3)
    draw: dict[str, Any] = {
        "finish_reason": lambda: rng.choices(["stop", "length"], [9, 1])[0],
        "tokens": lambda: rng.randint(20, 900),
        "seconds": lambda: rng.random(),
        "tool_calls": lambda: rng.randint(0, 3),
        "language": lambda: "en",
        "letter": lambda: rng.choice("ABCD"),
        "worker": lambda: rng.randint(0, 7),
    }
    alarms: Counter[str] = Counter()
    for _ in range(60):
        questions, samples = rng.choice([10, 30]), rng.choice([2, 4, 8])
        order = [range(q * samples, (q + 1) * samples) for q in range(questions)]
        for name, value in draw.items():
            texts = [str(value()) for _ in range(questions * samples)]
            alarms.update([name] if is_setting(texts, order) else [])
    assert alarms.total() <= 3, alarms


def test_verdicts_beside_responses_are_no_settings():
    row = {"generations": ["1", "2"], "answer": "1", "correctness_math_verify": [True, False]}
    rows = [{"id": q, **row} for q in range(9)]
    assert at_k.read(rows, predictions="generations")["predictions"] == [["1", "2"]] * 9


@pytest.mark.parametrize("name", ["sheet", "order", "book_id"])
@pytest.mark.parametrize(
    ("blocks", "is_asked"),
    [
        ([("A", range(10)), ("B", range(4))], True),
        ([("A", range(6)), ("B", range(4, 10))], True),
        ([("A", range(3)), ("B", range(9)), ("C", range(2, 5))], True),
        ([("A", [*range(10)] * 2), ("B", [0, 1] * 2)], True),  # two samples in each
        ([("A", range(10)), ("B", [3])], False),
        ([("A", range(5)), ("B", range(5, 10))], False),  # parts
        ([("A", range(10)), ("B", range(4)), ("A", range(4))], False),
        ([(b, range(2 * (b % 5), 2 * (b % 5) + 2)) for b in range(10)], False),  # batches
    ],
)
def test_a_second_block_of_some_questions_is_another_setting(name, blocks, is_asked):
    rows = [{"id": q, name: value, "passed": q % 2} for value, ids in blocks for q in ids]
    if not is_asked:
        assert len(at_k.read(rows)["predictions"]) == 10
        return
    refused(rows, f"have different values of {name}")
    assert len(at_k.read(rows, pool=name).ids) == len({row["id"] for row in rows})


@pytest.mark.parametrize("name", ["reward_fn", "score_method", "judge_setup"])
def test_names_like_those_of_verdicts_are_settings_if_they_have_no_outcomes(name):
    rows = [{"id": q, name: x, "passed": q % 2} for q in range(6) for x in ("soft", "hard")]
    refused(rows, f"have different values of {name}")


@pytest.mark.parametrize("name", ["criterion", "rubric", "Rubric item"])
def test_criteria_of_an_answer_are_no_samples(name):
    rows = [{"id": q, name: f"{q}{c}", "passed": c % 2} for q in "ab" for c in range(3)]
    refused(rows, "have different values of")
    assert len(at_k.read(rows, correct_values=None)["predictions"]) == 2  # as verdicts


def test_no_flag_has_a_column_that_was_made_up(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("id,setting,correct\na,x,1\nb,y,0\n")
    error = error_of(capsys, "gpassk", tmp_path / "a.csv", "--group-size", 2)
    assert error.endswith("(in the shell --group-size), so that id identifies the questions.\n")


def test_what_says_the_same_as_the_number_of_a_sample_is_no_setting():
    rows = [{"id": q, "run_sample": s, "passed": s % 2} for q in range(9) for s in range(4)]
    assert at_k.read(rows)["predictions"] == [[0, 1, 0, 1]] * 9
    refused([*rows, rows[-4]], "have the same sample: run_sample 0 of id 8")
    rows = [row | {"name": f"trial-{row['trial']}", "port": 8000 + row["trial"]} for row in LONG]
    assert len(at_k.read(rows)["predictions"]) == 5


def test_the_z_value_of_equal_pairs_is_that_of_all_permutations():
    texts, questions = ["a", "a", "b", "b", "c", "a"], [[0, 1, 2], [3, 4], [5]]
    counts = [Counter(texts[row] for row in rows) for rows in questions]

    def pairs(values):
        return sum(
            values[i] == values[j] for rows in questions for i, j in itertools.combinations(rows, 2)
        )

    numbers = [pairs(x) for x in itertools.permutations(texts)]
    mean = Fraction(sum(numbers), len(numbers))
    variance = sum((x - mean) ** 2 for x in numbers) / len(numbers)
    expected = float(pairs(texts) - mean) / float(variance) ** 0.5
    assert z_of_equal_pairs(counts) == pytest.approx(expected, rel=1e-12)


def test_rows_without_an_outcome_do_not_hide_a_setting():
    texts = ["a", "b"] * 3 + ["c"] * 4  # the last four have no outcome, and are in no question
    assert is_setting(texts, [[0, 1], [2, 3], [4, 5]])


# --- 5. Missing outcomes ------------------------------------------------------------------


def test_missing_verdicts_are_asked_about_in_scores_and_gates(capsys):
    file = CASES / "missing_verdicts.csv"
    for command in (["gpassk", file, "--k", 1], ["gate", file, "--at-least", 0.9]):
        error = error_of(capsys, *command, "--outcomes", "passed")
        assert "12 of 24 outcomes are missing, the first of question m0" in error
        assert "the mean outcome is 0.5 if they are incorrect, or 1 without them." in error
        ways = (
            "--missing incorrect (they count as incorrect), or --missing drop (they are left out)"
        )
        assert error.endswith(f"Add {ways}.\n")
    flags = ("--outcomes", "passed", "--missing")
    assert pass_at_k(capsys, file, *flags, "incorrect") == {"pass@1": 0.5}
    assert pass_at_k(capsys, file, *flags, "drop") == {"pass@1": 1.0}
    printed = output_of(capsys, "gpassk", file, *flags, "incorrect", "--k", 1)
    assert "(12 of them missing, counted as incorrect)" in printed.splitlines()[0]


def test_a_missing_reward_is_no_0_where_rewards_are_below_0():
    rows = [{"id": 1, "reward": x} for x in (-0.5, None, -1.0)]
    for missing in ("incorrect", None):
        caught = refused(rows, "Some rewards are below 0", missing=missing)
        assert [way.arguments for way in caught.ways] == [{"missing": "drop"}]
    assert at_k.read(rows, missing="drop")["predictions"] == [[-0.5, None, -1.0]]
    assert at_k.read([rows[1], {"id": 1, "reward": 0.5}], missing="incorrect").missing


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl"])
def test_missing_answers_are_the_same_in_all_formats(capsys, suffix):
    file = CASES / f"null_answers.{suffix}"
    flags = ("--predictions", "answer", "--references", "gold", "--check-correct-fn", "numeric")
    error = error_of(capsys, "gpassk", file, *flags)
    assert "6 of 12 answers are missing" in error
    assert "pass@1 with numeric is 0.25 or 0.5." in error
    for missing, score in (("incorrect", 0.25), ("drop", 0.5)):
        assert pass_at_k(capsys, file, *flags, "--missing", missing) == {"pass@1": score}


def test_the_same_data_in_six_formats(tmp_path):
    rows = [
        row | {"id": i // 4 + 0.0, "passed": None if i % 7 == 3 else row["passed"]}
        for i, row in enumerate(LONG)
    ]
    frame = pd.DataFrame(rows)
    write_json_lines(tmp_path / "a.jsonl", rows)
    (tmp_path / "a.json").write_text(json.dumps(rows))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "columns.json").write_text(json.dumps({x: [r[x] for r in rows] for x in rows[0]}))
    files = sorted(tmp_path.iterdir())
    assert len(files) == 6
    for missing in ("drop", "incorrect"):
        runs = [at_k.read(file, missing=missing) for file in files]
        assert all(run == runs[0] and run.ids == runs[0].ids == [*"01234"] for run in runs)
    for file in files:
        refused(file, "3 of 20 outcomes are missing")


def test_an_empty_cell_in_a_column_for_each_sample_is_missing_in_all_formats(tmp_path):
    rows = [{"id": x, "run 1": y, "run 2": z} for x, y, z in (("a", 1, None), ("b", 0, 0))]
    frame = pd.DataFrame(rows).astype({"run 2": "Int64"})
    write_json_lines(tmp_path / "a.jsonl", rows)
    write_json_lines(tmp_path / "short.jsonl", [{"id": "a", "run 1": 1}, rows[1]])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.md.txt").write_text(
        "| id | run 1 | run 2 |\n|-|-|-|\n| a | 1 | |\n| b | 0 | 0 |"
    )
    for file in [*tmp_path.iterdir(), frame]:
        refused(file, "1 of 4 outcomes are missing")
        assert at_k.read(file, missing="incorrect")["predictions"] == [[1, False], [0, 0]]
    (tmp_path / "a.csv").write_text("id,run 1,run 2\na,1\nb,0,0\n")
    assert at_k.read(tmp_path / "a.csv")["predictions"] == [[1], [0, 0]]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a", "outcomes": null}\n{"id": "b", "outcomes": [1, 0]}',
        '{"id": "a", "outcomes": []}\n{"id": "b", "outcomes": [1, 0]}',
        'id,outcomes\na,\nb,"[1, 0]"',
        '{"id": "a", "samples": null, "answer": "1"}\n{"id": "b", "samples": ["1"], "answer": "1"}',
        "id,run 1,run 2\na\nb,1,0",
    ],
)
def test_a_question_without_samples_is_left_out_if_that_is_said(text):
    for missing in ("incorrect", None):
        caught = refused(io.StringIO(text), "question a has no sample", missing=missing)
        assert [way.arguments for way in caught.ways] == [{"missing": "drop"}]
    with pytest.warns(UserWarning, match="1 of 2 questions have no sample"):
        assert at_k.read(io.StringIO(text), missing="drop").ids == ["b"]


def test_an_answer_that_a_question_has_as_its_reference_is_no_word_for_missing():
    rows = [{"id": i, "pred": x, "gold": "None"} for i, x in enumerate(("None", "7"))]
    assert at_k.read(rows)["predictions"] == [["None"], ["7"]]
    refused([row | {"gold": "7"} for row in rows], "1 of 2 answers are missing")


def test_an_empty_text_of_json_is_an_answer_and_an_empty_cell_of_csv_is_asked_about(tmp_path):
    rows = [{"id": 1, "pred": x, "gold": "7"} for x in ("7", "")]
    assert at_k.read(write_json_lines(tmp_path / "a.jsonl", rows))["predictions"] == [["7", ""]]
    (tmp_path / "a.csv").write_text("id,pred,gold\n1,7,7\n1,,7\n")
    refused(tmp_path / "a.csv", "1 of 2 answers are missing")


def test_a_text_in_error_says_that_there_is_no_outcome():
    rows = [
        {"id": i, "passed": 0, "error": e} for i, e in enumerate(("HTTP 429", None, "", "none"))
    ]
    rows += [row | {"error": None, "passed": 1} for row in rows]
    refused(rows, "1 of 8 outcomes are missing, the first of question 0")
    assert at_k.read(rows, missing="drop")["predictions"] == [[None, 1], [0, 1], [0, 1], [0, 1]]


ERRORS = (["timeout"], True, 429, "429", "429 Too Many Requests", {"code": 1, "message": "full"})


@pytest.mark.parametrize(
    "beside",
    [
        *({"error": error} for error in (*ERRORS, {"code": 1})),
        *({"error_type": "timeout"}, {"result": {"exception": "timeout"}}),
        *({"status": "Error"}, {"run": {"state": "cancelled"}}),
    ],
)
def test_errors_are_looked_at_in_all_forms(beside):
    rows = [{"id": i, "passed": 0} | (beside if i == 1 else {}) for i in range(4)]
    refused(rows, "1 of 4 outcomes are missing, the first of question 1")
    refused([{"status": "ok"} | row for row in rows], "1 of 4 outcomes", groups="status")
    lists = [row | {"passed": [0, 0]} for row in rows]
    refused(lists, "2 of 8 outcomes are missing, the first of question 1")


@pytest.mark.parametrize(
    ("missing", "score", "vote"), [("incorrect", 0.5, 0.75), ("drop", 2 / 3, 1)]
)
def test_a_correct_answer_of_a_failed_row_is_not_scored(capsys, tmp_path, missing, score, vote):
    """Its text and its verdict do not count, whether the answer is checked or graded."""
    answers = [("4", "ok"), ("4", "crashed"), ("5", "ok"), ("4", "ok")]
    rows = [{"id": 1, "answer": x, "gold": "4", "status": status} for x, status in answers]
    run = at_k.read(rows, predictions="answer", references="gold", missing=missing)
    scores = at_k.load("gpassk").compute(**run, k=1, include="pass@k")
    assert scores == {"pass@1": pytest.approx(score)}

    for answer, status in ("4", "crashed"), (None, "ok"):  # or an answer that is missing itself
        graded = [
            {"id": 1, "answer": x, "correct": x == "4", "status": state} for x, state in answers
        ]
        graded[1] |= {"answer": answer, "status": status}
        write_json_lines(tmp_path / "graded.jsonl", graded)
        flags = "--include vote@k --k 3 --predictions answer --outcomes correct"
        command = ["cons_at_k", tmp_path / "graded.jsonl", *flags.split()]
        assert "1 of 4 answers are missing" in error_of(capsys, *command)
        scores = scores_of(capsys, *command, "--missing", missing)
        assert scores == {"vote@3": pytest.approx(vote)}


@pytest.mark.parametrize(
    "entry",
    [
        *([], False, 0, "", "none", {}, None, 0.25, "0.25", "[]", "{}", "-", "OK", "success"),
        *("No error", "NO_ERROR", "no errors.", "N/A", {"code": 0, "message": ""}, [""]),
    ],
)
def test_an_empty_error_is_none(entry):
    rows = [{"id": i, "passed": 0, "error": entry} for i in range(2)]
    assert at_k.read(rows)["predictions"] == [[0], [0]]


def test_whole_numbers_alone_are_codes_of_errors_by_name_only():
    rows = [{"id": i, "passed": 0, "error": 429} for i in range(2)]
    with pytest.warns(UserWarning, match="error has whole numbers alone: they are read as a meas"):
        assert at_k.read(rows)["predictions"] == [[0], [0]]
    rows = [{"id": i, "passed": 0, "error_code": 429 * i} for i in range(2)]
    refused(rows, "1 of 2 outcomes are missing")


def test_a_status_may_be_a_verdict():
    rows = [{"id": i, "passed": 0, "status": x} for i, x in enumerate(("ok", "failed", "timeout"))]
    assert at_k.read(rows)["predictions"] == [[0], [0], [0]]
    rows = [{"id": i, "status": x} for i, x in enumerate(("pass", "error"))]
    run = at_k.read(rows, outcomes="status", correct_values=["pass"])
    assert run["predictions"] == [[True], [False]]


@pytest.mark.parametrize(
    "cell", ["-", "--", ".", "missing", r"\N", "N/A", "nan", "None", "NULL", "na", "  "]
)
def test_what_other_tools_write_for_nothing_is_missing(tmp_path, cell):
    for name, right in (("correct", "1"), ("pred,gold", "7,7"))[: 1 if cell == "  " else 2]:
        (tmp_path / "a.csv").write_text(f"id,{name}\n1,{right}\n1,{cell}{right[1:]}\n2,{right}\n")
        refused(tmp_path / "a.csv", r"1 of 3 (answers|outcomes) are missing")
        assert at_k.read(tmp_path / "a.csv", missing="drop").missing == "1 more not scored"


def test_questions_of_which_all_samples_are_missing_have_no_mean_and_no_number():
    refused([{"id": i, "passed": None} for i in range(3)], r"first of question 0\. Pass missing=")
    rows = [{"id": i, "correct": i if i else None} for i in range(2)]
    with pytest.warns(UserWarning, match="1 of 2 questions have no sample that is scored"):
        assert at_k.read(rows, missing="drop").missing.startswith("1 of 2 questions have no")


def test_errors_of_samples_in_lists():
    sample = [{"error": "HTTP 429", "ok": 0}, {"error": None, "ok": 1}]
    for rows, name in (
        ([{"id": 1, "samples": sample}], "samples.ok"),
        ([{"id": 1, "ok": [0, 1], "error": ["HTTP 429", None]}], "ok"),
    ):
        refused(rows, "1 of 2 outcomes", outcomes=name)
        assert at_k.read(rows, outcomes=name, missing="drop")["predictions"] == [[None, 1]]


def test_labels_of_a_person_are_words_for_outcomes():
    rows = [{"id": 1, "passed": 1, "hand": x} for x in ("yes", "No", "", 1, None)]
    labels = {"labels": "hand"}
    assert at_k.read(rows, columns=labels)["labels"] == [[True, False, None, 1, None]]
    message = r"row 1 \(from 0\): hand is 'maybe': labels are 0 and 1, true and false, yes and no,"
    refused([rows[0], rows[1] | {"hand": "maybe"}], message, columns=labels)


def test_a_missing_verdict_of_an_answer_is_asked_about():
    rows = [
        {"id": 1, "predicted_answer": a, "judge_correct": v}
        for a, v in (("7", 1), ("8", None), ("8", 1), (None, 0))
    ]
    options: dict[str, Any] = {"predictions": "predicted_answer", "outcomes": "judge_correct"}
    refused(rows, "2 of 4 answers are missing", **options)
    cons_at_k = at_k.load("cons_at_k")
    run = at_k.read(rows, **options, missing="drop")
    assert run["predictions"] == [["7", None, "8", None]]
    assert cons_at_k.compute(**run, k=2)["vote@2"] == 1
    run = at_k.read(rows, **options, missing="incorrect")
    assert cons_at_k.compute(**run, k=1)["vote@1"] == 0.5


API_ERRORS = (
    *("HTTP 429", "503 Service Unavailable", "Rate limit exceeded", "Request timed out."),
    "Error code: 429 - {'error': {'message': 'slow down'}}",
    "openai.APIConnectionError: Connection error.",
)


@pytest.mark.parametrize("text", API_ERRORS)
def test_errors_of_an_api_among_the_answers_are_warned_about(recwarn, text):
    rows = [{"id": i, "response": x, "answer": "429"} for i, x in enumerate((text, "429", "7"))]
    with pytest.warns(UserWarning, match="1 of 3 answers in response are errors of an API, such"):
        at_k.read(rows)
    answers = ("429", "500 apples", "The error is 503", "HTTP", "The request timed out", "Error: 1")
    at_k.read([{"id": i, "response": x, "answer": "429"} for i, x in enumerate(answers)])
    assert not recwarn


@pytest.mark.parametrize("missing", ["wrong", True, 0])
def test_an_unknown_rule_for_missing_outcomes_is_refused(missing):
    refused(LONG, "which is none of incorrect, drop", missing=missing)


@pytest.mark.parametrize("form", ["rows", "lists", "objects"])
def test_responses_that_were_cut_off_are_incorrect_if_it_is_said(capsys, tmp_path, form):
    reasons = ["stop", "length", "max_tokens", None]
    samples = [{"ok": 1, "finish_reason": x} for x in reasons]
    rows: list[dict[str, Any]] = [{"id": q, **x} for q in range(2) for x in samples]
    name, finish = "ok", "finish_reason"
    if form == "lists":
        rows = [{"id": q, "ok": [1] * 4, "finish_reason": reasons} for q in range(2)]
    elif form == "objects":
        rows = [{"id": q, "samples": samples} for q in range(2)]
        name, finish = "samples.ok", "samples.finish_reason"
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    assert pass_at_k(capsys, file, "--outcomes", name) == {"pass@1": 1.0}
    named = ("--finish", finish) if form == "objects" else ()
    flags = ("--outcomes", name, "--unfinished", "incorrect", *named)
    assert pass_at_k(capsys, file, *flags) == {"pass@1": 0.5}
    printed = output_of(capsys, "gpassk", file, *flags, "--k", 1)
    assert "(4 of them cut off by length, counted as incorrect)" in printed
    assert f"finish from {finish}" in printed
    error = error_of(capsys, "gpassk", CASES / "words_yes.csv", "--unfinished", "incorrect")
    assert "No columns have a usual name for why a response ended" in error
    assert error.endswith("Give --finish COLUMN (why responses ended).\n")


def test_answers_that_were_cut_off_are_empty():
    rows = [{"id": 1, "pred": "7", "gold": "7", "stop_reason": x} for x in ("Length", "eos")]
    run = at_k.read(rows, unfinished="incorrect")
    assert run["predictions"] == [["", "7"]]
    assert run.columns["finish"] == "stop_reason"
    refused(rows, "unfinished has 'drop', which is none of incorrect", unfinished="drop")
    with pytest.warns(UserWarning, match=r"1 of the responses .* as stop_reason says, and are rea"):
        assert at_k.read(rows)["predictions"] == [["7", "7"]]
    assert at_k.read([row | {"stop_reason": "eos"} for row in rows])["predictions"] == [["7"] * 2]


def test_a_graded_answer_that_was_cut_off_is_incorrect(capsys, tmp_path):
    ends = [("4", "length"), ("4", "length"), ("5", "stop")]
    rows = [{"id": 1, "answer": x, "correct": x == "4", "finish_reason": end} for x, end in ends]
    write_json_lines(tmp_path / "a.jsonl", rows)
    flags = "--predictions answer --outcomes correct --include vote@k --k 3"
    for further, vote in ("", 1.0), (" --unfinished incorrect", 0.0):
        scores = scores_of(capsys, "cons_at_k", tmp_path / "a.jsonl", *f"{flags}{further}".split())
        assert scores == {"vote@3": vote}


# --- 6. Outcomes --------------------------------------------------------------------------


def test_words_are_outcomes(capsys):
    for name in ("words_yes", "words_pass"):
        assert pass_at_k(capsys, CASES / f"{name}.csv") == {"pass@1": 0.625}
    pairs = "yes no,Pass FAIL,passed failed,CORRECT incorrect,right wrong,C I,t F,Y n,True false"
    pairs += ",\u2713 \u2717,\u2714 \u2716,\u2705 \u274c"
    for good, bad in map(str.split, pairs.split(",")):
        read = at_k.read({"id": [1, 1, 1], "passed": [good, bad, good]})
        assert read["predictions"] == [[True, False, True]]


@pytest.mark.parametrize("word", ["x", "P", "success", "resolved", "ok", "A"])
def test_other_words_are_refused_with_the_list(capsys, tmp_path, word):
    file = write_json_lines(tmp_path / "a.jsonl", [{"id": 1, "passed": x} for x in ("yes", word)])
    error = error_of(capsys, "gpassk", file, "--k", 1)
    assert "name those that are correct with --correct-values" in error
    assert "pass and fail" in error
    assert pass_at_k(capsys, file, "--correct-values", word) == {"pass@1": 0.5}


def test_scores_are_correct_from_a_least_one_on(capsys):
    file = CASES / "graded.jsonl"
    scores = [json.loads(line)["score"] for line in file.read_text().splitlines()]
    for least in (0.75, 0.5, 0.52):
        expected = sum(score >= least for score in scores) / len(scores)
        flags = ("--correct-at-least", least)
        assert pass_at_k(capsys, file, *flags) == {"pass@1": pytest.approx(expected)}
    error = error_of(capsys, "gpassk", file)
    assert error.endswith(", or --outcomes score (already graded).\n")
    refused(file, "exclude each other", correct_at_least=0.5, correct_values=[1])
    for bad in ("good", "1_0", "inf"):
        columns = {"id": [1, 2], "score": [0.5, bad]}
        message = f"score has '?{bad}'?: a least correct score"
        refused(columns, message, correct_at_least=0.5)
    message = r"score has scores up to 78, and the least correct score is 0\.5"
    with pytest.warns(UserWarning, match=message):
        at_k.read({"id": [1, 2], "score": [12, 78]}, correct_at_least=0.5)
    for scores, least in (([12, 78], 50), ([0.2, 1], 0.5), ([0, 3], 1)):
        at_k.read({"id": [1, 2], "score": scores}, correct_at_least=least)


# --- 7. Pairing ---------------------------------------------------------------------------


def test_runs_are_paired_by_id_in_the_shell_and_in_python(capsys):
    from at_k.testing import assert_not_worse

    files = [CASES / f"pairs_{x}.jsonl" for x in "ab"]
    printed = scores_of(capsys, "compare", *files, "--outcomes", "ok", "--k", 1, *QUESTIONS)
    a, b = (at_k.read(file, outcomes="ok") for file in files)
    assert at_k.compare(a, b, k=1, interval="questions") == printed
    assert a.ids is not None
    assert b.ids is not None
    order = [b.ids.index(x) for x in a.ids]
    aligned = [b["predictions"][i] for i in order]
    options = {"k": 1, "interval": "questions"}
    assert printed == at_k.compare(a["predictions"], aligned, **options)
    board = at_k.leaderboard({"a": a, "b": b}, k=1)
    (pair,) = board["pairs"]
    assert abs(pair["difference"]) == pytest.approx(abs(printed["pass@1"]))
    assert_not_worse(b, a, margin=0.01)
    fewer = at_k.read(files[1], outcomes="ok", where={"_id": b.ids[:9]})
    with pytest.raises(ValueError, match="R_b lacks 31 of the questions of R_a, such as _id"):
        at_k.compare(a, fewer, k=1)


def test_labels_go_with_the_questions_of_their_own_run():
    truths = [[i % 3 > 0, i % 2, 1, 0] for i in range(40)]
    rows = [
        {"id": f"q{i}", "ok": [int(truth[0]), truth[1], int(i > 3), 0]}
        for i, truth in enumerate(truths)
    ]
    labels = [[int(x) for x in truth] if i % 2 else [None] * 4 for i, truth in enumerate(truths)]
    a, b, reverse = (at_k.read(table, outcomes="ok") for table in (rows, rows, rows[::-1]))
    options = {"k": 1, "interval": "questions"}
    expected = at_k.compare(a, b, labels=(labels, labels), **options)
    assert at_k.compare(a, reverse, labels=(labels, labels[::-1]), **options) == expected
    assert expected["pass@1"] == 0.0


@pytest.mark.parametrize("name", ["question", "Problem"])
def test_other_texts_of_questions_with_the_same_ids_are_warned_about(name):
    rows = [{"id": i // 2, name: f"What is {i // 2}?", "passed": i % 2} for i in range(8)]
    run = at_k.read(rows)
    others = [row | {name: "Why?" if row["id"] == 2 else f" {row[name]}"} for row in rows[::-1]]
    with pytest.warns(UserWarning, match=rf"1 questions of R_a .* texts in {name.lower()}, .*'2'"):
        at_k.compare(run, at_k.read(others), k=1)
    at_k.compare(run, at_k.read(others[:2] + others[4:]), k=1, common=True)


def test_a_run_of_ids_is_not_paired_with_a_matrix_in_silence():
    run = at_k.read(CASES / "pairs_a.jsonl", outcomes="ok")
    with pytest.raises(ValueError, match="R_b has no ids"):
        at_k.compare(run, run["predictions"], k=1)
    at_k.compare(run, run["predictions"], k=1, by_order=True)


@pytest.mark.parametrize(
    ("role", "options"),
    [
        ("clusters", {"interval": "questions"}),
        ("question_weights", {}),
        ("groups", {"average": "groups"}),
    ],
)
def test_what_runs_say_of_their_questions_is_one_or_an_error(role, options):
    rows = [{"id": f"q{i}", "ok": [i % 2, 1], "x": i // 4 + 1} for i in range(12)]
    others = [*rows[:5], rows[5] | {"x": 7}, *rows[6:]][::-1]

    def read(table, reads_role=True):
        if role == "groups":
            return at_k.read(table, outcomes="ok", groups="x" if reads_role else None)
        return at_k.read(table, outcomes="ok", columns={role: "x"} if reads_role else None)

    problem = rf"Question 5 .* {role} of R_a and .* of R_b.*same {role}.* the id 'q5'"
    with pytest.raises(ValueError, match=problem):
        at_k.compare(read(rows), read(others), k=1, **options)
    same = at_k.compare(read(rows), read(rows[::-1]), k=1, **options)
    named = at_k.compare(read(rows), read(others), k=1, **options, **{role: read(rows)[role]})
    of_b = at_k.compare(read(rows, False), read(rows[::-1]), k=1, **options)
    assert same == named == of_b
    if role != "groups":
        assert same != at_k.compare(read(rows, False), read(rows, False), k=1, **options)


# --- 8. Objects whose keys are ids --------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "predictions"),
    [
        ({"a": {"passed": 1}, "b": {"passed": 0, "note": "x"}}, [[1], [0]]),
        ({"a": "pass", "b": "12"}, [["pass"], ["12"]]),
        (  # of bigcode's evaluation harness
            {
                "0": [
                    [0, {"task_id": "a", "passed": True}],
                    [1, {"task_id": "a", "passed": False}],
                ],
                "1": [[0, {"task_id": "b", "passed": True}]],
            },
            [[True, False], [True]],
        ),
        ({"a": [{"passed": 1}, {"passed": 0}], "b": [{"passed": 1}]}, [[1, 0], [1]]),
        ({"a": True, "b": False}, [[True], [False]]),
        ({"a": ["12", "13"], "b": ["7"]}, [["12", "13"], ["7"]]),
        ({"id": {"0": "a", "1": "b"}, "passed": {"1": 0, "0": 1}}, [[1], [0]]),  # of a frame
        (
            {
                "schema": {"fields": [{"name": "id", "type": "string"}]},
                "data": [{"index": i, "id": x, "passed": 1 - i} for i, x in enumerate("ab")],
            },
            [[1], [0]],
        ),
        ({"columns": ["id", "passed"], "index": [0, 1], "data": [["a", 1], ["b", 0]]}, [[1], [0]]),
        ({"id": ["a", "b"], "passed": [1, 0]}, [[1], [0]]),
        (
            {
                "features": [],
                "rows": [
                    {"row_idx": i, "row": {"id": x, "passed": 1 - i}} for i, x in enumerate("ab")
                ],
            },
            [[1], [0]],
        ),
    ],
)
@pytest.mark.parametrize("suffix", ["json", "txt.json"])
def test_forms_of_objects(tmp_path, content, predictions, suffix):
    file = tmp_path / f"run.{suffix}"
    file.write_text(json.dumps(content, indent=1))
    run = at_k.read(file)
    assert run["predictions"] == predictions
    assert run.ids == ["a", "b"]


@pytest.mark.parametrize("content", [{"a": [0.25, 0.5]}, {"pass@1": 0.25, "pass@2": 0.5}])
def test_a_summary_of_scores_is_refused(tmp_path, content):
    (tmp_path / "a.json").write_text(json.dumps(content))
    refused(tmp_path / "a.json", "fractions are a summary of scores")


@pytest.mark.parametrize(
    "content",
    [
        {"sample_1": [1, 0, 1], "sample_2": [0, 0, 1]},
        {"run_1": [1, 0, 1], "run_2": [0, 0, 1]},
        {"sample_1": {"0": 1, "1": 0}, "sample_2": {"0": 1, "1": 1}},
        {"0": {"0": 1, "1": 0}, "1": {"0": 1, "1": 1}},  # of a frame without names
        {"a": {"1": True, "2": False}, "b": {"1": True, "2": True}},
        {"run1": {"q1": 1, "q2": 0}, "run2": {"q1": 0, "q2": 0}},
        {"0": [[True, True, False]], "1": [[True, True, True]]},  # a sample with three tests
    ],
)
def test_objects_of_questions_or_samples_are_not_guessed(tmp_path, content):
    (tmp_path / "a.json").write_text(json.dumps(content))
    refused(tmp_path / "a.json", "can be questions, models or samples")


@pytest.mark.parametrize(
    "samples", [[[1, 0], [1, 1]], {"q1": [1, 0], "q2": [1, 1]}, {"q1": 1, "q2": 0}]
)
def test_samples_by_question_below_each_key_may_be_those_of_models(capsys, tmp_path, samples):
    (file := tmp_path / "a.json").write_text(json.dumps({"m-1.5": samples, "m-2.5": samples}))
    assert "for each of 'm-1.5', 'm-2.5': these can be questions, models" in error_of(
        capsys, "gpassk", file
    )
    mean = 0.5 if samples == {"q1": 1, "q2": 0} else 0.75
    assert pass_at_k(capsys, file, "--records", "m-2.5")["pass@1"] == mean


def test_all_samples_of_questions_that_are_keys_are_offered(capsys, tmp_path):
    samples = {"0": True, "1": False, "2": False}
    (file := tmp_path / "a.json").write_text(json.dumps({"q1": samples, "q2": samples}))
    flags = "--outcomes 0 1 2"
    assert f"or {flags} (each key is a question)." in error_of(capsys, "gpassk", file)
    assert pass_at_k(capsys, file, *flags.split())["pass@1"] == pytest.approx(1 / 3)
    # A sample that one question lacks is offered too: it is missing there, and not left out.
    file.write_text(json.dumps({"q1": samples, "q2": samples | {"3": True}}))
    assert f"or {flags} 3 (each key is a question)." in error_of(capsys, "gpassk", file)
    flags_of_all = (*flags.split(), "3", "--missing", "incorrect")
    assert pass_at_k(capsys, file, *flags_of_all)["pass@1"] == (1 / 4 + 2 / 4) / 2
    file.write_text('{"results": {"q1": [1, 0, 1], "q2": [0, 1]}}')
    assert error_of(capsys, "gpassk", file).endswith(
        "Add --records results (only these samples).\n"
    )


def test_the_first_line_says_that_keys_are_questions(capsys, tmp_path):
    (file := tmp_path / "a.json").write_text('{"gpt": [1, 0], "llama": [1, 1]}')
    assert output_of(capsys, "gpassk", file).startswith("object with the keys 'gpt', 'llama': 2 q")
    rows = [{"id": 1, "key": "a", "correct": 1}]
    file.write_text(json.dumps({"gpt": rows, "llama": rows}))
    assert "different values of object.key: 'gpt', 'llama'" in error_of(capsys, "gpassk", file)


def test_a_dict_of_numbers_is_asked_about_in_python():
    for digits in ({"0": [1, 0], "1": [1, 1]}, {0: [1, 0], 1: [1, 1]}):
        refused(digits, "ids of questions, or numbers of samples")


def test_an_object_of_ids_may_be_inside_of_another_one(capsys, tmp_path):
    details = {str(i): {"pred": "7", "correct": bool(i % 2)} for i in range(4)}
    (tmp_path / "a.json").write_text(json.dumps({"accuracy": 50.0, "details": details}))
    run = read_run(tmp_path / "a.json", records="details", outcomes="correct")
    assert run.ids == [*"0123"]
    assert run["predictions"] == [[False], [True], [False], [True]]


def test_lists_of_a_question_are_no_settings():
    rows = [
        {"id": q, "ok": [1, 0, 1, 1], "choices": [*"ABCD"], "seeds": [*range(4)]} for q in range(6)
    ]
    assert at_k.read(rows, outcomes="ok")["predictions"] == [[1, 0, 1, 1]] * 6


def test_keys_of_rows_with_ids_are_parts(tmp_path):
    runs = {x: [{"id": i, "passed": int(x == "a")} for i in range(3)] for x in "ab"}
    (tmp_path / "a.json").write_text(json.dumps(runs))
    refused(tmp_path / "a.json", "different values of key: 'a', 'b'")
    assert at_k.read(tmp_path / "a.json", where={"key": "a"})["predictions"] == [[1]] * 3


def test_a_message_does_not_list_hundreds_of_ids(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({f"id {i}": [{"x": 1}] * 2 for i in range(800)}))
    assert len(str(refused(tmp_path / "a.json", "no column with a usual name"))) < 1500
    facts = {f"id {i}": [{"x": 1}] * 2 for i in range(800)} | {"seconds": 3}
    (tmp_path / "a.json").write_text(json.dumps(facts))
    assert len(str(refused(tmp_path / "a.json", "several objects in 'id 0'|id 0"))) < 1500


# --- 9. Several files ---------------------------------------------------------------------


RUNS = (
    "run1/out.jsonl run2/out.jsonl",
    "output-rs0.jsonl output-rs12.jsonl",
    "m_seed1.csv m_seed2.csv",
    "a_2026-01-02T10-11-12.json a_2026-01-03T10-11-12.json",
    "a_1.json a_2.json a_3.json",
    "llama-7b_1.jsonl llama-7b_2.jsonl",
)
NO_RUNS = (
    "m_seed=1.csv m_seed=2.csv",  # no number right after the word
    "gpt-4o-2024-05-13.json gpt-4o-2024-08-06.json",
    *("qwen_1.5.json qwen_2.5.json", "gpt_3.json gpt_4.json"),  # versions
    *("llama-7b.jsonl llama-13b.jsonl", "llama-3_1.jsonl llama-3_2.jsonl"),
    *("shots_0.json shots_1.json", "temp_1.jsonl temp_2.jsonl", "fold_1.csv fold_2.csv"),
    *("run1b.json run7b.json", "a.jsonl b.jsonl", "prune1.jsonl prune2.jsonl"),
    *("epoch_1.jsonl epoch_2.jsonl", "prompt_1.csv prompt_2.csv"),  # of training, or settings
    "part-00000.parquet part-00001.parquet",  # parts may number questions anew
    *("part1/out.jsonl part2/out.jsonl", "shard_0.csv shard_1.csv"),
)


@pytest.mark.parametrize("names", [*RUNS, *NO_RUNS])
def test_names_of_files_say_whether_they_are_runs_of_one_model(names):
    assert are_repeated_runs(names.split()) is (names in RUNS)


def test_files_of_two_models_are_not_pooled_unless_it_is_said(capsys, tmp_path):
    files = [
        write_json_lines(
            tmp_path / f"{name}.jsonl", [{"id": i, "passed": int(i > j)} for i in range(4)]
        )
        for j, name in enumerate(("llama", "qwen"))
    ]
    error = error_of(capsys, "gpassk", *files)
    assert "have the same questions, such as '0'" in error
    remedy = "--groups files --questions files id (different benchmarks)"
    assert error.endswith(f"Add --pool files (repeated runs), or {remedy}.\n")
    assert "2 samples each" in output_of(capsys, "gpassk", *files, "--pool", "files", "--k", 1)
    scores = scores_of(capsys, "gpassk", *files, *remedy.split()[:5], "--include", "pass@k")
    assert scores == {"pass@1": 0.625, "llama/pass@1": 0.75, "qwen/pass@1": 0.5}


def test_benchmarks_of_two_folders_are_paired_by_the_names_of_their_files(capsys, tmp_path):
    for model, benchmarks in (("a", "xy"), ("b", "wx")):
        (tmp_path / model).mkdir()
        for name in benchmarks:
            rows = [{"id": i, "passed": int(name == "x")} for i in range(4)]
            write_json_lines(tmp_path / model / f"{name}.jsonl", rows)
    flags = (tmp_path / "a", tmp_path / "b", "--groups", "files", "--questions", "files", "id")
    assert "or --common to compare the 4" in error_of(capsys, "compare", *flags)
    assert '"pass@1_a": 1.0' in output_of(capsys, "compare", *flags, "--common", "--json")


def test_an_error_of_many_files_does_not_begin_with_all_their_names(capsys, tmp_path):
    for i in range(133):
        write_json_lines(tmp_path / f"run{i}.jsonl", [{"id": 1, "x": i}])
    error = error_of(capsys, "gpassk", tmp_path / "*.jsonl")
    assert "There is no column with a usual name for samples" in error
    assert len(error) < 400


# --- Answers that were graded -------------------------------------------------------------


def test_votes_of_answers_that_were_graded_have_the_verdict_of_the_winner(capsys, tmp_path):
    rng = random.Random(2)
    rows = [
        {"id": q, "predicted_answer": answer, "judge_correct": int(answer == "7")}
        for q in range(6)
        for answer in rng.choices(["7", "8", "9"], [5, 3, 2], k=5)
    ]
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    flags = ("--predictions", "predicted_answer", "--outcomes", "judge_correct", "--k", 5)
    scores = scores_of(capsys, "cons_at_k", file, *flags)
    checked = at_k.load("cons_at_k").compute(
        predictions=[[x["predicted_answer"] for x in rows if x["id"] == q] for q in range(6)],
        references=["7"] * 6,
        k=5,
    )
    assert scores["vote@5"] == pytest.approx(checked["vote@5"])
    assert "for the votes of cons_at_k" in error_of(capsys, "gpassk", file, *flags)


def test_equal_answers_may_have_different_verdicts():
    """As a judge gives them. Each sample keeps its own, and a vote has the mean of its answer."""
    verdicts = {"a": [("12", 1), ("12", 0), ("13", 0)], "b": [("x", 1), ("y", 0), ("x", 1)]}
    rows = [
        {"id": q, "predicted_answer": answer, "judge_correct": verdict}
        for q, samples in verdicts.items()
        for answer, verdict in samples
    ]
    options: dict[str, Any] = {"predictions": "predicted_answer", "outcomes": "judge_correct"}
    run, reversed_run = (at_k.read(x, **options) for x in (rows, rows[::-1]))
    cons_at_k = at_k.load("cons_at_k")
    scores = cons_at_k.compute(**run, k=3, vote_weights=[[1, 1, 3], [1, 1, 1]])
    assert scores["vote@3"] == 0.75
    assert scores["weighted_vote@3"] == 0.5
    assert scores["avg@3"] == 0.5
    assert scores["pass@3"] == 1
    merging = cons_at_k.compute(**run, k=3, merge_right=False)
    assert merging["vote@3"] == 0.75
    assert run == at_k.read(rows, **options)
    with pytest.raises(
        ValueError, match=r"predictions\[1\] has 2 samples, and its reference has the"
    ):
        cons_at_k.compute(**run | {"predictions": [["12", "12", "13"], ["x", "y"]]})
    # Runs are paired by their ids, and each has verdicts of its own.
    compared = at_k.compare(run, reversed_run, "vote@k", k=2)
    assert compared["vote@2_a"] == compared["vote@2_b"] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="no run has references"):
        at_k.compare(run, reversed_run, "vote@k", k=2, check_correct_fn="numeric")
    with pytest.raises(ValueError, match=r"predictions\[0\]\[1\] has the verdict 7"):
        at_k.load("gpassk").compute(
            **at_k.read([rows[0], rows[1] | {"judge_correct": 7}], **options)
        )


# --- Runs ---------------------------------------------------------------------------------


def test_a_run_is_a_mapping_that_knows_where_it_is_from():
    run = at_k.read([CASES / "tau2_telecom.json"])
    assert at_k.load("gpassk").compute(**run, k=2, include="pass^k") == {"pass^2": 1 / 3}
    for same in (run, pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert same == {"predictions": [[True, True], [False, True], [False, False]]}
        assert same.ids == [("telecom", "0"), ("telecom", "1"), ("telecom", "2")]
        assert same.columns == {"outcomes": "success", "questions": "domain, task_id"}
        assert same.origin == {"harness": "tau2", "domain": "telecom", "model": "org/m"}
    assert at_k.read({"outcomes": [[1, 0], [1, 1]]}).ids is None
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'quetions'"):
        at_k.read(LONG, **{"quetions": "id"})


def test_nan_in_an_object_of_lists_is_missing_and_no_fraction(tmp_path):
    file = tmp_path / "nan.json"
    file.write_text('{"q1": [1, NaN], "q2": [0, 1]}')
    refused(str(file), "1 of 4 outcomes are missing")
