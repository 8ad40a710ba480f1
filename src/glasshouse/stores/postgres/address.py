"""`Address`: a database and a house in it, as `postgresql://USER@HOST:PORT/DB#HOUSE` names them.

Always holds: what is shown has no password, and of the options only those that say where the database is and who asks. Nobody prints
what the driver makes of an address, because it quotes what it cannot read.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from glasshouse.errors import Refused

SCHEMES: Final = ("postgresql", "postgres")
USUAL_HOUSE: Final = "main"
house_name_chars_max: Final = 120
"""How long the name of a house may be."""

_EXAMPLE: Final = (
    "Write postgresql://USER@HOST:5432/DATABASE#HOUSE, with special characters of the password as %XX."
)
_PERCENT: Final = (
    "Write the special characters of a password as %XX (@ as %40, / as %2F, # as %23, ? as %3F), or keep it out of the"
    " address: PGPASSWORD or ~/.pgpass may hold it."
)
_SHOWN_OPTIONS: Final = ("host", "port", "user", "dbname", "database", "service")
"""The options that say where the database is and who asks. No other one is shown: it may hold a password."""
_SCHEME: Final = re.compile(r"([a-z][a-z0-9.+-]+):", re.IGNORECASE)
_CREDENTIALS: Final = re.compile(r"(//)?[^/:@]+:[^@]*@.")
"""How a text begins that is an address without its scheme: `USER:PASSWORD@HOST`."""


def is_address(text: str) -> bool:
    """Whether a text names a database, and not a file."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def check_is_path(text: str) -> None:
    """Refuse a text that was meant as an address and is none: as the path of a file, its password would stand in every message."""
    begun = text.lstrip(" \t\r\n'\"")
    match = _SCHEME.match(begun)
    scheme = match[1] if match is not None else ""
    if scheme.lower().startswith("postgre") or (scheme and begun.startswith(f"{scheme}:/")):
        raise Refused(f"{scheme}: begins no address of a store.", _likely(scheme.lower()))
    if "://" in text or _CREDENTIALS.match(begun):
        advice = f"{_EXAMPLE} A file with a ':' and an '@' in its name is named by its whole path, from /."
        raise Refused("This is neither an address of a store nor the path of a file.", advice)


def _likely(scheme: str) -> str:
    """What somebody probably meant who wrote this scheme."""
    if scheme.startswith("postgre") or get_close_matches(scheme, SCHEMES, n=1):
        return f"Did you mean postgresql://, with both slashes and nothing before it? {_EXAMPLE}"
    if scheme in ("file", "sqlite", "sqlite3"):
        return "A store in a file is named by its path alone, such as show.glasshouse."
    return f"A store is a file or a house in PostgreSQL. {_EXAMPLE}"


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
    shown = f"postgresql://{user}@{host}" if user else f"postgresql://{host}"
    options = f"?{parts.query}" if parts.query else ""
    dsn = f"postgresql://{parts.netloc}{parts.path}{options}"
    return Address(dsn, f"{shown}{parts.path}{_shown_options(parts.query)}", name)


def _shown_options(query: str) -> str:
    """Those of the options that may be shown."""
    options = [(key, _shown_value(key, value)) for key, value in parse_qsl(query) if key in _SHOWN_OPTIONS]
    return f"?{urlencode(options, quote_via=quote, safe='/,:[]')}" if options else ""


def _shown_value(key: str, value: str) -> str:
    """The value of an option. Who gives a user there may take it for USER:PASSWORD, as it stands before an '@'."""
    return value.partition(":")[0] if key == "user" else value


def _split(text: str) -> tuple[SplitResult, str]:
    """The parts of an address, and its hosts. Nothing of a wrong one is quoted: the mistake may be in the password."""
    if not is_address(text):
        raise Refused("This is no address of a PostgreSQL database.", _EXAMPLE)
    try:
        parts = urlsplit(text)
    except ValueError:
        raise Refused("The address of the database cannot be read.", _EXAMPLE) from None
    credentials, _, host = parts.netloc.rpartition("@")
    if _is_cut(parts) or "@" in credentials:
        raise Refused(
            "The address of the database cannot be read: what stands behind its host may be the end of a password.",
            _PERCENT,
        )
    places = [("host", host), *parse_qsl(parts.query)]
    if not all(_is_place(option, value) for option, value in places):
        raise Refused(
            "The host in the address of the database cannot be read: its port is no number, or its password is cut.",
            _PERCENT,
        )
    return parts, host


def _is_cut(parts: SplitResult) -> bool:
    """Whether a `/`, `?` or `#` seems to have cut a password, so that its end stands in what would be shown."""
    is_behind = any("@" in part for part in (parts.path, parts.query, parts.fragment))
    has_lost_options = "=" in parts.path or ("password=" in parts.query and "&" in parts.fragment)
    return is_behind or has_lost_options


def _is_host(text: str) -> bool:
    port = text.rpartition("]")[2].partition(":")[2]
    return not port or (port.isdecimal() and 0 < int(port) < 65_536)


def _is_place(option: str, value: str) -> bool:
    """Whether an option that names a host or a port names one, and nothing else with it."""
    if option == "port":
        return all(_is_host(f":{port}") for port in value.split(","))
    if option != "host":
        return True
    return "@" not in value and all(host.startswith("/") or _is_host(host) for host in value.split(","))
