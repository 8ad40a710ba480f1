"""Gather what the docs site is built from: the pages of the repository, and the pages that are written from the source.

The repository's pages are copied with their links changed where a page lies elsewhere on the site: the index of the docs is the
site's first page, and the pages at the root of the repository lie in `project/`. Always holds: no page of the repository is
changed, and the same tree gives the same bytes.
"""

from __future__ import annotations

import importlib
import json
import posixpath
import re
import shutil
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, Final

from tools.docs_site.examples import example_of

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = ROOT / "build/docs-sources"
ROOT_PAGES: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")
EXAMPLES: Final = ("examples/README.md",)
"""The pages on programs that run, which lie beside the docs."""
COPIED: Final = (".md", ".png", ".svg", ".json", ".py", ".yaml")
NOTEBOOK: Final = ".ipynb"
"""A notebook is a page of the site: its text, its code and what that printed."""
PUBLIC: Final = (
    "glasshouse",
    "glasshouse.contests",
    "glasshouse.errors",
    "glasshouse.events",
    "glasshouse.frameworks",
    "glasshouse.grids",
    "glasshouse.manifests",
    "glasshouse.models",
    "glasshouse.testing",
    "glasshouse.tools",
    "glasshouse.views",
)
"""Every public module: each has a page that is written from its source."""
SOURCE_PAGES: Final = "reference/python"
LINK: Final = re.compile(r"\]\((<?)([^)\s>#]+)(#[^)\s>]*)?(>?)\)")
LINKED: Final = re.compile(r"\[([^\]\[]+)\]\(([^)\s#:]+)\)")
LISTED: Final = re.compile(r"^- \[[^\]]+\]\(([\w/.-]+\.md)\)", re.MULTILINE)


def site_path(path: str) -> str | None:
    """Where a file of the repository lies on the site, or none if it is not there."""
    if path == "docs/README.md":
        return "index.md"
    if path.startswith("examples/") and path.endswith(NOTEBOOK):
        return f"{path.removesuffix(NOTEBOOK)}.md"
    if path.startswith(("docs/", "examples/")) and path.endswith(COPIED):
        return path.removeprefix("docs/")
    if path in ROOT_PAGES:
        return f"project/{path}"
    return None


def with_links_of_the_site(text: str, path: str) -> str:
    """A page's text with the links that it has on the site: what is not there, such as a folder, keeps its words. Fenced blocks
    stay as they are."""
    here = posixpath.dirname(path)
    there = posixpath.dirname(site_path(path) or "")

    def changed(link: re.Match[str]) -> str:
        opened, target, anchor, closed = link.groups()
        if re.match(r"[a-z]+:", target):
            return link[0]
        goal = site_path(posixpath.normpath(posixpath.join(here, target)))
        if goal is None:
            return link[0]
        return f"]({opened}{posixpath.relpath(goal, there or '.')}{anchor or ''}{closed})"

    def without_link(link: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(here, link[2]))
        return link[1] if (ROOT / named).exists() and site_path(named) is None else link[0]

    parts = re.split(r"(^```.*?^```\s*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if part.startswith("```") else LINK.sub(changed, LINKED.sub(without_link, part))
        for part in parts
    )


def files_of_the_repository() -> dict[str, Path]:
    """Every file that the site takes from the repository, by its path there."""
    folders = (ROOT / "docs", ROOT / "examples")
    inside = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    found = {path.relative_to(ROOT).as_posix(): path for path in inside}
    found |= {name: ROOT / name for name in ROOT_PAGES}
    return {name: path for name, path in found.items() if site_path(name)}


def groups_of(index: str) -> dict[str, list[str]]:
    """The pages that the index lists, by its second-level headings; decisions are left out."""

    parts = re.split(r"^## (.+)$", index.partition("### Decisions, by topic")[0], flags=re.MULTILINE)
    return {heading: LISTED.findall(text) for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def with_navigation(index: str) -> str:
    """The index with the lists that make the site's navigation, one for each of its groups."""
    groups = groups_of(index)
    groups["Look up"] = [*groups["Look up"], f"{SOURCE_PAGES}/index.md"]
    groups["Learn"] = [*groups["Learn"], *[page for page in EXAMPLES if (ROOT / page).is_file()]]
    groups["Project"] = [f"project/{name}" for name in ROOT_PAGES if name.endswith(".md")]
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *listed, "```"])
        for caption, listed in groups.items()
        if listed
    ]
    return index + "\n\n" + "\n\n".join(trees) + "\n"


def public_names_of(module: ModuleType) -> list[str]:
    """The names of a public module: those that it lists, else the classes that it defines."""
    listed = getattr(module, "__all__", None)
    defined = [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    return sorted(listed) if listed is not None else defined


def page_of_a_module(name: str, described: dict[int, str]) -> str:
    """The page on a public module, which Sphinx fills from docstrings and types. What another page describes is a link."""
    module = importlib.import_module(name)
    directives = [f"# `{name}`", "", (module.__doc__ or "").strip().partition("\n")[0].replace("`", ""), ""]
    for public in public_names_of(module):
        value = getattr(module, public)
        told = described.setdefault(id(value), name)
        about = (
            _directive(name, public, value)
            if told == name
            else f"Described with [`{told}`]({told}.md#{public.lower()})."
        )
        directives += [f"## {public}", "", about, ""]
        if name == "glasshouse":
            directives += ["```python", example_of(public).rstrip(), "```", ""]
    return "\n".join(directives)


def _directive(module: str, name: str, value: object) -> str:
    """What Sphinx is asked to write about a name."""
    if isinstance(value, type):
        options = ["   :members:", "   :show-inheritance:"]
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
    elif callable(value):
        kind, options = "autofunction", []
    elif isinstance(value, ModuleType):
        kind, options = "automodule", ["   :members:"]
    else:
        kind, options = "autodata", ["   :no-value:"]
    target = value.__name__ if kind == "automodule" and isinstance(value, ModuleType) else f"{module}.{name}"
    return "\n".join(["```{eval-rst}", f".. {kind}:: {target}", *options, "```"])


def list_of_modules() -> str:
    """The page that lists the pages of the modules."""
    return "\n".join(
        [
            "# Python, from the source",
            "",
            "Every public name with its types and its docstring, written from the source when this site is built. [Python](../api.md) sorts them by task.",
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            *PUBLIC,
            "```",
            "",
        ]
    )


def write(path: str, text: str) -> None:
    """Write a page of the site."""
    target = SOURCES / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def page_of_a_notebook(notebook: str) -> str:
    """A notebook as Markdown: its text, its code, and below that what was printed and shown."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else _fenced("python", source))
        parts += [_shown(output) for output in cell.get("outputs", ())]
    return "\n\n".join(parts) + "\n"


def _shown(output: dict[str, Any]) -> str:
    """What a cell printed, as text; what shows itself as HTML, as that."""
    data = output.get("data", {})
    if "text/html" in data:
        return _fenced("{raw} html", "".join(data["text/html"]))
    return _fenced("text", "".join(output.get("text") or data.get("text/plain", "")))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def gather() -> None:
    """Write all sources of the site anew."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    for name, path in files_of_the_repository().items():
        goal = site_path(name)
        assert goal is not None
        if not name.endswith((".md", NOTEBOOK)):
            target = SOURCES / goal
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            continue
        read = path.read_text(encoding="utf-8")
        text = with_links_of_the_site(page_of_a_notebook(read) if name.endswith(NOTEBOOK) else read, name)
        if goal == "index.md":
            text = with_navigation(text)
        elif PurePosixPath(goal).parts[0] == "adr" or (goal.startswith("examples/") and goal not in EXAMPLES):
            text = f"---\norphan: true\n---\n{text}"
        write(goal, text)
    described: dict[int, str] = {}
    for module in PUBLIC:
        write(f"{SOURCE_PAGES}/{module}.md", page_of_a_module(module, described))
    write(f"{SOURCE_PAGES}/index.md", list_of_modules())
