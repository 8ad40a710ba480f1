"""`ToolServer`: a server of tools as it is declared, by a command that starts it or by its address.

Always holds: a declaration names variables, never their values, so it can be shown and written down.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec

from glasshouse.errors import Refused, in_brief
from glasshouse.reprs import repr_of

server_call_seconds_max: Final = 60.0
"""A call that takes longer has failed. A server may be given more, up to `server_call_seconds_most_max`."""
server_call_seconds_most_max: Final = 600.0
"""A larger `seconds_max` of a server is refused."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,64}")


class ToolServer(msgspec.Struct, frozen=True):
    """A server of tools: a command that speaks the protocol on stdin and stdout, or the address of one over HTTP."""

    __repr__ = repr_of("name", "shown")

    name: str
    command: Sequence[str] = ()
    url: str = ""
    folder: str | None = None
    """The working folder of the command."""
    variables: Sequence[str] = ()
    """The names of environment variables that the command gets, beside those that every command gets."""
    headers: Mapping[str, str] = {}
    """HTTP header -> the name of the environment variable that holds its value."""
    seconds_max: float = server_call_seconds_max
    """A call that takes longer has failed."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise Refused(
                f"No tool server can be called {in_brief(self.name)}.",
                "Use up to 32 lower-case letters, digits, hyphens and underscores, a letter first.",
            )
        if isinstance(self.command, str) or not all(isinstance(word, str) for word in self.command):
            raise self._refused(
                "its command is not a list of words", 'Write it like ["python", "weather.py"].'
            )
        if any(not word or "\0" in word for word in self.command):
            raise self._refused("a word of its command is empty or holds a zero byte", "Leave that word out.")
        if bool(self.command) == bool(self.url):
            raise self._refused("it needs a command or a url, and not both", "Give one of them.")
        if self.url:
            self._check_url()
        if self.headers and self.command:
            raise self._refused("headers are for a url", "Name `variables` for a command.")
        if self.variables and self.url:
            raise self._refused("variables are for a command", "Name `headers` for a url.")
        wrong = [name for name in (*self.variables, *self.headers.values()) if not _VARIABLE.fullmatch(name)]
        if wrong:  # It may be a key that somebody wrote in place of a name, so it is not quoted.
            raise self._refused("what should be the name of a variable is none", "Write NAME, not its value.")
        if not all(_HEADER.fullmatch(header) for header in self.headers):
            raise self._refused("a header has no plain name", "Use letters, digits and hyphens.")
        if not 0 < self.seconds_max <= server_call_seconds_most_max:
            most = f"{server_call_seconds_most_max:g}"
            raise self._refused(
                f"seconds_max is {self.seconds_max:g}", f"Give more than 0 and at most {most}."
            )

    @property
    def shown(self) -> str:
        """The command, or the address without what may hold a key."""
        if self.command:
            return shlex.join(self.command)
        return urlsplit(self.url)._replace(query="", fragment="").geturl()

    @property
    def is_loopback(self) -> bool:
        """Whether its address is on this machine, so that no proxy is asked."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    def _check_url(self) -> None:
        try:
            parts = urlsplit(self.url)
            host = parts.hostname
            _port = parts.port
        except ValueError:
            parts = urlsplit("")
            host = None
        if parts.scheme not in {"http", "https"} or not host or not self.url.isprintable() or " " in self.url:
            raise self._refused(
                "its url is not the address of a server", "Write it like http://localhost:8000/mcp."
            )
        if parts.username is not None or parts.password is not None:
            raise self._refused(
                "its url holds a user name or a password",
                "Put the key into an environment variable, and name that in `headers`.",
            )
        if self.headers and parts.scheme == "http" and not self.is_loopback:
            raise self._refused("it would get a key over plain HTTP", "Use https.")

    def _refused(self, reason: str, instead: str) -> Refused:
        return Refused(f"The tool server {self.name} cannot be used: {reason}.", instead)
