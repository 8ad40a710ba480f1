"""A creature that was added with an agent is played by code: after reopening it waits until it is given an agent again."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import (
    Agent,
    Draft,
    Event,
    Manifest,
    MemoryStore,
    Moment,
    Refused,
    Terrarium,
    WhatIf,
    kinds,
    verify,
)
from glasshouse.runtime.capabilities import Pacing
from tests.runtime.stage_crew import hearing, ledger_of, ticking, world_of

ADA = Manifest(name="ada", schedule={"tick_every": 1}, subscribes_to=())
BO = Manifest(name="bo", subscribes_to=(kinds.AGENT_SPOKE,))


class Gardener(Agent):
    """Says what it does, and in which turn."""

    async def act(self, moment: Moment) -> Draft | None:
        return Draft(
            kind=kinds.AGENT_SPOKE, payload={"text": f"{moment.handle} waters in turn {moment.turn}."}
        )


class Listener(Agent):
    """Repeats how many lines it knows."""

    async def act(self, moment: Moment) -> Draft | None:
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"bo knows {len(moment.recent_events)} lines."})


async def garden(t: Terrarium, *, bo: Agent | None = None) -> str:
    """Ada, whom code plays, and bo on one channel; the graph."""
    await t.add_creature(ADA, agent=Gardener())
    await t.add_creature(BO, agent=bo or Listener())
    await t.connect("ada", "bo", channel="bed", both=True)
    return t.creature("ada").graph_id


def spoken(events: tuple[Event, ...] | list[Event], *actors: str) -> list[str]:
    return [
        event.payload["text"]
        for event in events
        if event.kind == kinds.AGENT_SPOKE and (not actors or event.actor in actors)
    ]


async def lines(t: Terrarium) -> list[str]:
    return spoken(await ledger_of(t))


async def played_whole(turns: int) -> list[str]:
    """What is said if nobody is ever missing."""
    async with Terrarium() as t:
        await garden(t)
        await t.step(turns)
        return await lines(t)


async def test_the_ledger_says_that_code_plays_a_creature() -> None:
    async with Terrarium() as t:
        ada = await t.add_creature(ADA, agent=Gardener())
        bo = await t.add_creature(BO)

        births = [event.payload for event in await ledger_of(t) if event.kind == kinds.CREATURE_STARTED]

        assert [born.get("played_by_code", "") for born in births] == ["Gardener", ""]
        assert (ada.played_by_code, bo.played_by_code) == ("Gardener", "")


@pytest.mark.parametrize("pacing", ["lockstep", "free"])
async def test_after_reopening_it_waits_and_nobody_speaks_for_it(tmp_path: Path, pacing: Pacing) -> None:
    store = tmp_path / "garden.glasshouse"
    async with Terrarium(store) as t:
        await garden(t)
        await t.step(2)
        said = await lines(t)

    async with Terrarium(store, pacing=pacing) as t:
        first, second = await t.run(), await t.step()

        assert (first.because, second.because) == ("waiting", "waiting")
        (waiting,) = first.waiting
        assert (waiting.creature_id, waiting.handle, waiting.agent) == ("bo", "bo", "Listener")
        assert (await t.event(waiting.event_id)).payload == {"text": "ada waters in turn 2."}
        assert str(waiting) == "bo waits for its agent, a Listener: t.attach('bo', agent)."
        assert not second
        assert await t.step_one() is None
        assert await lines(t) == said
        assert (t.agent("ada"), t.agent("bo")) == (None, None)


@pytest.mark.parametrize("how", ["attach", "agents"])
async def test_what_waited_is_done_once_the_agent_is_back(tmp_path: Path, how: str) -> None:
    store = tmp_path / "garden.glasshouse"
    async with Terrarium(store) as t:
        await garden(t)
        await t.step(2)
    async with Terrarium(store) as t:
        await t.run()

    back = {"ada": Gardener(), "bo": Listener()} if how == "agents" else None
    async with Terrarium(store, agents=back) as t:
        if how == "attach":
            t.attach("bo", Listener())
            half = await t.run(turns=3)
            assert [waiting.handle for waiting in half.waiting] == ["ada"]
            t.attach(t.creature("ada"), Gardener())
        await t.step(2)

        assert await lines(t) == await played_whole(4)
        assert (await verify(t, t.default_run_id)).is_same


async def test_a_line_that_came_while_it_waited_is_answered_later(tmp_path: Path) -> None:
    store = tmp_path / "garden.glasshouse"
    async with Terrarium(store) as t:
        await t.add_creature(BO, agent=Listener())
        await t.step(1)

    async with Terrarium(store) as t:
        await t.disturb(t.default_run_id, "A hen walks in.")
        hen = Manifest(name="hen", schedule={"tick_every": 1}, subscribes_to=())
        await t.add_creature(hen, graph=t.creature("bo").graph_id, agent=Gardener())
        conducted = await t.run()
        assert [waiting.handle for waiting in conducted.waiting] == ["bo"]
        t.attach("bo", Listener())
        await t.step(1)

        assert len(spoken(await ledger_of(t), "bo")) == 1


async def test_other_runs_go_on_and_the_run_that_waits_does_not_run_ahead(tmp_path: Path) -> None:
    store = tmp_path / "garden.glasshouse"
    async with Terrarium(store) as t:
        await t.add_creature(ADA, agent=Gardener())
        await t.add_creature(Manifest(name="cy", schedule={"tick_every": 1}))

    async with Terrarium(store) as t:
        wood = await t.open_world("thousand-token-wood")
        conducted = await t.run()

        assert conducted.because == "waiting"
        assert t.run_of(wood.id).is_finished
        turns = [t.graph(t.creature(name).graph_id).turn for name in ("ada", "cy")]
        assert turns == [1, 0]  # The turn of ada has begun, and cy would come after it.
        assert not spoken(await ledger_of(t), "cy")


async def test_ticks_together_begin_without_the_one_that_waits(tmp_path: Path) -> None:
    store = tmp_path / "garden.glasshouse"
    together = {"tick_every": 1, "together": True}
    async with Terrarium(store) as t:
        for name in ("ada", "bo", "cy"):
            manifest = Manifest(name=name, schedule=together, subscribes_to=())
            await t.add_creature(manifest, agent=Gardener())
        await t.connect("ada", "bo", channel="bed", both=True)
        await t.connect("bo", "cy", channel="bed", both=True)

    async with Terrarium(store, agents={"ada": Gardener(), "cy": Gardener()}) as t:
        conducted = await t.step(1)
        assert [waiting.handle for waiting in conducted.waiting] == ["bo"]
        t.attach("bo", Gardener())
        await t.step(1)

        assert [line.split()[0] for line in await lines(t)][:3] == ["ada", "bo", "cy"]
        assert (await verify(t, t.default_run_id)).is_same


async def test_in_a_branch_it_waits_unless_an_agent_has_its_handle() -> None:
    async with Terrarium() as t:
        await garden(t)
        await t.step(2)
        session_id = t.creature("ada").session_id

        branch = await t.branch(session_id, None, WhatIf(disturb="Rain."))
        conducted = await t.run(branch.id, turns=2)

        assert (conducted.because, [waiting.handle for waiting in conducted.waiting]) == ("waiting", ["bo"])
        (again,) = [
            creature
            for creature in t.creatures()
            if creature.run_id == branch.id and creature.handle == "ada"
        ]
        assert again.played_by_code == "Gardener"
    by_handle = {"ada": Gardener(), "bo": Listener()}
    async with Terrarium(agents=by_handle) as t:
        await garden(t)
        await t.step(2)
        branch = await t.branch(t.creature("ada").session_id, None, WhatIf(disturb="Rain."))
        await t.run(branch.id, turns=2)

        assert "ada waters in turn 4." in spoken(await t.run_events(branch.id))


async def test_an_imported_creature_that_is_resumed_waits_too(tmp_path: Path) -> None:
    async with Terrarium() as t:
        await garden(t)
        await t.step(2)
        await t.finish(t.default_run_id)
        file = await t.export(t.creature("ada").session_id, tmp_path / "garden.glass", role="director")

    async with Terrarium() as t:
        imported = await t.import_file(file)
        run = await t.resume(imported.id, shape="as-was")
        conducted = await t.run(run.id, turns=2)

        assert [(waiting.handle, waiting.agent) for waiting in conducted.waiting] == [("bo", "Listener")]


async def test_only_a_creature_that_code_plays_takes_an_agent() -> None:
    async with Terrarium() as t:
        await t.add_creature(BO)

        with pytest.raises(Refused, match="not played by code"):
            t.attach("bo", Listener())
        with pytest.raises(Refused, match=r"Listener\(\)"):
            t.attach("bo", Listener)  # type: ignore[arg-type]
        with pytest.raises(Refused, match="act"):
            Terrarium(MemoryStore(), agents={"bo": "a gardener"})  # type: ignore[dict-item]


async def test_speaking_for_one_who_waits_says_so(tmp_path: Path) -> None:
    store = tmp_path / "garden.glasshouse"
    async with Terrarium(store) as t:
        await garden(t)

    async with Terrarium(store) as t:
        with pytest.raises(Refused, match="ada waits for its agent, a Gardener"):
            t.speak_as("ada", "Hello.")
        assert t.send_visitors_away(t.default_run_id) == ()


async def test_an_agent_plays_a_member_of_a_worlds_cast(tmp_path: Path) -> None:
    world, store = world_of(ticking("ada"), hearing("bo")), tmp_path / "garden.glasshouse"
    async with Terrarium(store, agents={"ada": Gardener()}) as t:
        run = await t.open_world(world)
        await t.run(run.id, turns=2)

        assert [creature.played_by_code for creature in t.creatures()] == ["Gardener", ""]
        assert spoken(await t.run_events(run.id), "ada") == [f"ada waters in turn {n}." for n in (1, 2)]
        assert (await verify(t, run.id)).is_same

    async with Terrarium(store) as t:
        conducted = await t.run(run.id)

        assert [waiting.handle for waiting in conducted.waiting] == ["ada"]
