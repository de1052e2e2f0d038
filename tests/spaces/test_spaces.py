"""The Spaces: each bundled, started in a clean environment, and used in a browser and by its API.

The browser is Debian's Chromium, headless. Screenshots stay in build/screenshots, or in the
folder that SCREENSHOTS names.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import venv
from dataclasses import dataclass
from pathlib import Path

import at_k
import evaluate
import gradio_client
import pytest
from conftest import ROOT
from playwright.sync_api import sync_playwright

NAMES = sorted(path.parent.name for path in (ROOT / "spaces").glob("*/app.py"))
COMPARING = [name for name in NAMES if name != "score_agg"]
SAMPLES = ROOT / "shared" / "at_k" / "samples"
SCREENSHOTS = Path(os.environ.get("SCREENSHOTS", ROOT / "build" / "screenshots"))
PAIR = [str(SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm")]


def bundle(name, target):
    command = [sys.executable, ROOT / "spaces" / "bundle.py", name, target]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


# --- Running them -------------------------------------------------------------------------


@dataclass
class Running:
    name: str
    folder: Path
    home: Path
    url: str
    log: Path


@pytest.fixture(scope="session")
def clean_python(tmp_path_factory):
    """An environment that has what the bundles require, and nothing of this repository."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    wanted = []
    for name in NAMES:
        assert bundle(name, folder / name).returncode == 0
        wanted += ["-r", str(folder / name / "requirements.txt")]
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *wanted]
    subprocess.run(pip, check=True, timeout=900, env=_clean_environment())
    return python


def _clean_environment():
    """This process's, less what could lead a Python to this repository or to a Hub."""
    kept = ("PATH", "LANG", "PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE")
    return {key: os.environ[key] for key in kept if key in os.environ}


@pytest.fixture(scope="module", params=NAMES)
def space(request, clean_python, tmp_path_factory):
    with _started(request.param, clean_python, tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest.fixture(scope="module")
def gpassk_space(clean_python, tmp_path_factory):
    with _started("gpassk", clean_python, tmp_path_factory.mktemp("alone")) as running:
        yield running


@contextlib.contextmanager
def _started(name, python, folder):
    target, home, temporary = folder / name, folder / "home", folder / "tmp"
    assert bundle(name, target).returncode == 0
    home.mkdir()
    temporary.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"HOME": str(home), "TMPDIR": str(temporary), "GRADIO_SERVER_PORT": str(port)}
    environment = _clean_environment() | own | {"PYTHONDONTWRITEBYTECODE": "1"}
    url = f"http://127.0.0.1:{port}"
    before = sorted(target.rglob("*"))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [python, "app.py"], cwd=target, env=environment, stdout=log, stderr=log
        )
        try:
            for _ in range(240):
                assert process.poll() is None, (folder / "log").read_text()
                with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/config"):
                    break
                time.sleep(0.25)
            yield Running(name, target, home, url, folder / "log")
        finally:
            process.terminate()
            process.wait(30)
    assert sorted(target.rglob("*")) == before, "a Space writes into its own folder"
    assert not [path for path in home.rglob("*") if path.is_file()], "a Space writes into the home"
    assert "Traceback" not in (folder / "log").read_text()


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("CI has to have Chromium: apt-get install chromium")
        pytest.skip("there is no Chromium: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield started
        started.close()


DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextlib.contextmanager
def opened(browser, space, viewport=DESKTOP, scheme="light"):
    """The page in a window, which by its end has had no error and asked no other host."""
    problems = []
    context = browser.new_context(viewport=viewport, color_scheme=scheme, accept_downloads=True)
    page = context.new_page()

    def asks(request):
        if not request.url.startswith((space.url, "data:", "blob:")):
            problems.append(request.url)

    def says(message):
        if message.type == "error":
            problems.append(message.text)

    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", says)
    page.on("request", asks)
    page.goto(space.url)
    page.wait_for_selector("canvas")
    try:
        yield page
    finally:
        context.close()
    assert not problems


def screenshot(page, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(300)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def sentence(page):
    return page.inner_text(".sentence")


def changed(page, before, what=sentence):
    """What is shown once it is no longer what it was."""
    for _ in range(300):
        if page.locator(".sentence").count() and (now := what(page)) != before:
            return now
        page.wait_for_timeout(50)
    raise AssertionError(f"this did not change: {before}")


def problem(page):
    page.wait_for_selector(".problem")
    said = page.inner_text(".problem")
    assert "Traceback" not in said
    assert not page.locator("canvas:visible").count(), "a picture is shown beside a problem"
    return said


def choose(page, source):
    page.locator("#source").get_by_text(source, exact=True).click()


def upload(page, *files):
    choose(page, "Files")
    page.wait_for_selector("#files input[type=file]", state="attached")
    page.set_input_files("#files input[type=file]", list(files))


def is_blank(page, canvas):
    """Whether a picture has one colour only."""
    look = """canvas => new Set(new Uint32Array(canvas.getContext("2d")
        .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size < 3"""
    return canvas.evaluate(look)


# --- In a browser -------------------------------------------------------------------------


def test_a_visitor_sees_an_example_with_its_pictures_at_once(browser, space):
    with opened(browser, space) as page:
        assert re.search(r"\d", sentence(page))
        canvases = page.locator("canvas").all()
        assert len(canvases) == page.locator(".picture").count()
        assert not any(is_blank(page, canvas) for canvas in canvases)
        assert page.locator(".numbers tbody tr").count()
        screenshot(page, f"{space.name}-desktop-light")
    with opened(browser, space, scheme="dark") as page:
        screenshot(page, f"{space.name}-desktop-dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(browser, space, scheme):
    with opened(browser, space, PHONE, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        for canvas in page.locator("canvas").all():
            assert canvas.bounding_box()["width"] <= PHONE["width"]
        screenshot(page, f"{space.name}-phone-{scheme}")


def test_every_example_is_shown(browser, space):
    with opened(browser, space) as page:
        buttons = page.locator("#examples button").all()
        for number, button in [*enumerate(buttons)][1:]:
            before = sentence(page)
            button.click()
            changed(page, before)
            page.wait_for_selector("canvas")
            assert not page.locator(".problem:visible").count()
            screenshot(page, f"{space.name}-example-{number}")


def test_an_edit_of_the_table_is_followed(browser, space):
    other = {"score_agg": "none", "max_at_k": "0.05"}.get(space.name, "?")
    with opened(browser, space) as page:
        before = page.inner_text(".numbers")
        page.get_by_test_id("cell-0-3").dblclick()
        page.wait_for_selector("#table textarea[aria-label='Edit cell']")
        page.keyboard.press("Control+A")
        page.keyboard.type(other)
        page.keyboard.press("Enter")
        changed(page, before, lambda page: page.inner_text(".numbers"))


def test_a_slider_is_followed(browser, space):
    with opened(browser, space) as page:
        before = page.inner_text("#answer") + page.inner_text(".numbers")
        page.locator("#given input[type=range]").first.focus()
        page.keyboard.press("ArrowLeft")
        changed(page, before, lambda page: page.inner_text("#answer") + page.inner_text(".numbers"))


def test_pasted_csv_with_a_sample_in_each_row_is_scored(browser, space):
    if space.name == "score_agg":
        text = "question,verdicts\nq1,fully\nq1,none\nq2,mostly\nq2,minor\n"
    else:
        text = "question,prediction,reference\nq1,12,12\nq1,13,12\nq2,7,7\nq2,7,7\n"
    with opened(browser, space) as page:
        before = sentence(page)
        choose(page, "Paste")
        assert "no text yet" in problem(page)
        page.fill("#text textarea", text)
        changed(page, before)
        assert re.match(r"2 \w+, 2 \w+ each\.", page.inner_text(".told"))


def bad_inputs(space):
    """Texts that cannot be scored, and what is said of them."""
    bad = {
        '{"predictions": [': "line 1: invalid JSON",
        '{"text": "1"}': "no column with a usual name for samples",
        "[" * 100_000: "nested too deep",
        '{"outcomes": []}': "is empty",
        '{"outcomes": [1, null]}\n{"outcomes": [null]}': "nothing but None",
    }
    return bad if space.name == "score_agg" else bad | {'{"predictions": ["1"]}': "no outcomes"}


def test_bad_input_shows_a_sentence_and_no_picture(browser, space):
    with opened(browser, space) as page:
        choose(page, "Paste")
        page.wait_for_selector(".problem")
        for text, said in bad_inputs(space).items():
            page.fill("#text textarea", text)
            page.wait_for_function(
                "said => document.querySelector('.problem').innerText.includes(said)", arg=said
            )
            assert said in problem(page)
        screenshot(page, f"{space.name}-problem")
        choose(page, "Table")  # and from there on as before
        page.wait_for_selector("canvas")
        assert not page.locator(".problem:visible").count()


@pytest.mark.parametrize("space", COMPARING, indirect=True, scope="module")
def test_two_files_are_laid_over_each_other(browser, space):
    with opened(browser, space) as page:
        before = sentence(page)
        upload(page, *PAIR)
        before = changed(page, before)
        page.click("#judge input")
        page.get_by_role("option", name="numeric").click()
        said = changed(page, before)
        assert "smollm2_cool" in said
        assert "smollm2_warm" in said
        assert page.locator(".numbers th", has_text="difference").count() == 1
        screenshot(page, f"{space.name}-two-files")


def test_the_downloads_hold_what_is_on_the_screen_and_the_code_gives_it_again(
    browser, space, tmp_path, monkeypatch
):
    with opened(browser, space) as page:
        with page.expect_download() as waited:
            page.click("#json")
        result = json.loads(Path(waited.value.path()).read_text(encoding="utf-8"))
        with page.expect_download() as waited:
            page.click("#png")
        image = Path(waited.value.path()).read_bytes()
        assert image.startswith(b"\x89PNG")
        assert waited.value.suggested_filename == f"{space.name}.png"
        shutil.copyfile(waited.value.path(), SCREENSHOTS / f"{space.name}-download.png")
        shown = page.inner_text(".numbers")
        code = _code(page)
    (label, scores), *_ = result["scores"].items()
    key = next(iter(scores))
    assert f"{scores[key]:.4f}" in shown
    names = _run(code, space, monkeypatch)
    for call in result:
        if call not in ("metric", "options", "samples"):
            assert json.loads(json.dumps(names[call])) == result[call][label]


def _code(page):
    """All of the Python that is shown, of which the editor may draw a part only."""
    page.locator("#code .cm-content").click()
    return page.evaluate(
        "document.querySelector('#code .cm-content').cmTile?.view?.state.doc.toString()"
        " ?? document.querySelector('#code .cm-content').cmView.view.state.doc.toString()"
    )


def _run(code, space, monkeypatch):
    load = evaluate.load
    monkeypatch.setattr("evaluate.load", lambda name: load(str(space.folder / f"{name}.py")))
    names: dict = {}
    exec(code, names)
    return names


def test_uploads_are_bounded_with_a_sentence(browser, gpassk_space, tmp_path):
    row = '{"outcomes": [1, 0]}\n'
    uploads = {
        "Files can have up to 2 MB here.": {"large.jsonl": row * 120_000},
        "2001 questions are too many here: 2000 at most.": {"long.jsonl": row * 2001},
        "Files have to end in one of": {"<img src=x onerror='window.hacked=1'>.txt": row},
        "holds no question": {"head.csv": "question,prediction,reference\n"},
        "3 files are too many": {f"{number}.jsonl": row for number in range(3)},
        "One file has references": {"a.jsonl": row, "b.csv": 'prediction,reference\n"[""1""]",1'},
    }
    with opened(browser, gpassk_space) as page:
        for said, files in uploads.items():
            for name, text in files.items():
                (tmp_path / name).write_text(text)
            choose(page, "Table")
            page.wait_for_selector(".sentence")
            upload(page, *(tmp_path / name for name in files))
            page.wait_for_function(
                "said => document.querySelector('.problem')?.innerText.includes(said)", arg=said
            )
            assert said in problem(page)
            assert not page.locator("img[src=x]").count()
            page.click("#files button[aria-label='Clear']")
            page.wait_for_selector("#files input[type=file]", state="attached")


HOSTILE = '<img src=x onerror="window.hacked=1"> {{7*7}} ${window.hacked=1} **b** [a](http://x.y)'


def test_no_text_of_a_visitor_becomes_html(browser, space, tmp_path):
    with opened(browser, space) as page:
        upload_file = tmp_path / "<img src=x onerror=alert(1)>${7*7}.jsonl"
        row = {"outcomes": [1, 0], "group": HOSTILE, HOSTILE: 1}
        if space.name == "score_agg":
            row = {"verdicts": ["fully", "none"], HOSTILE: 1}
        upload_file.write_text(json.dumps(row) + "\n")
        before = sentence(page)
        upload(page, upload_file)
        changed(page, before)
        choose(page, "Paste")
        page.wait_for_selector(".problem")
        page.fill("#text textarea", json.dumps({HOSTILE: 1}))
        page.wait_for_function(
            "() => document.querySelector('.problem').innerText.includes('onerror')"
        )
        assert HOSTILE in problem(page)
        assert page.evaluate("window.hacked") is None
        assert not page.locator("img[src='x'], .problem a, .problem strong").count()


# --- By the API ---------------------------------------------------------------------------


def client(space):
    return gradio_client.Client(space.url, verbose=False)


def as_text(bank, space):
    column = "verdicts" if space.name == "score_agg" else "outcomes"
    return "\n".join(json.dumps({column: row}) for row in bank)


def test_twenty_clients_at_once_get_each_its_own_right_answer(space):
    metric = at_k.load(space.name)
    banks = [
        [[random.Random(f"{c}-{q}-{s}").randint(0, 1) for s in range(6)] for q in range(5)]
        for c in range(20)
    ]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(lambda b: client(space).predict(as_text(b, space)), b) for b in banks]
        answers = [each.result(120) for each in asked]
    for bank, answer in zip(banks, answers, strict=True):
        assert answer["samples"]["text"]["predictions"] == bank
        wanted = metric.compute(predictions=bank, **_asked_for(answer))
        assert answer["scores"]["text"] == json.loads(json.dumps(wanted))


def _asked_for(answer):
    """The arguments of the call that gave the scores, by what the API says of its options."""
    scores, options = answer["scores"]["text"], answer["options"]
    if answer["metric"] == "score_agg":
        return {**options, "return_per_question": True}
    if answer["metric"] == "bayes_at_n":
        sure = {"confidence": options["confidence"], "bounds": [0, 1]}
        return {**sure, "return_per_question": True}
    sure = {"confidence": options["confidence"], "interval": "auto"}
    if answer["metric"] == "max_at_k":
        return {"k": [1, options["k"]], **sure}
    if answer["metric"] == "cons_at_k":
        return {"k": options["k"], **sure}
    ks = [int(key[5:]) for key in scores if re.fullmatch(r"pass@\d+", key)]
    include = ["pass@k", "G-Pass@k", "mG-Pass@k", "pass^k"]
    return {"k": ks, "thresholds": options["tau"], "include": include, **sure}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"samples": ""}, "no text yet"),
        ({"samples": '{"outcomes": [1]}', "judge": "__import__('os')"}, "judge has to be one of"),
        ({"samples": '{"outcomes": [1]}', "options": {"nonsense": 1}}, "no option 'nonsense'"),
        ({"samples": '{"outcomes": [1]}', "options": {"k": 1e9}}, "has to be from 1 to 512"),
        ({"samples": '{"outcomes": [1]}\n' * 2001}, "2001 questions are too many"),
        ({"samples": json.dumps({"outcomes": [1] * 513})}, "513 samples of one question"),
        ({"samples": '{"outcomes": [1]}\n' + " " * (2 << 20)}, "up to 2 MB"),
    ],
    ids=["empty", "judge", "option", "range", "questions", "samples", "bytes"],
)
def test_the_api_says_what_is_wrong(gpassk_space, given, said):
    with pytest.raises(gradio_client.exceptions.AppError, match=said):
        client(gpassk_space).predict(**given)


def test_only_the_scores_are_offered_by_the_api(gpassk_space):
    offered = client(gpassk_space).view_api(return_format="dict", print_info=False)
    assert list(offered["named_endpoints"]) == ["/scores"]
    assert not offered["unnamed_endpoints"]


def test_a_huge_request_is_refused_before_it_is_read(gpassk_space):
    host = gpassk_space.url.removeprefix("http://")
    for headers, status in (({"Content-Length": "10000000000"}, 413), ({}, 411)):
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.putrequest("POST", "/gradio_api/queue/join")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status == status
        connection.close()


def test_a_slow_request_is_cut_off_and_holds_up_nobody(gpassk_space):
    tower = "9^{9^{9^{9^{9}}}}"
    slow = [
        {"predictions": [f"${tower} + {i}$" for i in range(q, q + 40)], "reference": f"${q}!$"}
        for q in range(40)
    ]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        lines = "\n".join(map(json.dumps, slow))
        stuck = pool.submit(client(gpassk_space).predict, lines, "math_verify")
        quick = client(gpassk_space)
        for _ in range(5):
            started = time.monotonic()
            answer = quick.predict('{"outcomes": [1, 0, 1, 1]}', options={"k": 2})
            assert answer["scores"]["text"]["pass@2"] == 1.0
            assert time.monotonic() - started < 10
        with pytest.raises(gradio_client.exceptions.AppError, match="longer than the 20 seconds"):
            stuck.result(60)
