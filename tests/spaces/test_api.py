"""The API of a Space, as clients use it."""

import concurrent.futures
import json
import random
import re

import at_k
import gradio_client
import pytest
from running_space import client

pytest_plugins = ["space_fixtures"]

only_gpassk = pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")


def random_outcomes(seed):
    """Return outcomes of five questions with six samples each."""
    generator = random.Random(seed)
    return [[generator.randint(0, 1) for _ in range(6)] for _ in range(5)]


@only_gpassk
def test_twenty_clients_at_once_each_get_their_own_scores(space):
    metric = at_k.load(space.name)
    runs = [random_outcomes(seed) for seed in range(20)]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        waiting = [
            pool.submit(lambda text: client(space).predict(text), json.dumps(run)) for run in runs
        ]
        answers = [future.result(300) for future in waiting]
    for run, answer in zip(runs, answers, strict=True):
        assert answer["samples"]["text"]["predictions"] == run
        expected = metric.compute(predictions=run, **arguments_of(answer))
        assert answer["scores"]["text"] == json.loads(json.dumps(expected))


def arguments_of(answer):
    """Return the arguments of the call named "scores", from the options in the answer."""
    options, keys = answer["options"], answer["scores"]["text"]
    ks = [int(key.removeprefix("pass@")) for key in keys if re.fullmatch(r"pass@\d+", key)]
    include = ["pass@k", "G-Pass@k", "mG-Pass@k", "pass^k"]
    return {
        "k": ks,
        "thresholds": options["tau"],
        "include": include,
        "confidence": options["confidence"],
    }


@only_gpassk
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": ""}, "There is no text"),
        (
            {"samples": '{"outcomes": [1]}', "checker": "__import__('os')"},
            "The checker must be one of exact_match, numeric, math_verify",
        ),
        (
            {"samples": '{"outcomes": [1]}', "k": 1e9},
            "k must be a number between 1 and 512",
        ),
        ({"samples": '{"outcomes": [1]}', "k": {}}, "k must be a number between 1 and 512"),
        ({"samples": '{"outcomes": [1]}\n' * 10_001}, "10,001 questions are too many"),
        ({"samples": json.dumps({"outcomes": [1] * 513})}, "513 samples per question"),
        (
            {"samples": '{"outcomes": [1]}\n' + " " * (2 << 20)},
            "The limit for a file, and for a text, is 2 MB.",
        ),
    ],
    ids=["empty", "checker", "range", "type", "questions", "samples", "bytes"],
)
def test_the_error_says_what_is_wrong(space, arguments, message):
    with pytest.raises(gradio_client.exceptions.AppError, match=re.escape(message)):
        client(space).predict(**arguments)


@only_gpassk
def test_the_only_endpoint_is_scores(space):
    endpoints = client(space).view_api(return_format="dict", print_info=False)
    assert list(endpoints["named_endpoints"]) == ["/scores"]
    assert not endpoints["unnamed_endpoints"]
    parameters = endpoints["named_endpoints"]["/scores"]["parameters"]
    names = [parameter["parameter_name"] for parameter in parameters]
    assert names == ["samples", "checker", "k", "tau", "interval", "confidence"]


@only_gpassk
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
        for _ in range(5):
            answer = quick.predict('{"outcomes": [1, 0, 1, 1]}', k=2)
            assert answer["scores"]["text"]["pass@2"] == 1.0
        assert not waiting.done()
        with pytest.raises(gradio_client.exceptions.AppError, match="limit of 20 seconds"):
            waiting.result(300)
