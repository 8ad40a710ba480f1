"""Every error Glasshouse raises on purpose.

    GlasshouseError
    ├── Refused            the world says no; nothing changed          -> do what `.instead` says
    │   ├── BadEvent       a draft or an event of the wrong shape      -> mend the draft
    │   └── UnknownName    nothing is called that                      -> use one of `.known`
    ├── BudgetExceeded     a limit of the governor tripped             -> `.reason` names the limit
    ├── Conflict           an id is already taken by other content     -> read again, then append at the new seq
    ├── ImportConflict     a file disagrees with what the store holds  -> import it into another store
    ├── BadWorld           a scenario or manifest does not hold        -> mend the file at the named line
    └── StoreError         the ledger's file cannot serve
        ├── StoreBusy      somebody else holds it                      -> stop the other, or wait
        ├── StoreTooNew    written by a newer Glasshouse               -> upgrade
        ├── StoreDamaged   not a ledger, or a broken one               -> restore a copy
        └── StoreFailed    the disk is full, read-only or gone         -> make room, then go on

Each message is a whole sentence that says what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

names_shown_max = 8
names_compared_max = 2_000


class GlasshouseError(Exception):
    """The root of everything raised on purpose."""


class Refused(GlasshouseError):
    """The world says no. Nothing changed; `instead` names what would work."""

    def __init__(self, reason: str, instead: str = "") -> None:
        super().__init__(f"{reason} {instead}".strip())
        self.reason = reason
        self.instead = instead


class BadEvent(Refused, ValueError):
    """A draft or an event of the wrong shape: the writer's move."""


class UnknownName(Refused, LookupError):
    """Nothing is called that; `known` holds what is, the likeliest first."""

    def __init__(self, *, noun: str, name: str, known: Iterable[str] = (), where: str = "") -> None:
        everybody = sorted(known)
        alike = (
            [other for other in everybody if other[:1] == name[:1]]
            if len(everybody) > names_compared_max
            else everybody
        )
        close = get_close_matches(name, alike[:names_compared_max], n=names_shown_max)
        shown = [*close, *(other for other in everybody if other not in close)]
        reason = f"{where}{': ' if where else ''}no {noun} is called {name!r}."
        super().__init__(reason, _advice(noun, close, shown))
        self.noun = noun
        self.name = name
        self.known = tuple(shown)


def _advice(noun: str, close: list[str], known: list[str]) -> str:
    if close:
        return f"Did you mean {close[0]!r}?"
    if not known:
        return f"There is no {noun} yet."
    more = "" if len(known) <= names_shown_max else f" and {len(known) - names_shown_max} more"
    return f"There is {', '.join(known[:names_shown_max])}{more}."


class BudgetExceeded(GlasshouseError):
    """A limit of the governor tripped; `reason` is the limit's field name."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The run reached its limit {reason}. Branch it with a higher one to go on.")
        self.reason = reason


class Conflict(GlasshouseError):
    """An event id, or the place after a segment's last event, is already taken by other content."""


class ImportConflict(GlasshouseError):
    """A file's history disagrees with the history this store holds under the same ids."""


class BadWorld(GlasshouseError):
    """A scenario or manifest does not hold; the message names file, line and field."""


class StoreError(GlasshouseError):
    """The place where the ledger is kept cannot serve."""


class StoreBusy(StoreError):
    """Another process or another terrarium holds the store."""


class StoreTooNew(StoreError):
    """The store was written by a newer Glasshouse than this one."""


class StoreDamaged(StoreError):
    """The file is no ledger, or a broken one."""


class StoreFailed(StoreError):
    """The disk is full, read-only or gone; what was acknowledged before is safe."""
