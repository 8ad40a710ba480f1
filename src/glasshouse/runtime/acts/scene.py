"""The scene of one act: what stays the same from its first moment to its last, and how its moments are made.

Always holds: every moment of an act sees the same past; its tools' answers and its graph are current.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from glasshouse.events.event import Event, event_id, place_of
from glasshouse.events.model_use import ModelUse
from glasshouse.events.shown import Shown
from glasshouse.runtime.acts.asking import Asking
from glasshouse.runtime.acts.tool_use import ToolUse
from glasshouse.runtime.acts.warm_lines import BatchWorld
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Route
from glasshouse.turns.contests.verdicts import masks_before
from glasshouse.turns.heard.recent_lines import heard_by
from glasshouse.turns.heard.surroundings import around_of, cause_as_seen, handles_of, visitors_among
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.moment import NOTHING_SHOWN, Moment
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.prompts.context import answers_in_prose
from glasshouse.world.state.ids import the_creature
from glasshouse.world.state.state import CreatureState, World


class Scene(msgspec.Struct):
    """One act, as its moments share it."""

    ledger: Ledger
    creature: CreatureState
    character: Character
    cause: Event
    upto: int | None
    route: Route
    asking: Asking
    as_of: str | None = None
    """The last event that it sees."""
    asked: int = 0
    using: ToolUse | None = None
    then: BatchWorld | None = None
    """The world that its first moment sees, where that is not the world as it is."""

    @property
    def has_told_calls(self) -> bool:
        """Whether model calls of it are in the ledger already."""
        return self.using is not None and self.using.has_told_calls

    def fix_the_past(self, as_of: str | None) -> ModelUse:
        """Let every moment see the same past: that of the moment it first began with, or as it is now."""
        folded, creature = (self.ledger.folded, self.creature) if self.then is None else self._seen(self.then)
        world = folded.world
        if as_of is not None:
            self.as_of, self.upto = as_of, time_of(world, as_of)
        else:
            if self.upto is None:
                self.upto = world.session_of(world.graphs[creature.graph_id]).lamport
            self.as_of = _as_of(world, creature, self.upto)
        return ModelUse(self.character.model_profile, self.as_of)

    def moment(self) -> Moment:
        """The act as it stands now."""
        cause, upto, using, asking = self.cause, self.upto, self.using, self.asking
        folded, creature = self._looked_at()
        world = folded.world
        heard, before = heard_by(folded.tables, world, creature, upto)
        purse = folded.runs.purses.get(creature.run_id or "")
        rng_seed = 0 if purse is None else purse.rng_seed
        handed = folded.agenda.handed_to(creature.id, cause.id)
        cause_at = world.story_time(cause)

        async def ask(prompt: Prompt, shown: Shown = NOTHING_SHOWN, /) -> Completion:
            self.asked += 1
            if using is not None:
                using.note_prompt(prompt)
                known = using.completion_before()
                if known is not None:
                    return known
            seed = seed_of(rng_seed, creature, cause_at, self.asked)
            return await asking.ask(
                Prompt(prompt.system, prompt.user, prompt.schema, seed, prompt.reply_tokens_max), shown
            )

        if self.as_of is None:
            self.as_of = _as_of(world, creature, upto)
        moment = Moment(
            run_id=creature.run_id,
            turn=world.graphs[creature.graph_id].turn,
            cause=cause_as_seen(creature, cause, handed),
            creature_id=creature.id,
            handle=creature.handle,
            character=self.character,
            playbill=Playbill() if purse is None else purse.playbill,
            recent_events=tuple(heard),
            lines_before=before,
            handles=handles_of(world, folded.tables, creature, cause.actor),
            around=around_of(world, creature),
            ask=ask,
            known=folded.tables.dealt.get(creature.id, {}),
            as_of=self.as_of,
            number_in_run=creature.ordinal,
            house_id=world.house_id,
            seed=seed_of(rng_seed, creature, cause_at, 0),
            context_tokens_max=self.route.context_tokens_max,
            reply_tokens_max=self.route.reply_tokens_max,
            handed=handed,
            masks=masks_before(world, purse, creature)
            if self.character.role == "judge" and purse is not None
            else None,
        )
        return moment if using is None else self._with_tools(moment, using, folded, creature)

    def _looked_at(self) -> tuple[Folded, CreatureState]:
        """What a moment is made from: the world as it is, but for the first of an act that had begun before."""
        then, self.then = self.then, None
        if then is not None:
            return self._seen(then)
        folded = self.ledger.folded
        return folded, self.creature if self.using is None else the_creature(folded.world, self.creature.id)

    def _seen(self, then: BatchWorld) -> tuple[Folded, CreatureState]:
        return then.folded, then.folded.world.creatures[then.creature_id]

    def _with_tools(self, moment: Moment, using: ToolUse, folded: Folded, creature: CreatureState) -> Moment:
        moment = replace(
            moment,
            tools=() if answers_in_prose(self.character) else using.offers(folded, creature),
            talk=tuple(using.talk),
            visitors=visitors_among(folded.world, moment),
            carry=using.carry,
            again=self.moment,
        )
        using.note_sight(moment)
        return moment


def seed_of(rng_seed: int, creature: CreatureState, cause_at: int, attempt: int) -> int:
    """The seed of one call: the same story gives the same seeds, whatever its ids are, and in whichever branch."""
    parts = f"{rng_seed}/{creature.cast_key}/{creature.ordinal}/{cause_at}/{attempt}"
    return int.from_bytes(blake2b(parts.encode(), digest_size=6).digest(), "big")


def _as_of(world: World, creature: CreatureState, upto: int | None) -> str:
    """The last event that a moment sees: the newest of its graph's session, or the one of that time before it."""
    session = world.session_of(world.graphs[creature.graph_id])
    while upto is not None and upto <= session.segment.base and session.segment.parents:
        parents = [world.sessions[parent.session_id] for parent in session.segment.parents]
        session = next((parent for parent in parents if parent.lamport >= upto), parents[0])
    seq = session.head if upto is None else max(1, min(session.head, upto - session.segment.base))
    return event_id(session.segment.id, seq)


def time_of(world: World, id_of_event: str) -> int:
    """The logical time of an event that has happened."""
    session_id, seq = place_of(id_of_event)
    return world.sessions[session_id].segment.base + seq
