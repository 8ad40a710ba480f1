"""The docs tell the truth: every path, target, link, name and sample in them is real.

What the program offers (kinds, errors, public names, commands) is asked of the program itself, so that something new
which nobody wrote down fails here. A missing page fails too; nothing is skipped.
"""

import ast
import asyncio
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.main import get_command

import glasshouse
import glasshouse.cli
from glasshouse import errors
from glasshouse.events import kinds
from glasshouse.events.payloads import PAYLOAD_TYPES

ROOT = Path(__file__).resolve().parent.parent

REQUIRED_PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/architecture.md",
    "docs/glossary.md",
    "docs/reference/api.md",
    "docs/reference/cli.md",
    "docs/reference/errors.md",
    "docs/reference/events.md",
    "docs/reference/limits.md",
    "docs/reference/store-file.md",
]

VALUES = [
    glasshouse.Change,
    glasshouse.Channel,
    glasshouse.Creature,
    glasshouse.Draft,
    glasshouse.Environment,
    glasshouse.Graph,
    glasshouse.Lineage,
    glasshouse.Manifest,
    glasshouse.Session,
    glasshouse.Wire,
]

TOP_FOLDERS = "src|tests|bench|docs|requirements|tools|\\.ci"
REPO_PATH = re.compile(
    rf"(?:{TOP_FOLDERS})/[\w./*-]*|[\w./*-]+/[\w.*-]+\.(?:py|sql|md|toml|sh)|[A-Z]+\.md|Makefile"
)


@dataclass(frozen=True)
class Fence:
    """One fenced block: its language, the line its text starts on, and the text."""

    language: str
    line: int
    text: str


def fences(markdown: str) -> list[Fence]:
    found = re.finditer(r"^```([^\n`]*)\n(.*?)^```\s*$", markdown, flags=re.MULTILINE | re.DOTALL)
    return [Fence(f[1].strip(), markdown.count("\n", 0, f.start(2)) + 1, f[2]) for f in found]


def without_fences(markdown: str) -> str:
    return re.sub(r"^```.*?^```\s*$", "", markdown, flags=re.MULTILINE | re.DOTALL)


def code_spans(markdown: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", without_fences(markdown))


def paths_named(markdown: str) -> set[str]:
    return {span for span in code_spans(markdown) if REPO_PATH.fullmatch(span)}


def exists_somewhere(path: str, places: Iterable[Path]) -> bool:
    return any(next(place.glob(path.rstrip("/")), None) is not None for place in places)


def targets_named(markdown: str) -> set[str]:
    lines = code_spans(markdown) + [line for fence in fences(markdown) for line in fence.text.splitlines()]
    return {
        word
        for line in lines
        if (command := re.match(r"\s*(?:\$ )?make((?: [\w=-]+)*)", line))
        for word in command[1].split()
        if "=" not in word
    }


def targets_offered(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):(?!=)", makefile, flags=re.MULTILINE))


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(markdown: str) -> set[str]:
    return {
        slug(heading) for heading in re.findall(r"^#+ (.+)$", without_fences(markdown), flags=re.MULTILINE)
    }


def links(markdown: str) -> list[str]:
    targets = re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", without_fences(markdown))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def is_broken(link: str, page: Path) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path) if path else page
    if not target.exists():
        return True
    return (
        bool(anchor) and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8"))
    )


def is_documented(name: str, markdown: str) -> bool:
    return re.search(rf"`{re.escape(name)}(?![\w.])", markdown) is not None


def is_shown(command: str, markdown: str) -> bool:
    return re.search(rf"{re.escape(command)}(?![\w-])", markdown) is not None


def is_documented_option(option: str, markdown: str) -> bool:
    return re.search(rf"{re.escape(option)}(?![\w-])", markdown) is not None


def kinds_of(module: ModuleType) -> set[str]:
    constants = {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}
    return {value for value in constants if re.fullmatch(r"[a-z_]+(?:\.[a-z_]+)+", value)}


def errors_of(module: ModuleType) -> set[str]:
    return {
        name
        for name, value in inspect.getmembers(module, inspect.isclass)
        if issubclass(value, BaseException)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }


def commands_of(command: Any, words: str) -> Iterator[str]:
    """Every command one can type, groups first: the tree that the command line itself is built from."""
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield f"{words} {name}"
            yield from commands_of(child, f"{words} {name}")


def options_of(command: Any) -> set[str]:
    """Every long option of a command and of those under it."""
    own = {name for parameter in command.params for name in parameter.opts if name.startswith("--")}
    return own.union(*(options_of(child) for child in getattr(command, "commands", {}).values()))


def sections(markdown: str) -> dict[str, str]:
    """The text under each third-level heading, by heading."""
    parts = re.split(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def fields_in_table(text: str) -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)


def fields_told_of(kind: str, markdown: str) -> list[str]:
    """The fields in the table of the section whose heading names a kind."""
    return [
        field
        for heading, text in sections(markdown).items()
        if f"`{kind}`" in heading
        for field in fields_in_table(text)
    ]


def fields_of(kind_of_value: type) -> set[str]:
    """The public fields of a msgspec struct, a dataclass or a pydantic model."""
    named = getattr(kind_of_value, "model_fields", None) or inspect.get_annotations(kind_of_value)
    return {name for name in named if not name.startswith("_") and name != "model_config"}


def bounds_in(source: str) -> set[str]:
    """The names of a module's bounds: constants that end in `_max` or `_min`."""
    targets = [
        target
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return {t.id for t in targets if isinstance(t, ast.Name) and re.search(r"_(?:max|min)$", t.id)}


def bounds_of_program() -> set[tuple[str, int, str]]:
    """Every bound as its name, its value and the file it stands in."""
    found = set()
    for path in sorted((ROOT / "src/glasshouse").rglob("*.py")):
        place = path.relative_to(ROOT / "src/glasshouse")
        module = ".".join(("glasshouse", *place.with_suffix("").parts)).removesuffix(".__init__")
        for name in bounds_in(path.read_text(encoding="utf-8")):
            found.add((name, getattr(importlib.import_module(module), name), str(place)))
    return found


def bounds_told_of(markdown: str) -> set[tuple[str, int, str]]:
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| [^|]+ \| `([^`]+)` \|", markdown, flags=re.MULTILINE)
    return {(name, int(value.replace(",", "")), place) for name, value, place in rows}


def run_sample(sample: Fence, page: str) -> None:
    """Run one sample as a module with top-level await; a traceback points at the line of the page."""
    source = "\n" * (sample.line - 1) + sample.text
    code = compile(source, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    outcome = eval(code, {"__name__": "__main__"})
    if inspect.iscoroutine(outcome):
        asyncio.run(outcome)


def page_text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def pages() -> list[str]:
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in written)


def samples() -> list[tuple[str, Fence]]:
    playable = [page for page in pages() if page == "README.md" or page.startswith("docs/how-to/")]
    return [
        (page, fence) for page in playable for fence in fences(page_text(page)) if fence.language == "python"
    ]


@pytest.mark.parametrize("page", REQUIRED_PAGES)
def test_every_page_that_a_reader_expects_is_there(page: str) -> None:
    assert (ROOT / page).is_file(), f"write {page}"


# The changelog tells of files as they were.
@pytest.mark.parametrize("page", [page for page in pages() if page != "CHANGELOG.md"])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    places = [ROOT, ROOT / "src/glasshouse", (ROOT / page).parent]

    assert {path for path in paths_named(page_text(page)) if not exists_somewhere(path, places)} == set()


@pytest.mark.parametrize("page", pages())
def test_every_make_target_that_a_page_names_is_real(page: str) -> None:
    assert targets_named(page_text(page)) <= targets_offered(page_text("Makefile"))


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_somewhere(page: str) -> None:
    assert [link for link in links(page_text(page)) if is_broken(link, ROOT / page)] == []


def test_every_kind_is_documented() -> None:
    page = page_text("docs/reference/events.md")

    assert kinds_of(kinds)
    assert {kind for kind in kinds_of(kinds) if not is_documented(kind, page)} == set()


def test_every_error_is_documented() -> None:
    page = page_text("docs/reference/errors.md")

    assert errors_of(errors)
    assert {name for name in errors_of(errors) if not is_documented(name, page)} == set()


def test_every_public_name_is_documented() -> None:
    page = page_text("docs/reference/api.md")

    assert glasshouse.__all__
    assert {name for name in glasshouse.__all__ if not is_documented(name, page)} == set()


def test_every_command_is_documented() -> None:
    page = page_text("docs/reference/cli.md")
    commands = set(commands_of(get_command(glasshouse.cli.app), "glasshouse"))

    assert commands
    assert {command for command in commands if not is_shown(command, page)} == set()


def test_every_option_is_documented() -> None:
    page = page_text("docs/reference/cli.md")
    options = options_of(get_command(glasshouse.cli.app))

    assert options
    assert {option for option in options if not is_documented_option(option, page)} == set()


@pytest.mark.parametrize("kind", sorted(PAYLOAD_TYPES))
def test_the_fields_of_every_engine_payload_are_documented_in_order(kind: str) -> None:
    fields = list(inspect.get_annotations(PAYLOAD_TYPES[kind]))

    assert fields
    assert fields_told_of(kind, page_text("docs/reference/events.md")) == fields


def test_the_fields_of_an_event_are_documented() -> None:
    told = sections(page_text("docs/reference/events.md"))["Fields"]

    assert {name for name in fields_of(glasshouse.Event) if not is_documented(name, told)} == set()


def test_every_call_of_the_terrarium_is_documented() -> None:
    page = page_text("docs/reference/api.md")
    calls = {name for name in dir(glasshouse.Terrarium) if not name.startswith("_")}

    assert {name for name in calls if not is_documented(name, page)} == set()


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_the_fields_of_every_public_value_are_documented(value: type) -> None:
    page = page_text("docs/reference/api.md")

    assert {name for name in fields_of(value) if not is_documented(name, page)} == set()


def test_every_bound_is_documented_with_its_value_and_place() -> None:
    bounds = bounds_of_program()

    assert bounds
    assert bounds_told_of(page_text("docs/reference/limits.md")) == bounds


def test_the_readme_shows_python_that_runs() -> None:
    assert "README.md" in {page for page, _ in samples()}


@pytest.mark.parametrize(("page", "sample"), [pytest.param(p, s, id=f"{p}:{s.line}") for p, s in samples()])
def test_every_sample_runs(page: str, sample: Fence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    run_sample(sample, page)


SAMPLE_PAGE = """# A page

See `docs/nowhere.md`, `tests/rules/`, `world/decide.py`, `a/b` and `make teste JOBS=4`.
Read [this](nowhere.md), [that](#a-page), [there](#no-heading) and [far](https://example.invalid).

```sh
$ make play
```

```python
await something
```
"""


def test_a_page_is_read_for_paths_targets_links_and_samples() -> None:
    sh, python = fences(SAMPLE_PAGE)

    assert paths_named(SAMPLE_PAGE) == {"docs/nowhere.md", "tests/rules/", "world/decide.py"}
    assert targets_named(SAMPLE_PAGE) == {"teste", "play"}
    assert links(SAMPLE_PAGE) == ["nowhere.md", "#a-page", "#no-heading"]
    assert (sh.language, python.language, python.text) == ("sh", "python", "await something\n")
    assert SAMPLE_PAGE.splitlines()[python.line - 1] == "await something"


def test_what_is_not_there_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(SAMPLE_PAGE, encoding="utf-8")

    assert [link for link in links(SAMPLE_PAGE) if is_broken(link, page)] == ["nowhere.md", "#no-heading"]
    assert not exists_somewhere("docs/nowhere.md", [ROOT, tmp_path])
    assert exists_somewhere("docs/adr/*.md", [ROOT])
    assert targets_offered("lock_options := x\nplay: setup ## go\n") == {"play"}


def test_a_name_counts_only_when_it_stands_whole() -> None:
    assert is_documented("Terrarium", "`Terrarium(store)` hosts creatures")
    assert not is_documented("Terra", "`Terrarium(store)` hosts creatures")
    assert not is_documented("run.start", "`run.started`")
    assert is_shown("glasshouse tour", "run `glasshouse tour --slow`")
    assert not is_shown("glasshouse tour", "run `glasshouse tours`")


def test_a_wrong_table_of_fields_or_bounds_is_noticed() -> None:
    page = "### `a.b` and `c.d`\n\n| `one` | text |\n| `two` | text |\n\n### `e.f`\n\n| `three` | text |\n"
    row = "| `queue_events_max` | 1,024 | events | `runtime/queue.py` | they wait |\n"

    assert fields_told_of("a.b", page) == fields_told_of("c.d", page) == ["one", "two"]
    assert fields_told_of("a", page) == []
    assert bounds_told_of(row) == {("queue_events_max", 1024, "runtime/queue.py")}
    assert bounds_in("a_max = 1\nb_min: int = 2\nmax_c = 3\ndef f():\n    d_max = 4\n") == {"a_max", "b_min"}


def test_a_sample_may_await_and_may_fail() -> None:
    run_sample(Fence("python", 3, "import asyncio\nawait asyncio.sleep(0)\n"), "page.md")
    with pytest.raises(ZeroDivisionError):
        run_sample(Fence("python", 3, "1 / 0\n"), "page.md")
