"""A page reads what is pasted and uploaded as the command does, and asks where that has to."""

import functools
import json
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
from apps import answer_of, refusal_of, samples_of, uploaded

pytest_plugins = ["space_fixtures"]

GRADED = {"predictions": [[1, 0], [1, 1]]}
# Other tables are in the tests of readers.
READ = {
    "outcomes": ("1\t0\n1\t1", GRADED),
    "words": ("yes no\nYes PASS", {"predictions": [[True, False], [True, True]]}),
    "ticks": ("\u2713,\u2717\n\u2713,\u2713", {"predictions": [[True, False], [True, True]]}),
}


@pytest.mark.parametrize("name", READ)
def test_tables_are_read_as_people_paste_them(page, name):
    text, expected = READ[name]
    assert samples_of(page, "gpassk", text) == {"text": expected}


@pytest.mark.parametrize(
    "text",
    [
        "item,statement,verdict\na,s,Fully\na,t,none\nb,s,mostly\nb,t,minor",
        "answer\t1\t2\na\tFully\tnone\nb\tmostly\tminor",
        "Fully,none\nmostly,minor",
        '[["fully", "none"], ["mostly", "minor"]]',
    ],
)
def test_the_answer_of_a_table_of_verdicts_is_no_reference(page, text):
    rows = samples_of(page, "score_agg", text)["text"]["predictions"]
    assert [[x.lower() for x in row] for row in rows] == [["fully", "none"], ["mostly", "minor"]]


def run_code(page, answer):
    """Run the code that a page shows, in the folder of the test, and return its variables."""
    variables: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which are notes on the page
        exec(page.files.python_code(answer), variables)
    return variables


# Samples, the choices that a page offers, one of them, and the samples that it gives.
ASKED: dict[str, Any] = {
    "missing outcomes": (
        "id,correct\na,1\na,\nb,1",
        [{"missing": "incorrect"}, {"missing": "drop"}],
        {"missing": "incorrect"},
        [[1, False], [1]],
    ),
    "a setting": (
        "id,strategy of prompt,correct\na,x,1\na,y,0\nb,x,1\nb,y,1",
        [
            {"where": [["strategy of prompt", "x"]]},
            {"where": [["strategy of prompt", "y"]]},
            {"groups": "strategy of prompt", "questions": ["id", "strategy of prompt"]},
            {"questions": ["id", "strategy of prompt"]},
            {"pool": ["strategy of prompt"]},
        ],
        {"where": [["strategy of prompt", "y"]]},
        [[0], [1]],
    ),
    "two settings": (
        "id,prompt,temperature,correct\n"
        + "\n".join(f"{x},{p},{t},{int(t == '1')}" for x in "ab" for p in "xy" for t in "01"),
        [
            *({"where": [["prompt", p], ["temperature", t]]} for p in "xy" for t in "01"),
            {"groups": "prompt", "questions": ["id", "prompt", "temperature"]},
            {"questions": ["id", "prompt", "temperature"]},
            {"pool": ["prompt", "temperature"]},
        ],
        {"where": [["prompt", "y"], ["temperature", "1"]]},
        [[1], [1]],
    ),
    "outcomes or answers": (
        "id,correct,answer\na,0,0\na,0,1",
        [{"outcomes": "correct"}, {"predictions": "answer", "references": "correct"}],
        {"predictions": "answer", "references": "correct"},
        [["0", "1"]],
    ),
    "two columns of references": (
        "question,reference,answer\nq1,4,4\nq1,4,5\nq2,3,3",
        [{"predictions": "answer"}, {"outcomes": "answer"}],
        {"predictions": "answer"},
        [["4", "5"], ["3"]],
    ),
    "numbered columns": (
        "reference,a1,a2,a3\nParis,Paris,paris,Lyon\nRome,Rome,Rome,Milan",
        [{"predictions": ["a1", "a2", "a3"]}, {"outcomes": ["a1", "a2", "a3"]}],
        {"predictions": ["a1", "a2", "a3"]},
        [["Paris", "paris", "Lyon"], ["Rome", "Rome", "Milan"]],
    ),
    "a header of any names": (
        "reference,a,b,c\nParis,Paris,paris,Lyon\nRome,Rome,Rome,Milan",
        [],
        {"predictions": ["a", "b", "c"]},
        [["Paris", "paris", "Lyon"], ["Rome", "Rome", "Milan"]],
    ),
    "scores": (
        "id,score\na,0.5\na,0.75\nb,1",
        [{"outcomes": "score"}],
        {"correct_at_least": 0.75},
        [[False, True], [True]],
    ),
    "words": ("id,outcome\na,A\na,B\nb,A", [], {"correct_values": ["A"]}, [[True, False], [True]]),
    "columns without usual names": (
        "item,resp,gold\nq1,12,12\nq1,13,12",
        [],
        {"predictions": "resp", "references": "gold", "questions": "item"},
        [["12", "13"]],
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_page_asks_where_the_rules_of_reading_need_an_answer(page, name):
    """The code of the page reads what was chosen."""
    text, ways, chosen, predictions = ASKED[name]
    error = refusal_of(page, "gpassk", text)
    assert list(error.choices) == ways
    assert all(map(page.asking.choice_in_words, ways))
    assert error.asks_correct == (name in ("scores", "words"))
    asks_columns = {"words", "columns without usual names", "numbered columns"}
    asks_columns |= {"two columns of references", "a header of any names"}
    assert bool(error.columns) == (name in asks_columns)
    again = pickle.loads(pickle.dumps(error))  # as it comes from the worker
    assert vars(again) == vars(error)
    assert str(again) == str(error)
    assert samples_of(page, "gpassk", text, reading=chosen)["text"]["predictions"] == predictions
    for reading in [chosen, *(way for way in ways if way != chosen)]:
        try:
            answer = answer_of(page, "gpassk", text, reading=reading, k=1)
        except ValueError:  # the page asks once more, or refuses
            assert reading != chosen
            continue
        Path("text").write_text(text)
        assert run_code(page, answer)["scores"] == answer.runs[0].scores()


VERDICTS = "item,response,verdict\na,x,Fully\na,x,None\nb,y,mostly\nb,z,minor"
# Pages, what is pasted, and options.
SHOWN_BY_CODE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "rewards below 0": ("max_at_k", "id,1,2\na,-1,1\nb,0", {"k": 1}),
    "rewards below 0, some missing": (
        "bayes_at_n",
        "id,reward\na,-1\na,\na,1\nb,0",
        {"reading": {"missing": "drop"}},
    ),
    "categories with rewards below 0": ("max_at_k", "id,1,2\na,2,1\nb,0,1", {"w": "-1, 0, 1"}),
    "labels that are words": (
        "bayes_at_n",
        "id,1,2\na,none,yes\nb,none,none",
        {"categories": "yes, none", "w": "0, 1"},
    ),
    "a group": ("bayes_at_n", "id,topic,outcome\na,x,1\na,x,0\nb,y,1", {"group": "topic"}),
    "clusters": (
        "gpassk",
        "id,cluster,1,2\na,u,1,0\nb,u,1,1\nc,v,0,0\nd,w,1,1",
        {"interval": "questions", "k": 1},
    ),
    "prior outcomes": ("bayes_at_n", "id,R0,1,2\na,0 1,1,0".replace("0 1", '"[0, 1]"'), {}),
    "verdicts of items": ("score_agg", VERDICTS, {}),
    "verdicts in clusters": ("score_agg", "id,cluster,1,2\na,u,fully,none\nb,v,minor,fully", {}),
    "verdicts beside a reference": ("score_agg", "id,target,1\na,x,fully\nb,y,none", {}),
    "votes of unequal numbers": ("cons_at_k", "id,n,correct\na,5,3\nb,4,0", {}),
    "verdicts of answers": ("score_agg", "answer,1,2\na,none\nb,NONE,none", {}),
    "verdicts as predictions": ("score_agg", '{"predictions": ["fully", "none"]}', {}),
}


@pytest.mark.parametrize("name", SHOWN_BY_CODE)
def test_the_code_reads_as_the_page_does(page, name):
    metric, text, options = SHOWN_BY_CODE[name]
    answer = answer_of(page, metric, text, **options)
    Path("text").write_text(text)
    assert run_code(page, answer)["scores"] == answer.runs[0].scores()


def test_the_code_reads_files_by_the_names_that_visitors_know(page, tmp_path):
    texts = {"my run with a long name, and spaces.csv": "1,0\n1,1", "my second run.txt": "1 1\n0 0"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    answer = answer_of(page, "gpassk", files=uploaded(tmp_path, texts), k=1)
    variables = run_code(page, answer)
    assert [*variables["scores"].values()] == [run.scores() for run in answer.runs]
    assert variables["comparison"] == answer.comparison.results[0]


@pytest.mark.parametrize("text", ["-1 1 1", "0.5 0.2 1"])
def test_rewards_are_refused_with_the_way_to_their_pages(page, text):
    error = refusal_of(page, "gpassk", text)
    assert error.asks_correct
    assert str(error).startswith("Question 1, sample 1 is ")
    assert "ticks and crosses (the pages Max@k and Bayes@N score rewards). Say" in str(error)
    answer = answer_of(page, "max_at_k", text)
    assert answer.runs[0].samples["predictions"] == [[float(x) for x in text.split()]]


@pytest.mark.parametrize("metric", ["gpassk", "bayes_at_n", "score_agg"])
def test_scores_beside_predictions_are_asked_about(page, metric):
    text = "id,prediction,Grades\na,1,0.25\na,0,0.75\nb,1,1"
    error = refusal_of(page, metric, text)
    assert "can be read in 4 ways" in str(error)
    assert list(error.choices) == [{"outcomes": "Grades"}, {"outcomes": "prediction"}]
    assert error.asks_correct == (metric != "score_agg")
    chosen: dict[str, Any] = {"outcomes": "Grades"}
    predictions: list[list[Any]] = [[0.25, 0.75], [1]]
    if metric == "gpassk":
        error = refusal_of(page, metric, text, reading=chosen)
        assert "is 0.25" in str(error)
        assert error.asks_correct
        chosen, predictions = chosen | {"correct_at_least": 0.5}, [[False, True], [True]]
    assert samples_of(page, metric, text, reading=chosen)["text"]["predictions"] == predictions


@pytest.mark.parametrize("start", ["", "file://", "simplecache::"])
def test_no_other_file_is_read(page, tmp_path, start):
    """Neither by an option nor by a choice in a link or a call of the API."""
    (tmp_path / "secret.jsonl").write_text(
        '{"id": "a", "answer": "x"}\n{"id": "b", "answer": "y"}\n'
    )
    path = f"{start}{tmp_path / 'secret.jsonl'}"
    text = "id,p,a/b\na,x,x\nb,y,x"
    for role in ("predictions", "references", "questions"):
        reading = {"predictions": "p", "questions": "id", "references": "a/b"} | {role: path}
        assert "There is no column" in str(refusal_of(page, "gpassk", text, reading=reading, k=1))
    assert "There is no column" in str(refusal_of(page, "bayes_at_n", "id,1\na,1\nb,0", group=path))
    reading = {"predictions": "p", "questions": "id", "references": "a/b"}
    answer = answer_of(page, "gpassk", text, reading=reading, k=1)
    assert answer.runs[0].scores()["pass@1"] == 0.5


def test_choices_add_up_and_conditions_hold_together(page):
    ways = [{"missing": "drop"}, {"where": [["a", "1"]]}, {"where": [["b", "2"]]}]
    merged: dict[str, Any] = functools.reduce(page.asking.merged, ways, {})
    assert merged == {"missing": "drop", "where": [["a", "1"], ["b", "2"]]}
    assert page.asking.choice_in_words(merged) == (
        "Missing samples are left out, only rows with a = 1 and b = 2"
    )
    assert page.asking.is_reading(merged)
    for broken in ({"where": "a=1"}, {"missing": "maybe"}, {"unknown": 1}, 5):
        assert not page.asking.is_reading(broken)


def test_correct_outcomes_are_words_or_a_least_score(page):
    parse = page.asking.parse_correct_outcomes
    assert parse(" ") == {}
    assert parse("A, B,") == {"correct_values": ["A", "B"]}
    for text in (">= 0.75", ">=0.75", "\N{GREATER-THAN OR EQUAL TO} 0.75"):
        assert parse(text) == {"correct_at_least": 0.75}
    for text in ("> 0.75", ">= A"):
        with pytest.raises(ValueError, match="Give the least correct score after >="):
            parse(text)


HEAD, WITHOUT_IDS = "id,outcome\n", "predictions,reference\n\"['1', '2']\",1\n\"['3', '4']\",3\n"
UNPAIRED = {
    "no question in common": (f"{HEAD}q1,1\nq1,0\n", f"{HEAD}q2,1\nq2,1\n", "lacks 1 of the"),
    "other questions": (f"{HEAD}p,1\np,0\nq,1\nq,1", f"{HEAD}q,0\nq,1\n", "such as id 'p': give"),
    "no ids": (WITHOUT_IDS, WITHOUT_IDS, "cannot be paired with those of the others: add a column"),
}


@pytest.mark.parametrize("name", UNPAIRED)
def test_files_whose_questions_cannot_be_paired_are_scored_by_themselves(page, tmp_path, name):
    first, second, reason = UNPAIRED[name]
    files = uploaded(tmp_path, {"a.csv": first, "c.csv": second})
    answer = answer_of(page, "gpassk", files=files, k=2)
    assert answer.comparison is None
    shown = page.answer_html.result_html(answer)
    assert "vs." not in shown
    assert shown.index("a: of 2 samples") < shown.index("c: of 2 samples")
    assert '<p class="verdict">The runs are not compared: ' in shown
    assert reason in answer.notes[-1]
    assert "=True" not in shown  # words of Python
    assert "The questions of a." in page.answer_html.questions_html(answer)


ROW = '{"outcomes": [1, 0]}\n'
REFUSED = {
    "large.jsonl": (" " * 40_000_000 + ROW, "The limit for a file, and for a text, is 40 MB."),
    "long.jsonl": (ROW * 10_001, "10,001 questions are too many. The limit is 10,000."),
    "wide.jsonl": (json.dumps({"outcomes": [1] * 513}), "513 samples per question are too many"),
    "table.xlsx": ("PK", "A file .xlsx is a spreadsheet: save its table as CSV."),
    "page.pdf": ("PK", "The name of a file must end in one of"),
    "head.csv": ("question,prediction,reference\n", "has no questions"),
    "latin.csv": ("prediction,reference\n1,K\udcf6ln", "latin.csv, line 2: the text is not UTF-8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_too_large_or_not_readable_are_refused_with_a_sentence(page, tmp_path, name):
    text, message = REFUSED[name]
    error = refusal_of(page, "gpassk", files=uploaded(tmp_path, {name: text}))
    assert message in str(error)


def test_the_checker_choice_takes_a_column_of_options_as_the_command_does(page):
    rows = [
        {"id": 1, "response": x, "answer": "B", "choices": ["Oslo", "Rome", "Bern"]}
        for x in ("Rome", "(A)", "b", "Bern")
    ]
    text = "\n".join(map(json.dumps, rows))
    answer = answer_of(page, "gpassk", text, checker="choice", k=1)
    assert answer.runs[0].scores()["pass@1"] == 0.5
    assert "options from choices" in answer.notes[0]
    Path("text").write_text(text)
    assert run_code(page, answer)["scores"]["pass@1"] == 0.5


def test_a_zip_of_one_file_and_a_plain_text_are_read(page, tmp_path):
    names = ("run.1.txt", "run-with-a-very-long-name-at-0.8.txt")
    files = uploaded(tmp_path, dict.fromkeys(names, "1 0\n1 1\n"))
    read = samples_of(page, "gpassk", files=files)
    assert read == dict.fromkeys(("run_1", "run-with-a-__name-at-0_8"), GRADED)
    with zipfile.ZipFile(tmp_path / "uploaded" / "run.zip", "w") as archive:
        archive.writestr("run.csv", "id,outcome\na,1\na,0\n")
    files = (str(tmp_path / "uploaded" / "run.zip"),)
    assert samples_of(page, "gpassk", files=files)["run"]["predictions"] == [[1, 0]]
