"""The format in which scores are published, read by the client of those who take it."""

import pytest
import yaml
from at_k.cli.command import main
from conftest import ROOT
from huggingface_hub import parse_eval_result_entries
from run_command import error_of, output_of, scores_of, write_json_lines

COOL = ROOT / "shared/at_k/samples/smollm2_cool.jsonl"
HUB = ("--format", "eval-results", "--dataset", "org/sums", "--task", "default")


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


def test_the_notes_of_limits_that_hold_at_all_looks_say_so(capsys):
    flags = ("--check-correct-fn", "numeric", "--include", "pass@1", "--confidence", 0.95)
    looks = ("--interval", "questions", "--anytime")
    (entry,) = yaml.safe_load(output_of(capsys, "gpassk", COOL, *flags, *looks, *HUB))
    assert "for other questions like these, at all looks together (questions)" in entry["notes"]
