"""The page's view over random stories: it shows the world as it is, for each role, and any moment can be reached."""

from __future__ import annotations

import msgspec
import pytest

from glasshouse import Agent, Draft, Event, Manifest, MemoryStore, Moment, Terrarium, WhatIf
from glasshouse.events.event import Json
from glasshouse.events.redaction import ROLES, Role
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.views.page import Record, apply, empty_view
from glasshouse.views.page_fold import PageFold
from glasshouse.views.page_state import PageSnapshot
from tests.simulation.ledger_checks import check_ends, ledger_of
from tests.simulation.mixing import operate
from tests.simulation.seeds import replayable, rig_seeds

WORLDS = [world.name for world in bundled_worlds()]
steps_of_a_story = 40
events_between_snapshots = 17
record_bytes_mean_max = 400
"""Beside its text; in short plays, where births weigh more than in long ones."""


class Answering(Agent):
    """Answers whatever it hears."""

    async def act(self, moment: Moment) -> Draft | None:
        return Draft(kind="agent.spoke", payload={"text": "To the third leaf."})


def folded(events: list[Event], role: Role = "director") -> PageFold:
    fold = PageFold(role)
    for event in events:
        fold.fold(event)
    return fold


def as_bytes(value: object) -> bytes:
    return msgspec.json.encode(value)


def check_shape(t: Terrarium, view: Json) -> None:
    """Creatures, graphs and channels of a view are those of the world."""
    world = t._house.ledger.world
    assert {
        name: (c["handle"], c["graph"], c["is_running"], c["is_privileged"])
        for name, c in view["creatures"].items()
    } == {c.id: (c.handle, c.graph_id, c.is_running, c.is_privileged) for c in world.creatures.values()}
    assert {name: c.get("parent") for name, c in view["creatures"].items()} == {
        c.id: c.parent for c in world.creatures.values()
    }
    assert {name: (g["session"], g["turn"]) for name, g in view["graphs"].items()} == {
        g.id: (g.session_id, g.turn) for g in world.graphs.values()
    }
    names = [graph["name"] for graph in view["graphs"].values()]
    assert len(set(names)) == len(names)
    assert not {c.handle for c in world.creatures.values()} & set(names)
    assert {name: (c["name"], c["graph"], c["edges"]) for name, c in view["channels"].items()} == {
        c.id: (c.name, c.graph_id, world.topology.members_of.get(c.id, {})) for c in world.channels.values()
    }
    assert {name: (w["from"], w["to"]) for name, w in view["wires"].items()} == {
        w.id: (w.source, w.target) for w in world.wires.values()
    }


def check_debts(t: Terrarium, fold: PageFold) -> None:
    agenda = t._house.ledger.folded.agenda
    owed = {name: len(mailbox) for name, mailbox in agenda.owed.items() if mailbox}
    assert {n: c["owes"]["count"] for n, c in fold.view["creatures"].items() if "owes" in c} == owed


def check_spent(t: Terrarium, view: Json) -> None:
    purses = t._house.ledger.folded.runs.purses
    assert {
        n: (r["spent"]["turns"], r["spent"]["calls"], r["spent"]["tokens"]) for n, r in view["runs"].items()
    } == {n: (p.spent.turns, p.spent.usage.calls, p.spent.usage.tokens) for n, p in purses.items()}


def check_any_moment(events: list[Event], role: Role) -> None:
    """Applied records give the fold's own view; a snapshot and the records behind it give any later one."""
    fold = PageFold(role)
    view, kept, records = empty_view(role), list[tuple[int, bytes]](), list[bytes]()
    views = [as_bytes(view)]
    for event in events:
        records.append(as_bytes(fold.fold(event)))
        apply(view, msgspec.json.decode(records[-1], type=Record))
        views.append(as_bytes(fold.view))
        assert msgspec.json.decode(as_bytes(view)) == msgspec.json.decode(views[-1])
        if fold.view["k"] % events_between_snapshots == 0:
            kept.append((fold.view["k"], as_bytes(fold.snapshot())))
    for k, snapshot in kept:
        again = PageFold(role, msgspec.json.decode(snapshot, type=PageSnapshot))
        for event in events[k:]:
            again.fold(event)
        assert msgspec.json.decode(as_bytes(again.view)) == msgspec.json.decode(views[-1]), k


@pytest.mark.parametrize("seed", rig_seeds(12))
async def test_a_view_of_a_random_story_is_the_world(seed: int) -> None:
    store = MemoryStore()
    with replayable(seed, "test_page_view.py::test_a_view_of_a_random_story_is_the_world"):
        async with Terrarium(store) as t:
            fold, ledger = PageFold("director"), list[Event]()
            for step in range(steps_of_a_story):
                await operate(t, seed, step)
                taken, ledger = len(ledger), await ledger_of(store)
                for event in ledger[taken:]:
                    fold.fold(event)
                check_shape(t, fold.view)
                check_debts(t, fold)
            for role in ROLES:
                check_any_moment(ledger, role)


@pytest.mark.parametrize("world", WORLDS)
async def test_a_view_of_a_play_is_the_world_and_its_purse(world: str) -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        run = await t.open_world(world, rng_seed=5)
        fold, ledger = PageFold("director"), list[Event]()
        await t.step(2)
        await t.disturb(run.id, "A goose walks in with a lamp.")
        while await t.step(2):
            taken, ledger = len(ledger), await ledger_of(store)
            for event in ledger[taken:]:
                fold.fold(event)
            check_shape(t, fold.view)
            check_debts(t, fold)
            check_spent(t, fold.view)
        await check_ends(store)
        for role in ROLES:
            check_any_moment(ledger, role)
        again = PageFold("spectator")
        records = [again.fold(event) for event in ledger]
        beside_texts = [len(as_bytes(record)) - len(as_bytes(record.row.text)) for record in records]
        assert sum(beside_texts) / len(beside_texts) <= record_bytes_mean_max


async def test_what_a_stopped_creature_heard_is_settled_by_one_act() -> None:
    store = MemoryStore()
    async with Terrarium(store, agents={"newt": Answering()}) as t:
        for name in ("reed", "newt"):
            await t.add_creature(Manifest(name=name))
        await t.connect("reed", "newt", channel="pond", both=True)
        await t.stop_creature("newt")
        for text in ("Is it deep?", "Is it cold?"):
            await t.append("reed", Draft(kind="agent.spoke", channel="pond", payload={"text": text}))
        assert folded(await ledger_of(store)).view["creatures"]["newt"]["owes"]["count"] == 2
        await t.start_creature("newt")
        assert await t.step_one() is not None

        fold = folded(await ledger_of(store))

        check_debts(t, fold)
        assert "owes" not in fold.view["creatures"]["newt"]


async def test_two_runs_that_meet_are_two_runs_in_one_graph() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        wood = await t.open_world("thousand-token-wood")
        case = await t.open_world("mystery-roots")
        await t.step(4)
        await t.connect("seedkeeper", "clue-gatherer")
        await t.step(4)

        view = folded(await ledger_of(store)).view

        check_shape(t, view)
        check_spent(t, view)
        await check_ends(store)
        assert len(view["graphs"]) == 1
        assert {c["run"] for c in view["creatures"].values()} == {wood.id, case.id}
        merged = list(view["lanes"].values())[-1]
        assert merged["origin"] == "merge"
        assert [view["lanes"][name]["last"] for name, _ in merged["parents"]] == [
            n for _, n in merged["parents"]
        ]
        assert len(merged["parents"]) == 2


@pytest.mark.parametrize("world", ["mystery-roots", "hatbox-and-cello", "keeper-of-dusk"])
async def test_a_branch_shows_its_past_and_then_itself(world: str) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(world, rng_seed=2)
        await t.step(8)
        events = await t.run_events(run.id)
        at = events[len(events) // 2]
        branch = await t.branch(at.session_id, at.id, WhatIf(disturb="A hen walks in."))
        await t.step(4)

        story = list(await t.run_events(branch.id))
        fold = folded(story)

        living = {c.id for c in t._house.ledger.world.creatures.values() if c.run_id == branch.id}
        assert set(fold.view["creatures"]) == living
        assert {graph["session"] for graph in fold.view["graphs"].values()} == {
            t._house.ledger.world.graphs[c.graph_id].session_id
            for c in t._house.ledger.world.creatures.values()
            if c.run_id == branch.id
        }
        assert "branch" in [lane["origin"] for lane in fold.view["lanes"].values()]
        purse = t._house.ledger.folded.runs.purses[branch.id]
        assert fold.view["runs"][branch.id]["spent"]["tokens"] == purse.spent.usage.tokens
        assert fold.view["runs"][branch.id]["spent"]["turns"] == purse.spent.turns
        for role in ROLES:
            check_any_moment(story, role)


async def test_no_view_and_no_record_has_what_its_role_may_not_read() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        await t.open_world("twenty-sprouts")
        await t.step(6)
        ledger = await ledger_of(store)
    private = {str(value) for e in ledger for value in (e.private or {}).values() if len(str(value)) > 20}
    cards = {str(value) for e in ledger for value in (e.sealed or {}).get("facts", {}).values()}
    assert private
    assert cards

    hidden_from: dict[Role, set[str]] = {"spectator": private | cards, "audience": cards}
    for role, hidden in hidden_from.items():
        fold = PageFold(role)
        records = " ".join(as_bytes(fold.fold(event)).decode() for event in ledger)
        records += as_bytes(fold.view).decode()
        assert [text for text in hidden if f'"{text}"' in records] == []
