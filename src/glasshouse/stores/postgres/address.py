"""`Address`: a database and a house in it, as `postgresql://USER@HOST:PORT/DB#HOUSE` names them.

Always holds: what is shown has no password and none of the options, which may hold one. Nobody prints what the driver makes of an
address, because it quotes what it cannot read.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from glasshouse.errors import Refused

SCHEMES: Final = ("postgresql", "postgres")
USUAL_HOUSE: Final = "main"
house_name_chars_max: Final = 120
"""How long the name of a house may be."""

_EXAMPLE: Final = (
    "Write postgresql://USER@HOST:5432/DATABASE#HOUSE, with special characters of the password as %XX."
)


def is_address(text: str) -> bool:
    """Whether a text names a database, and not a file."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


class Address(NamedTuple):
    """Where a house is kept."""

    dsn: str
    """What the driver connects to. It may hold a password."""
    database: str
    """The database, as it is shown."""
    house: str

    @property
    def shown(self) -> str:
        """The whole address without secrets: it can be pasted, if the password comes from elsewhere."""
        return f"{self.database}#{quote(self.house)}"

    @property
    def is_complete(self) -> bool:
        """Whether the shown address lacks nothing: it had no password and no options."""
        return "?" not in self.dsn and ":" not in urlsplit(self.dsn).netloc.rpartition("@")[0]


def address_of(text: str, house: str | None = None) -> Address:
    """The address that a text names; a house that is given apart must not stand in the text too."""
    parts, host = _split(text)
    named = unquote(parts.fragment)
    if house is not None and named and named != house:
        raise Refused(f"The address names the house {named!r}, and house={house!r} another one.", "Name one.")
    name = house or named or USUAL_HOUSE
    if len(name) > house_name_chars_max or not name.isprintable():
        raise Refused(
            f"A house's name has at most {house_name_chars_max} characters that can be printed.",
            "Shorten it.",
        )
    user = parts.netloc.rpartition("@")[0].partition(":")[0]
    shown = urlunsplit(("postgresql", f"{user}@{host}" if user else host, parts.path, "", ""))
    return Address(urlunsplit(("postgresql", *parts[1:4], "")), shown, name)


def _split(text: str) -> tuple[SplitResult, str]:
    """The parts of an address, and its hosts. Nothing of a wrong one is quoted: the mistake may be in the password."""
    if not is_address(text):
        raise Refused("This is no address of a PostgreSQL database.", _EXAMPLE)
    try:
        parts = urlsplit(text)
    except ValueError:
        raise Refused("The address of the database cannot be read.", _EXAMPLE) from None
    credentials, _, host = parts.netloc.rpartition("@")
    if "@" in credentials or not all(map(_is_host, host.split(","))):
        raise Refused("The host in the address of the database cannot be read.", _EXAMPLE)
    return parts, host


def _is_host(text: str) -> bool:
    port = text.rpartition("]")[2].partition(":")[2]
    return not port or (port.isdecimal() and 0 < int(port) < 65_536)
