"""Verdicts: whom a judge may name, what it may cite, and which labels it sees.

Always holds: a verdict that an act ends in names one who may win, or nobody, and cites only what its judge has seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.turns.masks import Masks, masks_of, seats_of
from glasshouse.turns.moment import Moment
from glasshouse.turns.reply_schema import NOBODY
from glasshouse.turns.runs import Purse
from glasshouse.world.state import World

cited_shown_max: Final = 4


def masks_before(world: World, purse: Purse) -> Masks | None:
    """The labels that the contestants of a run wear before its judges; none where fewer than two compete."""
    if len(purse.playbill.competition.may_win) < 2:
        return None
    by_handle = {handle: name for name, handle in purse.cast.items()}

    def called(handle: str) -> Iterable[str]:
        creature = world.creatures.get(by_handle.get(handle, ""))
        return (handle,) if creature is None else dict.fromkeys((creature.handle, handle))

    return masks_of(seats_of(purse.playbill.competition, called), purse.rng_seed)


def check_verdict(draft: Draft | None, moment: Moment) -> None:
    """Refuse a verdict that names somebody who cannot win, or cites what its judge has not seen."""
    if not isinstance(draft, Draft) or draft.kind != kinds.JUDGE_VERDICT:
        return
    _check_winner(draft.payload.get("winner"), moment.playbill.competition.may_win)
    cites = draft.payload.get("cites", ())
    if not isinstance(cites, list | tuple) or not all(isinstance(one, str) for one in cites):
        raise Refused(f"A verdict's cites may not be {cites!r}.", "Give a list of event ids.")
    seen = {moment.cause.id, *[event.id for event in moment.recent_events]} if cites else set()
    unseen = [one for one in cites if one not in seen]
    if unseen:
        shown = ", ".join(unseen[:cited_shown_max])
        raise Refused(
            f"{moment.handle} cites {shown}, and has seen no such event.",
            "Cite ids of moment.recent_events, or nothing.",
        )


def _check_winner(winner: object, may_win: tuple[str, ...]) -> None:
    if not may_win or winner is None or winner == NOBODY or winner in may_win:
        return
    raise Refused(f"{winner!r} cannot win here.", f"Name {', '.join(may_win)} or {NOBODY}.")
