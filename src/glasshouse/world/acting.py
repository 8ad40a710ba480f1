"""What happens while a show runs: turns begin, acts end, visitors speak, runs pause, go on and finish.

Always holds: an act ends in exactly one event, written to the graph its creature is in at that moment. If the creature
is gone, `act.discarded` is told where it was last, or in its run's own session if that graph is closed too.
"""

from __future__ import annotations

from msgspec.structs import replace

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, VISITOR, Draft, Json
from glasshouse.events.payloads import builtins_of
from glasshouse.events.run_payloads import RunContinued, RunFinished, TurnStarted
from glasshouse.world.decision import Decision, Fact, Write
from glasshouse.world.intents import EndAct, Inject, MoveRun, StartTurn
from glasshouse.world.names import check_length, the_graph
from glasshouse.world.speaking import check_may_act, line_of
from glasshouse.world.state import CreatureState, RunFacts, World
from glasshouse.world.topology import SEND
from glasshouse.world.values import GROWN_APART


def turn_started(world: World, intent: StartTurn) -> Decision:
    """A graph's clock moves on, and the world shows what it has to show at that turn."""
    graph = the_graph(world, intent.graph_id)
    if intent.turn <= graph.turn:
        raise Refused(f"Graph {graph.name} is at turn {graph.turn}.", f"Start turn {graph.turn + 1}.")
    facts = [Fact(kinds.TURN_STARTED, builtins_of(TurnStarted(intent.turn)), CONDUCTOR)]
    facts += [
        Fact(kinds.WORLD_OBSERVED, payload, CONDUCTOR, run_id=run_id) for run_id, payload in intent.shown
    ]
    write = Write(graph.session_id, graph.id, tuple(facts), turn=intent.turn)
    return Decision((write,), subject=graph.id)


def act_ended(world: World, intent: EndAct) -> tuple[Write, ...]:
    """The one event that an act ends in."""
    creature = world.creatures.get(intent.creature)
    if creature is None:
        return _discarded(world, intent)
    check_may_act(world, creature)
    graph = world.graphs[creature.graph_id]
    if intent.draft is None:
        fact = _without_a_line(intent, creature.run_id)
    else:
        draft = replace(intent.draft, channel=_place_to_speak(world, creature, intent, intent.draft))
        fact = line_of(world, creature, graph, draft, intent.cause, intent.model)
    return (Write(graph.session_id, graph.id, (fact,)),)


def _without_a_line(intent: EndAct, run_id: str | None) -> Fact:
    if intent.failure:
        payload: Json = {"reason": intent.failure, "attempts": intent.attempts}
        kind = kinds.AGENT_FAILED
    else:
        kind, payload = kinds.AGENT_PASSED, {"reason": intent.passed}
    return Fact(
        kind,
        payload,
        intent.creature,
        private=intent.private,
        caused_by=intent.cause,
        run_id=run_id,
        model=intent.model,
    )


def _place_to_speak(world: World, creature: CreatureState, intent: EndAct, draft: Draft) -> str | None:
    """Where a line goes: where it was meant to, else where its cause was said, else the oldest channel it sends on.

    Channels are followed by id, so a line meant for a channel that was renamed meanwhile still reaches it.
    """
    if draft.kind in kinds.INNER:
        return None
    edges = world.topology.channels_of.get(creature.id, {})
    for wanted in (intent.channel_id, intent.reply_to):
        if wanted is not None and edges.get(wanted, 0) & SEND:
            return wanted
    return next((channel_id for channel_id, directions in edges.items() if directions & SEND), None)


def _discarded(world: World, intent: EndAct) -> tuple[Write, ...]:
    place = _open_heir(world, intent.session_id)
    if place is None:
        run = world.runs.get(intent.run_id or "")
        if run is None or run.status == "finished":
            return ()
        place = run.session_id
    payload: Json = {"reason": "The creature was removed before its act ended."}
    fact = Fact(
        kinds.ACT_DISCARDED,
        payload,
        intent.creature,
        caused_by=intent.cause,
        run_id=intent.run_id,
        model=intent.model,
    )
    return (Write(place, world.sessions[place].segment.graph_id, (fact,)),)


def _open_heir(world: World, session_id: str) -> str | None:
    """The session that a graph writes into now, found from one it wrote into before."""
    waiting, seen = [session_id], {session_id}
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


def injected(world: World, intent: Inject) -> Decision:
    """The visitor speaks to everybody in a graph."""
    graph = the_graph(world, intent.graph_id)
    check_length("text", intent.text)
    if not intent.text.strip():
        raise Refused("The visitor said nothing.", "Give a sentence.")
    if intent.run_id is not None:
        _not_finished(the_run(world, intent.run_id))
    fact = Fact(kinds.USER_INJECTED, {"text": intent.text}, VISITOR, run_id=intent.run_id)
    return Decision((Write(graph.session_id, graph.id, (fact,)),), subject=graph.id)


def run_moved(world: World, intent: MoveRun) -> Decision:
    """A run pauses, goes on or ends. What it is already, it stays without a word."""
    run = _not_finished(the_run(world, intent.run_id))
    is_continued = isinstance(intent.payload, RunContinued)
    if isinstance(intent.payload, RunFinished):
        kind = kinds.RUN_FINISHED
    elif is_continued == (run.status == "playing"):
        return Decision(subject=run.id)
    else:
        kind = kinds.RUN_CONTINUED if is_continued else kinds.RUN_PAUSED
    place = _place_to_tell(world, run, intent.graph_id)
    fact = Fact(kind, builtins_of(intent.payload), CONDUCTOR, run_id=run.id)
    return Decision((Write(place, world.sessions[place].segment.graph_id, (fact,)),), subject=run.id)


def _place_to_tell(world: World, run: RunFacts, graph_id: str | None) -> str:
    """The graph asked for, else the oldest that a creature of the run is in, else where the run began."""
    graph = world.graphs.get(graph_id or "")
    if graph is None:
        home = next((c.graph_id for c in world.creatures.values() if c.run_id == run.id), "")
        graph = world.graphs.get(home)
    return run.session_id if graph is None else graph.session_id


def the_run(world: World, run_id: str) -> RunFacts:
    """A run by id, or a refusal that names the likely meant one."""
    found = world.runs.get(run_id)
    if found is None:
        raise UnknownName(noun="run", name=run_id, known=world.runs)
    return found


def _not_finished(run: RunFacts) -> RunFacts:
    if run.status == "finished":
        raise Refused(
            f"Run {run.id} has finished, and nothing of it comes after its end.", "Branch it to go on."
        )
    return run
