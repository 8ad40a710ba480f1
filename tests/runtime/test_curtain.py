"""The curtain: how a run ended, what that rests on and revealed, and the branches that are ready to be made."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from glasshouse import Event, Governor, MemoryStore, Refused, Terrarium, WhatIf, kinds
from glasshouse.events.event import RESERVED_ACTORS, text_of
from glasshouse.events.payloads import sealed_of
from glasshouse.events.redaction import ROLES, Role
from glasshouse.terrarium import curtain_reader_of, stories_of
from glasshouse.views.curtain import Curtain
from glasshouse.views.names import is_line
from tests.runtime.stage_crew import Speaker, on_stage, ticking, world_of


async def curtain_of(t: Terrarium, run_id: str, role: Role = "director") -> Curtain:
    stories = stories_of(t)
    fold = await stories.view_at(stories.of_run(run_id), role)
    return await curtain_reader_of(t).curtain(run_id, role, fold.view, fold.behind.end_notes[run_id])


async def played(t: Terrarium, world: str, limits: Governor | None = None) -> tuple[str, list[Event]]:
    run = await t.open_world(world, governor=limits)
    await t.run(run.id)
    return run.id, list(await t.run_events(run.id))


async def test_a_verdict_is_told_whole_with_the_lines_it_cites_and_every_last_word() -> None:
    async with Terrarium(MemoryStore()) as t:
        run_id, events = await played(t, "three-ways-in")

        curtain = await curtain_of(t, run_id)

    (verdict,) = [event for event in events if event.kind == kinds.JUDGE_VERDICT]
    said = {event.id: text_of(event) for event in events}
    (finished,) = [event for event in events if event.kind == kinds.RUN_FINISHED]
    assert curtain.outcome == f"{finished.payload['winner'].replace('-', ' ').title()} won."
    assert curtain.verdict is not None
    assert (curtain.verdict.event_id, curtain.verdict.text) == (verdict.id, text_of(verdict))
    assert {line.event_id: line.text for line in curtain.rests_on} == {
        cited: said[cited] for cited in verdict.payload["cites"]
    }
    lines = [event for event in events if event.actor not in RESERVED_ACTORS and is_line(event)]
    assert curtain.lines == len(lines)
    assert {word.who: word.text for word in curtain.last_words} == {
        event.actor: text_of(event) for event in lines
    }
    assert curtain.last_line is not None
    assert curtain.last_line.event_id == lines[-1].id


async def test_each_ready_branch_can_be_made_and_goes_otherwise() -> None:
    async with Terrarium(MemoryStore()) as t:
        run_id, events = await played(t, "three-ways-in")
        points = (await curtain_of(t, run_id)).what_ifs
        first_merge = next(event for event in events if event.kind == kinds.TOPOLOGY_CHANGED and event.turn)

        digests = [await t.digest(run_id)]
        for point in points:
            change = WhatIf(drop=point.drop, disturb=point.disturb)
            branch = await t.branch(point.at.rpartition(".")[0], point.at, change)
            await t.run(branch.id)
            assert t.run_of(branch.id).is_finished
            digests.append(await t.digest(branch.id))

    assert [point.what for point in points] == ["apart", "unsaid", "disturbed"]
    assert points[0].at == first_merge.caused_by
    assert points[0].who == "weathercock"
    assert points[1].at == curtain_line(events).id
    assert len(set(digests)) == len(digests)


def curtain_line(events: list[Event]) -> Event:
    """The newest line that the verdict cites."""
    (verdict,) = [event for event in events if event.kind == kinds.JUDGE_VERDICT]
    return max(
        [event for event in events if event.id in verdict.payload["cites"]],
        key=lambda line: line.position or 0,
    )


async def test_what_was_said_in_the_run_is_suggested_no_more() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("hedge-parliament")
        disturbances = [str(text) for text in await _disturbances(t, run.id)]
        await t.run(run.id, turns=2)
        await t.disturb(run.id, disturbances[0])
        await t.run(run.id)

        curtain = await curtain_of(t, run.id)

    assert [point.disturb for point in curtain.what_ifs if point.what == "disturbed"] == [disturbances[1]]


async def _disturbances(t: Terrarium, run_id: str) -> list[str]:
    started = next(event for event in await t.run_events(run_id) if event.kind == kinds.RUN_STARTED)
    words: list[str] = started.payload["scenario"]["disturbances"]
    return words


@pytest.mark.parametrize(
    ("world", "revealed"),
    [
        ("twenty-sprouts", {"secret-keeper"}),
        ("one-odd-acorn", {"tin-duchess", "pocket-ferret", "prize-turnip", "left-glove"}),
    ],
)
async def test_the_facts_that_the_ending_says_are_revealed_with_their_owners(
    world: str, revealed: set[str]
) -> None:
    async with Terrarium(MemoryStore()) as t:
        run_id, events = await played(t, world)

        curtain = await curtain_of(t, run_id, "spectator")

    dealt = {owner: facts.facts for facts in map(sealed_of, events) for owner in facts.to}
    assert {fact.who for fact in curtain.revealed} == revealed
    assert all(dealt[fact.creature][fact.fact] == fact.text for fact in curtain.revealed)


@pytest.mark.parametrize("role", ROLES)
async def test_a_fact_that_nothing_revealed_stays_sealed_for_everybody(role: Role) -> None:
    deal = {"word": {"to": "a", "from": ["beetle"]}}
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("a"), ticking("b"), deal=deal, governor={"max_turns": 2}))
        await t.run(run.id)

        curtain = await curtain_of(t, run.id, role)

    assert curtain.revealed == ()
    assert curtain.has_sealed
    assert b"beetle" not in msgspec.json.encode(curtain)


@pytest.mark.parametrize("world", ["three-ways-in", "twenty-sprouts", "one-odd-acorn", "mystery-roots"])
async def test_a_spectator_reads_no_mind_no_want_no_branch_and_nothing_sealed_that_was_not_said(
    world: str,
) -> None:
    async with Terrarium(MemoryStore()) as t:
        run_id, events = await played(t, world)
        texts = {role: msgspec.json.encode(await curtain_of(t, run_id, role)).decode() for role in ROLES}
        curtain = await curtain_of(t, run_id, "spectator")

    manifests = [
        event.payload.get("manifest") or {} for event in events if event.kind == kinds.CREATURE_STARTED
    ]
    wants = {manifest["wants"] for manifest in manifests if manifest.get("wants")}
    thoughts = {thought for event in events if len(thought := (event.private or {}).get("thought", "")) > 16}
    aloud = " ".join(text_of(event) for event in events) + (curtain.why or "")
    sealed = {str(fact) for event in events for fact in sealed_of(event).facts.values()}
    assert wants
    assert thoughts
    for secret in wants | thoughts | {fact for fact in sealed if fact not in aloud}:
        assert json.dumps(secret, ensure_ascii=False)[1:-1] not in texts["spectator"]
    assert any(json.dumps(want, ensure_ascii=False)[1:-1] in texts["audience"] for want in wants)
    assert curtain.what_ifs == ()


async def test_a_run_that_a_limit_stopped_says_so_and_has_no_verdict() -> None:
    async with Terrarium(MemoryStore()) as t:
        run_id, _ = await played(t, "three-ways-in", Governor(max_turns=4))

        curtain = await curtain_of(t, run_id)

    assert curtain.outcome == "It stopped at the turn limit."
    assert (curtain.verdict, curtain.rests_on) == (None, ())
    assert curtain.last_line is not None
    assert [point.what for point in curtain.what_ifs] == ["disturbed"]


async def test_there_is_no_curtain_before_the_end() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=1)

        with pytest.raises(Refused, match="has not ended"):
            await curtain_of(t, run.id)


async def test_a_branch_has_its_own_curtain_which_counts_the_lines_of_its_past() -> None:
    async with Terrarium(MemoryStore()) as t:
        run_id, events = await played(t, "hedge-parliament")
        last = (await curtain_of(t, run_id)).last_line
        assert last is not None
        branch = await t.branch(
            last.event_id.rpartition(".")[0], last.event_id, WhatIf(replace="I fly home.")
        )
        await t.run(branch.id)

        whole = await curtain_of(t, run_id)
        curtain = await curtain_of(t, branch.id)

    assert curtain.lines == whole.lines
    assert curtain.last_line is not None
    assert curtain.last_line.text == "I fly home."
    assert curtain.verdict == whole.verdict
    assert len(events) > curtain.lines


@pytest.mark.parametrize("role", ["director", "spectator"])
async def test_the_curtain_of_a_file_tells_what_the_file_holds(tmp_path: Path, role: Role) -> None:
    path = tmp_path / "run.glass"
    async with Terrarium(MemoryStore()) as t:
        run_id, events = await played(t, "three-ways-in")
        here = await curtain_of(t, run_id)
        await t.export(run_id, path, role=role)
    async with Terrarium(MemoryStore()) as t:
        await t.import_file(path)

        curtain = await curtain_of(t, run_id)

    assert (curtain.outcome, curtain.lines) == (here.outcome, here.lines)
    assert [line.text for line in curtain.rests_on] == [line.text for line in here.rests_on]
    wants = [word.wants for word in curtain.last_words]
    assert any(wants) == (role == "director")
    assert len(events) > len(wants)
