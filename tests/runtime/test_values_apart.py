"""Returned values belong to the caller: changing one affects nobody else."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from glasshouse import (
    Draft,
    Event,
    Manifest,
    MemoryStore,
    Moment,
    Observer,
    Terrarium,
    kinds,
    play,
    rebuild_stage,
    tool,
    verify,
)
from glasshouse.manifests.loading import load_world
from glasshouse.tools.toolbox import Toolbox
from glasshouse.turns.heard.recent_lines import Places
from glasshouse.turns.moment.playbill import DealRule
from glasshouse.turns.prompts.context import prompt_for
from glasshouse.world.state.state import CreatureState
from tests.runtime.stage_crew import (
    Doing,
    Speaker,
    hearing,
    ledger_of,
    on_stage,
    ticking,
    words,
    world_of,
)
from tests.runtime.troupe import soon
from tests.runtime.watching import reached


async def house_with_ada(subscribes_to: tuple[str, ...] = (kinds.AGENT_SPOKE,)) -> Terrarium:
    t = Terrarium(MemoryStore())
    await t.open()
    await t.add_creature(Manifest(name="ada", may_emit=(kinds.AGENT_SPOKE,), subscribes_to=subscribes_to))
    return t


def line(text: str) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": text, "tags": ["first"]}, private={"mood": "calm"})


def spoil(event: Event) -> None:
    event.payload["text"] = "spoiled"
    event.payload["tags"].append("spoiled")
    if event.private is not None:
        event.private["mood"] = "spoiled"


def is_whole(event: Event) -> bool:
    return (event.payload, event.private) == ({"text": "hello", "tags": ["first"]}, {"mood": "calm"})


async def test_changing_a_returned_event_changes_nothing_that_a_subscriber_gets() -> None:
    t = await house_with_ada()
    async with t.subscribe() as first, t.subscribe() as second:
        spoil(await t.append("ada", line("hello")))

        heard = await anext(first)
        assert is_whole(heard)
        spoil(heard)
        assert is_whole(await anext(second))
    await t.close()


async def test_lines_that_take_the_short_path_are_their_callers_own_too() -> None:
    said = Draft(kind=kinds.AGENT_SPOKE, payload={"text": "hello", "tags": ["first"]})
    t = await house_with_ada(subscribes_to=())
    async with t.subscribe() as first, t.subscribe() as second:
        for _ in range(3):
            spoil(await t.append("ada", said))
            spoil(await t.append_nowait("ada", said))

        for _ in range(6):
            heard = await anext(first)
            assert heard.payload == said.payload
            spoil(heard)
            assert (await anext(second)).payload == said.payload
    await t.close()


async def test_lines_in_a_graph_that_plays_can_be_changed_without_changing_what_is_recalled() -> None:
    async with on_stage(minds={"ada": Speaker()}) as t:
        await t.open_world(world_of(ticking("ada"), ticking("bo")))
        await t.step_one()
        for _ in range(3):
            event = await t.append("ada", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "hello"}))
            event.payload["text"] = "spoiled"

        recalled = [line for table in t._house.ledger.folded.tables.said.values() for line in table.lines]
        assert [line.payload["text"] for line in recalled].count("hello") >= 3
        assert "spoiled" not in [line.payload["text"] for line in recalled]


async def test_events_of_a_batch_and_of_many_in_flight_are_the_callers_own() -> None:
    t = await house_with_ada()
    async with t.subscribe() as heard:
        spoil((await t.append_all("ada", [line("hello")]))[0])
        spoil(await t.append_nowait("ada", line("hello")))

        assert is_whole(await anext(heard))
        assert is_whole(await anext(heard))
    await t.close()


async def test_what_a_visitor_and_an_act_gave_back_can_be_changed_without_changing_what_is_heard() -> None:
    async with on_stage(minds={"ada": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo")))
        async with t.subscribe() as heard:
            disturbed = await t.disturb(run.id, "A hen walks in.")
            disturbed.payload["text"] = "spoiled"
            ended = await t.step_one()
            assert ended is not None
            ended.payload["text"] = "spoiled"

            texts = [(await anext(heard)).payload.get("text") for _ in range(3)]
            assert "spoiled" not in texts


def test_what_was_played_shares_nothing_with_the_engine() -> None:
    played = play("thousand-token-wood", turns=2)

    parts = [
        part
        for held in vars(played).values()
        for part in (held.values() if hasattr(held, "values") else [held])
    ]
    assert {type(creature).__name__ for creature in played.creatures.values()} == {"Creature"}
    assert not [part for part in parts if isinstance(part, CreatureState)]
    for name in played.creatures:
        assert all(line.who for line in played.heard_by(name))
    assert played.heard_by(next(iter(played.creatures.values()))) == played.heard_by(
        next(iter(played.creatures))
    )


async def test_changing_what_one_observer_holds_changes_neither_the_engine_nor_another_observer() -> None:
    first, second, store = Observer(role="director"), Observer(role="director"), MemoryStore()
    async with on_stage(store, minds={"ada": Speaker()}) as t:
        await t.open_world(world_of(ticking("ada"), ticking("bo"), **A_GAME))
        first.on_diff(lambda diff: changed((diff.new_lines, diff.patch)))
        pumps = [t.observe(observer) for observer in (first, second)]
        await t.append("ada", line("hello"))
        for pump in pumps:
            await soon(reached(pump, store))
        changed((*first.view.agent_notes, *first.view.cast.values(), *first.view.runs.values()))

        assert first.view.agent_notes[-1].fields["tags"][-2:] == ["spoiled", "spoiled"]
        assert second.view == rebuild_stage(await ledger_of(t))
        assert (await ledger_of(t))[-1].payload == line("hello").payload
        assert "spoiled" not in "".join(map(str, state_of(t)))


async def test_labels_can_be_read_and_not_changed() -> None:
    async with on_stage() as t:
        run = await t.open_world(world_of(ticking("ada")))
        await t.label_run(run.id, ["keep"])

        labels = await t.labels()

        assert labels == {run.id: ("keep",)}
        with pytest.raises(TypeError):
            labels[run.id] = ()  # type: ignore[index]


def changed(value: Any) -> None:
    """Change everything that can be changed in a value, however deep."""
    if isinstance(value, dict):
        for part in value.values():
            changed(part)
        value["word"] = value["text"] = "spoiled"
    elif isinstance(value, list):
        for part in value:
            changed(part)
        value.append("spoiled")
    elif isinstance(value, tuple):
        for part in value:
            changed(part)
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            changed(getattr(value, field))


def state_of(t: Terrarium) -> tuple[bytes, str]:
    """All that the engine keeps: what it folds, and the values that its caches hold."""
    folded, toolbox = t._house.ledger.folded, t._stage._tools
    lines = [table.lines for table in folded.tables.said.values()]
    names = [
        places.handles_cache for key, places in folded.world.shape_cache.items() if places.__class__ is Places
    ]
    offers = [toolbox.offers(folded, creature) for creature in folded.world.creatures.values()]
    return msgspec.msgpack.encode(folded), repr(msgspec.to_builtins((lines, names, offers)))


@tool
def note(text: str) -> dict[str, list[str]]:
    """Write something down."""
    return {"notes": [text]}


A_GAME: dict[str, Any] = {
    "kinds": {"vote.cast": {"who": ["ada", "bo"], "text": "string"}},
    "deal": {"word": {"to": ["ada"], "from": ["pond"]}},
    "competition": {"kind": "versus", "teams": {"one": ["ada"], "two": ["bo"]}, "referee": "names_the_word"},
    "tool_servers": {"birds": {"command": ["birds"]}},
}


async def test_code_that_changes_its_moment_changes_nothing_of_the_engine() -> None:
    async def spoils(moment: Moment) -> None:
        used = await moment.use("note", text="hello")
        changed(used)
        before, said = state_of(t), prompt_for(moment).user
        for seen in (moment, moment.look_again()):
            assert (seen.known, seen.playbill.deal) == ({"word": "pond"}, {"word": DealRule()})
            assert seen.recent_events[-1].payload == seen.cause.payload == {"text": "bo1"}
            assert [talk.answer.result for talk in seen.talk] in ([], [{"notes": ["hello"]}])
            changed(seen)
            changed(seen.recent_events)
            assert seen.cause.payload["text"] == seen.recent_events[-1].payload["text"] == "spoiled"
        assert moment.look_again().talk[0].answer.result == {"notes": ["hello"]}
        assert (state_of(t), prompt_for(moment).user) == (before, said)

    minds = {"ada": Doing(spoils), "bo": Speaker()}
    async with on_stage(minds=minds, tools=Toolbox(note)) as t:
        ada = hearing("ada", tools=("note",))
        run = await t.open_world(world_of(ticking("bo"), ada, **A_GAME))
        for _ in range(2):
            await t.step_one()

        assert words(await ledger_of(t)) == ["bo1", "ada2"]
        assert (await verify(t, run.id)).is_same


SPOILS_ITS_MATCH = """
from tests.runtime.test_values_apart import changed


def referee(match):
    if match.line is not None:
        changed(match)
        changed(match.lines)
"""


async def test_a_worlds_own_referee_that_changes_its_match_changes_nothing_of_the_engine(
    tmp_path: Path,
) -> None:
    game = {**A_GAME, "competition": {**A_GAME["competition"], "referee": "rules.py:referee"}}
    (tmp_path / "creatures").mkdir()
    (tmp_path / "rules.py").write_text(SPOILS_ITS_MATCH)
    (tmp_path / "scenario.yaml").write_text(json.dumps({"name": "w", "cast": ["bo", "ada"], **game}))
    for name in ("bo", "ada"):
        (tmp_path / "creatures" / f"{name}.yaml").write_text(f"name: {name}\nschedule: {{tick_every: 1}}\n")
    async with on_stage(minds={"ada": Speaker(), "bo": Speaker()}) as t:
        run = await t.open_world(load_world(tmp_path))
        await t.step_one()
        before = state_of(t)
        endings = t._stage._conductor._endings
        endings.forget()
        endings.of(run.id)

        assert state_of(t) == before
        assert b"spoiled" not in before[0]
        assert "spoiled" not in before[1]
