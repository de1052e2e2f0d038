"""What a Space answers to requests that it does not take, as raw HTTP sends them."""

import http.client
import json
import urllib.error
import urllib.request
import uuid
from types import SimpleNamespace

import pytest

pytest_plugins = ["space_fixtures"]

pytestmark = pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")

OUTCOMES = '{"outcomes": [1, 0, 1, 1]}'
DEEP = "[" * 900 + "]" * 900
TOO_LARGE = "The limit for a file, and for a text, is 2 MB."


def post(space, path, body, **headers):
    """Return the status and the text of an answer."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"{space.url}/gradio_api/{path}", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def refusal(space, *data):
    """Return the message of the function /scores."""
    status, text = post(space, "call/scores", {"data": data})
    assert status == 200, text
    url = f"{space.url}/gradio_api/call/scores/{json.loads(text)['event_id']}"
    with urllib.request.urlopen(url, timeout=120) as stream:
        event, message, *_ = stream.read().decode().splitlines()
    assert event == "event: error"
    return json.loads(message.removeprefix("data: "))["error"]


def page_of(space):
    """Return the function that scores what is on the page, and its inputs by their names."""
    with urllib.request.urlopen(f"{space.url}/config", timeout=120) as answer:
        config = json.load(answer)
    components = {each["id"]: each["props"] for each in config["components"]}
    # Saving a link takes the same inputs, and shows less.
    function = max(config["dependencies"], key=lambda x: (len(x["inputs"]), len(x["outputs"])))
    names = [components[place].get("elem_id") for place in function["inputs"]]
    values = [components[place].get("value") for place in function["inputs"]]
    in_browser = next(each["id"] for each in config["dependencies"] if not each["backend_fn"])
    inputs = dict(zip(names, values, strict=True))
    start = next(x for x in config["dependencies"] if x["inputs"] and x["targets"][0][1] == "load")
    return SimpleNamespace(
        id=function["id"], inputs=inputs, in_browser=in_browser, start=start["id"]
    )


def refusal_of_page(space, function, data, start=None):
    """Return what the page shows as a problem, or as an error.

    Args:
        function: id of the function that is called.
        start: id of the function that starts the page, before which changes are ignored.
    """
    session = uuid.uuid4().hex
    if start is not None:
        call_in_session(space, session, start, [8.0, None, ""])
    done = call_in_session(space, session, function, data)
    return done["output"]["error"] if not done["success"] else done["output"]["data"][0]["value"]


def call_in_session(space, session, function, data):
    """Call a function of the page, and return the message of its end."""
    body = {"data": data, "fn_index": function, "session_hash": session}
    assert post(space, "queue/join", body)[0] == 200
    url = f"{space.url}/gradio_api/queue/data?session_hash={session}"
    with urllib.request.urlopen(url, timeout=120) as stream:
        messages = (json.loads(line[6:]) for line in stream if line.startswith(b"data: "))
        return next(each for each in messages if each["msg"] == "process_completed")


TEXTS = {
    "": "There is no text. Paste JSON Lines or CSV.",
    f'{{"outcomes": {DEEP}}}': "Question 1 is nested more than 50 levels deep.",
    f'{{"predictions": ["1"], "reference": {DEEP}}}': "The reference of question 1 is nested more "
    "than 50 levels deep.",
    '{"outcomes": [' + "9" * 5000 + "]}": "text, from line 1: invalid JSON: an integer has "
    "too many digits.",
    '{"outcomes": [1], "outcomes": [0]}': "text, from line 1: invalid JSON: an object has "
    "the key 'outcomes' twice.",
    '{"outcomes": [1, "x"]}': "Question 1, sample 2 is 'x', not a number. Without references, "
    "samples are outcomes, such as 0 and 1.",
    '{"outcomes": [0, 1]}\n{"outcomes": [1, 2]}': "Question 2, sample 2 is 2: an outcome is 0 if "
    "incorrect, 1 if correct.",
    "reference,1,2\n12,1,2,3": "text, line 2: 4 cells, but line 1 names 3 columns.",
    "question,n,correct\nq1,6,2\nq2,6,8": "text, row 2: n is 6 and correct is 8. Counts are "
    "whole numbers with 0 <= correct <= n.",
    " " * (2 << 20) + OUTCOMES: TOO_LARGE,
}


def test_every_text_is_refused_with_a_sentence(space):
    for text, message in TEXTS.items():
        assert refusal(space, text, "exact_match", *OPTIONS) == message


def test_references_that_a_checker_does_not_read_are_named(space):
    text = '{"predictions": ["1"], "reference": "2"}\n{"predictions": ["1"], "reference": "two"}'
    for checker, reason in {
        "numeric": ", but numeric compares the number that a response gives with a reference that "
        "is one number, such as 12, -1,200.5, 3/4 or 50% (math_verify compares other "
        "expressions). Give that, or a list of acceptable ones.",
        "math_verify": ", in which math-verify finds no answer.",
    }.items():
        message = f"The reference of question 2 is 'two'{reason}"
        assert refusal(space, text, checker, *OPTIONS) == message


OPTIONS = [4, 0.5, "auto", 0.95]
"""The values of k, tau, interval and confidence."""

BAD_INPUTS = "The inputs are not those that the page sends. The function for programs is /scores"


def test_arguments_of_another_type_are_refused_with_a_sentence(space):
    for k in ([1], {"k": 1}, "4", None, True):
        of_k = refusal(space, OUTCOMES, "exact_match", k, *OPTIONS[1:])
        assert of_k.startswith("k must be a number")
    of_checker = refusal(space, OUTCOMES, ["exact_match"], *OPTIONS)
    assert of_checker.startswith("The checker must be one of")
    assert refusal(space, 5, "exact_match", *OPTIONS).startswith("samples must be a text")
    assert refusal(space).startswith(BAD_INPUTS)


def test_inputs_that_the_page_never_sends_are_refused_with_a_sentence(space):
    page = page_of(space)
    bad: dict[str, list] = {
        "table": [
            {"headers": ["1", "2"], "data": [["1", "0"], ["1", "0", "1"], []]},
            {"headers": 5, "data": 5},
            [[1]],
        ],
        "files": [
            [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}],
            [{"path": "x.csv", "url": "http://127.0.0.1/", "meta": {"_type": "gradio.FileData"}}],
            ["../../etc/passwd"],
            5,
        ],
        "source": ["Database", {}],
        "checker": ["rm"],
    }
    for name, values in bad.items():
        for value in values:
            data = [*(page.inputs | {name: value}).values()]
            assert refusal_of_page(space, page.id, data).startswith(BAD_INPUTS), value
    assert refusal_of_page(space, page.id, []).startswith(BAD_INPUTS)
    no_function = "There is no such function. The function for programs is /scores."
    assert refusal_of_page(space, page.in_browser, []) == no_function


def test_a_cell_of_the_table_is_named_by_its_row_and_sample(space):
    page = page_of(space)
    table = {"headers": ["reference", "1", "2"], "data": [["", "", ""], ["", "1", "x"]]}
    data = [*(page.inputs | {"table": table}).values()]
    problem = refusal_of_page(space, page.id, data, page.start)
    assert "Row 2, sample 2 is &#39;x&#39;, not a number." in problem or (
        "Row 2, sample 2 is 'x', not a number." in problem
    )


def test_an_unknown_function_is_refused_with_a_sentence(space):
    unknown = {
        "call/nonsense": {"data": []},
        "call/v2/nonsense": {},
        "run/nonsense": {"data": []},
        "queue/join": {"data": [], "fn_index": 9999, "session_hash": "a"},
    }
    sentence = "There is no such function. The function for programs is /scores."
    for path, body in unknown.items():
        assert post(space, path, body) == (404, sentence)


def upload(space, content):
    """Upload a file, and return what the page shows if it is scored."""
    form = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    status, text = post(space, "upload", form + content + b"\r\n--b--\r\n", **headers)
    if status != 200:
        return text
    page = page_of(space)
    file = {"path": json.loads(text)[0], "meta": {"_type": "gradio.FileData"}, "orig_name": "a.csv"}
    data = [*(page.inputs | {"source": "Files", "files": [file]}).values()]
    return refusal_of_page(space, page.id, data, page.start)


def test_every_upload_is_refused_with_a_sentence(space):
    assert TOO_LARGE in upload(space, b"question,outcome\n" + b"q,1\n" * 2_500_000)
    assert TOO_LARGE in upload(space, b"question,outcome\n" + b"q,1\n" * 5_000_000)
    assert (
        "a.csv, line 2: the text is not UTF-8 (invalid start byte), but may be Latin-1"
        in upload(space, "question,prediction,reference\nq,Köln,Köln".encode("latin1"))
    )
    assert "a.csv" in upload(space, b"PK\x03\x04\xff\xfe\x00\x01")


def test_a_large_request_is_refused_before_it_is_read(space):
    no_length = "The header Content-Length is missing. It has to say how long the request is."
    for length, status, sentence in (("10000000000", 413, TOO_LARGE), ("", 411, no_length)):
        connection = http.client.HTTPConnection(space.url.removeprefix("http://"), timeout=120)
        connection.putrequest("POST", "/gradio_api/queue/join")
        if length:
            connection.putheader("Content-Length", length)
        connection.endheaders()
        answer = connection.getresponse()
        assert (answer.status, answer.read().decode()) == (status, sentence)
        connection.close()
