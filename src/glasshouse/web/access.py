"""Access: who may read and do what, decided on the server for every request.

Always holds: a request is answered for one role, and never for a higher one than its token grants. Without a secret the
server answers this machine alone, and whoever asks is the director. Another site cannot use a visitor's browser: the
`Host` header must be a known name, and a command without a bearer token must be JSON, or bytes where a file is imported, and
have the page's own `Origin`.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import scrypt, sha256
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any, Final

import msgspec

from glasshouse.events.redaction import ROLES, Role

COOKIE: Final = "glasshouse"
secret_chars_min: Final = 16
"""A shorter token for the page is refused."""
_SALT: Final = b"glasshouse links, second kind"
"""Tells these links from older ones. It is the same everywhere: a link holds as long as its secret, on any machine and port."""
scrypt_rounds: Final = 2**16
"""The cost of one guess of the secret, for this server at its start and for whoever guesses: 64 MiB and some 0.2 seconds."""
_BLOCK: Final = 8
scrypt_bytes_max: Final = 2 * 128 * _BLOCK * scrypt_rounds
"""What the derivation may use. It needs half of it, and a little."""
keys_kept_max: Final = 4
"""How many derived keys a process keeps, so that a secret is derived once."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_ALWAYS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer, unless it has its own: nobody guesses what it is, no other site includes it, nobody keeps it."""
_BUSY: Final = frozenset({429, 503})
"""The statuses of what was refused only because there was too much at once. It may be tried again."""
retry_seconds: Final = 5
"""After this time."""
_OPEN: Final = frozenset({"/", "/healthz", "/api/v1/session"})
"""What is answered without a token: the empty page, whether the server is there, and the exchange of a token for a cookie."""
_FILES: Final = "/static/"
IMPORTS: Final = "/api/v1/imports"
"""Where a file is sent to, as it is. All other commands are JSON."""

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]


class Denied(Exception):
    """A request that is not answered, with its status and the reason in words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Access:
    """Which role a request has."""

    def __init__(self, secret: str = "", hosts: Iterable[str] = ()) -> None:
        if secret and len(secret) < secret_chars_min:
            raise ValueError(f"A token for the page has at least {secret_chars_min} characters.")
        self._key = _key_of(secret) if secret else b""
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._roles = {self.token_for(role): role for role in ROLES} if secret else {}

    @property
    def has_secret(self) -> bool:
        """Whether roles are granted by tokens."""
        return bool(self._key)

    def token_for(self, role: Role) -> str:
        """The token that grants a role. Whoever has it can make the token of another role only by guessing the secret, and
        each guess costs what `scrypt_rounds` says."""
        digest = hmac.new(self._key, f"glasshouse {role}".encode(), sha256).digest()
        return urlsafe_b64encode(digest).decode().rstrip("=")

    def role_of_token(self, token: str) -> Role | None:
        """The role that a token grants; none if it grants nothing."""
        granted: Role | None = None
        for known, role in self._roles.items():  # Every one is compared, so that the time tells nothing.
            if hmac.compare_digest(known.encode(), token.encode()):
                granted = role
        return granted

    def role_of(self, method: str, path: str, headers: Mapping[str, str]) -> Role:
        """The role of a request, or `Denied`."""
        host = _name_of(headers.get("host", ""))
        # A site can have its own name resolve to this machine, but no IP address. Without a token, both are refused.
        if host not in self._hosts and not (self._key and _is_number(host)):
            raise Denied(421, f"This server is not called {host!r}. Allow that name with --allow-host.")
        scheme, _, given = headers.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer" and bool(given)
        cookie = _cookie_in(headers.get("cookie", ""))
        if method not in _SAFE and not is_bearer:
            _check_is_from_the_page(path, headers, has_cookie=bool(cookie))
        if not self._key:
            return "director"
        token = given if is_bearer else cookie
        role = self.role_of_token(token) if token else None
        if role is None:
            if path in _OPEN or path.startswith(_FILES):
                return "spectator"
            raise Denied(401, "This page needs a link with a token. Ask whoever serves it for one.")
        return role


@lru_cache(maxsize=keys_kept_max)
def _key_of(secret: str) -> bytes:
    """The key that tokens are made with. People choose weak secrets: a quick digest would let whoever has one link try
    millions a second."""
    return scrypt(
        secret.encode(), salt=_SALT, n=scrypt_rounds, r=_BLOCK, p=1, maxmem=scrypt_bytes_max, dklen=32
    )


def _name_of(host: str) -> str:
    """The name in a Host header, without the port."""
    name = host.lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if ":" in name else name


def _is_number(host: str) -> bool:
    try:
        return bool(ip_address(host))
    except ValueError:
        return False


def _cookie_in(header: str) -> str:
    try:
        cookie = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return "" if cookie is None else cookie.value


def _check_is_from_the_page(path: str, headers: Mapping[str, str], *, has_cookie: bool) -> None:
    """Refuse a command that another site may have a browser send. Only browsers send cookies, and with each command
    they say where it comes from. Both types of content are such that a browser asks before it sends them elsewhere."""
    wanted = "application/octet-stream" if path == IMPORTS else "application/json"
    if headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
        noun = "A file" if path == IMPORTS else "A command"
        raise Denied(415, f"{noun} is sent as {wanted}.")
    origin = headers.get("origin")
    host = headers.get("host", "")
    if (has_cookie or origin is not None) and (origin or "").partition("://")[2] != host:
        raise Denied(403, "This command comes from another site.")


class AccessMiddleware:
    """Gives every request its role, or answers it with the reason why not."""

    def __init__(self, app: App, access: Access, root_path: str = "") -> None:
        self._app = app
        self._access = access
        self._root_path = root_path

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if self._root_path:  # Else a program that mounts the page has said where it is.
            scope["root_path"] = self._root_path
        root_path: str = scope.get("root_path", "")
        if not f"{scope['path']}/".startswith(f"{root_path}/"):  # A proxy has taken it away.
            scope["path"] = root_path + scope["path"]
        try:
            path = scope["path"].removeprefix(root_path) or "/"
            role = self._access.role_of(scope["method"], path, headers)
        except Denied as denied:
            await answer_denied(send, denied)
            return
        scope.setdefault("state", {})["role"] = role

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                added = [header for header in _ALWAYS if header[0] not in known]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, sent)


async def answer_denied(send: Send, denied: Denied) -> None:
    """Answer with the reason why not."""
    body = msgspec.json.encode({"error": "Denied", "message": str(denied), "help": ""})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *_ALWAYS,
    ]
    if denied.status in _BUSY:
        headers.append((b"retry-after", str(retry_seconds).encode()))
    await send({"type": "http.response.start", "status": denied.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def lower_of(granted: Role, wanted: Role | None) -> Role:
    """The role that is wanted, or the one that is granted if that is lower."""
    return granted if wanted is None else ROLES[min(ROLES.index(granted), ROLES.index(wanted))]
