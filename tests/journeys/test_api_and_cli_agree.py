"""`compare`, `replay` and `verify` tell the same by the Python API and by the command line, for every bundled world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from glasshouse import Event, Terrarium, WhatIf, kinds, verify
from glasshouse.events.codec import content_of
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.views import ComparedStory, Comparison, Verification
from tests.journeys.commanding import objects


@pytest.mark.parametrize("world", [world.name for world in bundled_worlds()])
async def test_a_world_and_its_branches(world: str, tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    async with Terrarium(store) as t:
        parent = await t.open_world(world)
        await t.run(parent.id)
        line = middle_line(await t.run_events(parent.id))
        same = await t.branch(line.session_id, line.id)
        other = await t.branch(line.session_id, line.id, WhatIf(disturb="A hen walks in."))
        await t.run(same.id, other.id)
        position = await t._house.store.position()

        played = {run_id: await t.played(run_id) for run_id in (parent.id, same.id, other.id)}
        pairs = [(parent.id, same.id), (other.id, parent.id)]
        comparisons = {pair: await t.compare(*pair) for pair in pairs}
        verified = {run_id: await verify(t, run_id) for run_id in (parent.id, other.id)}

        assert await t._house.store.position() == position  # Nothing was written.
        for (first, second), comparison in comparisons.items():
            assert comparison.is_same is (played[first].digest == played[second].digest)
            assert comparison.shared_events > 0

    for pair, comparison in comparisons.items():
        assert objects("compare", *pair, "--store", str(store)) == as_printed(
            [facts_of_comparison(comparison)]
        )
    for run_id in (parent.id, other.id):
        answers = objects("replay", run_id, "--minds", "--store", str(store))
        # The command also prints, last, how it ended.
        assert [line for line in answers if line["voice"] != "ending"] == as_printed(played[run_id].lines)
    (told_branch,) = objects("replay", other.id, "--verify", "--store", str(store))
    for run_id, told_run in zip((other.id, parent.id), (told_branch, *told_branch["past"]), strict=True):
        assert told_run.items() >= facts_of_verification(run_id, verified[run_id]).items()


def middle_line(events: tuple[Event, ...]) -> Event:
    said = [event for event in events if event.ends_its_act and event.kind != kinds.AGENT_PASSED]
    return said[len(said) // 2]


def as_printed(facts: object) -> Any:
    """Facts as they look after they were printed as JSON."""
    return msgspec.json.decode(msgspec.json.encode(facts))


def facts_of_comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "is_same": comparison.is_same,
        "shared_events": comparison.shared_events,
        "shared_lines": comparison.shared_lines,
        "first": facts_of_story(comparison.first),
        "second": facts_of_story(comparison.second),
    }


def facts_of_story(story: ComparedStory) -> dict[str, Any]:
    names = ("name", "events", "lines", "turns", "reason", "winner")
    costs = ("calls", "tokens", "usd")
    parts_with = story.parts_with
    return {
        **{name: getattr(story, name) for name in names},
        "cost": {name: getattr(story.cost, name) for name in costs},
        "cost_apart": {name: getattr(story.cost_apart, name) for name in costs},
        "parts_with": None if parts_with is None else content_of(parts_with),
        "parts_with_number": None if parts_with is None else story.numbers[parts_with.id],
        "only_here": [
            {"number": story.numbers[line.id], **msgspec.to_builtins(line)} for line in story.only_here
        ],
    }


def facts_of_verification(run_id: str, result: Verification) -> dict[str, Any]:
    names = ("is_same", "events", "taken", "recorded_digest", "replayed_digest")
    return {"run_id": run_id, **{name: getattr(result, name) for name in names}}
