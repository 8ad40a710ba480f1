"""Bundles: which of the events that a creature still has to answer are answered by one act.

A mailbox maps causes to debts, oldest first. The number `bundle` of a debt is 0 if an act of its own answers it. What a
stopped creature hears is one bundle. So is what a creature still owes after a full turn (ADR 0106). The bundles of a
creature are counted: `begun` maps its id to how many it has begun.

Always holds: one act, which has heard the whole bundle, answers its newest cause and settles it. The agenda and the
page keep debts of their own shape and call the same functions, so the page shows as many debts as the agenda has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from msgspec.structs import replace


class Debt(Protocol):
    """What a creature owes for one cause: a struct with the number of its bundle."""

    @property
    def bundle(self) -> int:
        """The number of its bundle; 0 if it is in none."""
        ...


D = TypeVar("D", bound=Debt)


def begin_bundle(begun: dict[str, int], creature_id: str) -> int:
    """Begin a bundle of a creature, and return its number."""
    number = begun[creature_id] = begun.get(creature_id, 0) + 1
    return number


def bundle_heard_into(begun: Mapping[str, int], creature_id: str, *, is_running: bool) -> int:
    """The bundle of what a creature hears now: that of its last stop while it is stopped, otherwise none."""
    return 0 if is_running else begun.get(creature_id, 0)


def bundle_up(mailbox: dict[str, D], number: int, *, but: str | None = None) -> None:
    """Put all debts of a mailbox into one bundle, except the debt for the cause `but`."""
    for cause, debt in mailbox.items():
        if cause != but:
            # Debts are structs; a protocol cannot say so.
            mailbox[cause] = replace(cast(Any, debt), bundle=number)


def newest_cause(mailbox: Mapping[str, Debt], bundle: int) -> str:
    """The cause that the act for a bundle answers."""
    return [cause for cause, debt in mailbox.items() if debt.bundle == bundle][-1]


def settle(mailbox: dict[str, D], cause: str, time_of: Callable[[D], int]) -> D | None:
    """Remove what an act for this cause settles. Returns the debt for the cause, or None if it was not owed."""
    settled = mailbox.pop(cause, None)
    if settled is None or not settled.bundle:
        return settled
    # What came after its cause it has not heard: it began before that became part of the bundle.
    heard_until = time_of(settled)
    bundle = [other for other, debt in mailbox.items() if debt.bundle == settled.bundle]
    for other in [other for other in bundle if time_of(mailbox[other]) <= heard_until]:
        del mailbox[other]
    return settled
