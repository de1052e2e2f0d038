"""Files that would give a wrong number without a word, or end the interpreter."""

import bz2
import gzip
import json
import lzma
import warnings
from decimal import Decimal
from typing import Any

import at_k
import numpy as np
import pandas as pd
import polars as pl
import pytest
from at_k.cli.command import main
from at_k.readers import opening
from at_k.readers.run import read_run
from at_k.readers.table import SelectionError
from hostile_files import check_files
from logs import refused
from run_command import error_of, pass_at_k, write_json_lines

# --- Rows that vanish -------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("unclosed", [1, 4, 8])
def test_a_quote_that_is_not_closed_is_an_error_with_the_line(
    tmp_path, unclosed, compress, separator
):
    rows = [["id", "outcome", "note"], *([str(i), "1", f'"note {i}"'] for i in range(9))]
    rows[unclosed][2] = rows[unclosed][2].rstrip('"')
    text = "".join(f"{separator.join(row)}\n" for row in rows)
    suffix = ("csv" if separator == "," else "tsv") + (".gz" if compress is not bytes else "")
    file = tmp_path / f"run.{suffix}"
    file.write_bytes(compress(text.encode()))
    # The quote opened in this line is closed by that of the next, or never.
    refused(file, rf"line {unclosed + 1}: .*quote", outcomes="outcome")


@pytest.mark.parametrize(
    "text",
    [
        'id,outcome,note\n1,1,"a"\n2,1,"cut\n3,0,b\n4,0,c\n5,1,"\n6,0,d\n',
        'id\tanswer\toutcome\n1\t7\t1\n2\t"so, it is 7\t1\n3\tx"\t0\n4\ty\t1\n',
    ],
)
def test_quotes_that_make_one_row_of_several_are_refused(tmp_path, text):
    file = tmp_path / ("run.tsv" if "\t" in text else "run.csv")
    file.write_text(text)
    refused(file, r"line 3: a quote is closed in a later line, and each of", outcomes="outcome")


def test_texts_of_several_lines_are_no_rows(tmp_path):
    text = 'id,outcome,note\n1,1,"so, 2, 3\nthen, that is, all\nand 4"\n2,0,"a ""quoted"" word"\n'
    text += '3,1,"one, or\nanother, and\na third, too"\n'
    (tmp_path / "run.csv").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert at_k.read(tmp_path / "run.csv", outcomes="outcome")["predictions"] == [[1], [0], [1]]


def test_lists_of_samples_of_one_row_have_one_length():
    rows = [{"id": i, "outputs": [*"abc"], "correct": [1, 0, 1]} for i in range(5)]
    rows[3]["correct"] = [1, 0]
    refused(rows, r"row 3 .*: outputs has 3 entries, and correct has 2")


@pytest.mark.parametrize("rows", [1, 50_000])
def test_an_entry_that_replaces_another_one_in_an_object_is_an_error(tmp_path, rows):
    file = tmp_path / "run.jsonl"
    file.write_text('{"id": 1, "outcomes": [1]}\n' * rows + '{"id": 2, "outcomes": 1, "id": 3}\n')
    refused(file, f"line {rows + 1}: .* has the key 'id' twice")


# --- Ids --------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_rows_without_an_id_are_an_error_with_the_rows(tmp_path, missing):
    frame = pd.DataFrame({"id": ["q1", missing, "q2", missing], "outcome": [1, 1, 0, 1]})
    frame.to_csv(tmp_path / "run.csv", index=False)
    (tmp_path / "run.jsonl").write_text('{"id": 1, "outcome": 1}\n{"id": NaN, "outcome": 0}\n' * 2)
    of_csv = [read(tmp_path / "run.csv") for read in (pd.read_csv, pl.read_csv)]
    for source in (frame, *of_csv, tmp_path / "run.jsonl"):
        refused(source, r"row 1 \(from 0\) has no id", questions="id", outcomes="outcome")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_libraries_write_for_a_missing_id_is_no_id(tmp_path, kind):
    ids = [str(entry) for entry in ("a", np.nan, np.nan)]
    frame = pd.DataFrame({"id": ids, "correct": [True, True, False]})
    getattr(frame, f"to_{kind}")(tmp_path / f"run.{kind}", index=False)
    refused(tmp_path / f"run.{kind}", r"as id, so the question is unknown")


@pytest.mark.parametrize(("first", "second"), [("q1", "q1 "), ("q 1", "q\u00a01"), ("q 1", "q  1")])
def test_ids_that_differ_by_spaces_only_are_asked_about(first, second):
    columns = {"id": [first, "q2", second, "q2"], "outcome": [1, 0, 1, 0]}
    message = r"rows 0 and 2 \(from 0\) have a id that differs by spac"
    refused(columns, message, questions="id", outcomes="outcome")


def test_groups_and_clusters_that_differ_by_spaces_only_are_asked_about():
    rows = [{"id": i, "passed": i % 2, "topic": x} for i, x in enumerate(("math", "law", "math "))]
    for named in ({"groups": "topic"}, {"columns": {"clusters": "topic"}}):
        refused(rows, r"rows 0 and 2 \(from 0\) have a topic that differs by", **named)


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, Decimal("nan"), np.float16("nan")])
@pytest.mark.parametrize("parameter", ["groups", "clusters"])
def test_a_group_or_a_cluster_that_is_missing_is_an_error(gpassk, missing, parameter):
    options = {"confidence": 0.9, "interval": "questions"} if parameter == "clusters" else {}
    outcomes = [[0, 1], [1, 1], [0, 0]]
    with pytest.raises(ValueError, match=rf"{parameter}\[1\]"):
        gpassk.compute(predictions=outcomes, k=1, **{parameter: ["a", missing, "b"]}, **options)


# --- Counts -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1,000", "1.000", "1 000", "1'000"])
def test_separators_of_thousands_in_counts_are_an_error_with_the_row(number):
    rows = [{"id": i, "n": number, "c": number} for i in range(2)]
    refused(rows, r"row 0 .*: n is .* a count is a whole number")


@pytest.mark.parametrize("bad", ["", "NA", "8.5", "eight"])
@pytest.mark.parametrize("column", ["n", "correct"])
def test_a_bad_number_in_a_table_of_counts_is_an_error_with_the_row(tmp_path, bad, column):
    rows = [{"question_id": i, "n": 8, "correct": i} for i in range(4)]
    rows[2][column] = bad
    pd.DataFrame(rows).to_csv(tmp_path / "counts.csv", index=False)
    refused(tmp_path / "counts.csv", rf"row 2 \(from 0\): {column} is .*a count is a whole")


def test_samples_of_which_some_are_numbers_are_no_counts():
    columns = {"id": [1, 1, 2, 2], "samples": ["7", "no", "8", "?"], "correct": [1, 0, 1, 0]}
    assert at_k.read(columns, outcomes="correct")["predictions"] == [[1, 0], [1, 0]]


# --- Rows inside of one object ----------------------------------------------------------

NESTED: dict[str, Any] = {
    "version": 3,
    "results": {
        "rows": [
            {"ok": bool(i % 3), "vars": {"q": f"question {i // 4}"}, "cost": 0.1} for i in range(16)
        ]
    },
}


def test_rows_inside_of_one_object_are_read_where_they_are(capsys, tmp_path):
    file = tmp_path / "nested.json"
    file.write_text(json.dumps(NESTED))
    flags = ("--outcomes", "ok", "--questions", "vars.q", "--records", "results.rows")
    scores = pass_at_k(capsys, file, *flags, k=2)
    outcomes = np.array([x["ok"] for x in NESTED["results"]["rows"]], int).reshape(4, 4)
    assert scores == {"pass@2": at_k.pass_at_k(outcomes, 2)}
    whole = ("--outcomes", "results.rows.ok", "--questions", "results.rows.vars.q")
    assert pass_at_k(capsys, file, *whole, k=2) == scores


@pytest.mark.parametrize(
    ("beside", "ways"),
    [
        ({"total": 4, "correct": 2}, ", or --n total --correct correct (each row"),
        ({"correct": True}, ", or --outcomes correct (already graded)"),
        ({"score": 0.5}, ""),
        ({"accuracy": 0.5, "results": {"acc": 0.5}}, ""),
    ],
)
@pytest.mark.parametrize("path", ["details", "meta.runs.details"])
def test_scores_beside_rows_are_no_samples(capsys, tmp_path, beside, ways, path):
    rows = [{"id": i, "correct": i % 2} for i in range(4)]
    for inner in (
        rows,
        {f"q{i}": row for i, row in enumerate(rows)},
        {"a": rows[:2], "b": rows[2:]},
    ):
        content: Any = inner
        for name in reversed(path.split(".")):
            content = {name: content}
        (file := tmp_path / "a.json").write_text(json.dumps(beside | content))
        error = error_of(capsys, "gpassk", file)
        assert f"Add --records {path} (the rows of one object){ways}" in error
        assert pass_at_k(capsys, file, "--records", path) == {"pass@1": 0.5}


@pytest.mark.parametrize("key", ["results", "m", "samples", "correct"])
def test_rows_below_one_key_are_not_taken_for_samples_of_one_question(capsys, tmp_path, key):
    rows = [{"uid": q, "ok": True, "correct": q % 3 > 0} for q in range(6) for _ in range(2)]
    file = tmp_path / "a.json"
    file.write_text(json.dumps({key: rows}))
    assert error_of(capsys, "gpassk", file).endswith(
        f"Add --records {key} (the rows of one object).\n"
    )
    named = ("--records", key, "--questions", "uid")
    assert pass_at_k(capsys, file, *named, k=2) == {"pass@2": 4 / 6}


@pytest.mark.parametrize(
    ("results", "path"),
    [
        ({"math": [[1, 0], [1, 1]], "code": [[0, 1]]}, "results.math"),
        ({"q": [1], "r": [0]}, "results"),
    ],
)
def test_lists_of_outcomes_inside_of_an_object_are_no_scores(capsys, tmp_path, results, path):
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"model": "m", "results": results}))
    assert "is one object of JSON, with rows in results. Add --rec" in error_of(
        capsys, "gpassk", file
    )
    assert pass_at_k(capsys, file, "--records", path)["pass@1"] in (0.75, 0.5)


@pytest.mark.parametrize("named", [(), ("--questions", "id")])
def test_lists_in_texts_are_samples_also_if_the_ids_are_named(capsys, tmp_path, named):
    (tmp_path / "a.csv").write_text('id,responses,gold\na,"[""1"", ""2""]",1\nb,"[""3""]",2\n')
    assert pass_at_k(capsys, tmp_path / "a.csv", *named, k=1) == {"pass@1": 0.25}


def test_lists_in_a_column_of_single_answers_are_refused(capsys, tmp_path):
    lists = "id,response,gold\na,\"['1', '2']\",{}\nb,\"['3', '4']\",5\n"
    (tmp_path / "a.csv").write_text(lists.format(1))
    assert "row 0 (from 0): response is " in error_of(capsys, "gpassk", tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(lists.format("\"['1', '2']\""))  # these answers are lists
    assert pass_at_k(capsys, tmp_path / "a.csv", k=1) == {"pass@1": 0.5}


def test_samples_that_have_ids_of_questions_beside_them_are_not_merged(capsys, tmp_path):
    trials = [
        {"task_id": f"t{i // 2}", "info": {"reward": i % 2}, "usage": {"prompt": i}}
        for i in range(6)
    ]
    (tmp_path / "run.json").write_text(json.dumps({"about": {}, "trials": trials}))
    flags = (tmp_path / "run.json", "--outcomes", "trials.info.reward")
    error = error_of(capsys, "gpassk", *flags)
    assert "Add --questions trials.task_id (what identifies a question), or" in error
    run = at_k.read(flags[0], outcomes=flags[2], questions="trials.task_id")
    assert run["predictions"] == [[0, 1]] * 3
    run = at_k.read({"doc_id": [["a", "b"], ["c", "d"]], "outcomes": [[1, 0], [1, 1]]})
    assert (run.ids, run["predictions"]) == ([*"abcd"], [[1], [0], [1], [1]])


def test_a_prompt_of_messages_is_one_id():
    prompt = [{"role": role, "content": "text"} for role in ("system", "user")]
    columns = {"prompt": [prompt], "outcomes": [[1, 0]]}
    assert at_k.read(columns, questions="prompt")["predictions"] == [[1, 0]]


def test_records_that_are_no_objects_are_refused(tmp_path):
    file = tmp_path / "nested.json"
    file.write_text(json.dumps({"rows": {"a": [1, 2]}}))
    with pytest.raises(ValueError, match=r"rows.a, row 0 \(from 0\) is 1: write an object"):
        read_run(file, records="rows.a")
    with pytest.raises(SelectionError, match=r"no column 'rows.b'"):
        read_run(file, records="rows.b")


def test_a_verdict_inside_of_an_object_is_one_of_the_readings():
    rows = [{"id": x, "response": "r", "judge_response": {"correct": "yes"}} for x in "ab"]
    refused(rows, r"can be read in .* ways.*outcomes='judge_response.correct'")


def test_lists_of_objects_in_a_list_are_no_samples(tmp_path):
    file = tmp_path / "runs.json"
    file.write_text(json.dumps([[{"id": x, "passed": True} for x in "ab"] for _ in range(3)]))
    with pytest.raises(ValueError, match=r"row 0 \(from 0\) is a list of objects, which can be"):
        at_k.read(file)


# --- Files without a row ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": 9, "filter": "b", "outcome": 1}], "No row has 'a' in filter"),
        ([{"id": 9, "outcome": 1}], "There is no column 'filter'"),
    ],
)
def test_a_file_that_contributes_no_row_is_an_error(tmp_path, rows, message):
    first = [{"id": i, "filter": "a", "outcome": 1} for i in range(3)]
    parts = {"one": first, "two": rows}
    files = [write_json_lines(tmp_path / f"{name}.jsonl", x) for name, x in parts.items()]
    chosen = {"where": {"filter": "a"}, "outcomes": "outcome"}
    assert message in str(refused(files, r"two\.jsonl contributes no row", **chosen))


# --- Crashes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "null",
        "17",
        "[" * 50_000 + "]" * 50_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"id": 2, "outcomes": ' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"id": 2, "outcomes": ' + '["]]]]", ' * 20_000 + "1" + "]" * 20_000 + "}",
    ],
    ids=len,
)
def test_lines_that_are_no_rows_are_errors(tmp_path, line):
    row = '{"id": 1, "outcomes": [0, 1, 1]}'
    for lines in ([line, row], [row, line]):
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        refused(tmp_path / "a.jsonl", r"a\.jsonl, (row|from line) [012]")


COMPRESSIONS: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_small_file_that_holds_much_is_refused(tmp_path, suffix, monkeypatch):
    text = ('{"id": 1, "outcomes": [0, 1]}\n' + " " * 4_000_000 + "\n").encode()
    file = tmp_path / f"bomb.jsonl{suffix}"
    file.write_bytes(COMPRESSIONS[suffix](text))
    monkeypatch.setattr(opening, "_memory", lambda: 4e6)
    refused(file, r"holds more than 0\.002 GB when it is decompressed")
    monkeypatch.setattr(opening, "_memory", lambda: 1e7)
    assert at_k.read(file)["predictions"] == [[0, 1]]


def test_a_file_of_zeros_is_refused_by_default(tmp_path):
    file = tmp_path / "zeros.csv.gz"
    block = gzip.compress(bytes(100_000_000), 1)
    file.write_bytes(block * 12)  # members of gzip, one after the other
    assert file.stat().st_size < 10_000_000
    refused(file, "holds more than 1 GB when it is decompressed")


# --- Logs without outcomes --------------------------------------------------------------


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_log_of_inspect_ai_that_failed_before_scoring_is_refused_with_its_status(
    tmp_path, status
):
    samples = [{"id": i, "epoch": 1, "target": "4", "output": {"completion": ""}} for i in range(3)]
    log = {"version": 2, "status": status, "plan": {}, "samples": samples}
    log["eval"] = {"model": "m", "task": "sums"}
    (tmp_path / "log.json").write_text(json.dumps(log))
    refused(tmp_path / "log.json", f"log of sums has the status '{status}', and no sample")
    log["samples"] = None
    (tmp_path / "log.json").write_text(json.dumps(log))
    refused(tmp_path / "log.json", f"status '{status}'")


def test_a_perplexity_of_lm_evaluation_harness_is_refused(tmp_path):
    rows = [
        {
            "doc_id": i,
            "doc": {"page": "words"},
            "target": "words",
            "arguments": {},
            "resps": [[-12.5 - i]],
            "filtered_resps": [-12.5 - i],
            "word_perplexity": [-12.5 - i, 2],
            "filter": "none",
        }
        for i in range(3)
    ]
    file = write_json_lines(tmp_path / "samples_wikitext_2026-01-01T00-00-00.000.jsonl", rows)
    refused(file, "There is no column with a usual name for samples")


def test_damaged_files_give_questions_or_an_error_that_says_why():
    problems = check_files(150, first_seed=7)
    assert not problems, "\n".join(map(str, problems))


# --- Names of columns and files -----------------------------------------------------------


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "json"])
@pytest.mark.parametrize("names", [("Task ID", "Is Correct"), ("taskId", "isCorrect")])
def test_words_of_a_name_may_be_joined_in_any_way(tmp_path, names, suffix):
    columns = dict(zip(names, ([1, 1, 2, 2], [1, 0, 0, 0]), strict=True))
    frame, file = pd.DataFrame(columns), tmp_path / f"a.{suffix}"
    if suffix == "csv":
        frame.to_csv(file, index=False)
    elif suffix == "jsonl":
        frame.to_json(file, orient="records", lines=True)
    else:  # an object of columns, whose keys are no ids
        file.write_text(json.dumps(columns))
    run = at_k.read(file)
    assert run.ids == ["1", "2"]
    assert [list(map(int, row)) for row in run["predictions"]] == [[1, 0], [0, 0]]


def test_the_keys_of_a_frame_by_rows_are_no_ids(tmp_path):
    frame = pd.DataFrame({"task_id": ["a", "a", "b"], "correct": [1, 0, 0]})
    frame.to_json(tmp_path / "a.json", orient="index")
    assert at_k.read(tmp_path / "a.json")["predictions"] == [[1, 0], [0]]


# --- What a message has to say ------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "flags", "message"),
    [
        ([{"id": 1, "x": 1}], ["--outcomes", "idd"], "no column 'idd'. Did you mean 'id'? The"),
        (
            [{"My id": q, "Prompt style": s, "correct": 1} for q in range(4) for s in ("a b", "c")],
            ["--questions", "My id"],
            "Add --where 'Prompt style=a b' (only these samples), or --groups 'Prompt style' "
            "--questions 'My id' 'Prompt style' (scores for each of them), or ",
        ),
        (
            [{"id": 1, "pred": "1"}],
            ["--references", "gold.csv"],
            "There is no file 'gold.csv' with references, nor a column of this name.",
        ),
        ([{"a": 1, "my answer": 2}], [], "The columns are a, 'my answer'."),
        ([{"id": 1, "correct": 1}], ["--correct-values", "yes"], "--correct-values has 'yes', and"),
    ],
)
def test_a_message_says_what_to_type(capsys, tmp_path, rows, flags, message):
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    assert message in error_of(capsys, "gpassk", file, "--k", 1, *flags)


def test_a_text_with_a_nul_character_is_damaged(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,correct\n1,1\n\x001,0\n")
    refused(tmp_path / "a.csv", r"a\.csv, line 3: the text has a NUL character")


# --- Names that tell what columns hold --------------------------------------------------


def test_numbered_outcomes_beside_answers_are_not_checked(capsys, tmp_path):
    text = "id,answer,correct_1,correct_2\n1,42,1,0\n2,7,1,1\n"
    (tmp_path / "a.csv").write_text(text)
    assert pass_at_k(capsys, tmp_path / "a.csv") == {"pass@1": 0.75}
    (tmp_path / "a.csv").write_text(text.replace("correct", "run"))
    error = error_of(capsys, "gpassk", tmp_path / "a.csv")
    flags = "--outcomes run_1 run_2"
    assert error.endswith(
        f"Add {flags} (already graded), or --predictions run_1 run_2 --references answer "
        "(samples to be checked).\n"
    )
    assert pass_at_k(capsys, tmp_path / "a.csv", *flags.split()) == {"pass@1": 0.75}
    read = at_k.read(tmp_path / "a.csv", outcomes=["run_1", "run_2"])
    assert read["predictions"] == [[1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("columns", "ways"),
    [
        (
            "answer_1,answer_2,correct_1,correct_2",
            "--predictions answer_1 answer_2 --references COLUMN (samples to be checked), or "
            "--outcomes answer_1 answer_2 (already graded), or "
            "--outcomes correct_1 correct_2 (already graded)",
        ),
        (
            "response_1,response_2",
            "--predictions response_1 response_2 --references COLUMN (samples to be checked), or "
            "--outcomes response_1 response_2 (already graded)",
        ),
    ],
)
def test_numbered_answers_are_no_outcomes_by_themselves(capsys, tmp_path, columns, ways):
    cells = ",".join("1" * len(columns.split(",")))
    (tmp_path / "a.csv").write_text(f"id,{columns}\n1,{cells}\n2,{cells}\n")
    assert error_of(capsys, "gpassk", tmp_path / "a.csv").endswith(f"Add {ways}.\n")


def test_columns_that_differ_by_a_number_may_have_a_sample_each(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("id,seed42,seed43\n1,1,0\n2,1,1\n")
    error = error_of(capsys, "gpassk", tmp_path / "a.csv")
    assert "Columns with a sample each are named together" in error
    scores = pass_at_k(capsys, tmp_path / "a.csv", "--outcomes", "seed42", "seed43")
    assert scores == {"pass@1": 0.75}
    (tmp_path / "b.csv").write_text("id,pass@1,pass@8\n1,1,1\n2,0,1\n")  # scores
    assert "If several" not in error_of(capsys, "gpassk", tmp_path / "b.csv")


def test_a_flag_that_is_given_twice_loses_no_value(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("id,part,seed_42,seed_43\n1,x,1,0\n1,y,1,0\n")
    flags = "--outcomes seed_42 --outcomes seed_43 --questions id --questions part"
    assert pass_at_k(capsys, tmp_path / "a.csv", *flags.split()) == {"pass@1": 0.5}
    for flag in ("--groups", "--references", "--clusters"):
        with pytest.raises(SystemExit):
            main(["gpassk", str(tmp_path / "a.csv"), flag, "id", flag, "part"])
        assert f"argument {flag}: give it once" in capsys.readouterr().err


@pytest.mark.parametrize(
    "names", ["right wrong", "True False", "C I", "pass fail", "correct incorrect", "1 0"]
)
def test_columns_of_counts_have_the_outcomes_of_their_names(capsys, tmp_path, names):
    for ordered in (names.split(), names.split()[::-1]):
        counts = {"id": "a", names.split()[0]: 3, names.split()[1]: 1}
        file = write_json_lines(tmp_path / "a.jsonl", [counts])
        assert pass_at_k(capsys, file, "--counts", *ordered) == {"pass@1": 0.75}
    counts |= {"total": 4}
    file = write_json_lines(tmp_path / "a.jsonl", [counts])
    error = error_of(capsys, "gpassk", file, "--counts", names.split()[0], "total")
    assert "column total, which is no outcome as the others are" in error


def test_columns_0_and_1_may_be_a_table_of_counts(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("id,0,1\na,0,1\nb,0,1\nc,1,0\n")
    error = error_of(capsys, "gpassk", tmp_path / "a.csv")
    assert "Add --counts 0 1 (the number of samples in each outcome), or --outcomes 0 1" in error
    scores = pass_at_k(capsys, tmp_path / "a.csv", "--counts", 0, 1)
    assert scores == {"pass@1": pytest.approx(2 / 3)}
    flags = ("--outcomes", 0, "--outcomes", 1)
    assert pass_at_k(capsys, tmp_path / "a.csv", *flags) == {"pass@1": 0.5}


def test_counts_are_read_as_read_returns_them(capsys, tmp_path):
    (tmp_path / "a.json").write_text('{"predictions": {"n": [4, 8], "correct": [2, 2]}}')
    assert pass_at_k(capsys, tmp_path / "a.json") == {"pass@1": 0.375}


def test_an_empty_cell_is_no_group(tmp_path):
    (tmp_path / "a.csv").write_text("id,g,correct\n1,x,1\n2,,0\n3,x,1\n")
    run = at_k.read(tmp_path / "a.csv", groups="g")
    with pytest.raises(ValueError, match=r"groups\[1\] is None: give every question a label"):
        at_k.load("gpassk").compute(**run, k=1, average="groups")


# --- Rows of a tool with further columns ------------------------------------------------


def test_a_prompt_beside_the_columns_of_a_tool_is_a_setting(tmp_path):
    rows = [
        {"task_id": f"H/{task}", "prompt": prompt, "completion": f"{task}{prompt}"}
        | {"result": "", "passed": prompt == "A"}
        for task in range(4)
        for prompt in "AB"
    ]
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    refused(file, "have different values of prompt: 'A', 'B'")
    assert at_k.read(file, where={"prompt": "A"})["predictions"] == [[True]] * 4


def test_a_text_of_a_tool_with_two_references_is_no_id(tmp_path):
    rows = [
        {"problem": problem, "expected_answer": expected, "predicted_answer": "A"}
        | {"generation": "", "symbolic_correct": expected == "A"}
        for problem, expected in [("Which?", "A"), ("Which?", "B"), ("2 + 2?", "A")]
    ]
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    refused(file, "have different values of expected_answer: 'A', 'B'")


def test_prompts_of_promptfoo_are_no_samples(tmp_path):
    results = [
        {"testCase": {"vars": {"q": test}}, "prompt": {"label": prompt}, "provider": {"id": "m"}}
        | {"failureReason": 0, "success": prompt == "A", "testIdx": test, "promptIdx": 0}
        for test in (1, 2)
        for prompt in "AB"
    ]
    log = {"evalId": "1", "results": {"results": results}, "config": {}}
    (tmp_path / "a.json").write_text(json.dumps(log))
    refused(tmp_path / "a.json", "have different values of prompt_name: 'A', 'B'")


@pytest.mark.parametrize("late", ["error", "model"])
def test_a_key_that_occurs_late_in_a_large_file_is_read(monkeypatch, tmp_path, late):
    monkeypatch.setattr("at_k.readers.counting.LEAST_BYTES", 0)
    monkeypatch.setattr("at_k.readers.counting._HEAD_BYTES", 1 << 10)
    rows: list[dict[str, Any]] = [{"id": i // 2, "correct": i % 2} for i in range(200)]
    rows[-1] |= {late: "timeout"}
    rows[-2] |= {"model": "m"} if late == "model" else {}
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    refused(file, "missing" if late == "error" else "different values of model")


def test_equal_rows_with_lists_are_found_in_a_large_file(monkeypatch, tmp_path):
    monkeypatch.setattr("at_k.readers.counting.LEAST_BYTES", 0)
    rows = [{"id": i // 2, "messages": [f"{i}"], "correct": i % 2} for i in range(60)]
    file = write_json_lines(tmp_path / "a.jsonl", rows * 2)
    refused(file, "have the same sample: messages")
    assert [len(row) for row in at_k.read(file, pool="messages")["predictions"]] == [4] * 30
