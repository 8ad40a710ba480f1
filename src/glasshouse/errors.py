"""Every error Glasshouse raises on purpose.

    GlasshouseError
    ├── Refused            the world refused; nothing changed          -> do what `.instead` says
    │   ├── BadEvent       a draft or an event of the wrong shape      -> correct the draft
    │   ├── UnknownName    nothing is called that                      -> use one of `.known`
    │   └── WrongType      a value of the wrong type was given         -> pass what `.instead` says
    ├── BudgetExceeded     a limit of the run was reached              -> `.reason` names the limit
    ├── ModelUnreachable   the model was not reached                   -> start its server, or bind another
    ├── ModelFailed        a model was asked and gave nothing usable   -> its act tries again or fails, others continue
    ├── ModelMisconfigured a server refuses what it is asked           -> do what `.instead` says, then continue the run
    ├── UnusableReply      a model's reply held no line                -> its act fails, the others continue
    ├── Conflict           an id is already taken by other content     -> read again, then append at the new seq
    ├── ImportConflict     a file disagrees with what the store holds  -> import it into another store
    ├── BadWorld           a file of a world or models.yaml has faults -> correct the file at the named line
    ├── GridStopped        a grid cannot go on                         -> do what it says; the same grid continues
    ├── EngineFault        the engine itself is at fault               -> report it with its message
    └── StoreError         the store cannot be used
        ├── StoreBusy      another process has it open                 -> stop the other, or wait
        │   └── StoreFenced another process has taken it over          -> close this one, and open the store again
        ├── StoreTooNew    written by a newer Glasshouse               -> upgrade
        ├── StoreDamaged   not a ledger, or damaged                    -> restore a copy
        ├── StoreFailed    the disk is full, read-only or gone         -> free some space, then try again
        └── OutcomeUnknown nobody knows whether a commit was written   -> open the store again, and look

Each message says what to do next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # The list of commands is printed without msgspec.
    from glasshouse.model_values import Tokens

names_shown_max = 8
"""An `UnknownName` message, its `.known` and a problem of a world list no more."""
value_chars_max = 120
"""A message quotes at most this much of a value."""
names_compared_max = 500
"""How many known names are compared when one is misspelt."""
LIMIT_REACHED = "The run reached its limit {}. Branch it with a higher limit to continue."
HELP_PAGE = "docs/how-to/troubleshooting.md"
"""The page with a section for each error."""


class GlasshouseError(Exception):
    """The base class of everything raised on purpose."""

    @property
    def help(self) -> str:
        """Where the docs say what to do about it: a page and its section."""
        listed = next(kind for kind in type(self).__mro__ if kind.__module__ == __name__)
        return f"{HELP_PAGE}#{listed.__name__.lower()}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({in_brief(str(self))})"


class Refused(GlasshouseError):
    """The world refused the request, and nothing changed; `instead` names what would work."""

    rule: str = ""
    """Which rule refused a creature's draft, in one word that everybody may read: `events/payloads.py` lists them."""

    def __init__(self, reason: str, instead: str = "", *, rule: str = "") -> None:
        super().__init__(f"{reason} {instead}".strip())
        self.reason = reason
        self.instead = instead
        if rule:
            self.rule = rule


class WrongType(Refused, TypeError):
    """A call was given a value of the wrong type."""


def check_type(call: str, value: object, wanted: type | tuple[type, ...], noun: str, instead: str) -> None:
    """Refuse a value that is not of a wanted type, in words instead of an AttributeError further down."""
    if not isinstance(value, wanted):
        raise WrongType(f"{call} takes {noun}, not {in_brief(value)}.", instead)


def check_has(call: str, value: object, method: str, noun: str, instead: str) -> None:
    """Refuse a value that is not an object with this method, for parts that programs may write themselves."""
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise WrongType(f"{call} takes {noun}, not {in_brief(value)}.", instead)


class BadEvent(Refused, ValueError):
    """A draft or an event has the wrong shape; its writer must correct it."""

    rule = "shape"


class UnknownName(Refused, LookupError):
    """Nothing has this name; `known` lists names that exist, the most similar first. If there are too many to list, it is
    left out."""

    def __init__(
        self, *, noun: str, name: object, known: Collection[str] | None = None, where: str = ""
    ) -> None:
        is_listed = known is not None
        known = known or ()
        compared = list(islice(known, names_compared_max))
        compared += [numbered for numbered in _numbered(str(name)) if numbered in known]
        close = get_close_matches(str(name), compared, n=names_shown_max)
        close = close or get_close_matches(str(name).lower(), compared, n=names_shown_max)
        shown = [*close, *(other for other in sorted(compared) if other not in close)][:names_shown_max]
        reason = f"{where}{': ' if where else ''}no {noun} is called {in_brief(name)}."
        instead = advice(f"no {noun}", close, shown, len(known)) if is_listed else "Check its id."
        super().__init__(reason, instead)
        self.noun = noun
        self.name = str(name)
        self.known = tuple(shown)


def in_brief(value: object, chars_max: int = value_chars_max) -> str:
    """A value as a message quotes it: short, and in quotation marks if it is a text."""
    text = repr(value)
    return text if len(text) <= chars_max else f"{text[: chars_max - 4]}...{text[-1]}"


def _numbered(name: str) -> list[str]:
    stem = name.partition("~")[0]
    return [stem, *(f"{stem}~{n}" for n in range(2, names_shown_max))]


def advice(nothing: str, close: list[str], names: list[str], count: int) -> str:
    """What to write in place of an unknown name: the most similar name, or one of `names`, the first of `count`."""
    if close:
        return f"Did you mean {close[0]!r}?"
    if not names:
        return f"There is {nothing} yet."
    more = "" if count <= len(names) else f" and {count - len(names):,} more"
    are = "is" if count == 1 else "are"
    return f"There {are} {', '.join(names)}{more}."


class BudgetExceeded(GlasshouseError):
    """A limit of the run was reached; `reason` is the limit's field name."""

    def __init__(self, reason: str, frees_at: datetime | None = None, *, words: str = "") -> None:
        """`words` replace the usual message: a replay repeats the recorded one."""
        super().__init__(words or LIMIT_REACHED.format(reason))
        self.reason = reason
        self.frees_at = frees_at
        """When the limit leaves room for the call again. None: never by itself."""


class ModelUnreachable(GlasshouseError):
    """The model behind a profile was not reached: nothing was asked, so nothing was spent."""

    def __init__(
        self, reason: str, model: str = "", retry_after: float | None = None, *, backend: str = ""
    ) -> None:
        super().__init__(reason)
        self.backend = backend
        """The name of the server, if it is known."""
        self.model = model
        """The name of the model; empty: the name in its route."""
        self.retry_after = retry_after
        """In how many seconds a server that is there, but busy, may be asked again. None: nobody answers."""


class ModelFailed(GlasshouseError):
    """A model was asked and gave nothing usable; what it cost is spent."""

    def __init__(self, reason: str, model: str = "", usage: Tokens | None = None) -> None:
        super().__init__(reason)
        self.model = model
        self.usage = usage
        """What the server says it used. None: it does not say, so the call costs what was reserved for it."""


class ModelMisconfigured(GlasshouseError):
    """A server refuses what it is asked, such as a key or a model's name, and would refuse it again."""

    def __init__(
        self,
        reason: str,
        instead: str = "",
        model: str = "",
        *,
        usage: Tokens | None = None,
        backend: str = "",
    ) -> None:
        super().__init__(f"{reason} {instead}".strip())
        self.usage = usage
        """What the server says it used. None: nothing."""
        self.reason = reason
        self.instead = instead
        self.model = model
        self.backend = backend
        """The name of the server, if it is known."""


class UnusableReply(GlasshouseError):
    """A model's reply held no line, and neither did those that it was asked for after it."""


class Conflict(GlasshouseError):
    """An event id, or the place after a segment's last event, is already taken by other content."""


class ImportConflict(GlasshouseError):
    """A file's history disagrees with the history this store holds under the same ids."""


class BadWorld(GlasshouseError):
    """A scenario, a manifest or a models.yaml has problems; each of `problems` names file, line and field."""

    def __init__(self, problems: str | Iterable[object]) -> None:
        self.problems: tuple[object, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class GridStopped(GlasshouseError):
    """A grid cannot go on. What was played is safe, and the same grid in the same folder continues."""

    def __init__(self, why: Literal["outage", "store", "budget"], reason: str) -> None:
        super().__init__(reason)
        self.why: Literal["outage", "store", "budget"] = why
        """Whether a server is away or refuses what it is asked, a store cannot be used, or the money is spent."""


class EngineFault(GlasshouseError):
    """The engine found that it does not get on, which should never happen; the message holds the state to report."""


class StoreError(GlasshouseError):
    """The store cannot be used."""


class StoreBusy(StoreError):
    """Another process or another terrarium has the store open."""


class StoreFenced(StoreBusy):
    """Another process has taken the store over while this one had it open; this one writes nothing more."""


class StoreTooNew(StoreError):
    """The store was written by a newer Glasshouse than this one."""


class StoreDamaged(StoreError):
    """The file is not a ledger, or it is damaged."""


class StoreFailed(StoreError):
    """The disk is full, read-only or gone. Nothing was written, and everything acknowledged before is safe."""


class OutcomeUnknown(StoreError):
    """A commit was neither confirmed nor refused, and looking for it failed too. Everything acknowledged before is safe."""
