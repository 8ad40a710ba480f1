"""`why` and `who_knew` of imported events: they use the file's own events and never mix them with this house."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from glasshouse import Event, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.views.who_knew import Knower
from tests.journeys.session_files import lines_of, seal
from tests.runtime.test_why import Forgetful, conversation, house
from tests.runtime.troupe import born, line, new_terrarium, troupe

Role = Literal["spectator", "audience", "director"]
ROLES: tuple[Role, ...] = ("spectator", "audience", "director")


def house_of_others() -> Terrarium:
    return Terrarium(MemoryStore(), clock=HandMovedClock(), ids=SeededIds(8))


async def eventful(t: Terrarium) -> tuple[list[Event], str]:
    """Lines before and after merges, a wire, a rename, a split and an end; and the session that knows most of it."""
    await troupe(t, "ada", "bo")
    said = [await t.append("ada", line("A secret."))]
    await t.add_creature(Manifest(name="cy"), graph=t.creature("ada").graph_id)
    await t.wire("ada", "cy", with_content=False)
    said.append(await t.append("ada", line("Again.")))
    await t.add_creature(Manifest(name="dee"), handle="bo")
    await t.connect("bo", "dee", channel="talk")
    said.append(await t.append("bo", line("Welcome.")))
    await t.remove_creature("bo")
    said.append(await t.append("ada", line("Gone.")))
    return said, t.creature("ada").session_id


def nameless(knowers: tuple[Knower, ...]) -> dict[str, Knower]:
    return {knower.creature: replace(knower, handle="", is_elsewhere=False) for knower in knowers}


def plain(knowers: tuple[Knower, ...]) -> list[Knower]:
    return [replace(knower, is_elsewhere=False) for knower in knowers]


@pytest.mark.parametrize("role", ROLES)
async def test_a_file_tells_who_knew_as_the_house_does_where_it_was_played(
    tmp_path: Path, role: Role
) -> None:
    async with new_terrarium(MemoryStore()) as t:
        said, session_id = await eventful(t)
        at_home = [await t.who_knew(event.id) for event in said]
        await t.export(session_id, tmp_path / "play.glass", role=role)

    async with house_of_others() as other:
        await other.import_file(tmp_path / "play.glass")
        elsewhere = [await other.who_knew(event.id) for event in said]

    assert all(knower.is_elsewhere for answer in elsewhere for knower in answer.knowers)
    for here, there in zip(at_home, elsewhere, strict=True):
        assert nameless(there.knowers) == nameless(here.knowers)
        assert there.count == here.count


async def test_creatures_go_by_the_handle_that_they_had_then(tmp_path: Path) -> None:
    async with new_terrarium(MemoryStore()) as t:
        await born(t, "ada", "cy")
        alone = await t.append("cy", line("To myself.", None))
        await t.add_creature(Manifest(name="bo"), handle="cy", graph=t.creature("ada").graph_id)
        await t.connect("ada", "cy", channel="talk")
        together = await t.append("ada", line("Hello."))
        await t.export(t.creature("ada").session_id, tmp_path / "play.glass")
        assert t.creature("cy").handle != "cy"
        handle = t.creature("cy").handle

    async with house_of_others() as other:
        await other.import_file(tmp_path / "play.glass")
        before = await other.who_knew(alone.id)
        after = await other.who_knew(together.id)

    assert {standing.creature: standing.handle for standing in before.knowers} == {"cy": "cy"}
    assert {knower.creature: knower.handle for knower in after.knowers} == {"ada": "ada", "cy": handle}


async def test_somebody_of_the_same_name_here_knew_nothing_of_it(tmp_path: Path) -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t)
        await t.export(t.creature("ada").session_id, tmp_path / "play.glass", role="director")

    async with house_of_others() as other:
        await other.add_creature(Manifest(name="ada"), handle="ada-of-here")
        await other.import_file(tmp_path / "play.glass")
        knew = await other.who_knew(said[1].id)
        why = await other.why(said[1].id)

    assert [(knower.creature, knower.handle, knower.is_elsewhere) for knower in knew.knowers] == [
        ("ada", "ada", True),
        ("bo", "bo", True),
    ]
    assert why.links[0].who == "ada"


async def test_who_lives_again_here_is_told_beside_those_who_live_elsewhere(tmp_path: Path) -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t)
        await t.export(t.creature("ada").session_id, tmp_path / "play.glass", role="director")

    async with house_of_others() as other:
        session = await other.import_file(tmp_path / "play.glass")
        await other.resume(session.id, "as-was")
        knew = await other.who_knew(said[1].id)
        await other.export(other.creature("ada").session_id, tmp_path / "again.glass")

    async with new_terrarium(MemoryStore()) as third:
        await third.import_file(tmp_path / "again.glass")
        answer = await third.who_knew(said[1].id)

    assert [(knower.creature, knower.how, knower.is_elsewhere) for knower in knew.knowers] == [
        ("ada", "said", True),
        ("bo", "heard", True),
        ("ada", "reborn", False),
        ("bo", "reborn", False),
    ]
    assert [replace(knower, is_elsewhere=True) for knower in knew.knowers] == list(answer.knowers)


async def test_a_directors_file_tells_the_causes_and_says_that_it_has_no_prompts(tmp_path: Path) -> None:
    async with house(Forgetful()) as t:
        said = await conversation(t)
        at_home = await t.why(said[-1].id)
        await t.export(t.creature("ada").session_id, tmp_path / "play.glass", role="director")

    async with house_of_others() as other:
        await other.import_file(tmp_path / "play.glass")
        why = await other.why(said[-1].id)

    assert [link.came for link in why.links] == [link.came for link in at_home.links]
    assert [link.who for link in why.links] == [link.who for link in at_home.links]
    assert (why.links[0].lines, why.links[0].missing) == ((), ("prompt",))
    assert why.links[-1].missing == ()


async def test_a_file_for_the_audience_says_that_it_lacks_the_models_side(tmp_path: Path) -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t)
        await t.export(t.creature("ada").session_id, tmp_path / "play.glass", role="audience")

    async with house_of_others() as other:
        await other.import_file(tmp_path / "play.glass")
        why = await other.why(said[-1].id)

    assert [link.event.id for link in why.links][-1] == said[0].id
    assert why.links[0].came == "channel"
    assert (why.links[0].lines, why.links[0].missing) == ((), ("model",))


async def test_what_a_file_lacks_is_named_and_why_still_tells_the_causes(tmp_path: Path) -> None:
    path = tmp_path / "play.jsonl"
    async with house(MemoryStore()) as t:
        said = await conversation(t)
        await t.export(t.creature("ada").session_id, path, role="director")
    lines = lines_of(path)
    (birth,) = [
        line
        for line in lines
        if line.get("kind") == kinds.CREATURE_STARTED and line["payload"]["creature"] == "bo"
    ]
    birth |= {"kind": kinds.AGENT_PASSED, "payload": {}, "schema_version": 1}
    seal(path, lines)

    async with house_of_others() as other:
        await other.import_file(path)
        with pytest.raises(Refused, match=r"session.attached that tells of 'g-.*', and nothing in the file"):
            await other.who_knew(said[-1].id)
        why = await other.why(said[-1].id)

    assert why.links[-1].event.id == said[0].id
    assert "cast" in why.links[0].missing


async def test_a_split_that_names_too_few_is_refused_unless_the_other_side_came_too(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.jsonl" for name in ("ada", "dee")]
    async with new_terrarium(MemoryStore()) as t:
        await troupe(t, "ada", "bo", "cy")
        await troupe(t, "dee", "eve", channel="porch")
        await t.connect("ada", "dee", channel="bridge")
        said = await t.append("ada", line("Hello.", "bridge"))
        await t.remove_channel(t.creature("ada").graph_id, "bridge")
        for path in paths:
            await t.export(t.creature(path.stem).session_id, path)
        at_home = await t.who_knew(said.id)
    for path in paths:
        lines = lines_of(path)
        (split,) = [line for line in lines if line.get("payload", {}).get("kind") == "split"]
        split["payload"]["affected_creatures"] = ["dee"]
        seal(path, lines)

    async with house_of_others() as other:
        await other.import_file(paths[0])
        with pytest.raises(Refused, match=r"separated 2 creatures but names only 1; the file lacks"):
            await other.who_knew(said.id)
        await other.import_file(paths[1])
        both = await other.who_knew(said.id)

    assert plain(both.knowers) == list(at_home.knowers)
