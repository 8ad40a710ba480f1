"""One act: the only place where somebody thinks. A moment is assembled, the agent is awaited, its draft is written.

Always holds: an act ends in exactly one event, or, if its run ran out of budget or its model out of reach before it
cost anything, in none, and is owed still. Whatever an agent raises becomes `agent.failed`, and the others go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Final, Protocol

import msgspec

from glasshouse.errors import BudgetExceeded, ModelUnreachable, Refused
from glasshouse.events import kinds
from glasshouse.events.event import Draft, Event, Json, event_id
from glasshouse.runtime.agent import Agent
from glasshouse.runtime.asking import Asking, Recorded
from glasshouse.runtime.ledger import Ledger, Queued
from glasshouse.runtime.ports import Batch, Route, Router
from glasshouse.runtime.treasury import Reservation, Treasury
from glasshouse.turns.character import Character, character_of
from glasshouse.turns.governor import Cost
from glasshouse.turns.moment import Moment
from glasshouse.turns.playbill import Playbill
from glasshouse.turns.prompt import Completion, Prompt
from glasshouse.turns.schedule import Due
from glasshouse.turns.sight import around_of, handles_of
from glasshouse.turns.verdicts import check_verdict, masks_before
from glasshouse.world.intents import EndAct
from glasshouse.world.state import CreatureState, World

failure_chars_max: Final = 500
characters_cache_max: Final = 4_096


class Thought(msgspec.Struct, frozen=True):
    """What came of an act before it is written: the intent that ends it, or what stopped it."""

    end: EndAct | None
    beside: Batch
    reservation: Reservation
    stopped_by: BudgetExceeded | ModelUnreachable | None = None


class Record(Protocol):
    """What a replay knows of the acts it plays again."""

    def answers(self, creature: CreatureState, cause: Event) -> Recorded | None:
        """The recorded answers to one act's calls, if there are any."""

    def seen_upto(self, creature: CreatureState, cause: Event) -> int | None:
        """The time up to which its prompt saw the past then, if it is told."""

    async def before_commit(self) -> None:
        """Let happen now what came from outside at this very place."""


class Acts:
    """Thinks and writes, one act at a time; knows nothing of whose turn it is."""

    def __init__(
        self,
        ledger: Ledger,
        treasury: Treasury,
        router: Router,
        agent_of: Callable[[str], Agent],
        record: Record | None = None,
    ) -> None:
        self._ledger = ledger
        self._treasury = treasury
        self._router = router
        self._agent_of = agent_of
        self._record = record
        self._characters_cache: dict[str, Character] = {}
        self._tasks_inside: set[asyncio.Task[object] | None] = set()

    async def think(self, due: Due, cause: Event, upto: int | None) -> Thought:
        """Let a creature think once. With `upto`, it sees the past up to that time only."""
        world = self._ledger.world
        creature = world.creatures[due.creature]
        graph = world.graphs[creature.graph_id]
        character = self._character(world, creature)
        route = self.route(character.model_profile, self._model_named_for(creature))
        mine = self._treasury.begin(creature.run_id or "", graph.id)
        recorded, upto = self._recorded(creature, cause, upto)
        asking = Asking(route, self._treasury, mine, recorded)
        channels = {world.channels[c].name: c for c in world.topology.channels_of.get(creature.id, ())}
        moment = self._moment(creature, character, cause, upto, route, asking)
        session_id, run_id = graph.session_id, creature.run_id
        stopped_by: BudgetExceeded | ModelUnreachable | None = None
        try:
            agent = self._agent_of(creature.id)
            if not agent.asks_before_anything:
                await self._treasury.reserve(mine, Cost(calls=1))
            draft = await self._let_act(agent, moment)
            check_verdict(draft, moment)
            changes = _outcome(draft, channels)
        except (BudgetExceeded, ModelUnreachable) as stop:
            stopped_by = stop
            changes = {"failure": str(stop), "attempts": len(asking.calls)}
        except Exception as wrong:
            changes = {"failure": _told(wrong), "attempts": max(1, len(asking.calls))}
        except asyncio.CancelledError as wrong:
            if _is_cancelled():
                self._treasury.release(mine)
                raise
            changes = {"failure": _told(wrong), "attempts": max(1, len(asking.calls))}
        except BaseException:
            self._treasury.release(mine)
            raise
        model: Json | None = None
        if asking.calls:
            model = {"profile": character.model_profile, "as_of": moment.as_of, "calls": asking.calls}
        is_worth_telling = stopped_by is None or any(call.get("reached", True) for call in asking.calls)
        told: EndAct | None = None
        if is_worth_telling:
            told = EndAct(
                creature=creature.id,
                cause=due.cause,
                session_id=session_id,
                reply_to=cause.channel_id,
                model=model,
                run_id=run_id,
                **changes,
            )
        self._treasury.settle(mine, Cost(calls=int(told is not None and not mine.done.calls)))
        return Thought(told, Batch(prompts=tuple(asking.prompts)), mine, stopped_by)

    async def _let_act(self, agent: Agent, moment: Moment) -> Draft | None:
        task = asyncio.current_task()
        self._tasks_inside.add(task)
        try:
            return await agent.act(moment)
        finally:
            self._tasks_inside.discard(task)

    def check_is_outside(self) -> None:
        """Refuse whoever asks from inside an act for something that waits for that very act."""
        if asyncio.current_task() in self._tasks_inside:
            raise Refused(
                "This waits for the end of the act that asks for it.",
                "Ask from outside, or in a task of its own.",
            )

    def route(self, profile: str, model: str | None) -> Route:
        """What stands behind a profile, or the model that a run asks for by name."""
        return self._router.route(profile) if model is None else self._router.route(profile, model)

    def _model_named_for(self, creature: CreatureState) -> str | None:
        purse = self._ledger.folded.runs.purses.get(creature.run_id or "")
        return None if purse is None else purse.bound.get(creature.id)

    def check_prices(self, asked_for: Iterable[tuple[str, str | None]]) -> None:
        """Refuse a limit of money where nobody knows what a call costs."""
        for profile, model in sorted(asked_for, key=str):
            route = self.route(profile, model)
            if not route.is_priced:
                raise Refused(
                    f"hourly_budget_usd is set, and nobody knows the price of {route.name} behind {profile!r}.",
                    "Give its price, or take the limit away.",
                )

    async def write(self, thought: Thought) -> Queued | None:
        """Write the event that an act ends in; it is durable when the future says so. None if there is nothing to tell.

        A draft that may not be said becomes a failure, in words.
        """
        try:
            if thought.end is None:
                return None
            if not self._ledger.takes_more:
                await self._ledger.wait_for_room()
            try:
                return self._ledger.stage(thought.end, thought.beside)
            except Refused as refusal:
                failed = msgspec.structs.replace(
                    thought.end,
                    draft=None,
                    private=None,
                    failure=str(refusal)[:failure_chars_max],
                    attempts=max(1, thought.end.attempts),
                )
                return self._ledger.stage(failed, thought.beside)
        finally:
            self._treasury.release(thought.reservation)  # From here on it is counted as spent.

    def _recorded(
        self, creature: CreatureState, cause: Event, upto: int | None
    ) -> tuple[Recorded | None, int | None]:
        if self._record is None:
            return None, upto
        then = self._record.seen_upto(creature, cause)
        return self._record.answers(creature, cause), upto if then is None else then

    def _moment(
        self,
        creature: CreatureState,
        character: Character,
        cause: Event,
        upto: int | None,
        route: Route,
        asking: Asking,
    ) -> Moment:
        folded = self._ledger.folded
        world = folded.world
        heard, before = folded.tables.heard_by(world, creature, upto)
        purse = folded.runs.purses.get(creature.run_id or "")
        rng_seed = 0 if purse is None else purse.rng_seed
        asked = 0

        async def ask(prompt: Prompt) -> Completion:
            nonlocal asked
            asked += 1
            seed = seed_of(rng_seed, creature, cause, asked)
            return await asking.ask(
                Prompt(prompt.system, prompt.user, prompt.schema, seed, prompt.reply_tokens_max)
            )

        return Moment(
            run_id=creature.run_id,
            turn=world.graphs[creature.graph_id].turn,
            cause=cause,
            creature_id=creature.id,
            handle=creature.handle,
            character=character,
            playbill=Playbill() if purse is None else purse.playbill,
            recent_events=tuple(heard),
            lines_before=before,
            handles=handles_of(world, creature, (*folded.tables.speakers_for(creature), cause.actor)),
            around=around_of(world, creature),
            ask=ask,
            known=folded.tables.dealt.get(creature.id, {}),
            as_of=_as_of(world, creature, upto),
            number_in_run=creature.ordinal,
            house_id=world.house_id,
            seed=seed_of(rng_seed, creature, cause, 0),
            context_tokens_max=route.context_tokens_max,
            reply_tokens_max=route.reply_tokens_max,
            masks=masks_before(world, purse) if character.role == "judge" and purse is not None else None,
        )

    def _character(self, world: World, creature: CreatureState) -> Character:
        digest = creature.manifest_digest
        found = self._characters_cache.get(digest)
        if found is None:
            if len(self._characters_cache) >= characters_cache_max:
                self._characters_cache.clear()
            found = self._characters_cache[digest] = character_of(world.facts_of(creature).manifest)
        return found


def _outcome(draft: Draft | None, channels: dict[str, str]) -> Json:
    """How the intent that ends an act is to be filled in."""
    if draft is None:
        return {"passed": ""}
    if not isinstance(draft, Draft):
        raise Refused(f"act() gave back {draft!r}.", "Give back one Draft, or None to pass.")
    if draft.kind == kinds.AGENT_PASSED:
        return {"passed": str(draft.payload.get("reason", "")), "private": draft.private}
    if draft.channel is None:
        return {"draft": draft}
    if draft.channel not in channels and draft.channel not in channels.values():
        open_to_it = ", ".join(channels) or "no channel"
        raise Refused(f"There is no channel {draft.channel!r} here.", f"Speak on {open_to_it}.")
    return {"draft": draft, "channel_id": channels.get(draft.channel, draft.channel)}


def _is_cancelled() -> bool:
    """Whether somebody asked for the end of this very task; an agent may raise the same for reasons of its own."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _told(wrong: BaseException) -> str:
    text = str(wrong) or type(wrong).__name__
    is_ours = type(wrong).__module__.startswith("glasshouse.")
    return (text if is_ours else f"{type(wrong).__name__}: {text}")[:failure_chars_max]


def seed_of(rng_seed: int, creature: CreatureState, cause: Event, attempt: int) -> int:
    """The seed of one call: the same story gives the same seeds, whatever its ids are."""
    parts = f"{rng_seed}/{creature.cast_key}/{creature.ordinal}/{cause.lamport}/{attempt}"
    return int.from_bytes(blake2b(parts.encode(), digest_size=6).digest(), "big")


def _as_of(world: World, creature: CreatureState, upto: int | None) -> str:
    session = world.session_of(world.graphs[creature.graph_id])
    seq = session.head if upto is None else max(1, min(session.head, upto - session.segment.base))
    return event_id(session.segment.id, seq)
