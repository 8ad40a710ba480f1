"""`glasshouse mcp` lets an assistant read a store, or play in it, by the Model Context Protocol.

The tools and their server are in `glasshouse.mcp_server`. On stdin and stdout nothing is printed here: stdout carries the
protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from glasshouse.cli import options
from glasshouse.cli.command_line import CommandLine, checked_settings, store_path
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import flag, option
from glasshouse.cli.prose import say
from glasshouse.cli.token import checked_token
from glasshouse.cli.tool_servers import servers_here
from glasshouse.events.redaction import Role
from glasshouse.installation import missing_extra
from glasshouse.web.access import Access
from glasshouse.web.server import listening, name_of, serve_app

if TYPE_CHECKING:
    from glasshouse.mcp_server.shared_store import SharedStore

ROLES_TOLD: Final[dict[Role, str]] = {"director": "play and read", "spectator": "read"}
_PLAY = "Let it play, disturb, branch and finish, too. Without this it only reads."
_HTTP = "Answer over HTTP on this port instead of stdin and stdout; 0 takes any free one."
_NAMES = "A name that assistants call the server by, such as that of a proxy. Repeatable."


def mcp(
    *,
    may_play: bool = flag("--allow-play", _PLAY),
    http: int | None = option("PORT", _HTTP, min=0, max=65_535),
    host: str = option(
        "ADDRESS", "With --http: the address to listen on. Default: this machine alone.", "127.0.0.1"
    ),
    allow_host: list[str] | None = option("NAME", _NAMES),
    models: options.ModelsOption = None,
    env_file: options.EnvFileOption = None,
    store: options.StoreOption = None,
) -> None:
    """Let an assistant read a store, or play in it, by the Model Context Protocol.

    An assistant starts this command by itself and talks to it on stdin and stdout. It reads what a spectator may read, and
    with --allow-play it plays worlds by name. If a model costs something, each play needs a limit in dollars.

    \b
    Examples:
      glasshouse mcp                                       to read the usual store
      glasshouse mcp --allow-play                          to play in it, too
      glasshouse mcp --allow-play --models ollama          with real models
      glasshouse mcp --http 8421                           over HTTP, on this machine
      glasshouse mcp --http 8421 --host 0.0.0.0            for others, with GLASSHOUSE_TOKEN set
    """
    try:
        from glasshouse.mcp_server.server import HTTP_PATH, AssistantServer, http_app
        from glasshouse.mcp_server.shared_store import SharedStore
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        reason = "glasshouse mcp needs the extra `mcp`, which is not installed."
        raise missing_extra(reason, "mcp") from None
    path = store_path(store)
    choice = ModelChoice(models, {}, env_file)
    shared = SharedStore(path, choice.models, checked_settings().act_seconds_max, servers_here())
    server = AssistantServer(shared, may_play=may_play)
    if http is None:
        run_until_interrupted(lambda: _until_stopped(server.run_stdio_async(), shared))
        return
    command = CommandLine.on(path).call("mcp", "--http", str(http), "--host", host)
    secret = checked_token(host, allow_host, command)
    with listening(host, http) as listener:
        access = Access(secret, {name_of(listener), host, *(allow_host or ())})
        address = f"http://{name_of(listener)}:{listener.getsockname()[1]}{HTTP_PATH}"
        say(f"Assistants {'play' if may_play else 'read'} {path} here: {address}")
        for role, does in ROLES_TOLD.items() if secret else ():
            say(f"To {does}: Authorization: Bearer {access.token_for(role)}")
        say("Stop it with Ctrl-C.")
        served = http_app(server, access)
        run_until_interrupted(
            lambda: _until_stopped(serve_app(served, listener, shared.begin_to_close), shared)
        )
    say(f"Stopped. Everything is kept in {path}.")


async def _until_stopped(serving: Coroutine[Any, Any, None], shared: SharedStore) -> None:
    """Serve until the assistant leaves or a signal comes; then let acts in flight end."""
    try:
        with suppress(asyncio.CancelledError):
            await serving
    finally:
        await shared.close()
