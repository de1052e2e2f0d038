"""What a page shows for samples: scores, questions, notes, code and files. Without a server."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import at_k
import pytest
from apps import NAMES, answer_of, answer_to, request_for, space_of, uploaded
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


@pytest.mark.parametrize("metric", NAMES)
def test_every_example_is_scored_and_its_code_prints_these_scores(page, tmp_path, metric):
    space = space_of(metric)
    for number, example in enumerate(space.examples):
        request = page.sharing.example_request(space, example)
        answer = answer_to(page, request)
        assert page.answer_html.result_html(space, answer, "").count("<strong>")
        assert page.answer_html.scores_html(space, answer).count("<tr>") > 1
        assert page.question_table.question_rows(space, answer)
        if number:
            continue
        figures = page.answer_html.chart_html(space, answer)
        assert figures.count("<svg role=") == figures.count("</svg>") == figures.count("<h2>")
        (tmp_path / "text").write_text(example.text)
        code = page.python_code.python_code(space, answer)
        assert len(code) < 3_000
        assert "predictions" not in code
        (printed,) = lines_of(f"{code}\n", tmp_path)
        scores = answer.runs[0].scores()
        kept = {key: x for key, x in scores.items() if key != "per_question"}
        for key, value in kept.items():
            assert f"{key!r}: {value!r}" in printed
        assert list(tmp_path.glob("*.pdf"))


def lines_of(code, folder):
    """Run Python code as it is, in a process of its own, and return the lines that it prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


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


def table_of(page, metric, text, **given):
    space, answer = answer_of(page, metric, text, **given)
    rows = [cells for _, cells in page.question_table.question_rows(space, answer)]
    table = [[*rows[0]], *([*cells.values()] for cells in rows)]
    return table, page.question_table.samples_html(space, answer, 0)


def test_the_questions_have_scores_samples_marked_correct_or_not_and_texts(page):
    text = "What is the sum of 1 and {}?"
    table, html = table_of(page, "gpassk", WITH_TEXTS, k=2)
    assert table == [
        ["question", "pass@2 (%)", "pass^2 (%)", "samples", "text"],
        ["1", "83.3", "16.7", "2 of 4:  \u2713 1   \u2717 2   \u2713 1   \u2717 3", text.format(0)],
        ["2", "83.3", "16.7", "2 of 4:  \u2713 2   \u2713 2   \u2717 1   \u2717", text.format(1)],
    ]
    assert "<span>correct</span> <code>1</code>" in html
    table, html = table_of(page, "gpassk", "id,reference,1,2\nq7,12,= 12,ten\n", checker="numeric")
    assert table[1] == ["q7", "100.0", "0.0", "1 of 2:  \u2713 = 12   \u2717 ten"]
    assert "<span>correct</span> <code>= 12</code></li>" in html
    assert "<span>incorrect</span> <code>ten</code></li>" in html
    votes, _ = table_of(page, "cons_at_k", WITH_TEXTS, k=2)
    assert votes[0][1:4] == [f"{key} (%)" for key in ("vote@2", "maj@2", "avg@4")]


def test_the_questions_have_counts_rewards_grades_and_verdicts(page):
    counts = "question_id,n,correct\nq1,6,2\nq2,6,6\n"
    table, html = table_of(page, "gpassk", counts, k=2)
    assert table[1:] == [["q1", "60.0", "6.7", "2 of 6"], ["q2", "100.0", "100.0", "6 of 6"]]
    assert "2 of 6 samples are correct." in html
    equal = "id,outcome,count\nq1,1,3\nq1,0,2\n"
    table, _ = table_of(page, "gpassk", equal, k=2, reading={"counts": "count"})
    assert table[1] == ["q1", "90.0", "30.0", "3 of 5"]
    table, html = table_of(page, "max_at_k", '{"rewards": [0.25, 0.75]}', k=2)
    assert table == [
        ["question", "max@2", "max@1", "samples"],
        ["1", "0.750", "0.500", "0.500:  0.25   0.75"],
    ]
    grades = '{"id": "q1", "outcomes": ["A", "C"]}'
    table, _ = table_of(page, "bayes_at_n", grades, categories="C, B, A", w="0, 0.5, 1")
    assert table[1] == ["q1", "0.500", "0.500:  1 A   0 C"]
    verdicts = "answer,statement,verdict\na,s1,Fully\na,s2,none\n"
    table, _ = table_of(page, "score_agg", verdicts)
    assert table[1] == ["a", "45.0", "0.500:  1 Fully   0 none"]


def test_questions_are_filtered_by_the_share_of_correct_samples(page):
    space, answer = answer_of(page, "gpassk", "1 1\n1 0\n0 0")
    rows = page.question_table.question_rows
    shown = {
        name: [cells["question"] for _, cells in rows(space, answer, name)]
        for name in page.question_table.FILTERS
    }
    assert shown == {
        "All": ["1", "2", "3"],
        "All correct": ["1"],
        "Some correct": ["2"],
        "None correct": ["3"],
    }
    _, answer_of_correct = answer_of(page, "gpassk", "1 1\n1 1")
    html = page.question_table.questions_html(space, answer_of_correct, "None correct")
    assert html == '<p class="caption">No question has such samples.</p>'
    printed = page.question_table.samples_csv(space, answer).splitlines()
    assert printed[:3] == ["run,question,reference,sample,outcome", "text,1,,,1", "text,1,,,1"]
    assert len(printed) == 7
    grades = "\n".join(f'{{"outcomes": {row}}}' for row in ('["A", "A"]', '["B", "B"]'))
    space, answer = answer_of(page, "bayes_at_n", grades, categories="C, B, A", w="0, 0.5, 1")
    assert [index for index, _ in rows(space, answer, "All correct")] == [0]


def test_two_runs_have_the_largest_differences_first_and_their_code_compares_them(page, tmp_path):
    given = {"files": TWO_FILES, "checker": "numeric", "k": 8}
    space, answer = answer_of(page, "gpassk", **given)
    rows = page.question_table.question_rows(space, answer)
    differences = [abs(float(cells["pass@8 (%), difference"])) for _, cells in rows]
    assert len(differences) == 94
    assert differences == sorted(differences, reverse=True)
    for file in TWO_FILES:
        (tmp_path / file.rpartition("/")[2]).write_bytes(Path(file).read_bytes())
    printed = lines_of(page.python_code.python_code(space, answer), tmp_path)
    compared, key = answer.comparison.results[0], answer.comparison.view.key
    assert f"{key!r}: {compared[key]!r}" in printed[1]


def test_rows_that_are_equal_by_definition_are_shown_once(page):
    space, answer = answer_of(page, "gpassk", OUTCOMES, k=4, tau=0.5)
    (view,) = page.score_tables.views_of(space, answer)
    names = [name for name, *_ in view.paper_tables()[0][1:]]
    assert names == ["pass@4", "G-Pass@4_0.5", "pass^4", "pass@2", "mG-Pass@4", "pass^2"]
    scores = answer.runs[0].scores()
    assert scores["mG-Pass@2"] == scores["pass^2"]
    assert scores["G-Pass@2_0.5"] == scores["pass@2"]


def paper(page, metric, text, **given):
    space, answer = answer_of(page, metric, text, **given)
    (view,) = page.score_tables.views_of(space, answer, for_paper=True)
    return view.sentence(), page.score_tables.table_text(space, answer, "Markdown")


def test_the_limits_are_for_the_chosen_questions(page, tmp_path):
    outcomes = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
    of_pass = at_k.pass_at_k_ci(outcomes, k=2, interval="questions")
    mu, lo, hi = (f"{100 * of_pass[i]:.1f}" for i in (0, 2, 3))
    sentence, markdown = paper(page, "gpassk", OUTCOMES, k=2, interval="questions")
    interval = f"95 % confidence interval {lo} to {hi}, {OTHER}"
    start = f"On 3 questions with 4 samples each, pass@2 is {mu} % ({interval})"
    assert sentence.startswith(start)
    assert f"| pass@2 | {mu} ({lo}, {hi}) |" in markdown
    assert f"95 % CI: confidence limits {OTHER}." in markdown
    space, answer = answer_of(page, "gpassk", "1\n0", k=1)
    note = f"Each question has one sample, so the limits are {OTHER}."
    assert note in answer.notes
    assert OTHER in page.score_tables.views_of(space, answer)[0].sentence()
    space, answer = answer_of(page, "cons_at_k", '{"outcomes": [1]}')
    reason = "No interval: each question has one sample, and there is one question"
    assert reason in page.answer_html.scores_html(space, answer)
    space, answer = answer_of(page, "score_agg", "fully none")
    assert "No interval: there is one question" in page.answer_html.scores_html(space, answer)
    request = request_for(page, "gpassk", "1 0", interval="questions", k=1)
    with pytest.raises(ValueError, match="does not show how questions vary") as error:
        answer_to(page, request)
    words = str(page.scoring.error_for_page(error.value, request))
    assert words.endswith("add questions, or choose the same questions, sampled again.")
    text = "id,1,2\na,fully,none\nb,minor,fully\nc,none,none"
    files = uploaded(tmp_path, {"a.csv": text, "b.csv": text.replace("minor", "fully")})
    _, answer = answer_of(page, "score_agg", files=files, penalty=0.2)
    assert answer.notes[-1] == "The runs are not compared: a comparison is with the penalty 0.1."


def test_bayes_at_n_leads_with_the_mean_of_samples_unless_the_posterior_is_chosen(page):
    shares, _ = paper(page, "bayes_at_n", OUTCOMES)
    assert "avg@4 is 66.7 % (95 % confidence interval " in shares
    assert "bayes@4" not in shares
    posterior, _ = paper(page, "bayes_at_n", OUTCOMES, interval="posterior")
    assert "bayes@4 is 0.611 (95 % credible interval " in posterior
    metric = at_k.load("bayes_at_n")
    real = metric.compute(predictions=[[0.5, 4], [1, 2.5]], confidence=0.95, interval="questions")
    limits = f"{real['avg@2_lo']:.3f} to {real['avg@2_hi']:.3f}"
    text = '{"rewards": [0.5, 4]}\n{"rewards": [1, 2.5]}'
    sentence, _ = paper(page, "bayes_at_n", text, interval="questions")
    assert f"avg@2 is 2.000 (95 % confidence interval {limits}, " in sentence


def test_the_notes_say_how_samples_were_read_and_suggest_another_checker(page):
    text = '{"predictions": ["12.0", "13"], "reference": "12"}'
    _, answer = answer_of(page, "gpassk", text)
    read, lowered, advice = answer.notes
    assert read == (
        "1 question, 2 samples each in predictions, checked against reference with exact_match."
    )
    assert lowered == "k was lowered to 2, the smallest number of samples of any question."
    assert "The checker 'numeric' compares the number that a text gives" in advice
    assert not re.search(r"check_correct_fn|python_tests", " ".join(answer.notes))
    _, answer = answer_of(page, "gpassk", "id,pred,gold,finish_reason\n1,7,7,length\n1,7,7,stop\n")
    words = "were cut off by length, as finish_reason says, and are read as they are"
    assert answer.notes[1] == f"1 of the responses {words}."
    reading = {"correct_at_least": 0.5}
    _, answer = answer_of(page, "gpassk", "id,score\n1,12\n1,78\n", reading=reading)
    assert "has scores up to 78, and the least correct score is 0.5" in " ".join(answer.notes)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("item,outcome\na,1\na,0", {}),
        ('{"predictions": ["a"], "reference": null}', {}),
        ("id,1,2\na,2,1", {"metric": "bayes_at_n"}),
    ],
)
def test_a_problem_is_in_the_words_of_the_page(page, text, given):
    request = request_for(page, **{"metric": "gpassk", "text": text, **given})
    with pytest.raises(ValueError, match=r".") as error:
        answer_to(page, request)
    words = str(page.scoring.error_for_page(error.value, request))
    assert not re.search(r"group_size|shell|python_tests|\bw\b|predictions\[", words)


def test_verdicts_are_not_checked_against_a_reference(page):
    text = "id,target,1,2\na,x,fully,minor\nb,y,fully,fully"
    _, answer = answer_of(page, "score_agg", text)
    assert answer.runs[0].scores()["score_agg"] == pytest.approx(0.825)
    assert answer.checker is None


def test_many_files_are_a_sorted_table_with_letters(page, tmp_path):
    """The questions of the third file are in another order."""
    rows = [json.loads(line) for line in Path(TWO_FILES[0]).read_text().splitlines()]
    better = [
        row | {"predictions": [row["reference"]] * 16 + row["predictions"][16:]} for row in rows
    ]
    third = uploaded(tmp_path, {"better.jsonl": "\n".join(map(json.dumps, better[::-1]))})
    files = (*TWO_FILES, *third)
    space, answer = answer_of(page, "gpassk", files=files, checker="numeric", k=4)
    ranking, *scores = page.score_tables.views_of(space, answer)
    rows = ranking.paper_tables()[0][1:]
    assert [row[0] for row in rows] == ["better", "smollm2_cool", "smollm2_warm"]
    assert [row[2] for row in rows] == ["a", "b", "c"]
    assert [view.input for view in scores] == [["smollm2_cool"], ["smollm2_warm"], ["better"]]
    html = page.answer_html.result_html(space, answer, "")
    assert "Of 3 runs on 94 questions with 32 samples each, checked with numeric, better" in html


HOSTILE = '<img src=x onerror="window.hacked=1"> {{7*7}} ${window.hacked=1} **b** [a](http://x.y)'


def test_text_of_a_visitor_never_becomes_html(page, tmp_path):
    row = {"outcomes": [1, 0, 0], "group": HOSTILE, "question": HOSTILE, HOSTILE: 1}
    text = json.dumps(row) + "\n" + json.dumps(row | {"question": "q"})
    files = uploaded(tmp_path, {"<img src=x onerror=alert(1)>${7*7}.jsonl": text})
    space, answer = answer_of(page, "gpassk", files=files)
    parts = [
        page.answer_html.result_html(space, answer, ""),
        page.answer_html.scores_html(space, answer),
        page.answer_html.chart_html(space, answer),
        page.answer_html.code_html(page.python_code.python_code(space, answer)),
        page.answer_html.problem_html(HOSTILE),
        page.question_table.questions_html(space, answer),
        page.question_table.samples_html(space, answer, 0),
    ]
    for html in parts:
        assert "<img" not in html
        assert not re.search(r"[{}$]", html)


def test_half_of_a_character_in_a_text_can_be_sent_and_saved(page, tmp_path):
    text = '{"id": "\\ud800", "predictions": ["\\ud800", "a"], "reference": "a"}'
    space, answer = answer_of(page, "gpassk", text)
    assert page.question_table.questions_html(space, answer).encode()
    assert page.question_table.samples_html(space, answer, 0).isprintable()


def test_the_page_shows_some_of_many_questions_and_says_so(page):
    space, answer = answer_of(page, "gpassk", "1 0\n" * 1_200)
    html = page.question_table.questions_html(space, answer)
    assert html.count("<tr data-index=") == 500
    assert html.count('tabindex="0"') == 1
    assert "The first 500 of 1,200 questions: a download has all." in html


def test_grades_that_are_none_of_the_categories_are_named(page):
    text = '{"outcomes": ["A", "X"]}'
    with pytest.raises(ValueError, match="'X'"):
        answer_of(page, "bayes_at_n", text, categories="C, B, A", w="0, 0.5, 1")
    with pytest.raises(ValueError, match="k must be a number between 1 and 512"):
        request_for(page, "gpassk", text, k=None)
