"""`OwnedHouse`: how a process takes a house, keeps it, and learns that it has lost it (DESIGN: ownership, fencing).

Theory of operation. The row of a house has an owner, an epoch that grows with each owner, and a random token. Every write of an owner locks that row
and holds only for its epoch and token, so a paused, cut off or dead owner can never write again. No wall clock decides:
- The owner beats. Whoever has seen the same (epoch, beat) for one lease of its own monotonic time takes the house: it ends the connections of the old
  owner, because a statement whose end never reached the server keeps its lock, and then changes the row by compare-and-set.
- An owner that could not beat for a lease has `lapsed`: it asks no model, though nobody may have taken the house.
- If nobody knows whether a commit was written, its connection is ended and the token is changed. Then the commit is written or never will be.

Always holds: the tokens that the row may have, if this process still owns the house, are in `tokens`. A lost answer adds one; an answer leaves one.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from typing import Any, Final

from glasshouse.errors import StoreBusy, StoreError, StoreFailed, StoreFenced, StoreTooNew
from glasshouse.stores.postgres import server as servers
from glasshouse.stores.postgres.address import Address
from glasshouse.stores.postgres.driver_faults import driver_errors, store_error
from glasshouse.stores.postgres.schema import format_number
from glasshouse.stores.postgres.server import SQL, Server, inbox_channel, this_process

lease_seconds_max: Final = 5.0
"""How long an owner may be silent before another process takes its house."""
looks_a_lease: Final = 20
"""How often in a lease somebody who waits for a house looks whether its owner beats."""
takes_max: Final = 20
"""How often a house is tried to be taken, if others are faster or the old owner's locks remain."""
lock_seconds_max = 2.0
"""How long a statement waits for the lock of a house before it ends the connections that may hold it, and tries again."""


class OwnedHouse:
    """A house that this process owns, or has lost."""

    def __init__(self, server: Server, address: Address, lease_seconds: float, number: int) -> None:
        self._server = server
        self._shown = address.shown
        self._name = address.house
        self.number = number
        self.epoch = 0
        self.lease_seconds = lease_seconds
        self.tokens: list[bytes] = []
        self.fenced: StoreFenced | None = None
        """Why nothing more is written here."""
        self._beaten_at = servers.monotonic()
        self.suspects: set[int] = set()
        """The processes of the server whose statements failed, and may still be at work."""
        self._settling = asyncio.Lock()

    # Taking

    async def take(self) -> None:
        """Take the house, if nobody has it or its owner is silent for a lease. Raises `StoreBusy` with the owner."""
        seen: tuple[int, int] | None = None
        since = 0.0
        for _ in range(takes_max * looks_a_lease):
            asked_at = servers.monotonic()
            row = await self._server.fetch_row(SQL["house"], self._name)
            self._check_format(row["format"])
            if row["token"] in self.tokens:  # It was taken, and the answer was lost.
                self._begin(row["epoch"], row["token"], servers.monotonic())
                return
            is_silent = seen == (row["epoch"], row["beat"]) and asked_at - since >= self.lease_seconds
            if row["owner"] and not is_silent:
                self._check_is_silent(row, seen)
                if seen is None:
                    # From the end of the first look to the beginning of the last one: while the server stalls, or this process stands still, a look
                    # may be old when it ends.
                    since = servers.monotonic()
                seen = (row["epoch"], row["beat"])
                await asyncio.sleep(self.lease_seconds / looks_a_lease)
                continue
            if await self._taken(row):
                return
        raise StoreBusy(f"{self._shown} could not be taken: others are faster. Try again.")

    def _check_format(self, number: int) -> None:
        if number > format_number:
            raise StoreTooNew(
                f"A newer Glasshouse has played {self._shown} (format {number}; this one knows {format_number}). Upgrade Glasshouse, or"
                " choose another --store."
            )

    def _check_is_silent(self, row: Any, seen: tuple[int, int] | None) -> None:
        is_here = self._server.is_owned_here(self.number) and row["owner"] == self._server.name
        if is_here or (seen is not None and seen != (row["epoch"], row["beat"])):
            raise StoreBusy(
                f"{self._shown} is being played by {in_a_sentence(row['owner_words'])}. Stop it first, or choose another --store; to read"
                " only, open the store as a guest."
            )

    async def _taken(self, row: Any) -> bool:
        """Take the house by compare-and-set. False if somebody was faster, its owner has beaten again, or a lock is in the way."""
        if row["owner"]:
            with suppress(*driver_errors()):  # Without the right to end them, the locks may still be gone.
                await self._server.fetch(SQL["end_connections"], row["owner"], seconds=lock_seconds_max)
        token = secrets.token_bytes(16)
        self.tokens.append(token)
        sent_at = servers.monotonic()
        values = (
            row["number"],
            row["epoch"],
            row["token"],
            token,
            self._server.name,
            this_process(),
            format_number,
            row["beat"],
        )
        try:
            taken = await self._server.fetch_row(SQL["take"], *values, seconds=lock_seconds_max)
        except TimeoutError:
            return False
        if taken is not None:
            self._begin(taken["epoch"], token, sent_at)
        return taken is not None

    def _begin(self, epoch: int, token: bytes, sent_at: float) -> None:
        self.epoch = epoch
        self.tokens = [token]
        self._beaten_at = sent_at
        self._server.own(self)

    # Keeping

    def was_beaten(self, sent_at: float) -> None:
        """The database has noted a beat."""
        self._beaten_at = max(self._beaten_at, sent_at)

    def was_taken(self) -> None:
        """Another process has taken the house, or somebody removed it."""
        if self.fenced is None:
            self.fenced = StoreFenced(
                f"{self._shown} was taken over by another process, because this one had been silent for {self.lease_seconds:g} seconds, or"
                " somebody removed the house. Nothing more is written here. Close this one, and open the store again."
            )
        self._server.disown(self)
        self._server.wakes(inbox_channel(self.number)).wake()  # Who waits for the inbox is told.

    def lapse(self) -> StoreError | None:
        """Why this process may ask no model now: it has lost the house, or could not beat for a lease; None if it may."""
        if self.fenced is not None:
            return self.fenced
        silent = servers.monotonic() - self._beaten_at
        if silent <= self.lease_seconds:
            return None
        return StoreFailed(
            f"{self._shown} has not answered for {silent:.0f} seconds, so another process may play it by now. No model is asked until it"
            " answers. Check the server and the network, then try again."
        )

    @property
    def token(self) -> bytes:
        """The token of the house. After a lost answer, `settle` first finds out which one it is."""
        return self.tokens[-1]

    def must_settle(self, process: int | None) -> None:
        """Note that a statement failed, and may still be at work in this process of the server."""
        if process is not None:
            self.suspects.add(process)
        self.is_in_doubt = True

    is_in_doubt = False
    """Whether a statement failed, and `settle` has not made sure yet that it can write nothing more."""

    async def settle(self) -> None:
        """Make sure that no statement that failed can write any more. If the house is lost, that is noted instead."""
        # The writer and who takes a request may both ask: the token is changed once.
        async with self._settling:
            if self.is_in_doubt:
                await self._settle()

    async def _settle(self) -> None:
        token = secrets.token_bytes(16)
        known = [*self.tokens]
        self.tokens.append(token)
        for _ in range(takes_max):
            for process in [*self.suspects]:
                with suppress(*driver_errors()):
                    await self._server.fetch(
                        SQL["end_connection"], process, self._server.name, seconds=lock_seconds_max
                    )
            with suppress(TimeoutError):  # The lock is still held.
                values = (self.number, self.epoch, known, token)
                row = await self._server.fetch_row(SQL["change_token"], *values, seconds=lock_seconds_max)
                if row is None:
                    values = (self.number, self.epoch, self.tokens, token)
                    row = await self._server.fetch_row(SQL["change_token"], *values, seconds=lock_seconds_max)
                break
        else:
            raise StoreBusy(
                f"{self._shown} is locked by a connection that cannot be ended. Ask who runs the server."
            )
        self.suspects.clear()
        self.is_in_doubt = False
        if row is None:
            self.was_taken()
        else:
            self.tokens = [token]

    async def announce(self, words: str) -> None:
        """Say who owns the house, in other words."""
        with suppress(*driver_errors()):
            await self._server.fetch(SQL["announce"], self.number, self.epoch, self.tokens, words)

    async def let_go(self) -> None:
        """Let another process take the house at once."""
        self._server.disown(self)
        if self.fenced is None:
            with suppress(*driver_errors()):  # Otherwise the next owner waits for a lease.
                await self._server.fetch(
                    SQL["let_go"], self.number, self.epoch, self.tokens, seconds=lock_seconds_max
                )


def in_a_sentence(words: str) -> str:
    """Who owns a house, within a sentence."""
    return f"{words[:1].lower()}{words[1:]}" or "another process"


__all__ = ["OwnedHouse", "lease_seconds_max", "store_error"]
