"""Long memory in a creature's file: what it grants, and what `check` refuses."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from glasshouse.manifests.loading import load_world, problems_in
from glasshouse.manifests.manifest import Manifest, Memory


def shed(folder: Path, ada: str) -> Path:
    (folder / "creatures").mkdir(parents=True)
    (folder / "scenario.yaml").write_text("name: shed\ncast: [ada]\n")
    (folder / "creatures" / "ada.yaml").write_text(f"name: ada\nschedule: {{tick_every: 1}}\n{ada}")
    return folder


def problems(world: Path) -> list[str]:
    return [
        str(problem).partition(f"{world.name}/")[2]
        for problem in problems_in(world, tools=frozenset({"recall"}))
    ]


def test_who_remembers_everything_may_search_it(tmp_path: Path) -> None:
    world = load_world(shed(tmp_path / "shed", "memory: {long: true}\ntools: [calculator]\n"))

    assert world.manifests["ada"].tools == ("calculator", "recall")
    assert Manifest(name="ada", memory=Memory(long=True)).tools == ("recall",)


def test_a_manifest_without_it_has_the_digest_that_it_had() -> None:
    assert "memory" not in Manifest(name="ada").as_json()
    assert Manifest(name="ada", memory=Memory(window=4)).as_json()["memory"] == {"window": 4}


def test_the_tool_without_the_memory_is_refused_with_its_line(tmp_path: Path) -> None:
    world = shed(tmp_path / "shed", "tools: [recall]\n")

    assert problems(world) == [
        "creatures/ada.yaml:3:9: tools: recall searches long memory, and ada has none. Write memory: {long: true}, or remove the tool."
    ]


@pytest.mark.parametrize("wrong", ["yes", "12", "[true]"])
def test_long_is_true_or_false(tmp_path: Path, wrong: str) -> None:
    world = shed(tmp_path / "shed", f"memory: {{long: {wrong}}}\n")

    (problem,) = problems(world)

    assert problem.startswith("creatures/ada.yaml:3:")
    assert "memory.long" in problem
    with pytest.raises(ValidationError):
        Manifest(name="ada", memory={"long": wrong})
