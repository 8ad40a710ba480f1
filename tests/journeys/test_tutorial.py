"""The tutorial, from its first block to its last, by copy and paste in one empty folder; and the folders it leaves behind."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.journeys.commanding import run
from tests.pages import ROOT
from tests.servers.imitating_server import imitating_server
from tests.servers.imitations import ServedModel
from tools.tutorial import (
    EXAMPLES,
    Step,
    TutorialFault,
    apply_step,
    chapters,
    examples_written,
    steps_in,
    steps_of,
)

ANYTHING = "…"
MODEL_LINES = {
    "cormorant": [
        "Last post, sorter. It has no street on it, and the bag goes in an hour. What did you do with the back?",
        "Then read me the back, and stop before you get to the part that is none of ours.",
        "I have a stamp here for whatever you decide, as long as you decide it with the flap shut.",
    ],
    "hermit crab": [
        "The back has soot on it. Somebody wrote near a fire, or after one. I should keep it dry until they ask.",
        "It says please, and then it says it again. I put it under Later, and Later would not close.",
        "Leave it one night. I have room. I have nothing but room, and it is all the same shape as me.",
    ],
}
"""What the scripted server lets each of them say, one line after another."""


class Reader:
    """Somebody who copies the blocks of the tutorial into one folder and one terminal."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.variables = {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CONFIG_HOME": str(home / ".config"),
        }
        self.printed = ""

    def take(self, step: Step) -> None:
        """Do what a block says. Of an output: see whether it is what was printed."""
        apply_step(step, self.folder)
        if step.kind == "commands":
            self.printed = "".join(self._printed_by(line, step) for line in step.text.splitlines())
        if step.kind == "output" and not is_as_shown(step.text, self.printed):
            raise step.fault(f"the page shows\n{step.text}\nand this was printed:\n{self.printed}")

    def _printed_by(self, line: str, step: Step) -> str:
        program, *words = shlex.split(line, comments=True)
        if program == "export":
            name, _, value = words[0].partition("=")
            self.variables[name] = value
            return ""
        assert program == "glasshouse", line
        result = run(*words, cwd=self.folder, program=program, **self.variables)
        if result.returncode:
            raise step.fault(f"{line}\n{result.stdout}{result.stderr}")
        return result.stdout + result.stderr


def is_as_shown(shown: str, printed: str) -> bool:
    """Whether a text was printed, where `…` stands for anything in a line, and alone for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == ANYTHING else ".*".join(map(re.escape, line.split(ANYTHING))) + r"\n"
        for line in shown.splitlines()
    )
    return re.fullmatch(pattern, printed) is not None


@contextmanager
def scripted_model() -> Iterator[str]:
    """The address of a server that imitates Ollama, and plays from a script."""
    taken = dict.fromkeys(MODEL_LINES, 0)

    def line_for(prompt: str) -> str:
        speaker = next((who for who in MODEL_LINES if f"A {who} who" in prompt), None)
        if speaker is None:
            return "I settle, and I say nothing of it."
        lines = MODEL_LINES[speaker]
        taken[speaker] += 1
        return lines[(taken[speaker] - 1) % len(lines)]

    model = ServedModel("qwen3:4b")
    with imitating_server("ollama", models=[model], say=line_for, kinds=["agent.spoke"]) as server:
        yield server.url


def test_the_tutorial_works_from_first_to_last_by_copy_and_paste(tmp_path: Path) -> None:
    folder, home = tmp_path / "pier", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    reader = Reader(folder, home)

    with scripted_model() as address:
        reader.variables["OLLAMA_HOST"] = address
        for chapter in chapters():
            for step in steps_of(chapter):
                reader.take(step)

    assert (folder / "the-last-post.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (home / ".local/share/glasshouse/worlds/pier-post/tariff.py").is_file()


def test_the_folders_of_the_chapters_are_what_the_chapters_make() -> None:
    kept = {
        file.relative_to(EXAMPLES).as_posix(): file.read_text(encoding="utf-8")
        for file in EXAMPLES.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }

    assert kept == examples_written(), "run: python -m tools.tutorial"


def test_every_chapter_begins_with_what_one_gets_and_ends_with_the_next() -> None:
    names = chapters()
    assert [name[0] for name in names] == list("1234567")

    for at, name in enumerate(names):
        page = (ROOT / f"docs/tutorial/{name}.md").read_text(encoding="utf-8")
        assert page.split("\n")[2].startswith("You get "), name
        assert "## What can go wrong\n" in page, name
        assert at + 1 == len(names) or page.splitlines()[-1].endswith(f"({names[at + 1]}.md)."), name


def test_an_output_is_compared_line_by_line_but_for_its_ellipses() -> None:
    printed = "one\ntwo 17\nthree\n"

    assert is_as_shown("one\ntwo …\n…\n", printed)
    assert is_as_shown("…\nthree\n", printed)
    assert not is_as_shown("one\nthree\n", printed)
    assert not is_as_shown("one\ntwo …\n", printed)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("```yaml\na: 1\n```\n", "a block is none of"),
        ("Write it:\n\n```yaml new-file\na: 1\n```\n", "names its file first"),
        ("At the end of `a.yaml`:\n\n```yaml at-the-end\na: 1\n```\n", "there is no file a.yaml yet"),
        (
            "Write `a.yaml`:\n\n```yaml new-file\na: 1\n```\n\nIn `a.yaml`, in place of the line `b: 1`:\n\n```yaml in-place\nb: 2\n```\n",
            "a.yaml has this line 0 times",
        ),
    ],
)
def test_a_block_that_cannot_be_followed_is_refused_with_its_line(
    tmp_path: Path, page: str, words: str
) -> None:
    with pytest.raises(TutorialFault, match=words) as refused:
        follow(page, tmp_path)

    assert str(refused.value).startswith("docs/tutorial/9-page.md:")


def follow(page: str, folder: Path) -> None:
    for step in steps_in(page, "9-page"):
        apply_step(step, folder)
