"""The command: files of every kind, flags read off the metric, tables, JSON, errors."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import at_k
import datasets
import pytest
from at_k.cli.command import main
from at_k.cli.tables import aligned, score_table
from conftest import ROOT

TEXTS = [["a", "b", "a"], ["b", "a", "b", "b"]]
KEYS = ["a", "b"]
WANTED = {"pass@2": 1.0, "pass^2": (1 / 3 + 1 / 2) / 2}
FLAGS = ("--k", "2", "--include", "pass@k", "pass^k")


def at_k_prints(capsys, *arguments) -> str:
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def at_k_refuses(capsys, *arguments) -> str:
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def rows(**names: str) -> list[dict]:
    """The two questions as rows, with the columns named."""
    columns: dict[str, list] = {"predictions": TEXTS, "references": KEYS}
    return [
        {name: columns[role][i] for role, name in names.items()} | {"other": 1} for i in range(2)
    ]


def write(path: Path, rows: list[dict]) -> Path:
    table = datasets.Dataset.from_list(rows)
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        as_text = [{key: json.dumps(value) for key, value in row.items()} for row in rows]
        datasets.Dataset.from_list(as_text).to_csv(path, index=False)
    return path


@pytest.fixture(autouse=True)
def quiet(capsys):
    """What `datasets` says while a test writes its files is not what the command says."""
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet"])
def test_files_of_every_kind_score_alike(capsys, tmp_path, ending):
    file = write(
        tmp_path / f"samples{ending}", rows(predictions="predictions", references="answer")
    )
    assert json.loads(at_k_prints(capsys, "gpassk", file, *FLAGS, "--json")) == WANTED


@pytest.mark.parametrize("cell", [json.dumps, repr])
@pytest.mark.parametrize(("ending", "comma"), [(".csv", ","), (".tsv", "\t")])
def test_a_csv_has_lists_in_its_cells(capsys, tmp_path, cell, ending, comma):
    import csv

    file = tmp_path / f"samples{ending}"
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=comma)
        writer.writerow(["samples", "reference"])
        writer.writerows(
            [cell(samples), answer] for samples, answer in zip(TEXTS, KEYS, strict=True)
        )
    assert json.loads(at_k_prints(capsys, "gpassk", file, *FLAGS, "--json")) == WANTED


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_or_a_sample_in_each_row(capsys, tmp_path, ending):
    table = datasets.Dataset.from_list(
        [
            {"task_id": i, "response": sample, "target": KEYS[i], "topic": f"t{i}"}
            for place in range(4)
            for i in range(2)
            for sample in TEXTS[i][place : place + 1]
        ]
    )
    file = tmp_path / f"samples.{ending}"
    table.to_csv(file, index=False) if ending == "csv" else table.to_json(file)
    printed = at_k_prints(capsys, "gpassk", file, *FLAGS, "--json", "--groups", "topic")
    scores = json.loads(printed)
    assert scores.items() >= WANTED.items()
    assert scores["t1/pass^2"] == 0.5
    assert (
        json.loads(at_k_prints(capsys, "gpassk", file, *FLAGS, "--json", "--questions", "topic"))
        == WANTED
    )


def test_samples_of_one_question_with_unlike_references_are_refused(capsys, tmp_path):
    file = tmp_path / "samples.csv"
    file.write_text("id,sample,reference\n1,a,a\n1,b,b\n")
    error = at_k_refuses(capsys, "gpassk", file, "--predictions", "sample", "--k", 1)
    assert "Rows 0 and 1" in error
    assert "the same id, '1', but different references: 'a' and 'b'" in error


def test_columns_can_be_named(capsys, tmp_path):
    file = write(tmp_path / "s.jsonl", rows(predictions="drawn", references="key"))
    assert "--predictions" in at_k_refuses(capsys, "gpassk", file)
    named = ("--predictions", "drawn", "--references", "key", "--groups", "key")
    scores = json.loads(at_k_prints(capsys, "gpassk", file, *FLAGS, *named, "--json"))
    assert scores == WANTED | {"a/pass@2": 1.0, "a/pass^2": 1 / 3, "b/pass@2": 1.0, "b/pass^2": 0.5}
    error = at_k_refuses(capsys, "gpassk", file, "--predictions", "drawm")
    assert "'drawm'" in error
    assert "drawn, key, other" in error


def test_outcomes_need_no_references_even_beside_an_answer(capsys, tmp_path):
    file = tmp_path / "outcomes.jsonl"
    file.write_text('{"correct": [true, false, true], "answer": "7"}\n{"correct": [false]}\n')
    scores = json.loads(
        at_k_prints(capsys, "gpassk", file, "--k", 1, "--include", "pass@k", "--json")
    )
    assert scores == {"pass@1": pytest.approx(1 / 3)}


def test_a_saved_dataset_and_its_splits(capsys, tmp_path):
    table = datasets.Dataset.from_list(rows(predictions="predictions", references="answer"))
    table.save_to_disk(tmp_path / "one")
    assert json.loads(at_k_prints(capsys, "gpassk", tmp_path / "one", *FLAGS, "--json")) == WANTED
    datasets.DatasetDict({"dev": table, "test": table}).save_to_disk(tmp_path / "two")
    assert "the splits dev, test" in at_k_refuses(capsys, "gpassk", tmp_path / "two", *FLAGS)
    chosen = ("--split", "dev", "--json")
    assert json.loads(at_k_prints(capsys, "gpassk", tmp_path / "two", *FLAGS, *chosen)) == WANTED


def test_a_folder_of_files_is_a_dataset(capsys, tmp_path):
    table = datasets.Dataset.from_list(rows(predictions="predictions", references="answer"))
    for split in ("train", "test"):
        table.to_parquet(tmp_path / f"{split}.parquet")
    chosen = ("--split", "test", "--json")
    assert json.loads(at_k_prints(capsys, "gpassk", tmp_path, *FLAGS, *chosen)) == WANTED
    assert "the splits train, test" in at_k_refuses(capsys, "gpassk", tmp_path, *FLAGS)


def test_json_is_exactly_the_dict_of_the_metric(capsys):
    file = ROOT / "shared/at_k/samples/smollm2_warm.jsonl"
    table = datasets.Dataset.from_json(str(file))
    wanted = at_k.load("gpassk").compute(
        predictions=table["predictions"],
        references=table["reference"],
        groups=table["topic"],
        check_correct_fn="numeric",
        k=[3, 8],
        thresholds=[0.5, 1.0],
        confidence=0.9,
        beta0=2.0,
        return_per_question=True,
    )
    flags = "--check-correct-fn numeric --k 3 8 --thresholds 0.5 1 --confidence 0.9 --beta0 2"
    printed = at_k_prints(
        capsys,
        "gpassk",
        file,
        "--groups",
        "topic",
        *flags.split(),
        "--return-per-question",
        "--json",
    )
    assert json.loads(printed) == wanted
    assert list(json.loads(printed)) == list(wanted)


def test_a_judge_of_ones_own_is_named_by_module_and_function(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import functools\ndef check(p, r): return p != r\nagain = functools.partial(check)"
    )
    file = write(tmp_path / "s.jsonl", rows(predictions="samples", references="answer"))
    judged = ("--check-correct-fn", "mine:check", "--json")
    scores = json.loads(at_k_prints(capsys, "gpassk", file, *FLAGS, *judged))
    assert scores["pass^2"] == 0.0
    again = at_k_prints(capsys, "gpassk", file, *FLAGS, "--check-correct-fn", "mine:again")
    assert "checked against answer with partial" in again
    with pytest.raises(SystemExit):
        main(["gpassk", str(file), "--check-correct-fn", "mine:chek"])
    assert "mine:chek" in capsys.readouterr().err


READ = "2 questions, 3 to 4 samples each, checked against answer with exact_match.\n\n"


def test_the_table(capsys, tmp_path):
    file = write(tmp_path / "s.jsonl", rows(predictions="samples", references="answer"))
    assert at_k_prints(capsys, "gpassk", file, *FLAGS) == READ + (
        "         score\n------  ------\npass@2  1.0000\npass^2  0.4167\n"
    )
    grouped = at_k_prints(capsys, "gpassk", file, *FLAGS, "--groups", "answer")
    assert grouped == READ.replace(".\n", "; groups from answer.\n") + (
        "        all questions       a       b\n"
        "------  -------------  ------  ------\n"
        "pass@2         1.0000  1.0000  1.0000\n"
        "pass^2         0.4167  0.3333  0.5000\n"
    )
    each = at_k_prints(capsys, "gpassk", file, *FLAGS, "--return-per-question")
    assert each.splitlines()[-1].split() == ["1", "1.0000", "0.5000"]


def test_the_table_of_intervals(capsys, tmp_path):
    file = write(tmp_path / "s.jsonl", rows(predictions="samples", references="answer"))
    numbers = at_k.pass_hat_k_ci([[1, 0, 1], [1, 0, 1, 1]], 2)
    sure = at_k_prints(capsys, "gpassk", file, *FLAGS, "--confidence", 0.95)
    assert "  ".join(["pass^2  0.4167", *(f"{x:.4f}" for x in numbers)]) in sure
    grouped = at_k_prints(
        capsys, "gpassk", file, *FLAGS, "--confidence", 0.95, "--groups", "answer"
    )
    numbers = at_k.pass_hat_k_ci([[1, 0, 1, 1]], 2)
    assert "\n\nb        score    mean      sd      lo      hi\n" in grouped
    assert "  ".join(["pass^2  0.5000", *(f"{x:.4f}" for x in numbers)]) in grouped


def test_a_column_is_as_wide_as_its_widest_cell():
    assert aligned([["", "long head"], ["long row", "1"]]) == (
        "          long head\n--------  ---------\nlong row          1"
    )
    assert "1.0000" in score_table({"odd_lo": 1.0})
    table = score_table({"x": 1.0, "a very\nlong label of many words/x": 1.0, "/x": 0.5})
    assert table.splitlines()[0].split("  ")[-2:] == ["a very long label of m..", "(no label)"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "no such file or folder: 'nowhere.jsonl'"),
        (["setup.cfg"], "setup.cfg has none of the supported formats: .jsonl"),
        (["shared/at_k/samples/smollm2_cool.jsonl", "--k", "33"], "question 0 has n = 32"),
        (["shared/at_k/samples/smollm2_cool.jsonl", "--groups", "subject"], "'subject'"),
        (["shared/at_k/samples/smollm2_cool.jsonl", "--include", "best"], "include has 'best'"),
        (["shared/at_k/samples/smollm2_cool.jsonl", "--check-correct-fn", "no"], "exact_match"),
    ],
)
def test_an_error_is_one_line_on_stderr(capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(ROOT)
    error = at_k_refuses(capsys, "gpassk", *arguments)
    assert error.startswith("at-k: ")
    assert message in error
    assert error.count("\n") == 1


def scores_of(capsys, file, *flags, k=1):
    flags = ("--k", k, "--include", "pass@k", *flags, "--json")
    return json.loads(at_k_prints(capsys, "gpassk", file, *flags))


def test_a_file_is_the_one_named_whatever_else_its_name_could_match(capsys, tmp_path):
    (tmp_path / "run1.jsonl").write_text('{"outcomes": [1, 1]}')
    (tmp_path / "run[1].jsonl").write_text('{"outcomes": [0, 0]}')
    assert scores_of(capsys, tmp_path / "run[1].jsonl") == {"pass@1": 0.0}


def test_a_file_of_the_same_time_is_read_again_and_leaves_no_copy(capsys, tmp_path):
    file = tmp_path / "c.jsonl"
    for outcome in (1, 0):
        file.write_text(json.dumps({"outcomes": [outcome]}))
        os.utime(file, (0, 0))
        assert scores_of(capsys, file) == {"pass@1": float(outcome)}
    assert not list(Path(datasets.config.HF_DATASETS_CACHE).glob("text/**/*.arrow"))


def test_the_texts_of_a_csv_are_taken_as_they_stand(capsys, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text(
        "id,response,reference,group\n"
        "1,012,012,1.10\n1,12,012,1.10\n"
        "2,None,None,1.1\n2,,None,1.1\n2,NA,None,1.1\n2,NaN,None,1.1\n"
        '3,"a, ""b""\nc","a, ""b""\nc",x\n3,2024-01-01,"a, ""b""\nc",x\n'
    )
    assert scores_of(capsys, file) == {
        "pass@1": pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3),
        "1.10/pass@1": 0.5,
        "1.1/pass@1": 0.25,
        "x/pass@1": 0.5,
    }


def test_the_texts_of_json_are_taken_as_they_stand(capsys, tmp_path):
    file = tmp_path / "s.jsonl"
    late = [{"samples": ["2024-01-01", "idk"], "answer": "2024-01-01", "error": None}] * 9999
    file.write_text("".join(json.dumps(row) + "\n" for row in [*late, late[0] | {"error": "x"}]))
    assert scores_of(capsys, file) == {"pass@1": 0.5}


def test_a_csv_of_outcomes_has_numbers_or_words(capsys, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("task_id,passed\n1,1\n1,0\n2,True\n2,\n3,1.0\n3,false\n")
    assert scores_of(capsys, file) == {"pass@1": pytest.approx(2 / 3)}


def test_a_csv_may_have_lists_of_acceptable_answers(capsys, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text('samples,answers\n"[""a"",""b""]","[""a"",""b""]"\n"[""c"",""d""]","[""c""]"\n')
    assert scores_of(capsys, file) == {"pass@1": 0.75}


def test_outcomes_are_not_judged_even_if_named(capsys, tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text('{"correct": [1, 0, 1, 1], "mine": [0, 0, 1, 0], "answer": 1}')
    for flags in ((), ("--predictions", "correct"), ("--outcomes", "correct")):
        assert scores_of(capsys, file, *flags) == {"pass@1": 0.75}
    assert scores_of(capsys, file, "--outcomes", "mine") == {"pass@1": 0.25}


def test_the_usual_names_are_found_in_any_case(capsys, tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text('{"Correct": [1, 0], "answer": "7"}')
    assert scores_of(capsys, file) == {"pass@1": 0.5}
    file.write_text('{"Question_ID": 1, "Passed": 1, "x": 1}\n' * 2)
    assert scores_of(capsys, file, k=2) == {"pass@2": 1.0}
    file.write_text('{"samples": null, "answer": "a"}\n{"samples": ["a"], "answer": "a"}')
    assert "predictions[0] is None" in at_k_refuses(capsys, "gpassk", file, "--k", 1)


def test_questions_can_be_told_apart_by_any_column(capsys, tmp_path):
    file = tmp_path / "s.jsonl"
    rows = [
        {"id": i, "prompt": [{"role": "user", "content": q}], "response": r, "answer": "[1, 2]"}
        for i, (q, r) in enumerate([("x", "[1, 2]"), ("x", "[2]"), ("y", "[3]"), ("y", "?")])
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    # A number for each row is no question; texts that look like lists are told to be none.
    assert scores_of(capsys, file, "--questions", "prompt", k=2) == {"pass@2": 0.5}


@pytest.mark.parametrize(
    ("name", "text", "flags", "message"),
    [
        ("a.jsonl", "", (), "a.jsonl is empty"),
        ("a.csv", "", (), "a.csv is empty"),
        ("a.csv", "samples,answer\n", (), "has no questions"),
        ("a.jsonl", '{"samples": ["a"]}\n{"samp', (), "a.jsonl, line 2: invalid JSON"),
        ("a.json", "[1, 2]", (), "must hold JSON objects only"),
        ("a.jsonl", "[1]\n", (), "must hold JSON objects only"),
        ("a.csv", "id,sample\n1,a,b\n", (), "a.csv, line 2: 3 cells, but line 1 names 2 columns"),
        ("a.csv", "sample\na\n", (), "Name one with --questions."),
        ("a.csv", "id,sample\n,a\n", (), "row 0 (from 0) has no id, so its question is unknown"),
        ("a.csv", "x,y\n1,2\n", (), "The columns are x, y."),
        ("a.csv", "samples,samples\n[1],[0]\n", (), "two columns have the same name"),
        ("a.csv", "samples\n[1 0 1]\n", (), "'[1 0 1]' is not a JSON list of samples"),
        ("a.json", "[]", (), "has no questions"),
        ("a.jsonl", "\n\n", (), "has no questions"),
        ("a.jsonl", '{"id": 1, "samples": "a"}\n{"id": 2, "samples": ["a"]}', (), "in some rows"),
        ("a.csv", 'samples\n"[1, 0]"\n"[1, "\n', (), "row 1 (from 0): '[1, ' is not a JSON list"),
        ("a.csv", "samples\n\"['a' 'b']\"\n\"['a', 'b']\"\n", (), "row 0 (from 0): \"['a' 'b']\""),
        ("a.csv", "id,sample\n1,a\n", ("--questions", "no"), "There is no column 'no'"),
        (
            "a.jsonl",
            '{"samples": ["a"]}',
            ("--split", "test"),
            "config and split apply to datasets",
        ),
        ("a.jsonl", '{"samples": ["a"]}', (), "no references to check"),
        ("a.jsonl", '{"samples": ["a"], "answer": null}', (), "references[0] is None"),
        ("a.parquet", "no parquet", (), "a.parquet cannot be read"),
        (
            "a.jsonl",
            '{"outcomes": [1], "samples": ["a"]}',
            ("--outcomes", "outcomes", "--predictions", "samples"),
            "name a column for one of them only",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(capsys, tmp_path, name, text, flags, message):
    (tmp_path / name).write_text(text)
    error = at_k_refuses(capsys, "gpassk", tmp_path / name, "--k", 1, *flags)
    assert message in error
    assert error.count("\n") == 1


def test_what_a_judge_prints_does_not_mix_with_the_scores(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chatty.py").write_text("def check(p, r):\n    print('hm')\n    return p == r")
    file = write(tmp_path / "s.jsonl", rows(predictions="samples", references="answer"))
    assert scores_of(capsys, file, "--check-correct-fn", "chatty:check", k=2) == {"pass@2": 1.0}


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "latin-1"])
def test_any_terminal_shows_any_label(tmp_path, encoding):
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps({"outcomes": [1], "group": "\u4e2d\u6587"}))
    at_k_command = [
        sys.executable,
        "-c",
        "from at_k.cli.command import main; raise SystemExit(main())",
    ]
    result = subprocess.run(
        [*at_k_command, "gpassk", file, "--k", "1"],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    assert result.returncode == 0, result.stderr
    label = "\u4e2d\u6587" if encoding == "utf-8" else "\\u4e2d\\u6587"
    assert label in result.stdout.decode(encoding)


def test_a_reader_that_leaves_early_is_no_error(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text('{"outcomes": [1, 0]}\n' * 20_000)
    main_of = "from at_k.cli.command import main; raise SystemExit(main())"
    flags = "--k 1 --return-per-question | head -n 1; echo ${PIPESTATUS[0]}"
    result = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "{main_of}" gpassk {file} {flags}'],
        capture_output=True,
        text=True,
    )
    assert result.stdout == "20000 questions, 2 samples each, already graded.\n0\n"
    assert result.stderr == ""


def test_no_command_prints_the_help(capsys):
    assert "demo" in at_k_prints(capsys)


def test_help_says_what_the_metric_says_of_its_parameters(capsys):
    with pytest.raises(SystemExit) as done:
        main(["gpassk", "--help"])
    assert done.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for flag in ("--k INT", "--thresholds FLOAT", "--check-correct-fn NAME", "--num-proc INT"):
        assert flag in text
    assert "shares tau of right samples" in text
    assert "--executor" not in text


def test_any_metric_folder_is_served_with_flags_of_its_own(capsys, monkeypatch, tmp_path):
    """A metric that this project does not know, with a parameter of every kind."""
    folder = shutil.copytree(ROOT / "metrics" / "gpassk", tmp_path / "metrics" / "other")
    script = (folder / "gpassk.py").read_text()
    (folder / "gpassk.py").unlink()
    head, _, _ = script.partition("    def _compute(")
    (folder / "other.py").write_text(
        head.replace("    beta0:", "    weights: a table.\n    beta0:")
        + "    def _compute(self, predictions, references, temperature: float = 0.5,\n"
        "                 weights: dict[str, float] | None = None, w: list[float] | None = None,\n"
        "                 twice: bool = False):\n"
        "        return {'seen': [temperature, weights, w, twice]}\n"
    )
    monkeypatch.setattr("at_k.loading.metric_folders", lambda: {"other": folder})
    monkeypatch.setattr("at_k.cli.command.metric_folders", lambda: {"other": folder})
    file = tmp_path / "o.jsonl"
    file.write_text('{"outcomes": [1]}')
    flags = ["--temperature", "1", "--weights", '{"a": 1}', "--w", "0", "1", "--twice", "--json"]
    assert json.loads(at_k_prints(capsys, "other", file, *flags)) == {
        "seen": [1.0, {"a": 1}, [0.0, 1.0], True]
    }


def test_the_demo_says_which_samples_are_stable_and_which_reach_further(capsys):
    printed = at_k_prints(capsys, "demo")
    assert "  pass^4                   0.272    0.024      -0.248\n" in printed
    assert "  pass@32                  0.660    0.809      +0.149\n" in printed
    assert "higher pass@k from k = 8 on" in printed


def test_help_needs_no_heavy_import():
    code = (
        "import sys; sys.argv = ['at-k', '--help']\n"
        "from at_k.cli.command import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted({'evaluate', 'datasets', 'pyarrow'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.endswith("[]\n")


# --- The other metrics ------------------------------------------------------------------


BANK = [{"outcomes": [0, 1, 1, 1], "R0": [0, 0]}, {"outcomes": [1, 1, 0, 1], "R0": [0, 1]}]


def json_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize(
    ("metric", "flags", "key"),
    [
        ("bayes_at_n", ["--interval", "auto"], "bayes@4"),
        ("max_at_k", ["--k", 2, "--confidence", 0.9], "max@2"),
        ("cons_at_k", ["--no-merge-right"], "maj@4"),
        ("score_agg", ["--temperature", 0.7], "score_agg"),
    ],
)
def test_every_metric_is_served_by_the_same_path(capsys, tmp_path, metric, flags, key):
    file = json_lines(tmp_path / "bank.jsonl", BANK)
    printed = at_k_prints(capsys, metric, file, *flags)
    assert printed.startswith("2 questions, 4 samples each, already graded")
    scores = json.loads(at_k_prints(capsys, metric, file, *flags, "--json"))
    (line,) = [line for line in printed.splitlines() if line.startswith(f"{key} ")]
    assert line.split()[1] == f"{scores[key]:.4f}"


def test_prior_outcomes_are_found_by_their_usual_name_and_said(capsys, tmp_path):
    file = json_lines(tmp_path / "bank.jsonl", BANK)
    printed = at_k_prints(capsys, "bayes_at_n", file, "--confidence", "none")
    assert "; R0 from R0." in printed
    wanted = at_k.bayes([row["outcomes"] for row in BANK], R0=[row["R0"] for row in BANK])[0]
    assert f"bayes@4  {wanted:.4f}\n" in printed
    csv = tmp_path / "bank.csv"
    csv.write_text('outcomes,R0\n"[0, 1, 1, 1]","[0, 0]"\n"[1, 1, 0, 1]","[0, 1]"\n')
    assert at_k_prints(capsys, "bayes_at_n", csv, "--confidence", "none") == printed


def test_a_table_has_no_column_without_a_number(capsys, tmp_path):
    file = json_lines(tmp_path / "bank.jsonl", BANK)
    head = at_k_prints(capsys, "bayes_at_n", file).splitlines()[2]
    assert head.split() == ["score", "sd", "lo", "hi"]


def test_missing_samples_are_counted(capsys, tmp_path):
    file = json_lines(tmp_path / "bank.jsonl", [{"outcomes": [0, None, 1]}])
    printed = at_k_prints(capsys, "cons_at_k", file)
    assert printed.startswith("1 question, 3 samples each (1 of them missing), already graded.")


def test_a_column_of_clusters_is_used_where_it_is_of_use(capsys, tmp_path):
    rows = [
        {"outcomes": row["outcomes"], "cluster": place // 2} for place, row in enumerate(BANK * 2)
    ]
    file = json_lines(tmp_path / "bank.jsonl", rows)
    flags = ("--k", 1, "--include", "pass@k", "--confidence", 0.9)
    assert "cluster" not in at_k_prints(capsys, "gpassk", file, *flags)
    printed = at_k_prints(capsys, "gpassk", file, *flags, "--interval", "questions")
    assert "; clusters from cluster." in printed
    assert "clusters are used by" in at_k_refuses(capsys, "gpassk", file, "--clusters", "cluster")
