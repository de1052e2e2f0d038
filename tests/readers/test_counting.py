"""Graded samples in large files are counted, with the scores of reading them whole."""

import csv
import random
from collections import Counter
from pathlib import Path
from typing import Any

import at_k
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.cli.run_input import RunInput
from at_k.readers import counting
from at_k.readers.reading import make_reading
from at_k.readers.run import read_run
from at_k.readers.table import SelectionError
from run_command import error_of, write_json_lines

FORMATS = ("parquet", "csv", "jsonl")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes shards of random outcomes, with changes, and their names."""
    monkeypatch.setattr(counting, "LEAST_ROWS", 0)
    monkeypatch.setattr(counting, "LEAST_BYTES", 0)

    def write(changes=(), files=1, rows=500, format="parquet"):
        rng = np.random.default_rng(0)
        names = []
        for number in range(files):
            question = rng.integers(0, 20, rows)
            correct = (rng.random(rows) < (question + 1) / 22).tolist()
            columns = {"id": [f"q{q}" for q in question], "correct": correct}
            for name, change in dict(changes).items():
                columns[name] = change(columns, number) if callable(change) else change
            names.append(str(tmp_path / f"run-{number}.{format}"))
            write_columns(names[-1], columns)
        return names

    return write


def write_columns(name, columns):
    """Write a file in the format of its suffix."""
    rows = list(zip(*columns.values(), strict=True))
    if name.endswith(".parquet"):
        pq.write_table(pa.table(columns), name, row_group_size=150)
    elif name.endswith(".jsonl"):
        write_json_lines(Path(name), [dict(zip(columns, row, strict=True)) for row in rows])
    else:
        with open(name, "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])


def both(monkeypatch, names, **named):
    """Return what is counted, and what is read whole: with the same outcomes."""
    counted = read_run(names, **named)
    with monkeypatch.context() as patch:
        patch.setattr(counting, "LEAST_ROWS", 1e9)
        patch.setattr(counting, "LEAST_BYTES", 1e9)
        whole = read_run(names, **named)
    assert isinstance(counted["predictions"], dict)
    assert isinstance(whole["predictions"], list)
    assert (counted.ids, counted.files) == (whole.ids, whole.files)
    samples = dict(zip(whole.ids, whole["predictions"], strict=True))
    table = counted["predictions"]
    rows = zip(counted.ids, table["answers"], table["counts"], strict=True)
    for question, answers, numbers in rows:
        number_of: Counter[Any] = Counter()
        for answer, number in zip(answers, numbers, strict=True):
            number_of[answer] += number
        assert +number_of == Counter(samples[question])
    return counted, whole


MISSING = {"correct": lambda columns, _: [None] * 10 + columns["correct"][10:]}
NUMBERS = {"correct": lambda columns, _: [*map(float, columns["correct"])]}
WORDS = {"correct": lambda columns, _: ["yes" if x else "no" for x in columns["correct"]]}
SCORES = {"score": lambda columns, _: [0.9 if x else 0.2 for x in columns.pop("correct")]}
PLAIN = {"id": lambda columns, _: [int(x[1:]) for x in columns["id"]]}
GROUPS = {"group": lambda columns, _: [len(x) for x in columns["id"]]}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, {}),
        (NUMBERS, {"outcomes": "correct"}),
        (WORDS, {}),
        (WORDS, {"correct_values": ["yes"]}),
        (SCORES, {"correct_at_least": 0.5}),
        (PLAIN, {"questions": "id"}),
        ({"id\xe9": lambda columns, _: columns.pop("id")}, {"questions": "id\xe9"}),
        (GROUPS, {"groups": "group"}),
        (GROUPS, {"question_weights": "group"}),
        ({"model": lambda columns, _: ["m"] * len(columns["id"])}, {"where": [("model", "m")]}),
        ({"id": lambda columns, _: [f"{x}, in quotes" for x in columns["id"]]}, {}),
        ({"note": lambda columns, _: [f"row {i}" for i in range(len(columns["id"]))]}, {}),
        (MISSING, {"missing": "drop"}),
        (MISSING, {"missing": "incorrect"}),
    ],
)
def test_counts_and_descriptions_are_those_of_reading_whole(
    monkeypatch, write, changes, named, format, files
):
    names = write(changes, files, rows=500 // files, format=format)
    counted, whole = both(monkeypatch, names, **named)
    assert counted.columns == whole.columns
    assert RunInput(counted).described() == RunInput(whole).described()


# --- What is refused, or read whole -----------------------------------------------------------


def changed(name, row, entry):
    """Return the change of one entry of a column."""
    return {name: lambda columns, _: [*columns[name][:row], entry, *columns[name][row + 1 :]]}


def numbered(columns, number=0):
    """Return the number of each sample of its question."""
    seen: Counter[str] = Counter()
    numbers = []
    for question in columns["id"]:
        numbers.append(seen[question])
        seen[question] += 1
    return numbers


def resumed(columns, number):
    """Return the numbers of samples in two files, which have half of the questions in common."""
    columns["id"] = [f"q{int(x[1:]) + 10 * number}" for x in columns["id"]]
    return numbered(columns)


def uids_again(columns, number):
    """Return uids, whose second half is the first one again, with all other columns."""
    for cells in columns.values():
        cells[250:] = cells[:250]
    return [f"{random.Random(i).getrandbits(128):032x}" for i in range(250)] * 2


FOURS, TENS = ({"id": [f"q{i // n}" for i in range(500)]} for n in (4, 10))
HALVES = ["1"] * 250 + ["2"] * 250
REFUSED: list[tuple[dict, str]] = [
    (MISSING, "10 of 500 outcomes are missing"),
    ({"error": [None, "HTTP 429"] * 250}, "250 of 500 outcomes are missing"),
    (changed("id", 321, None), r"row 321 \(from 0\) has no id"),
    (changed("id", 499, "Total"), "row 499 .* has 'Total' as id"),
    ({"sample_id": lambda x, _: [*numbered(x)[:-1], 0]}, "have the same sample: sample_id"),
    ({"run": lambda x, _: [*numbered(x)[:-1], 0]}, "have the same sample: run"),
    ({"sample_id": resumed}, "have the same sample: sample_id"),
    (FOURS | {"sample_id": [0, 0, 3, 3] * 125}, "have the same sample: sample_id '?0'? of"),
    # with the sum, and the sum of squares, of 0 to 9
    (TENS | {"sample_id": [0, 2, 2, 3, 3, 4, 7, 7, 8, 9] * 50}, "same sample: sample_id '?2'? of"),
    ({"uid": uids_again}, "have the same sample: uid"),
    ({"id": [f"q{i % 50}" for i in range(500)], "width": HALVES}, "values of width: '1', '2'"),
    ({"id": [f"q{i % 50}" for i in range(500)], "strategy": HALVES}, "values of strategy: '1'"),
    ({"id": [f"q{i // 5}" for i in range(500)], "model": HALVES}, "values of model: '1', '2'"),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_is_refused_in_small_files_is_refused_in_large_ones(
    monkeypatch, write, changes, message, format
):
    monkeypatch.setattr(counting, "_HEAD", 100)
    names = write(changes, files=2 if resumed in changes.values() else 1, format=format)
    with pytest.raises(ValueError, match=message):
        read_run(names)


@pytest.mark.parametrize("format", FORMATS)
def test_an_outcome_that_is_no_word_is_refused_by_the_metric(capsys, write, format):
    names = write({"correct": [*["yes", "no"] * 249, "yes", "maybe"]}, format=format)
    assert "in correct: name those that are correct" in error_of(capsys, "gpassk", *names)


@pytest.mark.parametrize("format", FORMATS)
def test_numbers_of_samples_show_that_none_is_repeated(monkeypatch, write, format):
    both(monkeypatch, write({"sample_id": numbered}, format=format))
    both(monkeypatch, write({"sample_id": lambda x, _: [4 + i for i in numbered(x)]}))
    both(monkeypatch, write({"run": numbered}, format=format))
    both(monkeypatch, write({"seed": [42] * 500}, format=format))
    both(monkeypatch, write({"seed": lambda x, _: [7 * i for i in numbered(x)]}, format=format))
    both(monkeypatch, write({"sample_id": numbered}, files=2, format=format))
    # Too many kinds of questions have a gap between their numbers.
    monkeypatch.setattr(counting, "_MOST_GAPS", 0)
    with_gap = {"sample_id": lambda x, _: [*numbered(x)[:-1], 99]}
    assert isinstance(read_run(write(with_gap, format=format))["predictions"], list)


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("csv", b'q1,"true\n', "line 300: a quote is not closed"),
        ("csv", b'q1,t"ru"e\nq2,"true"x\n', "line 301: ',' expected after '\"'"),
        ("csv", b"q1,true,1\n", "line 300: 3 cells, but line 1 has 2"),
        ("csv", b"q1,\xff\n", "line 300: the text is not UTF-8"),
        ("csv", b"q1,tr\0ue\n", "line 300: the text has a NUL character"),
        ("csv", b'q1,"true\n"\n', "line 300: a quote is closed in a later line"),
        ("csv", b"\xef\xbb\xbfid,correct\n", "line 300: the names of line 1 occur again"),
        ("jsonl", b'{"id": "q1", "correct": true\n', "line 300: invalid JSON"),
        (
            "jsonl",
            b'{"id": "q1", "correct": true} {"id": "q1", "correct": true}\n',
            "line 300: invalid JSON: Another value begins in the same line",
        ),
    ],
)
def test_a_damaged_line_is_an_error_as_in_a_small_file(write, format, text, message):
    names = write(files=3, format=format)
    lines = Path(names[1]).read_bytes().splitlines(keepends=True)
    Path(names[1]).write_bytes(b"".join([*lines[:299], text, *lines[299:]]))
    with pytest.raises(ValueError, match=message) as caught:
        at_k.read(names)
    assert str(caught.value).startswith(f"{names[1]}, ")


@pytest.mark.parametrize("format", FORMATS)
def test_ids_that_are_unclear_as_texts_are_read_whole(write, format):
    floats = {"id": ["7.0", "7", *(f"{i % 7}.0" for i in range(498))]}
    assert sorted(read_run(write(floats, format=format)).ids) == [*"01234567"]


@pytest.mark.parametrize("format", FORMATS)
def test_files_with_the_same_questions_are_runs_if_their_names_say_so(monkeypatch, write, format):
    names = write(files=2, format=format)
    both(monkeypatch, names)
    other = [str(Path(names[0]).rename(Path(names[0]).with_name(f"gpt.{format}"))), names[1]]
    with pytest.raises(SelectionError, match="have the same questions, such as"):
        read_run(other)
    both(monkeypatch, other, pool=["files"])
    Path(other[1]).write_bytes(Path(other[0]).read_bytes())
    with pytest.raises(ValueError, match="contains all rows of"):
        read_run(other)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_without_a_chosen_row_or_with_other_columns_is_told(write, format):
    models = write({"model": lambda x, number: ["ab"[number]] * 500}, files=2, format=format)
    with pytest.raises(ValueError, match=r"run-1.* contributes no row\. No row has 'a'"):
        read_run(models, where={"model": "a"}, pool=["files"])
    others = [write({"x": lambda columns, _: columns["id"]}, format=format)[0], models[1]]
    with pytest.warns(UserWarning, match="Only columns that all files have are read"):
        read_run(others, pool=["files"])


@pytest.mark.parametrize(
    "changes",
    [
        {"reward": lambda columns, _: columns["correct"]},
        {"task_id": lambda columns, _: columns["id"]},
        {"n": [4] * 500},
        {"id": lambda columns, _: [[x] for x in columns["id"]]},
    ],
)
@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_what_names_and_types_do_not_decide_is_read_whole(write, changes, format):
    names = write(changes, format=format)
    assert counting.counted_run(names, make_reading(), print) is None


def test_pooled_samples_and_outcomes_that_are_hardly_ever_equal_are_read_whole(monkeypatch, write):
    numbered_files = write({"sample_id": range(500)})
    assert isinstance(read_run(numbered_files, pool=["sample_id"])["predictions"], list)
    monkeypatch.setattr(counting, "_MOST_KEPT", 100)
    names = write({"correct": np.random.default_rng(1).random(500)})
    assert isinstance(read_run(names)["predictions"], list)


@pytest.mark.parametrize("name", ["m[1].jsonl", "m1*.jsonl", "model=b/run.jsonl"])
def test_a_name_with_wildcards_or_an_equals_sign_is_that_of_one_file(tmp_path, write, name):
    [written] = write({"model": ["a"] * 500}, format="jsonl")
    (tmp_path / "m1.jsonl").write_text('{"id": "x", "correct": true, "model": "a"}\n')
    (tmp_path / "model=b").mkdir()
    run = read_run([str(Path(written).rename(tmp_path / name))], where={"model": "a"})
    assert isinstance(run["predictions"], dict)
    assert len(run.ids) == 20


def test_samples_in_order_are_read_whole_and_bools_are_labels(capsys, write):
    [name] = write({"correct": [i % 25 == 0 for i in range(500)]})
    budget = ("gpassk", name, "--include", "pass@k", "--budget", 100)
    assert "is correct, and others follow" in error_of(capsys, *budget)
    groups = {"group": lambda columns, _: [x == "q1" for x in columns["id"]]}
    run = read_run(write(groups, format="jsonl"), groups="group")
    assert {*run["groups"]} == {True, False}


def test_rows_in_the_middle_that_occur_again_are_found(monkeypatch, write):
    monkeypatch.setattr(counting, "_LOOKED_AT", 1)

    def again(columns, _):
        columns["id"][:] = [f"q{i // 5}" for i in (*range(400), *range(150, 250))]
        columns["correct"][400:] = columns["correct"][150:250]
        uids = [f"{random.Random(i).getrandbits(128):032x}" for i in range(400)]
        return uids + uids[150:250]

    with pytest.raises(SelectionError, match="have the same sample: uid"):
        read_run(write({"uid": again}))


@pytest.mark.parametrize(
    ("changes", "format"),
    [
        ({"info.error": [None] * 480 + ["HTTP 429"] * 20}, "csv"),
        ({"info": [{"error": None}] * 480 + [{"error": "HTTP 429"}] * 20}, "jsonl"),
        ({"info": [{"error": None}] * 480 + [{"error": "HTTP 429"}] * 20}, "parquet"),
        ({"info": [{"sample_id": i} for i in range(480)] + [{"sample_id": 479}] * 20}, "jsonl"),
    ],
)
def test_fields_that_say_that_a_sample_failed_are_read_in_all_rows(
    monkeypatch, write, changes, format
):
    monkeypatch.setattr(counting, "_LOOKED_AT", 1)
    # The failures are between the first and the last question, which are looked at.
    moved = {x: [*y[:100], *y[480:], *y[100:480]] for x, y in changes.items()}
    with pytest.raises(SelectionError, match=r"20 of 500 outcomes are mis|have the same sam"):
        read_run(write(FOURS | moved, format=format))


def test_other_types_of_texts_are_counted(monkeypatch, tmp_path, write):
    table = pq.read_table(write()[0])
    texts = pa.array(table["id"].to_pylist())
    for name, ids in (("views", texts.cast(pa.string_view())), ("a", texts.dictionary_encode())):
        pq.write_table(table.set_column(0, "id", ids), tmp_path / f"{name}.parquet")
        both(monkeypatch, [str(tmp_path / f"{name}.parquet")])
