"""A Ray cluster as a grid reaches it: its address, its token, and a connection that is closed again.

Always holds: Ray runs the code of anybody who reaches its ports, and listens on all addresses. So a cluster beyond this machine is
asked only with a token, and a Ray that is started here gets one. Nothing is reported to anybody, and no dashboard is started.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from glasshouse.errors import GridStopped, Refused
from glasshouse.installation import missing_extra

EXTRA: Final = "ray"
port_usual: Final = 6379
"""Where the first node of a cluster listens unless it was started otherwise."""

answer_seconds_max: Final = 10.0
"""How long is waited for the answer of a cluster."""

_log: Final = logging.getLogger("glasshouse.grids")
_PREFIX: Final = "ray"
_QUIET: Final = {"RAY_USAGE_STATS_ENABLED": "0"}
_OWN_ADDRESS: Final = "127.0.0.2"
"""Where a Ray of this process is. 127.0.0.1 would be replaced by the address by which others reach this machine."""


def check_installed() -> None:
    """Refuse to go on without Ray, which is an extra. It is not imported: it takes a second, and reads its variables then."""
    if "ray" not in sys.modules and find_spec("ray") is None:
        raise missing_extra("Ray is not installed here.", EXTRA)


def address_of(on: str, variables: Mapping[str, str]) -> str | None:
    """The address that `ray` or `ray://HOST[:PORT]` means; None: a Ray of this process. Raises `Refused` without a token."""
    scheme, separator, rest = on.partition("://")
    if scheme != _PREFIX or (separator and not rest):
        raise Refused(f"on={on!r} is no place to play.", "Write ray, or ray://HOST:PORT.")
    address = rest or variables.get("RAY_ADDRESS", "").removeprefix("ray://")
    if not address or address == "local":
        return None
    if address == "auto":
        raise Refused("RAY_ADDRESS=auto names no machine.", "Write --on ray://HOST:PORT.")
    host, _, port = address.rpartition(":") if ":" in address else (address, "", "")
    if not host or (port and not port.isdecimal()):
        raise Refused(f"{address} is no address of a Ray cluster.", "Write ray://HOST:PORT.")
    if variables.get("RAY_AUTH_MODE", "").lower() != "token" and not is_this_machine(host):
        raise Refused(
            f"{host} is beyond this machine, and without a token anybody who reaches a Ray cluster runs code on it.",
            "Start it with RAY_AUTH_MODE=token, and set that and RAY_AUTH_TOKEN_PATH here too.",
        )
    return f"{host}:{port or port_usual}"


def is_this_machine(host: str) -> bool:
    """Whether only this machine answers at an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def connected(on: str) -> Iterator[Any]:
    """Ray, connected. A program that has connected already keeps its connection, if it means the same."""
    check_installed()
    address = address_of(on, os.environ)
    with _variables(_QUIET if address is not None else {**_QUIET, **_own_token()}):
        ray = import_module("ray")
        if ray.is_initialized():
            yield ray
            return
        try:
            if address is not None:
                check_answers(address)
            ray.init(address or "local", **_how(address))
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as wrong:
            text = " ".join(str(wrong).split()).rstrip(".")
            advice = "See that it runs, and that RAY_AUTH_MODE and its token are set here too."
            raise GridStopped(
                "outage", f"No Ray cluster was reached at {address or 'this machine'}: {text}. {advice}"
            ) from wrong
        with _told_to_the_log():
            try:
                yield ray
            finally:
                ray.shutdown()


def check_answers(address: str) -> None:
    """Raise `OSError` if there is no cluster at an address, or all its nodes are dead: Ray would wait for them for ever."""
    host, _, port = address.rpartition(":")
    _reach(host.strip("[]"), int(port))
    client: Any = import_module("ray._raylet").GcsClient(address=address)
    living = [
        node for node in client.get_all_node_info(timeout=answer_seconds_max).values() if not node.state
    ]
    if not living:
        raise ConnectionError("its nodes are dead")
    for node in living:
        if node.node_manager_address == host:  # The cluster notices only after a while that a node has died.
            _reach(host, node.node_manager_port)


def _reach(host: str, port: int) -> None:
    socket.create_connection((host, port), answer_seconds_max).close()


def _how(address: str | None) -> dict[str, Any]:
    how: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        how |= {"include_dashboard": False}
        if sys.platform == "linux":
            how |= {"_node_ip_address": _OWN_ADDRESS}
        return how
    host = address.rpartition(":")[0]
    # Ray looks for its node by the address of this machine, which is another one than that of a node on loopback.
    return {**how, "_node_ip_address": host} if is_this_machine(host) and host != "localhost" else how


@contextmanager
def _told_to_the_log() -> Iterator[None]:
    """Put what Ray tells of nodes and workers into the log. It would print it among the lines that a command prints for programs, and
    has no setting for that."""
    worker: Any = import_module("ray._private.worker")
    printing = worker.print_to_stdstream
    worker.print_to_stdstream = _log_lines
    try:
        yield
    finally:
        worker.print_to_stdstream = printing


def _log_lines(said: Mapping[str, Any], **_how: Any) -> None:
    for line in said["lines"]:
        _log.info("Ray: %s", line)


def _own_token() -> dict[str, str]:
    """A token for a Ray of this process, unless somebody has chosen one. Ray reads it when it is imported; where a program has done
    that before, Ray makes a token of its own."""
    if "ray" in sys.modules:
        return {}
    if any(name in os.environ for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")):
        return {"RAY_AUTH_MODE": "token"}
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment, from which Ray and its processes take them, and put the old ones back."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
