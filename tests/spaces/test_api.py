"""The API of a Space, as clients use it."""

import concurrent.futures
import json
import random
import re
import urllib.error
import urllib.request
from typing import Any

import at_k
import gradio_client
import pytest
from running_space import client, wait_for_worker

pytest_plugins = ["space_fixtures"]

DEFAULTS = {
    "k": [2, 4],
    "thresholds": [0.5],
    "include": ["pass@k", "G-Pass@k", "mG-Pass@k", "pass^k"],
    "confidence": 0.95,
}


def test_twenty_clients_at_once_each_get_their_own_scores(space):
    metric, generator = at_k.load(space.name), random.Random(1)
    runs = [[generator.choices([0, 1], k=6) for _ in range(5)] for _ in range(20)]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        waiting = [
            pool.submit(lambda text: client(space).predict(text), json.dumps(run)) for run in runs
        ]
        answers = [future.result(300) for future in waiting]
    for run, answer in zip(runs, answers, strict=True):
        assert answer["samples"]["text"]["predictions"] == run
        expected = metric.compute(predictions=run, **DEFAULTS)
        assert answer["scores"]["text"] == json.loads(json.dumps(expected))


DEEP = "[" * 900 + "]" * 900
ONE = '{"outcomes": [1]}'
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"samples": ONE, "checker": "rm"}, "checker must be one of exact_match, numeric, choice"),
    ({"samples": ONE, "k": 1e9}, "k must be a number between 1 and 512"),
    ({"samples": ONE, "k": 2}, "k is 2: it can be at most 1, the smallest number of samples"),
    ({"samples": ONE, "interval": "x"}, "interval must be one of auto, questions"),
    ({"samples": ONE, "reading": {"missing": 1}}, "reading must be an object, such as"),
    ({"samples": 5}, "samples must be a text"),
    ({"samples": "x,y\n1,2"}, 'The columns are x, y. Give reading={"predictions": .., "references'),
    ({"samples": "id,correct\na,1\na,"}, 'Give reading={"missing": "incorrect"} or {"missing"'),
    ({"samples": f'{{"outcomes": {DEEP}}}'}, "Question 1, sample 1 is [[[[["),
    ({"samples": '{"outcomes": [0, 1]}\n{"outcomes": [1, 2]}'}, "Question 2, sample 2 is 2"),
    ({"samples": "question,n,correct\nq1,6,2\nq2,6,8"}, "row 2: n is 6 and correct is 8"),
]


def test_the_error_says_what_is_wrong_and_what_is_chosen_is_used(space):
    own = client(space)
    for arguments, message in REFUSED:
        with pytest.raises(gradio_client.exceptions.AppError, match=re.escape(message)) as error:
            own.predict(**arguments)
        assert "Traceback" not in str(error.value)
    answer = own.predict("id,correct\na,1\na,\nb,1", k=1, reading={"missing": "incorrect"})
    assert answer["scores"]["text"]["pass@1"] == 0.75
    assert "1 of them missing, counted as incorrect" in answer["notes"][0]


def test_the_only_function_is_scores_and_says_what_its_parameters_take(space):
    described = client(space).view_api(return_format="dict", print_info=False)
    assert list(described["named_endpoints"]) == ["/scores"]
    assert not described["unnamed_endpoints"]
    scores = described["named_endpoints"]["/scores"]
    types = {x["parameter_name"]: x["python_type"]["type"] for x in scores["parameters"]}
    assert [*types] == ["samples", "checker", "k", "tau", "interval", "confidence", "reading"]
    assert types["checker"] == "Literal['exact_match', 'numeric', 'choice', 'math_verify']"
    assert types["interval"] == "Literal['auto', 'questions']"
    for name in types:
        assert f"{name}: " in scores["description"]
    assert "k: drawn from the n samples of a question" in scores["description"]


def test_a_slow_request_is_ended_and_does_not_delay_others(space):
    tower = "9^{9^{9^{9^{9}}}}"
    slow = [
        {"predictions": [f"${tower} + {i}$" for i in range(q, q + 40)], "reference": f"${q}!$"}
        for q in range(40)
    ]
    text = "\n".join(map(json.dumps, slow))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client(space).predict, text, "math_verify")
        quick = client(space)
        wait_for_worker(space)
        answer = quick.predict('{"outcomes": [1, 0, 1, 1]}', k=2)
        assert answer["scores"]["text"]["pass@2"] == 1.0
        assert not waiting.done()
        with pytest.raises(gradio_client.exceptions.AppError, match="limit of 20 seconds"):
            waiting.result(300)


def test_a_file_that_is_too_large_is_refused_and_no_other_path_is_read(space):
    form = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
    content = form + b"q,1\n" * 10_000_001 + b"\r\n--b--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    upload = urllib.request.Request(f"{space.url}/gradio_api/upload", content, kind)
    with pytest.raises(urllib.error.HTTPError, match="413"):
        urllib.request.urlopen(upload, timeout=120)
    for path in ("/etc/passwd", f"{space.folder}/app.py"):
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{space.url}/gradio_api/file={path}", timeout=120)
