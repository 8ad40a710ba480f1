"""Verdicts: which winners a judge may name, which events it may cite, and which labels it sees (ADR 0037).

Always holds: a verdict that passes `check_verdict` names a possible winner or nobody, and cites only events that its
judge has seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from glasshouse.errors import Refused
from glasshouse.events.event import Draft
from glasshouse.turns.moment.masks import Masks, masks_of, seats_of
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.reply_schema import NOBODY
from glasshouse.turns.runs.purses import Purse
from glasshouse.world.state.state import CreatureState, GraphState, World

cited_shown_max: Final = 4
"""The refusal of a verdict names no more events that its judge has not seen."""


def masks_before(world: World, purse: Purse, judge: CreatureState) -> Masks | None:
    """The labels that replace the contestants' names for a judge of their run; none if fewer than two compete."""
    if len(purse.playbill.competition.may_win) < 2:
        return None
    by_handle = {handle: name for name, handle in purse.cast.items()}
    graph = world.graphs.get(judge.graph_id)

    def called(handle: str) -> Iterable[str]:
        creature = world.ever(by_handle.get(handle, ""))
        if creature is None:
            return (handle,)
        title = world.facts_of(creature).title
        titles = dict.fromkeys((title, title.removeprefix("The "))) if title else {}
        return (*_names_of(creature, handle, graph), *titles)

    return masks_of(seats_of(purse.playbill.competition, called), purse.rng_seed)


def _names_of(creature: CreatureState, began_as: str, graph: GraphState | None) -> Iterable[str]:
    """A contestant's present and former handles, without those that another creature in the judge's graph has now."""
    names = dict.fromkeys(
        (creature.handle, began_as, *[stay.handle for stay in creature.stays if stay.handle])
    )
    owners = {} if graph is None else {name: graph.handles.owners.get(name) for name in names}
    own = [name for name in names if owners.get(name) in (None, creature.id)]
    return own or (creature.handle,)


def check_verdict(draft: Draft, moment: Moment) -> None:
    """Raise `Refused` for a verdict whose winner cannot win, or that cites events its judge has not seen."""
    winner = draft.payload.get("winner")
    may_win = moment.playbill.competition.may_win
    if may_win and winner is not None and winner not in (NOBODY, *may_win):
        raise Refused(
            f"{winner!r} cannot win here.", f"Name {', '.join(may_win)} or {NOBODY}.", rule="verdict"
        )
    cites = draft.payload.get("cites", ())
    if not isinstance(cites, list | tuple) or not all(isinstance(cited, str) for cited in cites):
        raise Refused(f"A verdict's cites may not be {cites!r}.", "Give a list of event ids.", rule="verdict")
    heard = [*moment.recent_events, *[line.event for line in moment.recalled]] if cites else []
    seen = {moment.cause.id, *[event.id for event in heard]}
    unseen = [cited for cited in cites if cited not in seen]
    if unseen:
        shown = ", ".join(unseen[:cited_shown_max])
        raise Refused(
            f"{moment.handle} cites {shown}, and has seen no such event.",
            "Cite ids of moment.recent_events, or nothing.",
            rule="verdict",
        )
