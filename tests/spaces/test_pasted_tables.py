"""How the API of a Space reads tables as people paste them."""

import pytest
from running_space import client

pytest_plugins = ["space_fixtures"]

CHECKED = {"predictions": [["12", "13"], ["7", "7"]], "references": ["12", "7"]}
GRADED = {"predictions": [[1, 0], [1, 1]]}
COUNTS = {"predictions": {"n": [8, 8], "correct": [3, 5]}}
READ = {
    # What the reader of files takes is tested there. This is what a page adds to it.
    "as the page copies its table": ("12,12,13\n7,7,7", CHECKED),
    "the page with its header": ("reference,1,2\n12,12,13\n7,7,7", CHECKED),
    "one sample in each row, with semicolons": (
        "\ufeffquestion;prediction;reference\nq1;12;12\nq1;13;12\nq2;7;7\nq2;7;7",
        CHECKED,
    ),
    "outcomes": ("1\t0\n1\t1", GRADED),
    "nested lists": ("[[1, 0], [1, 1]]", GRADED),
    "a Markdown table": ("| id | 1 | 2 |\n|:--|--:|--:|\n| a | 1 | 0 |\n| b | 1 | 1 |", GRADED),
    "columns of JSON": ('{"n": [8, 8],\n "correct": [3, 5]}', COUNTS),
    "a list of objects": (
        '[{"predictions": ["12", "13"], "reference": "12"},\n'
        ' {"predictions": ["7", "7"], "reference": "7"}]',
        CHECKED,
    ),
}
VERDICTS = {"predictions": [["fully", "none"], ["mostly", "minor"]]}


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_tables_are_read_as_people_paste_them(space):
    api = client(space)
    for name, (text, expected) in READ.items():
        assert api.predict(text)["samples"]["text"] == expected, name


@pytest.mark.parametrize("space", ["score_agg"], indirect=True, scope="session")
def test_the_answer_of_a_table_of_verdicts_is_no_reference(space):
    api = client(space)
    for text in (
        "item,statement,verdict\na,s,Fully\na,t,none\nb,s,mostly\nb,t,minor",
        "answer\t1\t2\na\tFully\tnone\nb\tmostly\tminor",
        "Fully,none\nmostly,minor",
        "fully none\nmostly minor",
        '[["fully", "none"], ["mostly", "minor"]]',
    ):
        assert api.predict(text)["samples"]["text"] == VERDICTS
