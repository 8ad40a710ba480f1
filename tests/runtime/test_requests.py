"""Requests: what was asked from outside is kept beside its change, complete and without anything else."""

import msgspec
import pytest

from glasshouse import Agent, Draft, Event, Manifest, Terrarium, kinds
from glasshouse.errors import BadEvent
from glasshouse.runtime.store_port import Store
from glasshouse.stores.memory import MemoryStore
from glasshouse.turns.moment.moment import Moment
from glasshouse.world.decisions.intents import AddCreature, Connect, Disconnect
from glasshouse.world.decisions.requests import (
    ContinueRun,
    FinishRun,
    PauseRun,
    Request,
    decoded_request,
    encoded_request,
    request_version,
    with_manifest,
)
from tests.runtime.stage_crew import Speaker, on_stage, ticking, world_of

ADA = Manifest(name="ada", persona="A fern with a secret.")
BO = Manifest(name="bo", persona="A snail.")


async def requests_of(store: Store) -> list[Request]:
    requests = await store.requests(1, await store.position())
    return [requests[change] for change in sorted(requests)]


async def change_of(store: Store, number: int) -> list[Event]:
    return [event for event in await store.read_after(number - 1, 1_000) if event.change == number]


async def test_a_graph_edit_is_kept_as_it_was_asked_for() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        ada, bo = await t.add_creature(ADA), await t.add_creature(BO)

        await t.connect(ada.id, bo.id, channel="talk", both=True)
        await t.disconnect(bo.id, ada.id)

    *_, joined, left = await requests_of(store)
    assert joined == Request("api", Connect(ada.id, bo.id, "talk", both=True))
    assert left == Request("api", Disconnect(bo.id, ada.id))


async def test_a_birth_is_kept_without_its_manifest_and_made_whole_again_from_its_events() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        await t.add_creature(ADA, handle="fern", is_privileged=True)

    (request,) = await requests_of(store)
    assert "secret" not in encoded_request(request)
    assert isinstance(request.intent, AddCreature)
    whole = with_manifest(request.intent, await change_of(store, 1))
    assert (whole.manifest, whole.manifest_digest) == (ADA.as_json(), ADA.digest)
    assert (whole.handle, whole.is_privileged) == ("fern", True)


async def test_what_is_said_is_its_own_event_and_keeps_no_request() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        ada, bo = await t.add_creature(ADA), await t.add_creature(BO)
        await t.connect(ada.id, bo.id, channel="talk")
        kept = len(await requests_of(store))

        await t.append(ada.id, Draft(kind="agent.spoke", channel="talk", payload={"text": "Hush."}))
        await t.append_all(ada.id, [Draft(kind="agent.spoke", channel="talk", payload={"text": "Hush!"})])
        run = await t.open_world(world_of(ticking("cy")))
        await t.disturb(run.id, "A lantern whispers.")

        assert len(await requests_of(store)) == kept


async def test_a_run_that_is_moved_from_outside_says_who_asked_and_its_own_end_does_not() -> None:
    async with on_stage(None, {"cy": Speaker(), "dee": Speaker()}) as t:
        store = t._house.store
        run = await t.open_world(world_of(ticking("cy"), governor={"max_turns": 2}))
        await t.pause(run.id, "tea")
        await t.continue_run(run.id)
        await t.run()
        assert t.run_of(run.id).is_finished
        other = await t.open_world(world_of(ticking("dee")))
        await t.finish(other.id)

        assert await requests_of(store) == [
            Request("api", PauseRun(run.id, "tea")),
            Request("api", ContinueRun(run.id)),
            Request("api", FinishRun(other.id, "stopped")),
        ]


class Meddler(Agent):
    """Somebody outside acts while this one thinks."""

    def __init__(self) -> None:
        self.meanwhile: list[object] = []
        self.terrarium: Terrarium | None = None
        self.other = ""

    async def act(self, moment: Moment) -> Draft | None:
        assert self.terrarium is not None
        if not self.meanwhile:
            self.meanwhile += [moment.creature_id, moment.cause.id]
            await self.terrarium.stop_creature(self.other)
            await self.terrarium.disturb(str(moment.run_id), "What was that?")
        return Draft(kind="agent.spoke", payload={"text": "Hm."})


async def test_an_act_whose_graph_changed_while_it_thought_says_what_it_had_seen() -> None:
    mind = Meddler()
    async with on_stage(None, {"cy": mind, "dee": Speaker()}) as t:
        store = t._house.store
        await t.open_world(world_of(ticking("cy"), ticking("dee"), governor={"max_turns": 2}))
        mind.terrarium = t
        mind.other = next(creature.id for creature in t.creatures() if creature.handle == "dee")
        await t.run()

        stopped, spoke = await requests_of(store)
        events = await store.read_after(0, 999)
        turn = next(event for event in events if event.kind == kinds.TURN_STARTED)
        assert stopped.seen is None
        assert spoke == Request("act", seen=turn.position)


def test_a_request_of_another_version_or_shape_is_refused() -> None:
    whole = msgspec.json.decode(encoded_request(Request("api", Disconnect("ada", "bo"))))

    with pytest.raises(BadEvent, match="Upgrade"):
        decoded_request(msgspec.json.encode(whole | {"version": request_version + 1}).decode())
    with pytest.raises(BadEvent, match="not a request"):
        decoded_request(msgspec.json.encode(whole | {"more": 1}).decode())
