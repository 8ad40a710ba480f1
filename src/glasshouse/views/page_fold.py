"""`PageFold`: the fold that makes the page's view and its records from events.

What an event changes is in three modules: `page_shape` (who is where), `page_talk` (what is said and done) and
`page_runs` (turns, cost, and which answers are owed). A kind that none of them knows is a line of its actor.

Always holds: nothing that the role may not read gets into a view or a record: texts come from the redacted event. Of
the event itself only what shapes the view is read, such as whom a creature listens to.
"""

from __future__ import annotations

from typing import Final

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, Event
from glasshouse.events.redaction import Role, redacted_except_calls
from glasshouse.views.page import Record, Row, cut, text_chars_max
from glasshouse.views.page_runs import FOLDS as OF_RUNS
from glasshouse.views.page_runs import note_cost, owe, settle_debts
from glasshouse.views.page_shape import FOLDS as OF_THE_SHAPE
from glasshouse.views.page_shape import name_lane, note_lane, settle_name
from glasshouse.views.page_state import FoldOne, Page, PageSnapshot
from glasshouse.views.page_talk import FOLDS as OF_TALK
from glasshouse.views.page_talk import note_sealed, say

_FOLDS: Final[dict[str, FoldOne]] = {**OF_TALK, **OF_RUNS, **OF_THE_SHAPE}


class PageFold:
    """The view of one story for one role, brought forward event by event."""

    def __init__(self, role: Role, snapshot: PageSnapshot | None = None) -> None:
        self.page = Page(role, snapshot)
        self.role = role
        self.view = self.page.view
        """The view after the last event."""
        self.behind = self.page.behind

    def fold(self, event: Event) -> Record:
        """Take in the next event."""
        page = self.page
        view = page.view
        k = view["k"] + 1
        # What calls cost is counted from the event itself, and the fold shows nothing else of them.
        shown = redacted_except_calls(event, self.role)
        note_lane(page, event, k)
        spent = note_cost(page, event)
        fold_one = _FOLDS.get(event.kind, say)
        icon, text = fold_one(page, event, shown, k)
        if event.kind not in kinds.ENGINE:
            settle_name(page, event)
        name_lane(page, event)
        if event.sealed is not None:
            note_sealed(page, event, shown)
        settle_debts(page, event)
        owe(page, event, k)
        actor = view["creatures"].get(event.actor, {}).get("handle", "")
        row = Row(
            icon=icon,
            graph="" if view["lanes"][event.session_id]["graph"] == event.graph_id else event.graph_id,
            actor=actor or ("world" if event.actor == CONDUCTOR else event.actor),
            turn=event.turn,
            text=cut(text, text_chars_max),
            channel=event.channel,
            tokens=spent.tokens,
            usd=msgspec.UNSET if spent.usd == 0.0 else spent.usd,
        )
        page.behind.timeline.note(k, event.graph_id, spent.tokens, icon)
        return page.changes.record(k, event.position, event.id, row)

    def snapshot(self) -> PageSnapshot:
        """The view and what is behind it. Encode it before the next event is folded."""
        return PageSnapshot(self.view, self.behind)
