"""Connections: how many the server holds, how many of one address, and how long one may wait for a request.

Always holds: a connection on which nothing is being answered ends within `headers_seconds_max` of its first byte, or of its
beginning. An address has at most `connections_per_address_max`, and all together at most `connections_max`. The oldest one
on which nothing is being answered makes room for a new one; only if all are being answered is the new one refused. So
sockets that nobody uses shut nobody out. A trusted proxy stands for many: its connections count only towards the total, and
the requests of each address that it forwards are counted in `limits`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Final, Protocol

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from glasshouse.errors import Refused

headers_seconds_max: Final = 10.0
"""How long the headers of a request may take to arrive. Then the connection ends: browsers send them at once."""
connections_per_address_max: Final = 256
"""An address that opens more loses its oldest idle one: a browser has six, and a house behind one address some dozens."""
connections_max: Final = 832
"""With more on the server, the oldest idle one ends: as many as requests can be open at once, and below the 1,024 files
that a process usually may have, of which the store, models and tools need some."""

_FULL: Final = (
    b'{"error": "Denied", "message": "Too many connections are open here. Close some, then try again."}'
)
_REFUSED: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\n"
    b"connection: close\r\ncontent-length: " + str(len(_FULL)).encode() + b"\r\n\r\n" + _FULL
)

Network = IPv4Network | IPv6Network


class Connection(Protocol):
    """What is counted of a connection."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered on it."""
        ...

    def end(self) -> None:
        """End it at once."""
        ...


def networks(names: Collection[str]) -> tuple[Network, ...]:
    """The addresses of trusted proxies, each an address or a network; refused if one is neither."""
    try:
        return tuple(ip_network(name) for name in names)
    except ValueError as wrong:
        raise Refused(
            f"{wrong}.", "Write the address of the proxy as this server sees it: --proxy 10.0.0.5"
        ) from wrong


class Connections:
    """Every connection of a server by its address, the oldest first."""

    def __init__(self, proxies: Collection[Network] = ()) -> None:
        self._proxies = tuple(proxies)
        self._open: dict[Connection, str] = {}
        self._of_address: dict[str, dict[Connection, None]] = {}

    def has_room_for(self, new: Connection, address: str) -> bool:
        """Take a connection in if there is room, or if an idle one can make room."""
        of_address = self._of_address.get(address, {})
        if len(of_address) >= connections_per_address_max and not self._is_proxy(address):
            if not self._end_oldest_idle(of_address):
                return False
        elif len(self._open) >= connections_max and not self._end_oldest_idle(self._open):
            return False
        self._open[new] = address
        self._of_address.setdefault(address, {})[new] = None
        return True

    def forget(self, connection: Connection) -> None:
        """A connection has ended."""
        address = self._open.pop(connection, None)
        if address is None:
            return
        of_address = self._of_address[address]
        del of_address[connection]
        if not of_address:
            del self._of_address[address]

    def _end_oldest_idle(self, among: Collection[Connection]) -> bool:
        oldest = next((connection for connection in among if connection.is_idle), None)
        if oldest is None:
            return False
        self.forget(oldest)
        oldest.end()
        return True

    def _is_proxy(self, address: str) -> bool:
        if not self._proxies:
            return False
        try:
            number = ip_address(address)
        except ValueError:
            return False
        return any(number in network for network in self._proxies)


class BoundedConnection(H11Protocol):
    """One connection of a browser or a program, counted and timed."""

    register: Connections
    """Set by `bounded_by`."""
    _headers_timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered on it."""
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request.
        return cycle is None or cycle.response_complete

    def end(self) -> None:
        """End it at once."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection in, or answer why not and end it."""
        super().connection_made(transport)
        if self.register.has_room_for(self, self.client[0] if self.client else ""):
            self._time_headers()
        else:
            transport.write(_REFUSED)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Read on. Until all headers are there, time runs: a byte now and then does not stop it."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if not self.is_idle:
            self._stop_timer()
        elif self._headers_timer is None:
            self._time_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self._stop_timer()
        self.register.forget(self)
        super().connection_lost(exc)

    def _time_headers(self) -> None:
        self._headers_timer = self.loop.call_later(headers_seconds_max, self._end_if_idle)

    def _end_if_idle(self) -> None:
        self._headers_timer = None
        if self.is_idle:
            self.end()

    def _stop_timer(self) -> None:
        if self._headers_timer is not None:
            self._headers_timer.cancel()
            self._headers_timer = None


def bounded_by(register: Connections) -> type[BoundedConnection]:
    """The connections of one server, which are counted together."""
    named: dict[str, Any] = {"register": register}
    return type("BoundedConnection", (BoundedConnection,), named)
