"""Decisions during play: a line is said, a turn begins, an act calls tools, proposes edits, and ends.

Always holds: a creature writes only kinds that it may emit, and speaks only on channels that it sends on. An act ends
in at most one event, written to the graph in which its creature is at that moment. If the creature was removed,
`act.discarded` is written to its last graph, or to the first session of its run if that graph is closed; if the run
has finished too, nothing is written. The cause of a tool call is the act's cause; the cause of an answer or a
proposal is its call (ADR 0034). A removed creature, or one whose run has finished, calls no tool. The answer of a
tool can always be written: a text that is too long is cut, and a result that cannot be kept is left out.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from glasshouse.errors import BadEvent, Refused
from glasshouse.events import kinds, payloads
from glasshouse.events.codec import canonical_json, json_copy
from glasshouse.events.event import CONDUCTOR, VISITOR, Draft, event_id, session_and_seq
from glasshouse.events.model_use import ModelUse
from glasshouse.world.decisions.decision import Decision, Fact, Write, fact_of, written_in
from glasshouse.world.decisions.intents import CallTool, EndAct, FollowCall, Inject, Say, StartTurn
from glasshouse.world.state import ids
from glasshouse.world.state.state import CreatureState, GraphState, World
from glasshouse.world.state.topology import SEND
from glasshouse.world.state.values import GROWN_APART

batch_events_max = 10_000
"""More lines in one `append_all` are refused."""


def said(world: World, intent: Say) -> Decision:
    """A creature's drafts as facts of its graph's session."""
    if len(intent.drafts) > batch_events_max:
        raise Refused(
            f"{len(intent.drafts):,} lines are too many for one batch.",
            f"Append at most {batch_events_max:,} at once.",
        )
    creature = ids.the_creature(world, intent.creature)
    check_may_act(world, creature)
    check_cause(world, intent.caused_by)
    facts = [
        line_of(world, voice_of(world, creature.id, draft.kind, draft.channel), draft, intent.caused_by)
        for draft in intent.drafts
    ]
    graph = world.graphs[creature.graph_id]
    return Decision((Write(graph.session_id, graph.id, tuple(facts)),) if facts else ())


def check_cause(world: World, caused_by: str | None) -> None:
    """Refuse a cause that has not happened."""
    if caused_by is not None and not _has_happened(world, caused_by):
        raise Refused(
            f"There is no event {caused_by!r}, so it cannot be a cause.", "Give the id of an event, or none."
        )


class Voice(msgspec.Struct, frozen=True, gc=False):
    """A creature that may say lines of one kind on one channel, and where these lines go."""

    creature: CreatureState
    graph: GraphState
    channel_id: str | None
    channel: str | None


def voice_of(world: World, creature_id: str, kind: str, channel: str | None) -> Voice:
    """How a creature says lines of this kind on this channel. A refusal if its run has finished, it may not emit the
    kind, or it does not send on the channel. The answer is kept until the shape of the world changes."""
    key = (Voice, creature_id, kind, channel)
    kept: Voice | None = world.shape_cache.get(key)
    if kept is not None:
        return kept
    creature = ids.the_creature(world, creature_id)
    check_may_act(world, creature)
    facts = world.facts_of(creature)
    reflects = kind == kinds.AGENT_REFLECTED and facts.memory.reflect_every is not None
    if (kind not in facts.may_emit and not reflects) or kind in kinds.NEVER_GRANTED:
        _refuse_kind(world, creature, kind)
    graph = world.graphs[creature.graph_id]
    voice = Voice(creature, graph, None, None)
    if channel is not None:
        open_channel = ids.the_channel(world, graph, channel)
        if not world.topology.channels_of.get(creature_id, {}).get(open_channel.id, 0) & SEND:
            _refuse_channel(world, creature, open_channel.name)
        voice = Voice(creature, graph, open_channel.id, open_channel.name)
    world.shape_cache[key] = voice
    return voice


def line_of(
    world: World, voice: Voice, draft: Draft, caused_by: str | None, model: ModelUse | None = None
) -> Fact:
    """A creature's draft as a fact. A verdict that cites events which do not exist is refused."""
    kind = draft.kind
    creature = voice.creature
    payload = json_copy(kind, draft.payload)
    if kind == kinds.JUDGE_VERDICT:
        _check_cites(world, payload.get("cites"))
    private = None if draft.private is None else json_copy(kind, draft.private)
    sealed = None if draft.sealed is None else json_copy(kind, draft.sealed)
    actor = creature.id
    run_id = creature.run_id
    channel_id = voice.channel_id
    channel = voice.channel
    return Fact(kind, payload, actor, channel_id, channel, private, sealed, caused_by, run_id, model)


def check_reflection(world: World, draft: Draft) -> None:
    """Refuse what cannot end an act that is owed as a reflection: another kind, or one that rests on no event."""
    if draft.kind != kinds.AGENT_REFLECTED:
        raise Refused(
            f"This act is a reflection, and {draft.kind} cannot end it.",
            f"Give back {kinds.AGENT_REFLECTED}, or None to pass (`moment.is_reflection` says which act it is).",
            rule="kind",
        )
    rests_on = draft.payload.get("rests_on")
    if not isinstance(rests_on, list | tuple) or not rests_on:
        raise Refused(
            "The reflection rests on nothing.",
            "Give the ids of one event or more in `rests_on`.",
            rule="reflection",
        )
    for name in rests_on:
        if not isinstance(name, str) or not _has_happened(world, name):
            raise Refused(
                f"There is no event {name!r}, so no reflection can rest on it.",
                "Give ids of events.",
                rule="reflection",
            )


def check_may_act(world: World, creature: CreatureState) -> None:
    """Refuse a creature whose run has finished."""
    if world.is_finished(creature.run_id):
        raise Refused(
            f"The run of {creature.handle} has finished, so it can say nothing more.",
            "Branch the run, or add a creature of another run.",
        )


def _check_cites(world: World, cites: object) -> None:
    """Refuse a verdict that cites events that do not exist."""
    for cited in cites if isinstance(cites, list | tuple) else ():
        if not isinstance(cited, str) or not _has_happened(world, cited):
            raise Refused(
                f"There is no event {cited!r}, so no verdict can cite it.",
                "Cite ids of events.",
                rule="verdict",
            )


def _has_happened(world: World, name: str) -> bool:
    session_id, seq = session_and_seq(name)
    session = world.sessions.get(session_id)
    return session is not None and 1 <= seq <= session.head


def _refuse_kind(world: World, creature: CreatureState, kind: str) -> None:
    if kind in kinds.NEVER_GRANTED:
        raise Refused(
            f"Only the engine writes {kind}.",
            "Make the change itself, for example with connect().",
            rule="kind",
        )
    granted = ", ".join(sorted(world.facts_of(creature).may_emit)) or "nothing"
    raise Refused(
        f"{creature.handle} may not emit {kind}.",
        f"Its manifest grants {granted}; add {kind} to may_emit.",
        rule="kind",
    )


def _refuse_channel(world: World, creature: CreatureState, name: str) -> None:
    edges = world.topology.channels_of.get(creature.id, {})
    open_to_it = [world.channels[c].name for c, directions in edges.items() if directions & SEND]
    advice = f"It sends on {', '.join(open_to_it)}." if open_to_it else "Connect it to somebody there first."
    raise Refused(f"{creature.handle} does not send on {name}.", advice, rule="channel")


def injected(world: World, intent: Inject) -> Decision:
    """Say something as the visitor, in one graph or in all graphs of a run. All events after the first name the first."""
    ids.check_length("text", intent.text)
    if not intent.text.strip():
        raise Refused("The visitor said nothing.", "Write a sentence.")
    if intent.run_id is not None:
        ids.the_unfinished_run(world, intent.run_id)
    if intent.graph_id is not None:
        graphs = [ids.the_graph(world, intent.graph_id)]
    else:
        graphs = _graphs_of_run(world, intent.run_id)
    first_session = world.sessions[graphs[0].session_id]
    first_id = event_id(first_session.segment.id, first_session.head + 1)
    writes: list[Write] = []
    for graph in graphs:
        said = payloads.UserInjected(intent.text, None if graph is graphs[0] else first_id)
        writes.append(Write(graph.session_id, graph.id, (fact_of(said, VISITOR, intent.run_id),)))
    return Decision(tuple(writes), subject=graphs[0].id)


def _graphs_of_run(world: World, run_id: str | None) -> list[GraphState]:
    """The graphs in which a run has a creature. They are in the order in which the story of the run has what is written
    in each of them next, so that whatever names the first event comes after it, for every reader (ADR 0102)."""
    graphs = world.graphs_of(run_id or "")
    if not graphs:
        raise Refused(f"Nobody of run {run_id} is there to hear it.", "Play a world first.")
    if len(graphs) > batch_events_max:
        raise Refused(f"The run is in {len(graphs):,} graphs, too many for one batch.", "Name one graph.")

    def place_of_next(graph: GraphState) -> tuple[int, int, int]:
        session = world.sessions[graph.session_id]
        return (session.story_time(session.head + 1), session.rank, session.segment.ordinal)

    return sorted(graphs.values(), key=place_of_next)


answer_text_chars_max: Final = 8_192
"""The answer of a tool is cut here in `tool.returned`."""
answer_result_bytes_max: Final = 16_384
"""A larger result is left out of `tool.returned`."""


def turn_started(world: World, intent: StartTurn) -> Decision:
    """Begin a graph's next turn, with the scenes that the world shows at that turn."""
    graph = ids.the_graph(world, intent.graph_id)
    if intent.turn <= graph.turn:
        raise Refused(f"Graph {graph.name} is at turn {graph.turn}.", f"Start turn {graph.turn + 1}.")
    facts = [fact_of(payloads.TurnStarted(intent.turn, [*intent.full]), CONDUCTOR)]
    facts += [fact_of(scene, CONDUCTOR, run_id) for run_id, scene in intent.shown]
    return Decision((Write(graph.session_id, graph.id, tuple(facts), turn=intent.turn),), subject=graph.id)


def act_ended(world: World, intent: EndAct) -> Decision:
    """The one event that ends an act."""
    creature = world.creatures.get(intent.creature)
    if creature is None:
        return _discarded(world, intent)
    draft = intent.draft
    if draft is not None:
        key = (EndAct, creature.id, draft.kind, intent.channel_id, intent.reply_to)
        voice: Voice | None = world.shape_cache.get(key)
        if voice is None:
            channel_id = _place_to_speak(world, creature, intent, draft)
            voice = world.shape_cache[key] = voice_of(world, creature.id, draft.kind, channel_id)
        fact = line_of(world, voice, draft, intent.cause, intent.model)
        fact = replace(fact, tools=intent.tools) if intent.tools else fact
        return written_in(voice.graph, (fact,), creature.id)
    check_may_act(world, creature)
    if intent.failure:
        failed = payloads.AgentFailed(intent.failure, intent.attempts, intent.fault, intent.axis, intent.rule)
        fact = _of_act(intent, failed, creature.run_id)
    elif intent.loop is not None:
        if intent.loop.repeats:
            check_cause(world, intent.loop.repeats)
        fact = _of_act(intent, intent.loop, creature.run_id)
    else:
        fact = _of_act(intent, payloads.ActEnd(intent.passed), creature.run_id, kinds.AGENT_PASSED)
    return written_in(world.graphs[creature.graph_id], (fact,), creature.id)


def _of_act(
    intent: EndAct | CallTool, payload: payloads.Payload, run_id: str | None, kind: str | None = None
) -> Fact:
    """A fact of an act, with the act's cause as its cause."""
    fact = fact_of(payload, intent.creature, run_id, kind)
    tools = intent.tools if isinstance(intent, EndAct) else ()
    return replace(fact, private=intent.private, caused_by=intent.cause, model=intent.model, tools=tools)


def _place_to_speak(world: World, creature: CreatureState, intent: EndAct, draft: Draft) -> str | None:
    """The channel of a line: the intended one, else that of its cause, else the oldest on which the creature sends.

    Channels are identified by id, so a line still reaches a channel that was renamed during the act.
    """
    if draft.kind in kinds.INNER:
        return None
    edges = world.topology.channels_of.get(creature.id, {})
    for wanted in (intent.channel_id, intent.reply_to):
        if wanted is not None and edges.get(wanted, 0) & SEND:
            return wanted
    for channel_id, directions in edges.items():
        if directions & SEND:
            return channel_id
    return None


def _discarded(world: World, intent: EndAct) -> Decision:
    session_id = intent.told_in or _open_heir(world, intent.session_id)
    if session_id is None:
        run = world.runs.get(intent.run_id or "")
        if run is None or run.status == "finished":
            return Decision(subject=intent.creature)
        session_id = run.session_id
    ended = payloads.ActEnd("The creature was removed before its act ended.")
    fact = replace(_of_act(intent, ended, intent.run_id, kinds.ACT_DISCARDED), private=None)
    write = Write(session_id, world.sessions[session_id].segment.graph_id, (fact,))
    return Decision((write,), subject=intent.creature)


def _open_heir(world: World, session_id: str) -> str | None:
    """The open session of the graph that once wrote into this session."""
    waiting = [session_id]
    seen = {session_id}
    while waiting:
        name = waiting.pop()
        session = world.sessions[name]
        graph = world.graphs.get(session.segment.graph_id)
        if graph is not None and graph.session_id == name:
            return name
        for child in reversed(session.children or ()):
            if child not in seen and world.sessions[child].segment.origin not in GROWN_APART:
                seen.add(child)
                waiting.append(child)
    return None


def tool_called(world: World, intent: CallTool) -> Decision:
    """A creature calls a tool during its act."""
    creature = world.creatures.get(intent.creature)
    if creature is None:
        raise Refused(f"{intent.creature} was removed in the middle of its act.", "Let the act end here.")
    check_may_act(world, creature)
    arguments = json_copy(kinds.TOOL_CALLED, intent.arguments)
    called = payloads.ToolCalled(intent.tool, arguments, intent.number)
    fact = _of_act(intent, called, creature.run_id)
    return written_in(world.graphs[creature.graph_id], [fact], creature.id)


def call_followed(world: World, intent: FollowCall) -> Decision:
    """What followed a tool call. Nothing is written for a removed creature, or if the run has finished."""
    creature = world.creatures.get(intent.creature)
    if creature is None or world.is_finished(creature.run_id):
        return Decision(subject=intent.creature)
    payload = intent.payload
    if isinstance(payload, payloads.ToolReturned):
        text = payload.text[:answer_text_chars_max].encode("utf-8", "replace").decode()
        payload = replace(payload, is_ok=bool(payload.is_ok), text=text, result=_kept(payload.result))
    elif isinstance(payload, payloads.EditProposed):
        payload = replace(payload, arguments=json_copy(kinds.EDIT_PROPOSED, payload.arguments))
    fact = replace(fact_of(payload, creature.id, creature.run_id), caused_by=intent.called)
    return written_in(world.graphs[creature.graph_id], [fact], creature.id)


def _kept(result: Any) -> Any:
    """The result as the ledger keeps it; None if it is too large or not JSON."""
    if result is None:
        return None
    try:
        kept = json_copy(kinds.TOOL_RETURNED, {"result": result})
        size = len(canonical_json(kept))
    except (BadEvent, ValueError, OverflowError):
        return None
    return kept["result"] if size <= answer_result_bytes_max else None
