"""Documents of a world: which files are meant, and what is refused, with the line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import BadWorld
from glasshouse.manifests import documents
from glasshouse.manifests.documents import means
from glasshouse.manifests.loading import LoadedWorld, load_world, problems_in
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario

SCENARIO = "name: shed\ncast: [ada, bo]\ndocuments: [{patterns}]\n"
READER = "name: ada\ntools: [look_up]\n"
OTHER = "name: bo\nschedule: {tick_every: 1}\n"


def shed(folder: Path, patterns: str, *, ada: str = READER, bo: str = OTHER) -> Path:
    world = folder / "shed"
    (world / "creatures").mkdir(parents=True)
    (world / "notes" / "old").mkdir(parents=True)
    scenario = SCENARIO.format(patterns=patterns) if patterns else "name: shed\ncast: [ada, bo]\n"
    (world / "scenario.yaml").write_text(scenario, encoding="utf-8")
    (world / "creatures" / "ada.yaml").write_text(ada, encoding="utf-8")
    (world / "creatures" / "bo.yaml").write_text(bo, encoding="utf-8")
    (world / "notes" / "kettle.md").write_text("The kettle is copper.\n", encoding="utf-8")
    (world / "notes" / "old" / "ladder.txt").write_text("The ladder is wet.\n", encoding="utf-8")
    return world


def problems(world: Path) -> list[str]:
    return [
        str(problem).partition("shed/")[2] for problem in problems_in(world, tools=frozenset({"look_up"}))
    ]


@pytest.mark.parametrize(
    ("pattern", "path", "is_meant"),
    [
        ("notes/*.md", "notes/a.md", True),
        ("notes/*.md", "notes/old/a.md", False),
        ("notes/**/*.md", "notes/old/a.md", True),
        ("notes/**/*.md", "notes/a.md", True),
        ("**", "notes/old/a.md", True),
        ("notes/?.md", "notes/a.md", True),
        ("notes/?.md", "notes/ab.md", False),
        ("notes/[a].md", "notes/a.md", False),
        ("a.md", "notes/a.md", False),
    ],
)
def test_a_pattern_means_files_of_its_folders(pattern: str, path: str, is_meant: bool) -> None:
    assert means(pattern, path) is is_meant


def means_by_expression(pattern: str, path: str) -> bool:
    """What a pattern means, said by a regular expression: short, and endless for some long patterns."""
    spelled = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    expression = "".join(spelled.get(part) or re.escape(part) for part in parts)
    return re.fullmatch(expression, path, re.DOTALL) is not None


@given(st.text("*?/ab", max_size=7), st.text("/ab\n", max_size=7))
def test_a_pattern_means_what_a_regular_expression_would_mean(pattern: str, path: str) -> None:
    assert means(pattern, path) is means_by_expression(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("notes/" + "*a" * 25 + "b", "notes/" + "a" * 100 + ".md"),
        ("**/" * 12 + "b", "a/" * 25 + "c.md"),
        ("**" * 25 + "b", "a/" * 50),
        ("*?" * 25 + "b", "a" * 100),
    ],
)
def test_no_pattern_takes_more_steps_than_its_length_times_that_of_the_path(pattern: str, path: str) -> None:
    assert not hasattr(
        documents, "re"
    )  # The steps of a regular expression cannot be counted: it would hang here.
    steps = 0

    def count(frame: FrameType, event: str, _value: object) -> Any:
        nonlocal steps
        steps += event == "line"
        assert steps <= 10 * len(pattern) * len(path), frame
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        is_meant = means(pattern, path)
    finally:
        sys.settrace(before)

    assert not is_meant
    assert steps > 0


def test_a_very_long_pattern_is_refused_with_its_line(tmp_path: Path) -> None:
    world = shed(tmp_path, f"notes/*.md, 'notes/{'*a' * documents.pattern_chars_max}'")

    assert problems(world) == [
        "scenario.yaml:3:25: documents: a pattern has at most 1,000 characters. Shorten it."
    ]


def test_the_documents_of_world_and_creatures_are_loaded_with_their_digests(tmp_path: Path) -> None:
    world = shed(tmp_path, "notes/*.md", bo=f"{OTHER}documents: [notes/**/*.txt]\n")

    loaded = load_world(world)

    assert {path: document.text for path, document in loaded.documents.items()} == {
        "notes/kettle.md": "The kettle is copper.\n",
        "notes/old/ladder.txt": "The ladder is wet.\n",
    }
    assert loaded.manifests["bo"].tools == ("look_up",)
    (world / "notes" / "kettle.md").write_text("The kettle is tin.\n", encoding="utf-8")
    assert load_world(world).digest != loaded.digest


@pytest.mark.parametrize(
    ("patterns", "problem"),
    [
        ("notes/*.mb", "no file fits 'notes/*.mb'. Did you mean"),
        ("../shed/notes/*.md", "'../shed/notes/*.md' may lead out of the world's folder."),
        ("/etc/passwd", "'/etc/passwd' may lead out of the world's folder."),
        ("notes/binary.md", "notes/binary.md is not UTF-8. Save it as UTF-8, or leave it out."),
        ("notes/large.md", "notes/large.md has more than 1,048,576 bytes. Divide it, or shorten it."),
        ("notes/away.md", "notes/away.md is a link out of the world's folder. Put the file itself there."),
        ("notes/loop.md", "notes/loop.md is a link that leads to itself. Put the file itself there,"),
        ("notes/ring.md", "notes/ring.md is a link that leads to itself. Put the file itself there,"),
        ("notes/round/a.md", "no file fits 'notes/round/a.md'."),
        ("notes/pipe.md", "notes/pipe.md is no plain file. Put a text file there, or leave it out."),
        ("notes/b?d.md", r"'notes/b\u202ed.md' has a character that nobody can see in its name. Rename it"),
        ("notes/n?w.md", r"'notes/n\nw.md' has a character that nobody can see in its name. Rename it"),
        ("notes/f?r.md", r"'notes/f\udcffr.md' has a character that nobody can see in its name. Rename it"),
        ("notes/many-*", "there are more than 200 documents. Name fewer."),
    ],
)
def test_what_cannot_be_a_document_is_refused_with_its_line(
    tmp_path: Path, patterns: str, problem: str
) -> None:
    world = shed(tmp_path, f"notes/kettle.md, '{patterns}'")
    notes = world / "notes"
    (notes / "binary.md").write_bytes(b"\xff\xfe\x00")
    (notes / "large.md").write_bytes(b"x" * (documents.file_bytes_max + 1))
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    for name in ("b\u202ed.md", "n\nw.md", "f\udcffr.md"):
        (notes / name).write_text("The kettle is tin.\n", encoding="utf-8")
    os.mkfifo(notes / "pipe.md")
    (notes / "away.md").symlink_to(tmp_path / "outside.md")
    (notes / "loop.md").symlink_to("loop.md")
    (notes / "ring.md").symlink_to("old/ring.md")
    (notes / "old" / "ring.md").symlink_to("../ring.md")
    (notes / "round").symlink_to("../notes/round")
    for number in range(documents.files_max + 1):
        (notes / f"many-{number}").write_text("x", encoding="utf-8")

    complaints = problems(world)

    assert len(complaints) == 1
    assert complaints[0].startswith(f"scenario.yaml:3:30: documents: {problem}")


@pytest.mark.parametrize(
    ("pattern", "walked"),
    [
        ("*.md", [""]),
        ("notes/*.md", ["", "notes"]),
        ("n?tes/old/*", ["", "notes", "notes/old"]),
        ("notes/**", ["", "notes", "notes/old"]),
        ("**/*.md", ["", "creatures", "notes", "notes/old"]),
    ],
)
def test_only_folders_that_a_pattern_may_lead_to_are_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, walked: list[str]
) -> None:
    world = shed(tmp_path, f"'{pattern}'")
    (world / "all.md").write_text("Everything.\n", encoding="utf-8")
    seen: list[str] = []

    def walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        for here, folders, names in walk_before(folder):
            seen.append(Path(here).relative_to(world).as_posix().replace(".", ""))
            yield here, folders, names

    walk_before = os.walk
    monkeypatch.setattr(os, "walk", walk)

    assert problems(world) == []
    assert seen == walked


def test_documents_are_too_large_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = shed(tmp_path, "notes/**")
    monkeypatch.setattr(documents, "all_bytes_max", 30)

    assert problems(world) == [
        "scenario.yaml:3:13: documents: the documents have more than 30 bytes together. Name fewer."
    ]


def test_documents_that_nobody_reads_and_readers_without_documents_are_refused(tmp_path: Path) -> None:
    unread = shed(tmp_path / "a", "notes/*.md", ada="name: ada\n")
    nothing_to_read = shed(tmp_path / "b", "")

    assert problems(unread) == [
        "scenario.yaml:3:12: documents: no creature looks them up. Add look_up to the tools of one, or name them in its own documents."
    ]
    assert problems(nothing_to_read) == [
        "creatures/ada.yaml:2:9: tools: there are no documents to look up in. Add documents to the scenario or to ada."
    ]


def test_a_world_without_a_folder_has_no_documents() -> None:
    scenario = Scenario.model_validate({"name": "shed", "cast": ["ada"]})

    with pytest.raises(BadWorld, match="a world without a folder has no documents"):
        LoadedWorld.of(scenario, [Manifest(name="ada", documents=["notes/*.md"])])


def test_a_world_without_documents_is_recorded_as_before(tmp_path: Path) -> None:
    loaded = load_world(shed(tmp_path, "", ada="name: ada\n"))

    assert "documents" not in loaded.scenario.as_json()
    assert "documents" not in loaded.manifests["ada"].as_json()
