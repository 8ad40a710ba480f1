"""The tutorial, from its first block to its last, by copy and paste in one empty folder; and the folders it leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.tutorial_reader import Reader, is_as_shown, scripted_model
from tests.pages import ROOT
from tools.tutorial import EXAMPLES, TutorialFault, apply_step, chapters, examples_written, steps_in, steps_of


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
