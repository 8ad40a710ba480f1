"""The tutorial as data: its chapters cut into steps, and the folder that each chapter leaves behind.

`python -m tools.tutorial` writes `examples/tutorial/` from `docs/tutorial/`; a test compares them and plays the steps. A fence says what its
text is, by the words behind its language, and the sentence before it says where the text belongs:

    yaml new-file        a file; the sentence before names it
    yaml at-the-end      more text for the end of the named file
    text below-line      more text below a line of the named file; the sentence names the file and the line
    yaml in-place        another line for a line of the named file; the sentence names the file and the line
    sh                   commands to paste
    text output          what they print: `…` stands for anything, and a line of `…` alone for any lines
    console              commands that a reader types, and that no test plays

Always holds: a fence of no such kind, a sentence without the names, and a line that is not there once are refused with the page and the line.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
CHAPTERS: Final = ROOT / "docs" / "tutorial"
EXAMPLES: Final = ROOT / "examples" / "tutorial"

StepKind = Literal["new-file", "at-the-end", "below-line", "in-place", "commands", "output", "console"]
KINDS: Final[Mapping[str, StepKind]] = {
    "new-file": "new-file",
    "at-the-end": "at-the-end",
    "below-line": "below-line",
    "in-place": "in-place",
    "output": "output",
}
NAMES_NEEDED: Final[Mapping[StepKind, int]] = {"new-file": 1, "at-the-end": 1, "below-line": 2, "in-place": 2}
"""How many names between backquotes the sentence before a block must have: the file, and the line in it."""

_FENCE: Final = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


class TutorialFault(Exception):
    """Something in a chapter that cannot be read or done."""


class Step(NamedTuple):
    """One block of a chapter."""

    kind: StepKind
    text: str
    chapter: str
    line_number: int
    path: str = ""
    """The file that it writes or changes."""
    old_line: str = ""
    """The line that it is put below, or in place of."""

    def fault(self, words: str) -> TutorialFault:
        """What is wrong with it, with its place."""
        return TutorialFault(f"docs/tutorial/{self.chapter}.md:{self.line_number}: {words}")


def chapters() -> list[str]:
    """The names of the chapters, in their order."""
    return sorted(page.stem for page in CHAPTERS.glob("[0-9]-*.md"))


def steps_of(chapter: str) -> list[Step]:
    """The blocks of a chapter."""
    return steps_in((CHAPTERS / f"{chapter}.md").read_text(encoding="utf-8"), chapter)


def steps_in(markdown: str, chapter: str) -> list[Step]:
    """The blocks of a page that is called so."""
    return [_step(markdown, fence, chapter) for fence in _FENCE.finditer(markdown)]


def _step(markdown: str, fence: re.Match[str], chapter: str) -> Step:
    language, _, word = fence[1].strip().partition(" ")
    plain: dict[str, StepKind] = {"sh": "commands", "console": "console"}
    kind = KINDS.get(word) if word else plain.get(language)
    line_number = markdown.count("\n", 0, fence.start(2)) + 1
    if kind is None:
        known = ", ".join([*KINDS, *plain])
        raise TutorialFault(
            f"docs/tutorial/{chapter}.md:{line_number}: a block is none of {known}: '{fence[1]}'."
        )
    step = Step(kind, fence[2], chapter, line_number)
    needed = NAMES_NEEDED.get(kind, 0)
    if not needed:
        return step
    sentence = markdown[: fence.start()].rstrip().rpartition("\n\n")[2]
    names = re.findall(r"`([^`\n]+)`", sentence)
    if len(names) < needed:
        raise step.fault(
            "the sentence before this block names its file first, and then the line, between backquotes."
        )
    return step._replace(path=names[0], old_line=names[1] if needed > 1 else "")


def apply_step(step: Step, folder: Path) -> None:
    """Do to the files of a folder what a step says; a step that changes no file is passed over."""
    if not step.path:
        return
    file = folder / step.path
    if step.kind == "new-file":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step.text, encoding="utf-8")
        return
    if not file.is_file():
        raise step.fault(f"there is no file {step.path} yet.")
    file.write_text(_changed(step, file.read_text(encoding="utf-8")), encoding="utf-8")


def _changed(step: Step, text: str) -> str:
    if step.kind == "at-the-end":
        return f"{text}{step.text}"
    lines = text.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if line.rstrip("\n") == step.old_line]
    if len(places) != 1:
        raise step.fault(
            f"{step.path} has this line {len(places)} times, and must have it once: {step.old_line}"
        )
    kept = 1 if step.kind == "below-line" else 0
    return "".join([*lines[: places[0] + kept], step.text, *lines[places[0] + 1 :]])


def states() -> Iterator[tuple[str, dict[str, str]]]:
    """Each chapter with the files that it leaves behind, by path."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        for chapter in chapters():
            steps = steps_of(chapter)
            for step in steps:
                apply_step(step, folder)
            files = {
                file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8")
                for file in sorted(folder.rglob("*"))
                if file.is_file()
            }
            commands = "".join(step.text for step in steps if step.kind == "commands")
            yield (
                chapter,
                {"commands.sh": f"# The commands of docs/tutorial/{chapter}.md.\n{commands}", **files},
            )


def examples_written() -> dict[str, str]:
    """What the chapters make of `examples/tutorial`: each file by its path there."""
    return {f"{chapter}/{path}": text for chapter, files in states() for path, text in files.items()}


def write_examples() -> None:
    """Write the folders anew."""
    shutil.rmtree(EXAMPLES, ignore_errors=True)
    for path, text in examples_written().items():
        file = EXAMPLES / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_examples()
    print(f"{EXAMPLES.relative_to(ROOT)} is written.")
