"""Decisions about what is said: by a creature (the kinds it may emit, the channels it may send on) and by the visitor."""

from __future__ import annotations

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.codec import json_copy
from glasshouse.events.event import VISITOR, Draft, Event, place_of
from glasshouse.events.model_use import ModelUse
from glasshouse.events.payloads import builtins_of
from glasshouse.events.run_payloads import UserInjected
from glasshouse.world.decision import Decision, Fact, Write, written_in
from glasshouse.world.ids import check_length
from glasshouse.world.intents import Inject, Say
from glasshouse.world.lookup import the_channel, the_creature, the_graph, the_unfinished_run
from glasshouse.world.state import CreatureState, GraphState, World
from glasshouse.world.topology import SEND

batch_events_max = 10_000


def said(world: World, intent: Say) -> tuple[Write, ...]:
    """A creature's drafts as facts of its graph's session."""
    if len(intent.drafts) > batch_events_max:
        raise Refused(
            f"{len(intent.drafts):,} lines are too many for one batch.",
            f"Say at most {batch_events_max:,} at once.",
        )
    creature = speaker_of(world, intent.creature, intent.caused_by)
    graph = world.graphs[creature.graph_id]
    facts = [line_of(world, creature, graph, draft, intent.caused_by) for draft in intent.drafts]
    return (Write(graph.session_id, graph.id, tuple(facts)),) if facts else ()


def speaker_of(world: World, creature_id: str, caused_by: str | None) -> CreatureState:
    """The creature that is to say something, because of something that has happened."""
    creature = world.creatures.get(creature_id)
    if creature is None:
        creature = the_creature(world, creature_id)
    if caused_by is not None:
        _check_cause(world, caused_by)
    check_may_act(world, creature)
    return creature


def line_of(
    world: World,
    creature: CreatureState,
    graph: GraphState,
    draft: Draft,
    caused_by: str | None,
    model: ModelUse | None = None,
) -> Fact:
    """A creature's draft as a fact, or a refusal: a kind it may not emit, a channel it may not send on."""
    if (
        draft.kind not in world.manifests[creature.manifest_digest].may_emit
        or draft.kind in kinds.NEVER_GRANTED
    ):
        _refuse_kind(world, creature, draft.kind)
    if draft.kind == kinds.JUDGE_VERDICT:
        _check_cites(world, draft.payload.get("cites"))
    channel_id = channel = None
    if draft.channel is not None:
        channel, channel_id = draft.channel, graph.channels.owners.get(draft.channel)
        if channel_id is None:
            open_channel = the_channel(world, graph, draft.channel)
            channel, channel_id = open_channel.name, open_channel.id
        edges = world.topology.channels_of.get(creature.id)
        if edges is None or not edges.get(channel_id, 0) & SEND:
            _refuse_channel(world, creature, channel)
    return Fact(
        draft.kind,
        json_copy(draft.kind, draft.payload),
        creature.id,
        channel_id,
        channel,
        None if draft.private is None else json_copy(draft.kind, draft.private),
        None if draft.sealed is None else json_copy(draft.kind, draft.sealed),
        caused_by,
        creature.run_id,
        model,
    )


def check_may_act(world: World, creature: CreatureState) -> None:
    """Refuse a creature whose run has finished."""
    run = world.runs.get(creature.run_id or "")
    if run is not None and run.status == "finished":
        raise Refused(
            f"The run of {creature.handle} has finished, so it can say nothing more.",
            "Branch the run, or add a creature of another run.",
        )


def _check_cause(world: World, cause: str) -> None:
    if not _has_happened(world, cause):
        raise Refused(
            f"There is no event {cause!r}, so it cannot be a cause.", "Give the id of an event, or none."
        )


def _check_cites(world: World, cites: object) -> None:
    """Refuse a verdict that cites events that do not exist."""
    for cited in cites if isinstance(cites, list | tuple) else ():
        if not isinstance(cited, str) or not _has_happened(world, cited):
            raise Refused(f"There is no event {cited!r}, so no verdict can cite it.", "Cite ids of events.")


def _has_happened(world: World, name: str) -> bool:
    session_id, seq = place_of(name)
    session = world.sessions.get(session_id)
    return session is not None and 1 <= seq <= session.head


def _refuse_kind(world: World, creature: CreatureState, kind: str) -> None:
    if kind in kinds.NEVER_GRANTED:
        raise Refused(
            f"Only the engine writes {kind}.", "Make the change itself, for example with connect()."
        )
    granted = ", ".join(sorted(world.facts_of(creature).may_emit)) or "nothing"
    raise Refused(
        f"{creature.handle} may not emit {kind}.",
        f"Its manifest grants {granted}; add {kind} to may_emit.",
    )


def _refuse_channel(world: World, creature: CreatureState, name: str) -> None:
    edges = world.topology.channels_of.get(creature.id, {})
    open_to_it = [world.channels[c].name for c, directions in edges.items() if directions & SEND]
    advice = f"It sends on {', '.join(open_to_it)}." if open_to_it else "Connect it to somebody there first."
    raise Refused(f"{creature.handle} does not send on {name}.", advice)


def ends_its_act(event: Event) -> bool:
    """Whether a creature's event ends its act."""
    return event.kind not in kinds.MID_ACT and event.kind not in kinds.ENGINE


def injected(world: World, intent: Inject) -> Decision:
    """Say something as the visitor to everybody in a graph."""
    graph = the_graph(world, intent.graph_id)
    check_length("text", intent.text)
    if not intent.text.strip():
        raise Refused("The visitor said nothing.", "Write a sentence.")
    if intent.run_id is not None:
        the_unfinished_run(world, intent.run_id)
    fact = Fact(kinds.USER_INJECTED, builtins_of(UserInjected(intent.text)), VISITOR, run_id=intent.run_id)
    return written_in(graph, [fact], graph.id)
