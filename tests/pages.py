"""Reading the docs: paths, targets, links, tables, samples and files that a page of Markdown holds.

Always holds: a page is read as text; nothing here knows what the program offers.
"""

import ast
import asyncio
import inspect
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

REQUIRED_PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/README.md",
    "docs/architecture.md",
    "docs/walks.md",
    "docs/from-the-field.md",
    "docs/glossary.md",
    "docs/security.md",
    "docs/how-to/bound-a-run.md",
    "docs/how-to/replay-a-run.md",
    "docs/how-to/run-a-tournament.md",
    "docs/how-to/watch-a-show.md",
    "docs/how-to/write-a-world.md",
    "docs/reference/api.md",
    "docs/reference/cli.md",
    "docs/reference/errors.md",
    "docs/reference/events.md",
    "docs/reference/limits.md",
    "docs/reference/settings.md",
    "docs/reference/store-file.md",
    "docs/reference/world-files.md",
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
    blocks = re.finditer(r"^```([^\n`]*)\n(.*?)^```\s*$", markdown, flags=re.MULTILINE | re.DOTALL)
    return [Fence(f[1].strip(), markdown.count("\n", 0, f.start(2)) + 1, f[2]) for f in blocks]


def without_fences(markdown: str) -> str:
    return re.sub(r"^```.*?^```\s*$", "", markdown, flags=re.MULTILINE | re.DOTALL)


def code_spans(markdown: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", without_fences(markdown))


def paths_named(markdown: str) -> set[str]:
    return {span for span in code_spans(markdown) if REPO_PATH.fullmatch(span)}


def exists_somewhere(path: str, places: Iterable[Path]) -> bool:
    return any(next(folder.glob(path.rstrip("/")), None) is not None for folder in places)


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


def command_lines(markdown: str) -> list[list[str]]:
    """The words of every line of shell that calls `glasshouse`, up to a pipe."""
    shell = [fence.text.replace("\\\n", " ") for fence in fences(markdown) if fence.language == "sh"]
    lines = [shlex.split(line, comments=True) for text in shell for line in text.splitlines()]
    return [list(takewhile(lambda word: word != "|", line)) for line in lines if line[:1] == ["glasshouse"]]


def calls_told_of(markdown: str) -> list[tuple[str, str]]:
    """Every call of a terrarium, here `t`, that stands alone in a code span: its name and its parameters."""
    pattern = re.compile(r"(?:await |async for \w+ in )?t\.(\w+)\((.*)\)")
    return [(match[1], match[2]) for span in code_spans(markdown) if (match := pattern.fullmatch(span))]


def groups_told_of(markdown: str) -> dict[str, list[str]]:
    """The calls of a terrarium, here `t`, in the first column of the tables under each heading, in their order."""
    rows = {
        heading: re.findall(r"^\| (.+?) \| ", text, flags=re.MULTILINE)
        for heading, text in sections(markdown).items()
    }
    calls = {heading: re.findall(r"\bt\.(\w+)", " ".join(cells)) for heading, cells in rows.items()}
    return {heading: names for heading, names in calls.items() if names}


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


def bounds_told_of(markdown: str) -> set[tuple[str, str]]:
    """Every row of bounds: its name, and its value as it is written, before its unit."""
    row = r"^\| `(\w+)` \| ([\d,]+(?:\.\d+)?) [^|]+ \| [^|]+ \|$"
    return set(re.findall(row, markdown, flags=re.MULTILINE))


def run_sample(sample: Fence, page: str) -> None:
    """Run one sample as a module with top-level await; a traceback points at the line of the page."""
    source = "\n" * (sample.line - 1) + sample.text
    code = compile(source, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    outcome = eval(code, {"__name__": "__main__"})
    if inspect.iscoroutine(outcome):
        asyncio.run(outcome)


def files_in(markdown: str) -> dict[str, str]:
    """The files that a page holds: fences whose first line is a comment with nothing but a path in it."""
    files = {}
    for fence in fences(markdown):
        first = re.match(r"# ([\w./-]+\.\w+)\n", fence.text)
        if first:
            files[first[1]] = fence.text
    return files


def fragments_in(markdown: str) -> list[Fence]:
    """The parts of a scenario that a page shows: YAML fences that are no files."""
    files = files_in(markdown).values()
    return [fence for fence in fences(markdown) if fence.language == "yaml" and fence.text not in files]


def write_files(markdown: str, folder: Path) -> None:
    """Put the files that a page holds into a folder."""
    for name, text in files_in(markdown).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def rows_in_table(text: str) -> list[tuple[str, str]]:
    """The first and the third cell of every row that begins with a field: its name and its default."""
    rows = [line.split(" | ") for line in text.splitlines() if re.match(r"\| `\w+` \|", line)]
    return [(cells[0].strip("|` "), cells[2].strip()) for cells in rows if len(cells) > 3]


def title_of(markdown: str) -> str:
    return markdown.partition("\n")[0].removeprefix("# ")


def index_line(page: str, markdown: str) -> str:
    """How the index lists a page: a decision by its number and its title, any other by its title and what it is about."""
    number, dot, title = title_of(markdown).partition(". ")
    return (
        f"- [{number}]({page}) {title}"
        if dot and page.startswith("adr/")
        else f"- [{title_of(markdown)}]({page}):"
    )


def faults_of_index(index: str, texts: Mapping[str, str]) -> list[str]:
    """What is wrong with an index of these pages: a page must be listed, once, under its own title."""
    listed = [line for line in index.splitlines() if line.startswith("- [")]
    linked = Counter(link for line in listed for link in links(line))
    faults = [f"write: {index_line(page, text)}" for page, text in texts.items() if not linked[page]]
    faults += [f"listed {times} times: {page}" for page, times in linked.items() if times > 1]
    faults += [f"no page: {page}" for page in linked if page not in texts]
    wanted = {page: index_line(page, text) for page, text in texts.items()}
    return faults + [
        f"write: {wanted[page]}"
        for line in listed
        for page in links(line)
        if page in wanted and not line.startswith(wanted[page])
    ]


def page_text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def pages() -> list[str]:
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in written)


def samples() -> list[tuple[str, Fence]]:
    playable = [page for page in pages() if page.startswith(("README.md", "docs/how-to/", "docs/reference/"))]
    return [
        (page, fence) for page in playable for fence in fences(page_text(page)) if fence.language == "python"
    ]
