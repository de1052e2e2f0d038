"""Formats in which scores are published, beside the schemas of those who take them.

`schemas/every_eval_ever.json` is the schema of every-eval-ever 0.3.0, under the licence beside it.
"""

import json
import math
from pathlib import Path

import jsonschema
import pytest
import yaml
from at_k.cli.command import main
from conftest import ROOT
from huggingface_hub import parse_eval_result_entries
from run_command import error_of, output_of, scores_of, write_json_lines

COOL = ROOT / "shared/at_k/samples/smollm2_cool.jsonl"
SCHEMA = json.loads((Path(__file__).parent / "schemas/every_eval_ever.json").read_text())
HUB = ("--format", "eval-results", "--dataset", "org/sums", "--task", "default")
MODEL = ("--dataset", "org/sums", "--model", "org/model", "--organization", "A laboratory")
RECORD = ("--format", "every-eval-ever", *MODEL)


@pytest.mark.parametrize("interval", ["sampling", "questions", "posterior"])
def test_the_yaml_of_a_model_page_is_read_by_the_client_of_the_hub(capsys, interval):
    limits = ("--confidence", 0.9, "--interval", interval)
    flags = ("--check-correct-fn", "numeric", "--include", "pass@k", "--k", 4, *limits)
    printed = output_of(capsys, "gpassk", COOL, *flags, *HUB, "--source-url", "https://a.org/b")
    (entry,) = parse_eval_result_entries(yaml.safe_load(printed))
    scores = scores_of(capsys, "gpassk", COOL, *flags)
    assert (entry.dataset_id, entry.task_id) == ("org/sums", "default")
    assert (entry.value, entry.source_url) == (scores["pass@4"], "https://a.org/b")
    for words in (
        "pass@4; 94 questions with 32 samples each, checked with numeric",
        f"standard error {scores['pass@4_sigma']:.4f}",
        f"90 % {'credible' if interval == 'posterior' else 'confidence'} interval",
        f"{scores['pass@4_lo']:.4f} to {scores['pass@4_hi']:.4f}",
        f"({interval})",
    ):
        assert words in str(entry.notes)


def test_a_score_without_limits_has_no_standard_error(capsys):
    flags = ("--check-correct-fn", "numeric", "--include", "pass@k", "--k", 1)
    (entry,) = yaml.safe_load(output_of(capsys, "gpassk", COOL, *flags, *HUB))
    assert entry["notes"].startswith("pass@1; 94 questions with 32 samples each")
    assert "standard error" not in entry["notes"]


FORMATS = {
    **{name: ("--format", name) for name in ("table", "json", "csv", "markdown", "latex")},
    "eval-results": HUB,
    "every-eval-ever": RECORD,
}


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("output_format", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("metric", ["gpassk", "max_at_k"])
def test_no_format_has_an_extrapolation_that_nothing_identifies(
    capsys, tmp_path, metric, output_format
):
    """With one sample of each question, pass@7 may be that of equal rates, or pass@1."""
    rows = [{"id": i, "outcomes": [int(i < 9)]} for i in range(30)]
    file = write_json_lines(tmp_path / "one.jsonl", rows)
    include = ("--include", "pass@k") if metric == "gpassk" else ()
    command = (metric, file, *include, "--confidence", 0.9, *output_format)
    assert "give --k 1, or add samples" in error_of(capsys, *command, "--k", 7)
    assert main([*map(str, command), "--k", "1", "7", "23"]) == 0
    printed = capsys.readouterr()
    for key in ("pass@7", "pass@23") if metric == "gpassk" else ("max@7", "max@23"):
        assert key not in printed.out
        assert f"{key}" in printed.err
    assert "0.3" in printed.out or "30.0" in printed.out  # the score at k = 1 remains


@pytest.mark.parametrize("output_format", FORMATS.values(), ids=FORMATS)
def test_the_whole_range_of_a_score_is_not_shown_as_its_limits(capsys, tmp_path, output_format):
    """One sample of one question: nothing shows how others would turn out."""
    file = write_json_lines(tmp_path / "one.jsonl", [{"id": 1, "outcomes": [1]}])
    printed = output_of(capsys, "gpassk", file, "--k", 1, "--confidence", 0.9, *output_format)
    assert "90 %" not in printed
    assert "uncertainty" not in printed
    assert "(0.0, 100.0)" not in printed


@pytest.mark.parametrize(
    ("metric", "rows", "flags"),
    [
        ("gpassk", [[0, 1, 1], [1, 1, 1]], ("--confidence", 0.95)),
        ("gpassk", [[0, 1, 1], [1, 1, 1, 0]], ()),
        ("max_at_k", [[0.5, 12.5, -3.0], [1.0, 2.0, 2.5]], ("--confidence", 0.8, "--k", 1, 2)),
        ("bayes_at_n", [[0, 1, 1], [1, 1, 1]], ()),
        ("cons_at_k", [[0, 1, 1], [1, 1, 0]], ("--confidence", 0.95)),
        ("score_agg", [["fully", "none"], ["mostly"]], ("--confidence", 0.95)),
    ],
)
def test_records_of_every_metric_follow_the_schema(capsys, tmp_path, metric, rows, flags):
    column = "verdicts" if metric == "score_agg" else "outcomes"
    topics = ["a", "b"]
    data = [{column: row, "topic": topic} for row, topic in zip(rows, topics, strict=True)]
    file = write_json_lines(tmp_path / "run.jsonl", data)
    groups = () if flags else ("--groups", "topic")
    record = json.loads(output_of(capsys, metric, file, *flags, *groups, *RECORD))
    jsonschema.validate(record, SCHEMA)
    scores = scores_of(capsys, metric, file, *flags, *groups)
    results = {x["evaluation_result_id"]: x for x in record["evaluation_results"]}
    assert results.keys() <= scores.keys()
    for key, result in results.items():
        details = result["score_details"]
        assert details["score"] == scores[key]
        limits = scores.get(f"{key}_lo")
        assert ("uncertainty" in details) == (limits is not None)
        if limits is not None:
            assert details["uncertainty"]["confidence_interval"]["lower"] == limits
            assert details["uncertainty"]["standard_error"]["value"] == scores[f"{key}_sigma"]
            assert math.isfinite(limits)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--format", "eval-results", "--task", "a"), "--format eval-results needs --dataset"),
        (
            ("--format", "every-eval-ever", "--dataset", "a"),
            "--organization (who ran the evaluation)",
        ),
        (("--organization", "me"), "--organization is given: it belongs to --format"),
        (HUB, "and there are 15, such as G-Pass@4_0.25 and G-Pass@4_0.5: select one"),
    ],
)
def test_what_a_format_needs_is_said_before_or_after_reading(capsys, flags, message):
    numeric = ("--check-correct-fn", "numeric")
    assert message in error_of(capsys, "gpassk", COOL, *numeric, *flags)
