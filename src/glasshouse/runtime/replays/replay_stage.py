"""The stage of a replay: a terrarium on a scratch store, laid out with the past that a run began with.

Always holds: nobody of that past lives there; those whom the recorded batch restates do. What somebody outside changed is
changed again through the same door.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.codec import encoded
from glasshouse.events.event import Event, event_id, place_of
from glasshouse.events.payloads import SessionForked, payload_of
from glasshouse.runtime.clock import SeededIds
from glasshouse.runtime.conducting.order import Order
from glasshouse.runtime.conducting.until import Until
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.past.record import Part, RunRecord
from glasshouse.runtime.ports import Batch, SegmentWrite, Store
from glasshouse.runtime.replays.namesakes import Namesakes
from glasshouse.runtime.replays.outside import Now, intent_behind
from glasshouse.turns.runs import tripped_by_turn
from glasshouse.turns.schedule import next_act, next_turn
from glasshouse.world.lineage import place_in_story
from glasshouse.world.state import Departed


async def lay_out(record: RunRecord, scratch: Store) -> int:
    """Write the past of a run, and the batch that restated it, into an empty store; how many events that are."""
    if not record.regrown:
        return 0
    await scratch.open(SeededIds(0).new())
    try:
        past = [_written(part, is_imported=True) for part in record.past]
        regrown = tuple([_written(part, is_imported=False) for part in record.regrown])
        await scratch.commit([*[Batch((write,)) for write in past], Batch(regrown)])
        return scratch.position
    finally:
        await scratch.close()


def _written(part: Part, *, is_imported: bool) -> SegmentWrite:
    opens = msgspec.structs.replace(part.segment, is_imported=is_imported)
    changes = tuple([str(event.change) for event in part.events]) if is_imported else None
    return SegmentWrite(opens.id, 0, tuple([encoded(event) for event in part.events]), opens, changes)


class ReplayStage:
    """The parts of a terrarium that a replay is played on."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._ledger = parts.house.ledger
        self._history = parts.house.history

    async def settled(self) -> None:
        """Wait until everything that was written is durable."""
        await self._ledger.wait_for_durability()

    async def conduct(self, order: Order) -> None:
        """Drive what the order names, until it names nothing."""
        await self.parts.stage.conduct(order, Until(lambda: self._ledger.world))

    def know(self, record: RunRecord) -> None:
        """Let those of the past be known here as they were there, gone as they are; and let sessions that begin from here on
        be younger than those of the past, as they were: the order of what happened at one time hangs on it."""
        world = self._ledger.world
        ordinals = [part.segment.ordinal + 1 for part in record.regrown]
        world.sessions_begun = max([world.sessions_begun, *ordinals])
        for name, one in record.known.items():
            world.departed.setdefault(name, Departed(one.creature, ""))
            world.manifests.setdefault(one.creature.manifest_digest, one.facts)

    def at_its_last_turn(self, run_id: str) -> str | None:
        """The graph of a run that has nothing left to do in its present turn, and may not begin another, if there is one."""
        folded = self._ledger.folded
        limits = folded.runs.purses[run_id].limits
        for graph in [folded.world.graphs[name] for name in self.parts.stage.run_of(run_id).graph_ids]:
            if next_act(folded.world, folded.agenda, graph, folded.runs) is None:
                turn = next_turn(folded.world, folded.agenda, folded.runs, graph) or 0
                played = folded.runs.turns_of(run_id, graph.id) + turn - graph.turn - 1
                if turn and tripped_by_turn(limits, played) is not None:
                    return graph.id
        return None

    def numbers_in(self, run_id: str) -> dict[str, int]:
        """The creatures of a run that are there already, and the how-manieth of it each is."""
        creatures = self._ledger.world.creatures.values()
        return {one.id: one.ordinal for one in creatures if one.run_id == run_id}

    async def acts_under_way(self) -> list[tuple[str, int, list[Event]]]:
        """Whoever is in the middle of an act, the time of its cause, and what it has written on its way."""
        return [
            (
                name,
                (await self._history.event(act.cause)).lamport,
                [await self._history.event(one) for one in act.events],
            )
            for name, act in self._ledger.agenda.under_way.items()
        ]

    async def story_of(self, record: RunRecord) -> tuple[Event, ...]:
        """The story as it came out: the past as it stands, and what was played again."""
        if not record.regrown:
            return await self.parts.archive.run_events(record.run_id)
        own = await self._history.events_of_its_own(record.run_id)
        sessions = self._ledger.world.sessions
        whole = [*record.taken, *own]
        whole.sort(key=lambda event: place_in_story(sessions, event))
        return tuple(whole)

    async def change_again(self, batch: Sequence[Event], names: Namesakes) -> None:
        """Let somebody outside change the graph as was recorded."""
        first = batch[0]
        if first.kind == kinds.SESSION_FORKED and payload_of(first, SessionForked).how == "fork":
            told = payload_of(first, SessionForked)
            writer, seq = place_of(told.at)
            await self.parts.archive.fork(
                names.session(told.parents[0]), event_id(names.session(writer), seq)
            )
            return
        now = Now(names.creature, names.channel, names.graph)
        intent = intent_behind(self._ledger.world, batch, now)
        if intent is None:
            raise Refused(
                f"{first.id} is a {first.kind} that nobody can have asked for.", "Look at the record."
            )
        await self._ledger.change(intent)
