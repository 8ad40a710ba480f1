"""What an act sees: the moments of one act, all of the same past.

Always holds: every moment of an act sees the same past, up to `as_of`; the tools' answers and the graph are current.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from glasshouse.events.event import Draft, Event, event_id, session_and_seq
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.events.payloads import prompting_now
from glasshouse.events.shown import Shown
from glasshouse.model_values import Form
from glasshouse.runtime.acts.act_calls import ActCalls
from glasshouse.runtime.acts.asking import ModelAccess
from glasshouse.runtime.acts.long_memory import LongMemory, MemoryScope, scope_of
from glasshouse.runtime.acts.recorded_answers import Recorded, WrittenAct, no_answers
from glasshouse.runtime.acts.routes import size_beside
from glasshouse.runtime.acts.spending import Spending
from glasshouse.runtime.acts.tool_use import ToolUse
from glasshouse.runtime.acts.warm_lines import BatchWorld
from glasshouse.runtime.capabilities import ModelCapabilities
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Route
from glasshouse.runtime.store_port import SideWrites
from glasshouse.turns.contests.verdicts import masks_before
from glasshouse.turns.heard.recent_lines import heard_by, places_of
from glasshouse.turns.heard.surroundings import cause_as_seen, handles_of, surroundings_of, visitors_among
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.depth import DEPTHS
from glasshouse.turns.moment.line_text import content_words
from glasshouse.turns.moment.moment import NOTHING_SHOWN, FarLine, Moment, own_moment
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.prompt import CONTEXT_TOKENS, REPLY_TOKENS, Completion, Prompt, seed_of
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from glasshouse.turns.prompts.context import in_form
from glasshouse.turns.prompts.far_lines import chosen_far_lines, told_apart, words_sought
from glasshouse.turns.prompts.lines import cause_words_max
from glasshouse.turns.prompts.masking import masked
from glasshouse.world.decisions.intents import EndAct
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.ids import the_creature
from glasshouse.world.state.state import CreatureState, World


class ActContext(msgspec.Struct):
    """The state that all moments of one act share."""

    ledger: Ledger
    creature: CreatureState
    character: Character
    cause: Event
    session_id: str
    """The session of its graph when the act began."""
    upto: int | None
    route: Route
    can: ModelCapabilities
    """What the model of its route can do."""
    form: Form
    recorded: Recorded
    """Its answers on record."""
    models: ModelAccess
    act_calls: ActCalls
    memory: LongMemory
    as_of: str | None = None
    """The id of the last event that the act sees."""
    asked: int = 0
    is_stale: bool = False
    using: ToolUse | None = None
    channels: dict[str, str] = {}
    """The channels when it last looked at the world or used a tool: name -> id."""
    seen: int = 0
    """The position of the last event in the house when its last moment was made."""
    seen_in_graph: tuple[str, int] = ("", 0)
    """The session of its graph at that moment, and the last seq there."""
    looked: Moment | None = None
    """Its last moment."""
    act_key: str = ""
    """What its seeds are made from."""
    runs_code: bool = False
    """Whether its agent is code of a program. Such an agent gets copies."""
    written: WrittenAct | None = None
    """What it wrote, if it is not thought again."""
    recalled_then: tuple[str, ...] | None = None
    """The ids of the lines that its long memory gave it, if that is on record."""
    recalled: tuple[FarLine, ...] = ()
    """What its long memory gave it. All its moments have the same."""
    told_in: str = ""
    """The session in which its end is on record, if its creature was removed before."""
    scope: MemoryScope | None = None
    """What it could search when its last moment was made, if its creature has long memory."""

    @property
    def has_recorded_calls(self) -> bool:
        """Whether the ledger already holds model calls of this act."""
        return self.using is not None and self.using.has_recorded_calls

    def fix_the_past(self, as_of: str | None, then: BatchWorld | None) -> ModelUse:
        """Fix the past that every moment sees: up to `as_of` if the act began earlier, else up to now."""
        folded, creature = self._seen(then)
        world = folded.world
        if as_of is not None:
            self.as_of = as_of
            self.upto = time_of(world, as_of)
        else:
            if self.upto is None:
                self.upto = world.session_of(world.graphs[creature.graph_id]).lamport
            self.as_of = _as_of(world, creature, self.upto)
            # A batch's world may end before `upto`. Later moments look at the current world and must not see more.
            self.upto = min(self.upto, time_of(world, self.as_of))
        return self.use()

    def use(self, *calls: Call) -> ModelUse:
        """What an event of this act says of its model. A replay makes prompts of the same size from it."""
        profile = self.character.model_profile
        route = self.route
        context = route.context_tokens_max
        reply = route.reply_tokens_max
        return ModelUse(
            profile,
            self.as_of,
            calls,
            context_tokens=0 if context == CONTEXT_TOKENS[profile] else context,
            reply_tokens=0 if reply == REPLY_TOKENS[profile] else reply,
            model_size=size_beside(profile, route),
            is_stale=self.is_stale,
            prompting=prompting_now,
            recalled=tuple([line.event.id for line in self.recalled]) if self.recalled else (),
        )

    def end(self, draft: Draft | None = None, channel_id: str | None = None) -> EndAct:
        """The intent that ends the act with this draft, or with none. It has no model if the act made no call."""
        creature = self.creature
        cause = self.cause
        calls = self.act_calls.calls
        use = self.use(*calls) if calls or self.has_recorded_calls else None
        if use is not None and self.written is not None:
            use = self.written.use_of_end(use)
        return EndAct(
            creature.id,
            cause.id,
            self.session_id,
            draft,
            channel_id,
            cause.channel_id,
            model=use,
            run_id=creature.run_id,
            tools=() if self.using is None else tuple(self.using.events),
            told_in=self.told_in,
        )

    @property
    def saw_only_what_happened(self) -> bool:
        """Whether the pending world holds what its last moment showed. Right after a refold: later, others have the refused positions.

        Only group tools look beyond the graph: they name creatures of others.
        """
        ledger = self.ledger
        if self.using is not None and self.seen > ledger.position:
            return False
        session_id, seq = self.seen_in_graph
        session = ledger.world.sessions.get(session_id)
        return session is not None and seq <= session.head

    def unsee(self, position: int) -> None:
        """Forget what it saw beyond this position: it was refused, and other events will get the same ids."""
        self.seen = min(self.seen, position)
        world = self.ledger.world
        session_id, seq = session_and_seq(self.as_of or self.cause.id)
        session = world.sessions.get(session_id)
        if session is None or seq > session.head:
            newest = world.sessions.get(self.session_id)
            self.as_of = None if newest is None else event_id(self.session_id, newest.head)

    def side_writes(self) -> SideWrites:
        """What is stored beside the next event of the act: its prompts, and what it saw if its graph has changed since.

        A replay needs this, because an act does not see what is written while it thinks (ADR 0064).
        """
        ledger = self.ledger
        side = self.act_calls.side_writes
        if ledger.moved_at <= self.seen and ledger.agenda.owes(self.creature.id, self.cause.id):
            return side  # Nothing but lines was written since it looked.
        # Only group tools look beyond the graph: they name creatures of others.
        if self.using is None and self.seen_in_graph == _head(ledger.world, self.creature.id):
            return side  # What was written is in other graphs.
        return replace(side, request=Request("act", seen=self.seen))

    def moment(self, then: BatchWorld | None = None) -> Moment:
        """The act as it stands now. The first moment of an act sees the world at the start of its batch, if there is one."""
        cause = self.cause
        upto = self.upto
        using = self.using
        folded, creature = self._seen(then)
        world = folded.world
        tables = folded.tables
        graph = world.graphs[creature.graph_id]
        session = world.sessions[graph.session_id]
        self.seen = self.ledger.position
        self.seen_in_graph = (graph.session_id, session.head)
        surroundings = surroundings_of(world, creature)
        self.channels = surroundings.channels
        places = places_of(tables, world, creature)
        heard, before = heard_by(tables, world, creature, places, upto)
        purse = folded.runs.purses.get(creature.run_id or "")
        rng_seed = 0 if purse is None else purse.rng_seed
        handed = folded.agenda.handed_to(creature.id, cause.id)
        # It has no ids, so the same story gives the same seeds, also in a branch.
        self.act_key = f"{rng_seed}/{creature.cast_key}/{creature.ordinal}/{world.story_time(cause)}"
        if self.as_of is None:
            is_now = upto is None
            self.as_of = event_id(graph.session_id, session.head) if is_now else _as_of(world, creature, upto)
        is_judge = self.character.role == "judge"
        moment = Moment(
            # The first nine by position: with more than fifteen keywords, this call takes eight times as long.
            creature.run_id,
            graph.turn,
            cause_as_seen(creature, cause, handed),
            creature.id,
            creature.handle,
            self.character,
            Playbill() if purse is None else purse.playbill,
            heard,
            before,
            handles=handles_of(world, tables, creature, places, cause.actor),
            around=surroundings.around,
            ask=self._ask,
            spending=self._spending,
            known=tables.dealt.get(creature.id, {}),
            as_of=self.as_of,
            number_in_run=creature.ordinal,
            house_id=world.house_id,
            act_key=self.act_key,
            form=self.form,
            context_tokens_max=self.route.context_tokens_max,
            reply_tokens_max=self.route.reply_tokens_max,
            depth=DEPTHS[self.route.size or self.character.model_profile],
            handed=handed,
            masks=masks_before(world, purse, creature) if is_judge and purse is not None else None,
        )
        if self.character.memory.long:
            self.scope = scope_of(folded, creature, time_of(world, self.as_of), self.seen)
            moment = replace(moment, recalled=self.recalled)
        self.looked = moment if using is None else self._with_tools(moment, using, folded, creature)
        return self.looked

    async def with_long_memory(self, moment: Moment) -> Moment:
        """The first moment of an act with what its creature recalls from far back; the same moment if it has no long memory."""
        scope = self.scope
        if scope is None:
            return moment
        if self.recalled_then is not None:
            lines = await self.memory.lines_on_record(scope, self.recalled_then)
        else:
            # A judge searches for words under labels: no name may decide what comes back to it (ADR 0037).
            words = words_sought(moment if moment.masks is None else masked(moment, moment.masks))
            near = {event.lamport for event in moment.recent_events}
            lines = list(chosen_far_lines(moment, await self.memory.lines_about(scope, words, near), words))
        self.recalled = tuple(lines)
        moment = replace(moment, recalled=self.recalled)
        if self.using is not None:
            moment = replace(moment, visitors=visitors_among(scope.folded.world, moment))
            self.using.note_recalled(self.use().recalled)
            self.using.note_sight(moment)
        self.looked = moment
        return moment

    async def recall(self, words: str, ids: Sequence[str] | None) -> list[FarLine]:
        """The lines with these words that the creature remembers, the best first; or those with these ids, if they are on record."""
        scope = self.scope
        if scope is None:
            return []
        if ids is not None:
            return await self.memory.lines_on_record(scope, ids)
        lines = await self.memory.lines_about(scope, content_words(words)[:cause_words_max])
        return told_apart(lines, self.cause.id)

    def _ask(self, prompt: Prompt, shown: Shown = NOTHING_SHOWN, /) -> Coroutine[Any, Any, Completion]:
        """Ask the model. An act that starts over after an interruption gets the answers that are recorded already."""
        self.asked += 1
        if self.using is not None:
            self.using.note_prompt(prompt)
            known = self.using.completion_before()
            if known is not None:
                return _given(known)  # The model has answered this before the interruption.
        calls = self.act_calls
        prompt = replace(prompt, seed=seed_of(self.act_key, self.asked))
        if calls.one_at_a_time is None and self.recorded is no_answers and not self.route.fallbacks:
            return self.models.ask(calls, self.route, self.can, prompt, shown)  # As in most acts.
        return self.models.ask_in_turn(calls, self.route, self.recorded, prompt, shown, self._in_form)

    def _in_form(self, prompt: Prompt, form: Form) -> Prompt:
        """A prompt of this act in another form."""
        return prompt if form == prompt.form or self.looked is None else in_form(prompt, self.looked, form)

    def _spending(
        self,
        model: str,
        /,
        *,
        tokens_max: int,
        usd_max: float | None = None,
        is_untrusted: bool | None = None,
    ) -> Spending:
        if self.using is not None:
            self.using.note_prompt(Prompt("", "", is_untrusted=is_untrusted))
        return Spending(self.models, self.act_calls, model, tokens_max, usd_max)

    def _seen(self, then: BatchWorld | None) -> tuple[Folded, CreatureState]:
        """The state that a moment is made from: that of the batch's world, if there is one, else the current one."""
        if then is not None:
            # The acts of a batch all see the world at its start.
            return then.folded, then.folded.world.creatures[then.creature_id]
        folded = self.ledger.folded
        return folded, self.creature if self.using is None else the_creature(folded.world, self.creature.id)

    async def _carry(self, call: ToolCall) -> ToolAnswer:
        """Use a tool. Its creature may speak on channels that the tool opened, even if it does not look again."""
        assert self.using is not None, "only an act with tools is given this"
        answer = await self.using.carry(call)
        creature = self.ledger.world.creatures.get(self.creature.id)
        self.channels = {} if creature is None else surroundings_of(self.ledger.world, creature).channels
        return replace(answer, result=msgspec.to_builtins(answer.result)) if self.runs_code else answer

    def _again(self) -> Moment:
        return own_moment(self.moment()) if self.runs_code else self.moment()

    def _with_tools(self, moment: Moment, using: ToolUse, folded: Folded, creature: CreatureState) -> Moment:
        moment = replace(
            moment,
            tools=using.offers(folded, creature),
            talk=tuple(using.talk),
            visitors=visitors_among(folded.world, moment),
            carry=self._carry,
            again=self._again,
        )
        using.note_sight(moment)
        return moment


async def _given(completion: Completion) -> Completion:
    return completion


def _head(world: World, creature_id: str) -> tuple[str, int]:
    """The session of a creature's graph, and the last seq there; empty if the creature was removed."""
    creature = world.creatures.get(creature_id)
    session_id = "" if creature is None else world.graphs[creature.graph_id].session_id
    return session_id, world.sessions[session_id].head if session_id else 0


def _as_of(world: World, creature: CreatureState, upto: int | None) -> str:
    """The id of the last event that a moment sees: the newest event of the graph's session, or the one at time
    `upto`."""
    session = world.session_of(world.graphs[creature.graph_id])
    while upto is not None and upto <= session.segment.base and session.segment.parents:
        parents = [world.sessions[parent.session_id] for parent in session.segment.parents]
        session = next((parent for parent in parents if parent.lamport >= upto), parents[0])
    seq = session.head if upto is None else max(1, min(session.head, upto - session.segment.base))
    return event_id(session.segment.id, seq)


def time_of(world: World, id_of_event: str) -> int:
    """The logical time of a past event."""
    session_id, seq = session_and_seq(id_of_event)
    return world.sessions[session_id].segment.base + seq
