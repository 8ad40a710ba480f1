"""The page's server on a port: how it begins, how it is called, and how it ends.

Always holds: without a token it listens on this machine alone. When it is told to end, streams end at once and no act
begins any more; within three seconds everything is closed.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

import uvicorn
from fastapi import FastAPI

from glasshouse.errors import Refused
from glasshouse.web.access import LOOPBACK, App
from glasshouse.web.connections import Connections, Network, bounded_by

requests_seconds_max: Final = 1
"""How long requests that are being answered may take when the server ends."""
connections_waiting_max: Final = 512
"""More that wait to be taken are refused by the system."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes any free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as wrong:
        raise Refused(
            f"There is no address {host!r} here ({wrong.strerror}).", "Name another --host."
        ) from wrong
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(connections_waiting_max)
    except OSError as wrong:
        listener.close()
        reason = f"Port {port} of {host} cannot be taken ({wrong.strerror})."
        raise Refused(reason, f"Take another: --port {port + 1}, or --port 0 for any free one.") from wrong
    return listener


def is_of_this_machine(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    try:
        return host in LOOPBACK or ip_address(host).is_loopback
    except ValueError:
        return False


def name_of(listener: socket.socket) -> str:
    """The name that a browser calls the server by; that of the machine, if it listens everywhere."""
    host: str = listener.getsockname()[0]
    if ip_address(host).is_unspecified:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signal."""
        yield


async def serve(page: FastAPI, listener: socket.socket, proxies: Collection[Network] = ()) -> None:
    """Serve the page until this is cancelled. Of trusted proxies, the addresses that they forward are counted."""

    def begin_to_end() -> None:
        page.state.directing.drivers.begin_to_close()
        page.state.reading.feeds.end()  # Open streams would hold up the server's end.

    page.state.reading.feeds.prepare()
    await serve_app(page, listener, begin_to_end, proxies)


async def serve_app(
    app: App,
    listener: socket.socket,
    begin_to_end: Callable[[], None],
    proxies: Collection[Network] = (),
) -> None:
    """Serve an app until this is cancelled. Then have it begin to end, end in order, and return."""
    config = uvicorn.Config(
        app,
        http=bounded_by(Connections(proxies)),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        # Anybody can write an address into a header: only a proxy that was named is believed.
        proxy_headers=bool(proxies),
        forwarded_allow_ips=[str(network) for network in proxies],
        timeout_graceful_shutdown=requests_seconds_max,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([listener]), name="server")
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        begin_to_end()
        server.should_exit = True
        await running
