"""The numbers in README.md, the guide and the cards are those that the package computes now."""

import re

import at_k
import pytest
from conftest import ROOT
from scipy import stats
from scored import cons_at_k, gpassk
from test_docs import CARDS as CARD_FILES
from test_docs import README as README_FILE
from test_docs import SITE, STUDY

README = README_FILE.read_text(encoding="utf-8")
GUIDE = (SITE / "guide.md").read_text(encoding="utf-8")
GUIDE_LINE = " ".join(GUIDE.split())
CARDS = {page.parent.name: page.read_text(encoding="utf-8") for page in CARD_FILES}
RUNS = {"T = 0.2": "cool", "T = 0.8": "warm"}
SAMPLES = ROOT / "shared" / "at_k" / "samples"


def table(text, first):
    """Return the header and the rows of the table whose header starts with `first`."""
    lines = text[text.index(f"\n| {first} |") + 1 :].splitlines()
    ends = next(place for place, line in enumerate(lines) if not line.startswith("|"))
    header, _, *rows = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines[:ends]]
    return header, rows


def verdicts(text):
    """Return the verdicts that a text such as "9 fully, 1 none" or "1.0, 0.7" lists."""
    listed: list = []
    for times, name in re.findall(r"(?:(\d+) )?([\w.]+)", text):
        listed += [float(name) if name[0].isdigit() else name] * int(times or 1)
    return listed


def test_the_scores_of_verdicts_at_each_temperature():
    header, rows = table(CARDS["score_agg"], "temperature | use")
    for temperature, _, _, *scores in rows:
        for name, score in zip(header[3:], scores, strict=True):
            assert score == f"{at_k.score_agg(verdicts(name), float(temperature)):.3f}"


def test_the_scores_of_the_releases_of_eval_ai_library():
    header, rows = table(CARDS["score_agg"], "verdicts | temperature")
    assert header[3:] == [
        "the formula",
        "without the penalty",
        "Eval AI Library 0.3.3",
        "0.7.10",
        "0.8.2",
    ]
    options: list[dict] = [
        {},
        {"penalty": 0},
        *({"compat": each} for each in ("0.3", "0.7", "0.8")),
    ]
    x: list[float] = []
    for name, temperature, _, *shown in rows:
        if name[:1].isdigit():  # the other rows of these verdicts have no name
            x = verdicts(name)
        computed = [f"{at_k.score_agg(x, float(temperature), **each):.3f}" for each in options]
        assert [score.strip("*") for score in shown] == computed


def test_the_votes_of_the_samples_that_ship():
    header, rows = table(CARDS["cons_at_k"], "| avg@32")
    for name, *shown in rows:
        run = at_k.read(SAMPLES / f"smollm2_{RUNS[name]}.jsonl")
        scores = cons_at_k(**run, k=[8, 32], check_correct_fn="numeric")
        assert shown == [f"{scores[key]:.3f}" for key in header[1:]]


def test_the_intervals_of_pass_at_1_and_pass_at_8():
    run = at_k.read(SAMPLES / "smollm2_cool.jsonl")

    def scores_with(interval):
        return gpassk(
            **run,
            check_correct_fn="numeric",
            k=[1, 8],
            include="pass@k",
            confidence=0.95,
            interval=interval,
        )

    for interval, _, shown, _ in table(GUIDE, "`interval` | For claims about")[1]:
        scores = scores_with(interval.strip('`"'))
        assert shown == f"{scores['pass@1_lo']:.3f} to {scores['pass@1_hi']:.3f}"
    scores = scores_with("questions")
    limits = f"{100 * scores['pass@1_lo']:.1f} to {100 * scores['pass@1_hi']:.1f}"
    sentence = f"pass@1 is {100 * scores['pass@1']:.1f} % (95 % confidence interval {limits},"
    assert sentence in GUIDE_LINE
    scores = scores_with("posterior")
    limits = f"{scores['pass@8_lo']:.3f} to {scores['pass@8_hi']:.3f}"
    assert f"For pass@8 = {scores['pass@8']:.3f}, its limits are {limits}:" in GUIDE_LINE


def test_the_comparison_of_the_samples_that_ship(capsys):
    from at_k.cli.command import main

    files = [str(SAMPLES / f"smollm2_{name}.jsonl") for name in RUNS.values()]
    command = ["compare", *files, "--check-correct-fn", "numeric", "--names", *RUNS, "--k", "8"]
    assert main(command) == 0
    sentence = " ".join(re.findall(r"^> (.*)$", README, re.MULTILINE))
    assert sentence in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--interval", "sampling"]) == 0
    same_questions = re.search(
        r"sampled again \(`--interval sampling`\), it is (.* to .*): T", GUIDE_LINE
    )
    assert same_questions
    assert f"interval {same_questions[1]}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["bayes_at_n", "cons_at_k", "gpassk"])
def test_each_coverage_on_a_card_is_a_result_of_the_studies(name):
    section = re.search(r"#### Coverage of the Intervals\n(.*?)\n#", CARDS[name], re.DOTALL)
    assert section
    shares = re.findall(r"\d+\.\d %", section[1])
    assert shares
    for share in shares:
        assert share in STUDY.read_text(encoding="utf-8"), share


def test_the_settings_below_90_percent_by_chance():
    """4 of 30 misses are a coverage below 90 %."""
    line = " ".join(STUDY.read_text(encoding="utf-8").split())
    sampling = stats.binom.sf(3, 30, 0.05)
    assert f'{100 * sampling:.0f} % of the settings of real rewards are below 90 % for `"s' in line
