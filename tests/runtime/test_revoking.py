"""Privilege that is taken back: at once, also for an act that is under way, and for everything that continues the run."""

import asyncio
from typing import Literal

import pytest

from glasshouse import MemoryStore, Terrarium, kinds
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.runtime.group_calls import LEADER, Obedient, expedition, playing
from tests.runtime.stage_crew import events_of, hearing, on_stage, world_of
from tests.runtime.troupe import soon

STOPS = tuple({"tool": "group_stop_node", "creature": name} for name in ("moth", "owl"))
BOUNDED = {"max_turns": 1}


class Halting(Obedient):
    """A model that waits before it answers the leader's second prompt."""

    def __init__(self) -> None:
        super().__init__({"moth": "Well.", "owl": "Well.", "fern": "Well."}, STOPS)
        self.waits = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def complete(self, prompt: Prompt) -> Completion:
        if "group_stop_node" in prompt.user and not self.goes_on.is_set():
            self.waits.set()
            await self.goes_on.wait()
        return await super().complete(prompt)


async def test_an_act_that_is_under_way_is_refused_its_next_change_in_words() -> None:
    model = Halting()
    async with playing(model) as t:
        run = await expedition(t, governor=BOUNDED)
        acting = asyncio.create_task(t.run(run.id))
        await soon(model.waits.wait())

        await t.revoke_privilege("lead")
        model.goes_on.set()
        await soon(acting)

        first, second = await events_of(t, kinds.TOOL_RETURNED)
        assert first.payload["text"] == "moth rests."
        assert not second.payload["is_ok"]
        assert second.payload["text"].startswith(
            "group_stop_node is for privileged creatures, and lead is none."
        )
        assert [creature.handle for creature in t.creatures() if not creature.is_running] == ["moth"]
        assert (await verify(t, run.id)).is_same


async def flags(t: Terrarium, run_id: str) -> dict[str, bool]:
    return {
        creature.handle: creature.is_privileged for creature in t.creatures() if creature.run_id == run_id
    }


async def test_a_branch_begins_with_the_privilege_that_its_event_saw() -> None:
    store = MemoryStore()
    async with on_stage(store) as t:
        run = await expedition(t, cast=("moth",))
        session_id = t.creature("lead").session_id
        (before,) = [event for event in await t.events(session_id) if event.kind == kinds.TOPOLOGY_CHANGED]
        await t.grant_privilege("moth")
        await t.revoke_privilege("lead")

        earlier = await t.branch(session_id, before.id)
        later = await t.branch(session_id)

        assert await flags(t, run.id) == {"lead": False, "moth": True}
        assert await flags(t, earlier.id) == {"lead": True, "moth": False}
        assert await flags(t, later.id) == {"lead": False, "moth": True}
    async with on_stage(store) as again:
        assert await flags(again, run.id) == {"lead": False, "moth": True}


@pytest.mark.parametrize("shape", ["recipe", "as-was"])
async def test_a_resumed_session_keeps_what_was_granted_and_revoked(
    shape: Literal["recipe", "as-was"],
) -> None:
    cast = [{"use": "lead", "privileged": True}, "moth", "owl"]
    world = world_of(LEADER, hearing("moth"), hearing("owl"), cast=cast)
    edited = world_of(
        LEADER, hearing("moth"), hearing("owl"), cast=[*cast[:2], {"use": "owl", "privileged": True}]
    )
    async with on_stage() as t:
        run = await t.open_world(world)
        await t.grant_privilege("moth")
        await t.revoke_privilege("lead")
        session_id = t.creature("lead").session_id
        await t.finish(run.id)

        resumed = await t.resume(session_id, shape, world=edited if shape == "recipe" else None)
        await t.finish(resumed.id)
        home = next(creature for creature in t.creatures() if creature.run_id == resumed.id)
        again = await t.resume(home.session_id, shape, world=edited if shape == "recipe" else None)

        kept = {"lead": False, "moth": True, "owl": shape == "recipe"}
        assert await flags(t, resumed.id) == kept
        assert await flags(t, again.id) == kept
