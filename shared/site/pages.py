"""The pages of the site: those in the folder pages/, other files of the repository, docstrings.

mkdocs calls `on_config`, `on_files`, `on_page_markdown` and `on_page_content`. A link to a file
that is a page leads to that page, and one to any other file leads to the repository.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/evaluate-at-k/evaluate-at-k/blob/main/"
RAW = "https://raw.githubusercontent.com/evaluate-at-k/evaluate-at-k/main/"
SITE = "https://evaluate-at-k.github.io/evaluate-at-k/"
PAGES = {
    "README.md": "index.md",
    "tests/recipes/README.md": "recipes.md",
    "tests/benchmarks/COVERAGE.md": "coverage.md",
    "shared/at_k/README.md": "how_it_works.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""The page of each file, by its path in the repository. Cards and pictures are added to it."""
PAGES |= {
    str(card.relative_to(ROOT)): f"metrics/{card.parent.name}.md"
    for card in sorted((ROOT / "metrics").glob("*/README.md"))
}
PAGES |= {
    str(picture.relative_to(ROOT)): f"pictures/{picture.name}"
    for picture in sorted((ROOT / "tests/benchmarks/pictures").iterdir())
}
PAGES |= {
    str(page.relative_to(ROOT)): page.name
    for page in sorted((ROOT / "shared/site/pages").glob("*.md"))
}
NOTEBOOK = "tests/recipes/from_samples_to_paper.py"
PATHS = {page: path for path, page in PAGES.items()}

MODULES = ("charts", "checkers", "testing")
"""Public modules beside the functions of `at_k.__all__`."""
INTEGRATIONS = ("inspect", "lighteval", "lm_eval")
"""Modules of `at_k.integrations`, which are not imported: each needs its harness."""


def on_config(config: Any) -> Any:
    """Run in the folder build/, where the notebook then saves its figures."""
    (ROOT / "build").mkdir(exist_ok=True)
    os.chdir(ROOT / "build")
    return config


@event_priority(100)  # before the plug-in for notebooks, which looks for scripts
def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are elsewhere."""
    for path, page in PAGES.items():
        if files.get_file_from_path(page) is None:
            files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    folder, name = str(ROOT / posixpath.dirname(NOTEBOOK)), posixpath.basename(NOTEBOOK)
    files.append(File(name, folder, config.site_dir, config.use_directory_urls))
    files.append(File.generated(config, "functions.md", content=functions_page()))
    files.append(File.generated(config, "command.md", content=command_page()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links between files of the repository lead to their pages, or to the repository."""
    path = PATHS.get(page.file.src_uri)
    if path is None:
        return markdown
    # Nothing is loaded from another server: badges are for the repository and for indexes.
    markdown = re.sub(r"^\[!\[.*\n", "", markdown, flags=re.MULTILINE)

    def replace(link: re.Match[str]) -> str:
        target, anchor = link["target"], link["anchor"] or ""
        folder = posixpath.dirname(page.file.src_uri) or "."
        if target.startswith(SITE):
            name = target.removeprefix(SITE).removesuffix(".html") or "index"
            return f"]({posixpath.relpath(f'{name}.md', folder)}{anchor})"
        for prefix in (REPOSITORY, RAW):
            if target.startswith(prefix):
                target = target.removeprefix(prefix)
                break
        else:
            if re.match(r"\w+:", target):
                return link[0]
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        pages = PAGES | {NOTEBOOK: posixpath.basename(NOTEBOOK)}
        if target in pages:
            return f"]({posixpath.relpath(pages[target], folder)}{anchor})"
        return f"]({REPOSITORY}{target}{anchor})"

    markdown = re.sub(r"\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)]*)?\)", replace, markdown)
    return _with_formulas(markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Remove what the notebook prints about the machine: standard error, and where files are."""
    stderr = r'<div class="[^"]*" data-mime-type="application/vnd.jupyter.stderr"[^>]*>.*?</div>'
    return re.sub(stderr, "", html, flags=re.DOTALL).replace(f"{ROOT}/", "")


def _with_formulas(markdown: str) -> str:
    """Return a text whose formulas are MathML, which browsers draw without a script."""
    blocks = re.split(r"(^```.*?^```|`[^`\n]+`)", markdown, flags=re.MULTILINE | re.DOTALL)
    for i in range(0, len(blocks), 2):  # the others are code
        blocks[i] = re.sub(r"\$\$(.+?)\$\$", _block, blocks[i], flags=re.DOTALL)
        blocks[i] = re.sub(r"\$([^$]+?)\$", _inline, blocks[i])
    return "".join(blocks)


def _block(formula: re.Match[str]) -> str:
    mathml = convert(" ".join(formula[1].split()), "block")
    return f'\n<div class="formula">{mathml}</div>\n'


def _inline(formula: re.Match[str]) -> str:
    # Markdown takes <math> at the start of a line for a block of its own, and <span> for text.
    return f"<span>{convert(' '.join(formula[1].split()))}</span>"


def functions_page() -> str:
    """Return the page of all public symbols, in the order of the modules that define them."""
    package = importlib.import_module("at_k")
    by_module: dict[str, list[str]] = {}
    for name in package.__all__:
        by_module.setdefault(getattr(package, name).__module__, []).append(name)
    for module in MODULES:
        public = vars(importlib.import_module(f"at_k.{module}"))
        names = public.get("__all__") or [
            name
            for name, value in public.items()
            if not name.startswith("_") and inspect.isfunction(value)
        ]
        paths = {name: f"{module}.{name}" for name in names}
        for name, path in paths.items():
            if f"at_k.{path}" in sys.modules:  # the function has the name of its module
                paths[name] = f"{path}.{name}"
        by_module[f"at_k.{module}"] = [*paths.values()]
    for name in INTEGRATIONS:
        by_module[f"at_k.integrations.{name}"] = [
            f"integrations.{name}.{definition.name}"
            for definition in _source_of(f"at_k.integrations.{name}").body
            if isinstance(definition, ast.FunctionDef) and not definition.name.startswith("_")
        ]
    lines = ["# Functions", "", inspect.getdoc(importlib.import_module("at_k.functions")) or ""]
    parameters = importlib.import_module("at_k.functions.estimates").PARAMETERS
    lines += ["", *(f"- **{name}**: {text}" for name, text in parameters.items())]
    for module, names in by_module.items():
        heading, _, rest = (ast.get_docstring(_source_of(module)) or module).partition("\n")
        lines += ["", f"## {heading.rstrip('.')}", ""]
        if module.split(".")[1] in (*MODULES, "integrations"):  # others are about the code
            lines += [rest, ""]
        lines += [f"::: at_k.{name}\n" for name in names]
    return "\n".join(lines)


def _source_of(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    return ast.parse(Path((spec and spec.origin) or "").read_text(encoding="utf-8"))


def command_page() -> str:
    """Return the page of the command: the help of all subcommands."""
    command = importlib.import_module("at_k.cli.command")
    lines = ["# Command", "", _help_of(command._parser([]))]
    for name in [*command.metric_folders(), *command._COMMANDS]:
        lines += ["", f"## at-k {name}", "", _help_of(command._parser([name]))]
    return "\n".join(lines)


def _help_of(parser: Any) -> str:
    package = str(Path(importlib.import_module("at_k").__file__ or "").parent)
    return f"```text\n{parser.format_help().replace(package, 'shared/at_k').rstrip()}\n```"
