"""What the world shows to some graphs of a run only: openings by troupe, and beats by where a creature is."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.errors import BadWorld
from glasshouse.manifests import load_world

SCENARIO = """
name: two-banks
seeds: [a boot]
opening: "The river."
troupes:
  left: {cast: [newt, reed], opening: "Left of it lies {seed}."}
  right: {cast: [heron]}
beats:
  - {turn: 2, text: "It rains on both."}
  - {turn: 3, text: "It snows on the left.", at: newt}
  - {turn: 4, text: "It hails where the heron is.", at: heron}
governor: {max_turns: 5}
"""


def world_in(folder: Path, scenario: str = SCENARIO) -> Path:
    creatures = folder / "two-banks" / "creatures"
    creatures.mkdir(parents=True)
    (folder / "two-banks" / "scenario.yaml").write_text(scenario)
    for name in ("newt", "reed", "heron"):
        (creatures / f"{name}.yaml").write_text(f"name: {name}\nschedule: {{tick_every: 1}}\n")
    return folder / "two-banks"


async def shown(folder: Path, *, merged: bool = False) -> dict[str, list[str]]:
    """What was shown in the graph of each of two creatures."""
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(load_world(world_in(folder)))
        if merged:
            await t.connect("newt", "heron")
        await t.run(run.id)
        scenes = [e for e in await t.run_events(run.id) if e.kind == kinds.WORLD_OBSERVED]
        places = {name: t.creature(name).graph_id for name in ("newt", "heron")}
        return {name: _texts(scenes, room) for name, room in places.items()}


def _texts(scenes: list[Event], graph_id: str) -> list[str]:
    return [event.payload["text"] for event in scenes if event.graph_id == graph_id]


async def test_a_troupe_has_its_own_opening_and_a_beat_is_shown_where_somebody_is(tmp_path: Path) -> None:
    scenes = await shown(tmp_path)

    assert scenes["newt"] == ["Left of it lies a boot.", "It rains on both.", "It snows on the left."]
    assert scenes["heron"] == ["The river.", "It rains on both.", "It hails where the heron is."]


async def test_in_a_merged_graph_every_beat_is_shown_once(tmp_path: Path) -> None:
    scenes = await shown(tmp_path, merged=True)

    assert scenes["newt"][-3:] == [
        "It rains on both.",
        "It snows on the left.",
        "It hails where the heron is.",
    ]
    assert scenes["newt"] == scenes["heron"]


@pytest.mark.parametrize(
    ("written", "instead", "fault"),
    [
        ("at: newt", "at: newd", "'newd'"),
        ("lies {seed}", "lies {sed}", "{sed}"),
    ],
)
def test_a_beat_for_nobody_and_an_opening_with_a_strange_gap_are_found(
    tmp_path: Path, written: str, instead: str, fault: str
) -> None:
    folder = world_in(tmp_path, SCENARIO.replace(written, instead))

    with pytest.raises(BadWorld) as refused:
        load_world(folder)

    assert fault in str(refused.value)
