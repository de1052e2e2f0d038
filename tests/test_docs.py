"""The examples on the pages run and give the results shown, and the links resolve."""

import ast
import itertools
import re
import shlex

import evaluate
import pytest
from conftest import ROOT

README = ROOT / "README.md"
CARDS = sorted((ROOT / "metrics").glob("*/README.md"))
SITE = ROOT / "shared" / "site" / "pages"
PAGES = [README, *CARDS, *sorted(SITE.glob("*.md"))]
WITH_EXAMPLES = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
STUDY = ROOT / "tests" / "benchmarks" / "COVERAGE.md"
GUIDES = [STUDY, ROOT / "CHANGELOG.md", ROOT / ".github" / "CONTRIBUTING.md"]


def examples(page):
    """Return pairs of a block of Python and the dict that is shown below it, or None."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [
        (code, below if below[:1] == "{" else None)
        for code, below in itertools.pairwise([*blocks, ""])
        if code[0] != "{"
    ]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_example_runs_and_gives_the_dict_below_it(page, monkeypatch):
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
        if result:
            expected = ast.literal_eval(result)
            assert names["scores"] == expected
            assert list(names["scores"]) == list(expected)


def test_the_first_scores_of_the_readme(capsys, monkeypatch, tmp_path):
    """The file that is shown gives the output that is shown."""
    from at_k.cli.command import main

    text = README.read_text(encoding="utf-8").partition("## First scores")[2]
    file, command, shown = (
        re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)[0]
        for language in ("csv", "sh", "text")
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results.csv").write_text(file)
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out == shown


def test_the_commands_of_the_readme_run(capsys, monkeypatch):
    from at_k.cli.command import main

    monkeypatch.chdir(ROOT / "shared" / "at_k" / "samples")
    text = README.read_text(encoding="utf-8")
    commands = re.findall(r"^at-k (\w+ smollm2.*)", text, re.MULTILINE)
    assert {command.split()[0] for command in commands} == {"compare", "gate", "plan"}
    for command in commands:
        assert main(shlex.split(command)) == 0, capsys.readouterr().err
        assert capsys.readouterr().out


@pytest.mark.parametrize("page", [*PAGES, *GUIDES], ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_resolve(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_links_of_the_readme_lead_somewhere_from_pypi_too():
    """They are absolute, and lead to files of the repository or to pages of its site."""
    text = README.read_text(encoding="utf-8")
    assert not re.findall(r"\]\((?!http|#)", text)
    headings = {
        re.sub(r"[^a-z -]", "", line.lower()) for line in re.findall(r"^## (.*)", text, re.M)
    }
    for anchor in re.findall(r"\]\(#([^)]+)\)", text):
        assert anchor in {heading.replace(" ", "-") for heading in headings}, anchor
    ours = r"https://(?:github|raw\.githubusercontent)\.com/evaluate-at-k/evaluate-at-k/"
    paths = re.findall(rf"\]\({ours}(?:blob/)?main/([^)#]+)", text)
    assert paths
    for path in paths:
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", [*PAGES, *GUIDES], ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page):
    """Paths in code, such as `tests/exact.py`. A part such as <name> stands for any text."""
    text = re.sub(r"https://[^)\s]+", "", page.read_text(encoding="utf-8"))
    paths = re.findall(r"(?:metrics|shared|spaces|tests)/[\w<>{},*./-]*[\w/>]", text)
    for path in paths:
        pattern = re.sub(r"<\w+>|\{.*\}", "*", path)
        assert list(ROOT.glob(pattern)), path


@pytest.mark.parametrize("page", CARDS, ids=lambda page: page.parent.name)
def test_a_card_has_the_header_and_the_sections_of_the_template_of_evaluate(page):
    text = page.read_text(encoding="utf-8")
    header = text.split("---")[1]
    for field in ("title:", "sdk: gradio", "sdk_version:", "app_file: app.py", "- evaluate"):
        assert field in header
    sections = [line for line in text.splitlines() if line.startswith("#")]
    wanted = [
        "## Metric Description",
        "## Intended Uses",
        "## How to Use",
        "### Inputs",
        "### Output Values",
        "### Examples",
        "## Limitations and Bias",
        "## Citation",
        "## Further References",
    ]
    assert [line for line in sections if line in wanted] == wanted


def test_the_picture_of_the_readme_is_current(tmp_path, monkeypatch):
    """Its texts are those that are drawn now, and its marks differ by less than a point."""
    monkeypatch.syspath_prepend(ROOT / "tests" / "benchmarks")
    from pictures import PICTURES, curves

    curves().save(tmp_path / "curves.svg")
    drawn, committed = (
        path.read_text() for path in (tmp_path / "curves.svg", PICTURES / "curves.svg")
    )
    numbers = re.compile(r"-?\d+\.?\d*")
    assert numbers.sub("", drawn) == numbers.sub("", committed)
    pairs = zip(numbers.findall(drawn), numbers.findall(committed), strict=True)
    assert max(abs(float(a) - float(b)) for a, b in pairs) < 1
