"""The schedule: the next act of a graph's current turn, and the number of its next turn. Pure.

Always holds: an act that is under way comes first. Reactions come before ticks, in the order of their causes and then
of the creatures' ages. Ticks come in the order of the cast; ticks put off from an earlier turn come first. Reflections
come last, in the order of the lines that caused them, and take only calls that the turn has left. The order
depends only on folds of the ledger, so every way of driving a graph gives the same order.
"""

from __future__ import annotations

import msgspec

from glasshouse.events.payloads import WorldObserved
from glasshouse.turns.moment.playbill import Beat
from glasshouse.turns.runs.agenda import Agenda, Owed, may_act, members_of, names_in_both
from glasshouse.turns.runs.purses import Runs
from glasshouse.world.hearing.bundles import newest_cause
from glasshouse.world.state.state import GraphState, World


class Due(msgspec.Struct, frozen=True):
    """An act that is due now."""

    creature: str
    cause: str
    is_tick: bool = False
    is_together: bool = False
    as_of: int | None = None
    begun_by: str | None = None
    """The first event of its batch of ticks; none if the batch has not begun."""
    was: str | None = None
    """The id of its creature before that event, if it was another one."""


def next_act(world: World, agenda: Agenda, graph: GraphState, runs: Runs) -> Due | None:
    """The next act of the current turn; none if no act is left."""
    if graph.turn == 0:
        return None
    if agenda.under_way:
        taken_up = _under_way(world, agenda, graph)
        if taken_up is not None:
            return taken_up

    first = agenda.first_free(world, graph, runs.is_deferred, runs.is_turn_full)
    if first is None:
        return None
    name, owed = first
    if owed is agenda.ticks.get(name):
        return _tick(world, owed, name)
    if not owed.bundle:  # A reflection never is in one.
        return Due(name, owed.cause)
    return Due(name, newest_cause(agenda.owed[name], owed.bundle))


def due_of(world: World, agenda: Agenda, name: str, cause: str) -> Due | None:
    """The act that a creature owes for this cause, whether or not it is next; none if it owes none."""
    if name not in world.creatures:
        return None
    tick = agenda.ticks.get(name)
    if tick is not None and tick.cause == cause:
        return _tick(world, tick, name)
    return Due(name, cause) if agenda.owes(name, cause) else None


def _under_way(world: World, agenda: Agenda, graph: GraphState) -> Due | None:
    """The act that has used tools and has not ended. It ends before another begins, whatever calls its run has left."""
    for name in names_in_both(graph.creatures, agenda.under_way):
        due = due_of(world, agenda, name, agenda.under_way[name].cause)
        if due is not None and may_act(world, world.creatures[name]):
            return due
    return None


def ticks_left(world: World, agenda: Agenda, graph: GraphState, runs: Runs) -> list[Due]:
    """The ticks that are owed, in the order of the cast; ticks put off from an earlier turn come first."""
    owing = [world.creatures[name] for name in names_in_both(graph.creatures, agenda.ticks)]
    free = [c for c in owing if may_act(world, c) and not runs.is_deferred(c.run_id or "", graph.id)]
    names = [creature.id for creature in free]
    names.sort(key=lambda name: (agenda.ticks[name].due, world.creatures[name].born))
    return [_tick(world, agenda.ticks[name], name) for name in names]


def ticks_together(world: World, agenda: Agenda, graph: GraphState, runs: Runs, *, is_new: bool) -> list[Due]:
    """The ticks of a batch. If `is_new` is false, only ticks of a batch that has already begun.

    A tick that is under way comes last: it has already made its first call, and the others make theirs first.
    """
    ticks = [due for due in ticks_left(world, agenda, graph, runs) if due.is_together]
    batch = [due for due in ticks if is_new or due.begun_by is not None]
    return sorted(batch, key=lambda due: due.creature in agenda.under_way)


def _tick(world: World, owed: Owed, name: str) -> Due:
    is_together = world.facts_of(world.creatures[name]).schedule.together
    begun_by, was = (owed.begun_by, owed.was) if is_together and owed.begun_by is not None else (None, None)
    return Due(
        name, owed.cause, is_tick=True, is_together=is_together, as_of=owed.as_of, begun_by=begun_by, was=was
    )


def next_turn(world: World, agenda: Agenda, runs: Runs, graph: GraphState) -> int | None:
    """The number of the next turn in which anything is due; none if nothing will be due in any turn.

    Once the talk brings nothing new, only beats are due.
    """
    turns: list[int] = []
    members = members_of(world, graph)
    if runs.is_talk_stale(graph.id) and all(map(runs.has_scenario, members.runs_acting)):
        return min([turn for turn, _, _ in beats_ahead(world, runs, graph)], default=None)
    for _, every in members.tickers_acting:
        if every == 1:
            return graph.turn + 1
        turns.append((graph.turn // every + 1) * every)
    for owing in (agenda.owed, agenda.ticks):
        for name in names_in_both(graph.creatures, owing):
            if may_act(world, world.creatures[name]):
                return graph.turn + 1
    if graph.turn == 0:  # What was said before the first turn is reflected on in it.
        for name in names_in_both(graph.creatures, agenda.reflections):
            if may_act(world, world.creatures[name]):
                return 1
    turns += [turn for turn, _, _ in beats_ahead(world, runs, graph)]
    return min(turns, default=None)


def beats_ahead(world: World, runs: Runs, graph: GraphState) -> list[tuple[int, Beat, str]]:
    """The beats still to come in this graph: the graph's turn in which each comes, the beat, and its run."""
    ahead: list[tuple[int, Beat, str]] = []
    for run_id in members_of(world, graph).runs_acting:
        purse = runs.purses.get(run_id)
        if purse is None or not purse.playbill.beats:
            continue
        played = runs.turns_of(run_id, graph.id)
        handles_here = {handle for name, handle in purse.cast.items() if name in graph.creatures}
        for beat in purse.playbill.beats:
            if beat.turn > played and (beat.at is None or beat.at in handles_here):
                ahead.append((graph.turn + beat.turn - played, beat, run_id))
    return ahead


def shown_at(world: World, runs: Runs, graph: GraphState, turn: int) -> tuple[tuple[str, WorldObserved], ...]:
    """What the world shows when this turn begins, each with its run."""
    ahead = beats_ahead(world, runs, graph)
    return tuple([(run_id, WorldObserved(beat.text, beat.title)) for at, beat, run_id in ahead if at == turn])
