"""The command: files of every kind, flags read off the metric, tables, JSON, errors."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import at_k
import datasets
import pytest
from at_k.command import main
from at_k.tables import aligned, score_table
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
    assert "id 1" in error


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


def test_a_changed_file_is_read_again(capsys, tmp_path):
    file = tmp_path / "outcomes.jsonl"
    for outcome, score in ((0, 0.0), (1, 1.0)):
        file.write_text(json.dumps({"outcomes": [outcome]}))
        printed = at_k_prints(capsys, "gpassk", file, "--k", 1, "--include", "pass@k", "--json")
        assert json.loads(printed) == {"pass@1": score}


def test_a_saved_dataset_and_its_splits(capsys, tmp_path):
    table = datasets.Dataset.from_list(rows(predictions="predictions", references="answer"))
    table.save_to_disk(tmp_path / "one")
    assert json.loads(at_k_prints(capsys, "gpassk", tmp_path / "one", *FLAGS, "--json")) == WANTED
    datasets.DatasetDict({"dev": table, "test": table}).save_to_disk(tmp_path / "two")
    assert "the splits dev, test" in at_k_refuses(capsys, "gpassk", tmp_path / "two", *FLAGS)
    chosen = ("--split", "dev", "--json")
    assert json.loads(at_k_prints(capsys, "gpassk", tmp_path / "two", *FLAGS, *chosen)) == WANTED


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
    (tmp_path / "mine.py").write_text("def check(p, r): return p != r")
    file = write(tmp_path / "s.jsonl", rows(predictions="samples", references="answer"))
    judged = ("--check-correct-fn", "mine:check", "--json")
    scores = json.loads(at_k_prints(capsys, "gpassk", file, *FLAGS, *judged))
    assert scores["pass^2"] == 0.0
    with pytest.raises(SystemExit):
        main(["gpassk", str(file), "--check-correct-fn", "mine:chek"])
    assert "mine:chek" in capsys.readouterr().err


def test_the_table(capsys, tmp_path):
    file = write(tmp_path / "s.jsonl", rows(predictions="samples", references="answer"))
    assert at_k_prints(capsys, "gpassk", file, *FLAGS) == (
        "         score\n──────  ──────\npass@2  1.0000\npass^2  0.4167\n"
    )
    grouped = at_k_prints(capsys, "gpassk", file, *FLAGS, "--groups", "answer")
    assert grouped == (
        "           all       a       b\n"
        "──────  ──────  ──────  ──────\n"
        "pass@2  1.0000  1.0000  1.0000\n"
        "pass^2  0.4167  0.3333  0.5000\n"
    )
    sure = at_k_prints(capsys, "gpassk", file, *FLAGS, "--confidence", 0.95)
    _, _, lo, hi = at_k.pass_hat_k_ci([[1, 0, 1], [1, 0, 1, 1]], 2)
    assert f"pass^2  0.4167 [{lo:.4f}, {hi:.4f}]" in sure
    each = at_k_prints(capsys, "gpassk", file, *FLAGS, "--return-per-question")
    assert each.splitlines()[-1].split() == ["1", "1.0000", "0.5000"]


def test_a_column_is_as_wide_as_its_widest_cell():
    assert aligned([["", "long head"], ["long row", "1"]]) == (
        "          long head\n────────  ─────────\nlong row          1"
    )
    assert "1.0000" in score_table({"odd_lo": 1.0})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "no file nowhere.jsonl"),
        (["setup.cfg"], "ends in none of .jsonl"),
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
    monkeypatch.setattr("at_k.command.metric_folders", lambda: {"other": folder})
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
    assert "ahead from k = 8 on" in printed


def test_help_needs_no_heavy_import():
    code = (
        "import sys; sys.argv = ['at-k', '--help']\n"
        "from at_k.command import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted({'evaluate', 'datasets', 'pyarrow'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.endswith("[]\n")
