"""`Guest`: a terrarium beside the process that plays its store. It follows what that one writes, and asks it for changes.

Always holds: a guest writes nothing but the inbox. What only the process that plays can do is refused, and the refusal
names it (ADR 0017, ADR 0058).
"""

from __future__ import annotations

import os
from typing import Final

from glasshouse.errors import Refused
from glasshouse.runtime.inbox.requests import ask
from glasshouse.runtime.ledger.ledger import Ledger, sender
from glasshouse.runtime.ports import Clock
from glasshouse.runtime.store_port import Store
from glasshouse.world.decisions.intents import GraphEdit, Intent
from glasshouse.world.state.values import Change

answer_seconds_max: Final = 10.0
"""How long a guest waits for the answer to a change that it asks for."""
follow_seconds_max: Final = 60.0
"""How long a guest waits at once for a new event, before it waits again."""


class Guest:
    """Follows and asks the process that plays a store."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self.owner = store.owner
        """Asks who plays the store, in words; empty if nobody does."""

    async def follow_until_cancelled(self) -> None:
        """Take in what the other process writes, as soon as it is written."""
        while True:
            await self._ledger.follow()
            await self._store.wait_beyond(self._ledger.position, follow_seconds_max)

    async def refused(self) -> Refused:
        """What is answered to what only the process that plays can do."""
        if owner := await self.owner():
            return Refused(f"{owner} plays this store, and only it can do that.", "Ask there.")
        return Refused("Nobody plays this store any more, and a guest cannot.", "Open it again to play it.")

    async def change(self, intent: Intent) -> tuple[Change, str]:
        """Ask for a change of the graph; the change and its subject."""
        if not isinstance(intent, GraphEdit) or not await self.owner():
            raise await self.refused()
        name = f"{sender.get() or 'a guest'}, process {os.getpid()}"
        answer = await ask(self._store, self._clock, intent, sender=name, seconds=answer_seconds_max)
        return answer.change or Change("nothing"), answer.subject

    async def disturb(self, run_id: str, text: str) -> None:
        """Leave a line in the inbox. It is said at the run's next step."""
        if not await self.owner():
            raise await self.refused()
        await self._store.put_line(text, run_id)
