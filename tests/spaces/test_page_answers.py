"""What a page shows for samples: scores, questions, notes, code and files. Without a server."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import at_k
import pytest
from apps import NAMES, answer_of, refusal_of, space_of, uploaded
from conftest import ROOT

pytest_plugins = ["space_fixtures"]

SAMPLES = ROOT / "shared" / "at_k" / "samples"
TWO_FILES = tuple(str(SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm"))
OUTCOMES = "".join(f'{{"outcomes": {row}}}\n' for row in ([1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]))
WITH_TEXTS = """\
{"predictions": ["1", "2", "1", "3"], "reference": "1", "question": "What is the sum of 1 and 0?"}
{"predictions": ["2", "2", "1", ""], "reference": "2", "question": "What is the sum of 1 and 1?"}
"""
OTHER = "for other questions like these"


def printed_by_code(page, answer, folder):
    """Run the code of a page as it is, in a process of its own, and return what it prints."""
    code = page.files.python_code(answer)
    assert len(code) < 3_000
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "shared")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("metric", NAMES)
def test_every_example_is_scored_and_its_code_prints_these_scores(page, tmp_path, metric):
    space = space_of(metric)
    answers = [
        page.answering.answer_to(page.request.example_request(space, example))
        for example in space.examples
    ]
    for answer in answers:
        assert page.answer_html.result_html(answer).count("<strong>")
        details = page.answer_html.details_html(answer)
        assert details.count("<tr>") > 1
        assert details.count("<summary>") == len(answer.runs[0].names) + 1  # and the code
        assert details.count("<svg role=") == details.count("</svg>") == details.count("<h2>") - 2
    (tmp_path / "text").write_text(space.examples[0].text)
    printed = printed_by_code(page, answers[0], tmp_path)
    for key, value in answers[0].runs[0].scores().items():
        assert key == "per_question" or f"{key!r}: {value!r}" in printed
    assert list(tmp_path.glob("*.pdf"))


def test_each_distinct_pair_is_checked_once_in_a_request(page, monkeypatch):
    from at_k.checkers import named

    checked = []

    def check_pairs(self, checking, pairs):
        checked.extend(pairs)
        yield 0, [((int(x == reference), x), None) for x, reference in pairs]

    monkeypatch.setattr(named.MathVerify, "_check_pairs", check_pairs)
    for metric in ("cons_at_k", "gpassk"):
        checked.clear()
        answer_of(page, metric, WITH_TEXTS, checker="math_verify", k=2)
        pairs = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"), ("3", "1"), ("", "2")]
        assert sorted(map(tuple, checked)) == sorted(pairs)


# --- Questions and their samples ----------------------------------------------------------

RIGHT, WRONG = "\u2713", "\u2717"
COUNTS = "question_id,n,correct\nq1,6,2\nq2,6,6\n"
GRADES = {"text": '{"id": "q1", "outcomes": ["A", "C"]}', "categories": "C, B, A", "w": "0, 0.5, 1"}


def rows_of(html):
    """Return the texts in the cells of the head and of each row of the list of questions."""
    found = re.findall(r'<(?:div class="head"|summary)>(.+?)</(?:div|summary)>', html)
    rows = [
        re.split(r"</span><span>", re.sub("<wbr>", "", row[6:-7].replace("&minus;", "-")))
        for row in found
    ]
    return [[re.sub(r"&#(\d+);", lambda x: chr(int(x[1])), cell) for cell in row] for row in rows]


# The heading of the score, the row of the first question, and a part of the HTML.
QUESTIONS: dict[str, tuple[str, dict[str, Any], list[str], str]] = {
    "answers": (
        "gpassk",
        {"text": WITH_TEXTS, "k": 2},
        ["pass@2 (%)", "1", "83.3", f"2 of 4  {RIGHT}{WRONG}{RIGHT}{WRONG}"],
        f"<p>What is the sum of 1 and 0&#63;</p><p>Reference: <code>1</code>, checked with "
        f'exact_match</p><div class="runs"><div><ol tabindex="0"><li>{RIGHT} <code>1</code><li>',
    ),
    "numbers": (
        "gpassk",
        {"text": "id,reference,1,2\nq7,12,= 12,ten\n", "checker": "numeric"},
        ["pass@2 (%)", "q7", "100.0", f"1 of 2  {RIGHT}{WRONG}"],
        f"<li>{RIGHT} <code>= 12</code><li>{WRONG} <code>ten</code></ol>",
    ),
    "votes": (
        "cons_at_k",
        {"text": WITH_TEXTS, "k": 2},
        ["vote@2 (%)", "1", "50.0", f"2 of 4  {RIGHT}{WRONG}{RIGHT}{WRONG}"],
        "",
    ),
    "counts": (
        "gpassk",
        {"text": COUNTS, "k": 2},
        ["pass@2 (%)", "q1", "60.0", "2 of 6"],
        "The input has only the numbers of its samples.",
    ),
    "equal samples": (
        "gpassk",
        {"text": "id,outcome,count\nq1,1,3\nq1,0,2\n", "k": 2, "reading": {"counts": "count"}},
        ["pass@2 (%)", "q1", "90.0", "3 of 5"],
        "",
    ),
    "rewards": (
        "max_at_k",
        {"text": '{"rewards": [0.25, 0.75]}', "k": 2},
        ["max@2", "1", "0.750", "mean 0.500: 0.25, 0.75"],
        "Open a row to read the samples of its question.",
    ),
    "grades": (
        "bayes_at_n",
        GRADES,
        ["avg@2", "q1", "0.500", "mean 0.500: 1, 0"],
        "<li>1 <code>A</code><li>0 <code>C</code></ol>",
    ),
    "verdicts": (
        "score_agg",
        {"text": "answer,statement,verdict\na,s1,Fully\na,s2,none\n"},
        ["score_agg (%)", "a", "45.0", "mean 0.500: 1, 0"],
        'verdicts of its item.</p><div class="list "',
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_has_a_score_and_its_samples(page, name):
    metric, given, expected, part = QUESTIONS[name]
    answer = answer_of(page, metric, **given)
    html = page.answer_html.questions_html(answer)
    head, first = rows_of(html)[:2]
    assert [*head[1:-1], *first] == expected
    assert part in html


def test_questions_are_filtered_by_the_share_of_correct_samples(page):
    answer = answer_of(page, "gpassk", "1 1\n1 0\n0 0")
    html = page.answer_html.questions_html(answer)
    filters = re.findall('<details class="([^"]+)">', html)
    assert filters == ["all correct", "some correct", "none correct"]
    assert "Some correct (1)</label>" in html


# Files, options, and the rows of the CSV of their samples.
SAMPLE_ROWS: dict[str, tuple[dict[str, str], dict[str, Any], list[str]]] = {
    "outcomes": ({"a.csv": "1 1\n1 0"}, {}, ["a,1,,,1", "a,1,,,1", "a,2,,,1", "a,2,,,0"]),
    "runs that are not compared": (
        {"a.csv": "id,outcome\np,1\nq,0\n", "b.csv": "id,outcome\nq,1\nr,0\n"},
        {},
        ["a,p,,,1", "a,q,,,0", "b,q,,,1", "b,r,,,0"],
    ),
    "answers that are numbers": (
        {"a.jsonl": '{"id": "p", "predictions": [12, 13], "reference": 12}'},
        {"checker": "numeric"},
        ["a,p,12,12,1", "a,p,12,13,0"],
    ),
    "rewards": (
        {"a.csv": "id,1,2\np,0.123456789,-1"},
        {"metric": "max_at_k"},
        ["a,p,,,0.123456789", "a,p,,,-1"],
    ),
}


@pytest.mark.parametrize("name", SAMPLE_ROWS)
def test_the_csv_of_samples_has_those_of_all_runs(page, tmp_path, name):
    texts, given, rows = SAMPLE_ROWS[name]
    answer = answer_of(
        page, **{"metric": "gpassk", "files": uploaded(tmp_path, texts), "k": 1} | given
    )
    head, *printed = page.files.samples_csv(answer).splitlines()
    assert head == "run,question,reference,sample,outcome"
    assert printed == rows


# A table, and the names and texts of its questions.
NAMED = {
    "ids of several words": (
        "id,1\nmy long question id 17,1\nb,0",
        ["my long question id 17", "b"],
        "",
    ),
    "ids and texts": (
        "id,question,1\na,What is the sum of 1 and 2?,1\nb,Why?,0",
        ["a", "b"],
        "Why?",
    ),
    "texts": ("question,1\nWhat is the sum of 1 and 2?,1\nWhy?,0", ["1", "2"], "Why?"),
    "short texts": ("question,1\nq1,1\nq2,0", ["q1", "q2"], ""),
}


@pytest.mark.parametrize("name", NAMED)
def test_questions_are_shown_by_their_ids(page, name):
    text, names, last = NAMED[name]
    (run,) = answer_of(page, "gpassk", text, k=1).runs
    assert (run.names, run.texts[-1]) == (names, last)


def test_the_page_lists_some_of_many_questions_and_says_so(page, monkeypatch):
    monkeypatch.setattr(page.answer_html, "_MAX_LIST", 10_000)
    html = page.answer_html.questions_html(answer_of(page, "gpassk", "1 0\n" * 1_200))
    assert 10_000 < len(html) < 12_000
    shown = html.count("<details")
    assert f"The first {shown} of 1,200 questions: a file has all." in html


def test_two_runs_have_the_largest_differences_first_and_their_code_compares_them(page, tmp_path):
    answer = answer_of(page, "gpassk", files=TWO_FILES, checker="numeric", k=8)
    html = page.answer_html.questions_html(answer)
    head, *rows = rows_of(html)
    assert head == ["question", "difference", "smollm2_cool", "smollm2_warm", "text"]
    assert rows[0][-1] == "What is 13 + 14?"
    differences = [abs(float(row[1])) for row in rows]
    assert len(differences) == 94
    assert differences == sorted(differences, reverse=True)
    assert "incorrect. The column of a run has its pass@8 (%)." in html
    for file in map(Path, TWO_FILES):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    compared, key = answer.comparison.results[0], answer.comparison.view.key
    assert f"{key!r}: {compared[key]!r}" in printed_by_code(page, answer, tmp_path)


# --- Scores and notes -----------------------------------------------------------------------


def test_rows_that_are_equal_by_definition_are_shown_once(page):
    answer = answer_of(page, "gpassk", OUTCOMES, k=4, tau=0.5)
    (view,) = page.files.views_of(answer)
    names = [name for name, *_ in view.paper_tables()[0][1:]]
    assert names == ["pass@4", "G-Pass@4_0.5", "pass^4", "pass@2", "mG-Pass@4", "pass^2"]
    scores = answer.runs[0].scores()
    assert scores["mG-Pass@2"] == scores["pass^2"]
    assert scores["G-Pass@2_0.5"] == scores["pass@2"]


def sentence_of(page, metric, text, **given):
    """Return the sentence for a paper, and the notes below the table."""
    (view,) = page.files.views_of(answer_of(page, metric, text, **given), for_paper=True)
    return " ".join([view.sentence(), *view.notes(for_paper=True)])


def test_the_limits_are_for_the_chosen_questions(page, tmp_path):
    outcomes = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
    of_pass = at_k.pass_at_k_ci(outcomes, k=2, interval="questions")
    mu, lo, hi = (f"{100 * of_pass[i]:.1f}" for i in (0, 2, 3))
    answer = answer_of(page, "gpassk", OUTCOMES, k=2, interval="questions")
    markdown = page.files.table_text(answer, "Markdown")
    assert f"| pass@2 | {mu} ({lo}, {hi}) |" in markdown
    assert f"95 % CI: confidence limits {OTHER}." in markdown
    start = f"On 3 questions with 4 samples each, pass@2 is {mu} % (95 % confidence interval {lo}"
    assert f"{start} to {hi}, {OTHER})" in " ".join(markdown.split())
    answer = answer_of(page, "gpassk", "1\n0", k=1)
    assert f"Each question has one sample, so the limits are {OTHER}." in answer.notes
    assert OTHER in sentence_of(page, "gpassk", "1\n0", k=1)
    reason = "No interval: each question has one sample, and there is one question"
    assert reason in sentence_of(page, "cons_at_k", '{"outcomes": [1]}')
    assert "No interval: there is one question" in sentence_of(page, "score_agg", "fully none")
    error = str(refusal_of(page, "gpassk", "1 0", interval="questions", k=1))
    assert "does not show how questions vary" in error
    assert "add questions, or choose limits for the same questions, sampled again" in error
    text = "id,1,2\na,fully,none\nb,minor,fully\nc,none,none"
    files = uploaded(tmp_path, {"a.csv": text, "b.csv": text.replace("minor", "fully")})
    answer = answer_of(page, "score_agg", files=files, penalty=0.2)
    assert answer.notes[-1] == "The runs are not compared: a comparison is with the penalty 0.1."


def test_the_sentence_has_the_unit_of_the_table(page):
    """Of two runs the mean is compared, in percent. The table of one has Bayes@N as a reward."""
    one = answer_of(page, "bayes_at_n", OUTCOMES)
    two = answer_of(page, "bayes_at_n", files=TWO_FILES, checker="numeric")
    for answer, mean, cell in ((one, "0.667", "0.667"), (two, "42 %", "&minus;18.1")):
        sentence = page.answer_html.result_html(answer)
        assert f"probability that a sample is correct is <strong>{mean}</strong>" in sentence
        assert f"<td>{cell} <small>" in page.answer_html.details_html(answer)
    latex = " ".join(page.files.table_text(one, "LaTeX").split())
    assert "avg@4 & 0.667 (" in latex
    assert "avg@4 is 0.667 (95" in latex


def test_bayes_at_n_leads_with_the_mean_of_samples_unless_the_posterior_is_chosen(page):
    shares = sentence_of(page, "bayes_at_n", OUTCOMES)
    assert "avg@4 is 0.667 (95 % confidence interval " in shares
    assert "bayes@4" not in shares
    posterior = sentence_of(page, "bayes_at_n", OUTCOMES, interval="posterior")
    assert "bayes@4 is 0.611 (95 % credible interval " in posterior
    metric = at_k.load("bayes_at_n")
    real = metric.compute(predictions=[[0.5, 4], [1, 2.5]], confidence=0.95, interval="questions")
    limits = f"{real['avg@2_lo']:.3f} to {real['avg@2_hi']:.3f}"
    text = '{"rewards": [0.5, 4]}\n{"rewards": [1, 2.5]}'
    sentence = sentence_of(page, "bayes_at_n", text, interval="questions")
    assert f"avg@2 is 2.000 (95 % confidence interval {limits}, " in sentence


def test_the_notes_say_how_samples_were_read_and_suggest_another_checker(page):
    text = '{"predictions": ["12.0", "13"], "reference": "12"}'
    read, lowered, advice = answer_of(page, "gpassk", text).notes
    assert read == (
        "1 question, 2 samples each in predictions, checked against reference with exact_match."
    )
    assert lowered == "k was lowered to 2, the smallest number of samples of any question."
    assert "Of the other checkers, 'numeric' compares the number that a text gives" in advice
    assert not re.search(r"check_correct_fn|python_tests", advice)
    answer = answer_of(page, "gpassk", "id,pred,gold,finish_reason\n1,7,7,length\n1,7,7,stop\n")
    words = "were cut off by length, as finish_reason says, and are read as they are"
    assert answer.notes[1] == f"1 of the responses {words}."
    reading = {"correct_at_least": 0.5}
    answer = answer_of(page, "gpassk", "id,score\n1,12\n1,78\n", reading=reading)
    assert "has scores up to 78, and the least correct score is 0.5" in " ".join(answer.notes)


PROBLEMS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "a table": ("gpassk", "x,y\n1,2", {}, "The columns are x, y."),
    "rewards": ("bayes_at_n", "id,1,2\na,2,1", {}, "is 2: there are rewards for"),
    "one reward": ("max_at_k", "1 0 1", {"w": "1"}, "is 1: there are rewards for"),
    "three rewards": ("max_at_k", "yes no", {"w": "0, 0.5, 1"}, "3 categories: give two, or none"),
    "a group": ("bayes_at_n", "id,1\na,1", {"group": "topic"}, "id, 1. Name another group column"),
    "both columns": (
        "cons_at_k",
        "id,response,correct\na,x,1\na,y,0",
        {"reading": {"predictions": "response", "outcomes": "correct"}},
        "Choose a column of samples, or one of outcomes",
    ),
    "a text as a reward": ("max_at_k", "id,1\na,abc", {}, "and rewards are numbers. Say"),
    "verdicts": ("score_agg", '[["fully", "bad"]]', {}, "Item 1, verdict 2 "),
    "a category": ("bayes_at_n", '{"outcomes": ["A", "X"]}', {"categories": "C, A"}, "'X'"),
    "a missing outcome": ("gpassk", "1 nan\n1 0", {}, "missing, the first of question 1; the mean"),
    "no text": ("gpassk", " \n", {}, "There are no samples. Paste a table"),
    "JSON": ("gpassk", '{"predictions": [', {}, "The text, line 1: invalid JSON"),
    "no reference": ("gpassk", '{"predictions": ["a"], "reference": null}', {}, "uestion 1"),
    "a number": (
        "gpassk",
        '{"predictions": ["1"], "reference": "two"}',
        {"checker": "numeric"},
        "The reference of question 1 is 'two', but numeric compares the number",
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_in_the_words_of_the_page(page, name):
    metric, text, given, part = PROBLEMS[name]
    error = str(refusal_of(page, metric, text, **given))
    assert part in error
    assert not re.search(r"group_size|shell|python_tests|\bw\b|predictions\[|^text:", error)


def test_verdicts_are_not_checked_against_a_reference(page):
    answer = answer_of(page, "score_agg", "id,target,1,2\na,x,fully,minor\nb,y,fully,fully")
    assert answer.runs[0].scores()["score_agg"] == pytest.approx(0.825)
    assert answer.checker is None


def test_many_files_are_a_sorted_table_with_letters(page, tmp_path):
    """The questions of the third file are in another order."""
    rows = [json.loads(line) for line in Path(TWO_FILES[0]).read_text().splitlines()]
    better = [
        row | {"predictions": [row["reference"]] * 16 + row["predictions"][16:]} for row in rows
    ]
    third = uploaded(tmp_path, {"better.jsonl": "\n".join(map(json.dumps, better[::-1]))})
    answer = answer_of(page, "gpassk", files=(*TWO_FILES, *third), checker="numeric", k=4)
    ranking, *scores = page.files.views_of(answer)
    rows = ranking.paper_tables()[0][1:]
    assert [row[0] for row in rows] == ["better", "smollm2_cool", "smollm2_warm"]
    assert [row[2] for row in rows] == ["a", "b", "c"]
    assert [view.input for view in scores] == [["smollm2_cool"], ["smollm2_warm"], ["better"]]
    html = page.answer_html.result_html(answer)
    assert "Of 3 runs on 94 questions with 32 samples each, checked with numeric, better" in html


# --- HTML and files -------------------------------------------------------------------------

HOSTILE = '<img src=x onerror="window.hacked=1"> {{7*7}} ${window.hacked=1} **b** [a](http://x.y)'


def test_text_of_a_visitor_never_becomes_html(page, tmp_path):
    row = {"outcomes": [1, 0, 0], "group": HOSTILE, "question": HOSTILE, HOSTILE: 1}
    text = json.dumps(row) + "\n" + json.dumps(row | {"question": "q"})
    files = uploaded(tmp_path, {"<img src=x onerror=alert(1)>${7*7}.jsonl": text})
    answer = answer_of(page, "gpassk", files=files)
    for html in (
        page.answer_html.result_html(answer),
        page.answer_html.details_html(answer),
        page.answer_html.problem_html(HOSTILE),
    ):
        assert "<img" not in html
        assert not re.search(r"[{}$]", html)


def test_every_file_is_of_its_kind(page, tmp_path):
    """Also with half of a character, which UTF-8 cannot encode."""
    starts = {"json": b"{", "csv": b"run,", "tex": b"%", "md": b"|", "py": b"# pip", "txt": b"eN"}
    starts |= {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    text = '{"id": "\\ud800", "predictions": ["\\ud800", "a"], "reference": "a"}\n'
    answer = answer_of(page, "gpassk", text + text.replace("\\ud800", "b"))
    assert page.answer_html.details_html(answer).encode()
    files = page.files.write_files(answer, str(tmp_path))
    assert len(files) == len({*files}) == 16
    for file in map(Path, files):
        assert file.name.startswith("gpassk-")
        assert file.read_bytes().lstrip().startswith(starts[file.suffix[1:]]), file.name


@pytest.mark.parametrize("metric", ["bayes_at_n", "gpassk"])
def test_no_text_in_the_csv_of_a_page_is_a_formula(page, metric):
    answer = answer_of(page, metric, 'group,1,2\n=cmd,1,0\n"a\r=cmd",1,0\n-1.5,1,1')
    printed = page.files.table_text(answer, "CSV")
    groups = {row[1] for row in csv.reader(io.StringIO(printed))}
    assert groups == {"group", "", "-1.5", r"a\r=cmd", "'=cmd"}


def test_a_later_request_of_a_visitor_ends_an_earlier_one_in_any_order(page, monkeypatch):
    monkeypatch.setattr(page.events, "score_in_steps", lambda request: iter([None, "answer"]))
    layout = SimpleNamespace(problem="problem", number="number")
    handlers = page.events.Handlers(None, layout)
    monkeypatch.setattr(handlers, "_request", lambda *_: ("request", {}))
    monkeypatch.setattr(handlers, "_answer_updates", lambda answer: {"answer": answer})
    event = SimpleNamespace(target=None)

    def steps(session, number):
        return handlers.score({"number": number}, SimpleNamespace(session_hash=session), event)

    first, other, second = steps("one", 1), steps("other", 1), steps("one", 2)
    assert [list(next(run)) for run in (first, other, second)] == [["problem"]] * 3
    assert [list(x) for x in first] == [["problem"]]
    assert list(other) == [{"number": 1, "answer": "answer"}]
    assert list(second) == [{"number": 2, "answer": "answer"}]
    assert [list(x) for x in steps("one", 1)] == [["problem"]]  # which the server starts last
    handlers.forget(SimpleNamespace(session_hash="one"))
    assert [*handlers._latest] == ["other"]
