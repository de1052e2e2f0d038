"""A link and a saved page hold what their sender saw, and an address names examples and options."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from apps import request_for, space_of

pytest_plugins = ["space_fixtures"]


def opened(page, text, tmp_path):
    folder = tmp_path / "opened"
    folder.mkdir()
    return page.request.opened_request(space_of("gpassk"), text, folder)


def link_of(content):
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(content).encode())).decode()


def test_a_link_has_the_text_the_options_and_what_was_chosen(page, tmp_path):
    reading = {"where": [["a", "b"]], "missing": "drop", "correct_at_least": 0.5}
    text = "\u2713 \u2717\n"
    request = request_for(page, "gpassk", text, checker="numeric", reading=reading, k=2)
    shared = page.request.shared_text(request)
    for name, saved, found in (
        ("page.txt", f"{shared}\n", f"{shared}\n"),
        ("page.csv", shared, None),
        ("rows.txt", "1 0 1\n0 1 1", None),
    ):
        (tmp_path / name).write_text(saved)
        assert page.request.saved_page([str(tmp_path / name)]) == found
    assert opened(page, shared, tmp_path) == request


def test_large_samples_have_no_link(page):
    short, long = (request_for(page, "gpassk", "1 0\n" * rows) for rows in (1_000, 300_000))
    assert page.request.link_text(short) == page.request.shared_text(short)
    assert page.request.link_text(long) == ""
    assert page.scoring._seconds_for(long) == page.scoring._seconds_for(short) + 1


def test_a_link_holds_two_files_of_the_same_name(page, tmp_path):
    """Such as those of two folders, or names that differ in signs that are replaced."""
    contents = {"a/run.csv": "first", "b/run.csv": "second", "b/run 1.csv": "3", "b/run_1.csv": "4"}
    files = [tmp_path / name for name in contents]
    for file, text in zip(files, contents.values(), strict=True):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    request = request_for(page, "gpassk", files=tuple(map(str, files)))
    found = opened(page, page.request.shared_text(request), tmp_path)
    names = [Path(file).name for file in found.files]
    assert names == ["run.csv", "run.csv", "run_1.csv", "run_1.csv"]
    assert [Path(file).read_text() for file in found.files] == [*contents.values()]


def test_the_files_of_an_example_are_named(page, tmp_path):
    space = space_of("gpassk")
    request = page.request.example_request(space, space.examples[-1])
    shared = page.request.shared_text(request)
    assert len(shared) < 400
    assert opened(page, shared, tmp_path).files == request.files


OLD: dict[str, Any] = {"metric": "gpassk", "checker": "exact_match", "options": {"k": 2}}
BROKEN = {
    "nonsense": "nonsense",
    "cut": link_of(OLD | {"text": "1 0", "reading": {}})[:-8],
    "a choice that no page offers": link_of(OLD | {"text": "1 0", "reading": {"missing": "x"}}),
    "a file that is no example": link_of(OLD | {"files": [["passwd", None]], "reading": {}}),
    "letters": "\u2713",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_link_is_refused_with_a_sentence(page, tmp_path, name):
    with pytest.raises(ValueError, match="is broken, or a part of it is missing"):
        opened(page, BROKEN[name], tmp_path)


def test_a_link_of_another_page_or_with_an_invalid_option_is_refused(page):
    for change, message in (
        ({"metric": "max_at_k"}, "is of the page 'max_at_k', and not of this"),
        ({"options": {"k": 0}}, "k must be a number between 1 and 512"),
        ({"options": {"k": None}}, "k must be a number between 1 and 512"),
        ({"options": {"x": 0}}, "There is no option 'x'"),
        ({"checker": "rm"}, "checker must be one of exact_match, numeric, choice, math_verify"),
    ):
        link = link_of(OLD | {"text": "1 0", "reading": {}} | change)
        with pytest.raises(ValueError, match=message):
            page.request.opened_request(space_of("gpassk"), link, None)
