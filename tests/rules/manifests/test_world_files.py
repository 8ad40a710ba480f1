"""One list of a world's files: what is packed, saved, and read to tell whether a world has changed."""

from pathlib import Path

from glasshouse.manifests.loading import load_world
from glasshouse.manifests.world_files import files_of

SCENARIO = """\
name: pond
goal: Talk.
cast: [ada]
competition: {contestants: [ada], referee: "rules.py:who_won"}
deal: {word: {from: words.txt, to: ada}}
tool_servers: {clock: {command: [python3, clock.py, --fast]}}
"""


def pond(folder: Path) -> Path:
    """A world with every sort of file, and some that are not its own."""
    world = folder / "pond"
    (world / "creatures").mkdir(parents=True)
    (world / "notes").mkdir()
    for name, text in {
        "scenario.yaml": SCENARIO,
        "creatures/ada.yaml": "name: ada\nschedule: {tick_every: 1}\ndocuments: [notes/*.md]\ntools: [clock/now, 'count.py:count']\n",
        "notes/depth.md": "Deep.\n",
        "notes/draft.txt": "Not yet.\n",
        "words.txt": "frog\n",
        "rules.py": "def who_won(match):\n    return None\n",
        "count.py": 'def count(text: str) -> int:\n    """Count letters."""\n    return len(text)\n',
        "clock.py": "import hands\n",
        "hands.py": "\n",
        "script.txt": "\n",
        "README.md": "A pond.\n",
        "old.zip": "no file of the world",
    }.items():
        (world / name).write_text(text)
    return world


def test_every_file_of_a_world_is_listed_by_what_it_is_for(tmp_path: Path) -> None:
    files = files_of(load_world(pond(tmp_path)))

    assert files._asdict() == {
        "texts": ("scenario.yaml", "creatures/ada.yaml"),
        "decks": ("words.txt",),
        "documents": ("notes/depth.md",),
        "scripts": ("script.txt",),
        "code": ("rules.py", "count.py"),
        "server_files": ("clock.py", "count.py", "hands.py", "rules.py"),
        "notes": ("README.md",),
    }
    assert {*files.packed} - {*files.saved} == {*files.texts, *files.notes}


def test_of_a_folder_that_a_scenario_shares_only_what_it_names_is_its_own(tmp_path: Path) -> None:
    folder = pond(tmp_path)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "pond.yaml").write_text("name: pond\ngoal: Talk.\ncast: [ada]\n")
    (shared / "ada.yaml").write_text("name: ada\nschedule: {tick_every: 1}\n")
    (shared / "bo.yaml").write_text("name: bo\n")
    (shared / "script.txt").write_text((folder / "script.txt").read_text())

    assert files_of(load_world(shared / "pond.yaml")).packed == ("ada.yaml", "pond.yaml")
