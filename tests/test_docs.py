"""The examples in README.md and the cards run and give the results shown, and the links resolve."""

import ast
import itertools
import re

import evaluate
import pytest
from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "metrics").glob("*/README.md"))]
GUIDES = [ROOT / "CHANGELOG.md", ROOT / ".github" / "CONTRIBUTING.md"]


def examples(page):
    """Return pairs of a block of code and the block below it that shows the resulting dict."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [(code, result) for code, result in itertools.pairwise(blocks) if result[0] == "{"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_example_gives_the_dict_below_it(page, monkeypatch):
    load = evaluate.load
    monkeypatch.setattr("evaluate.load", lambda name, *a: load(str(ROOT / "metrics" / name), *a))
    names: dict = {}
    assert examples(page)
    for code, result in examples(page):
        tree = ast.parse(code)
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            tree.body[-1] = ast.Assign([ast.Name("scores", ast.Store())], last.value)
        exec(compile(ast.fix_missing_locations(tree), str(page), "exec"), names)
        expected = ast.literal_eval(result)
        assert names["scores"] == expected
        assert list(names["scores"]) == list(expected)


def test_the_output_of_the_demo_in_the_readme_is_current(capsys):
    from at_k.cli.command import main

    main(["demo"])
    printed = capsys.readouterr().out.splitlines()
    shown = re.search(r"```text\n( +T = .*?)```", PAGES[0].read_text(encoding="utf-8"), re.DOTALL)
    assert shown
    assert set(shown[1].splitlines()) <= set(printed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_resolve(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", [*PAGES, *GUIDES], ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page):
    """Paths in code, such as `tests/exact.py`. A part such as <name> stands for any text."""
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"(?:metrics|shared|spaces|tests)/[\w<>{},*./-]*[\w/>]", text)
    for path in paths:
        pattern = re.sub(r"<\w+>|\{.*\}", "*", path)
        assert list(ROOT.glob(pattern)), path


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.parent.name)
def test_a_card_has_the_header_and_the_sections_of_the_template_of_evaluate(page):
    text = page.read_text(encoding="utf-8")
    header = text.split("---")[1]
    for field in ("title:", "sdk: gradio", "sdk_version:", "app_file: app.py", "- evaluate"):
        assert field in header
    sections = [line for line in text.splitlines() if line.startswith("#")]
    wanted = [
        "## Metric Description",
        "## How to Use",
        "### Inputs",
        "### Output Values",
        "#### Values from Popular Papers",
        "### Examples",
        "## Limitations and Bias",
        "## Citation",
        "## Further References",
    ]
    assert [line for line in sections if line in wanted] == wanted
