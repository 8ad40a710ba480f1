"""`glasshouse serve` shows a store in the browser: the page, live.

The page and its server are in `glasshouse.web`; here is what it is told and what it says.
"""

from __future__ import annotations

import re
import socket
import sys
import threading
import webbrowser
from collections.abc import Collection
from typing import Annotated, Final

import typer

from glasshouse.assembly import NamedModels, StoreAddress, ToolServer
from glasshouse.cli import options
from glasshouse.cli.command_line import CommandLine, checked_settings, store_path
from glasshouse.cli.conversion_bar import store_to_write
from glasshouse.cli.drawing.screen import Screen
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.model_choice import PLAY_OFFLINE, ModelChoice, heading
from glasshouse.cli.options import option
from glasshouse.cli.prose import say
from glasshouse.cli.token import checked_token
from glasshouse.cli.tool_servers import servers_here
from glasshouse.errors import ModelMisconfigured, ModelUnreachable, Refused, StoreBusy
from glasshouse.events.redaction import ROLES
from glasshouse.runtime.sharing.page_files import has_vendor
from glasshouse.settings import has_display
from glasshouse.terrarium import Terrarium
from glasshouse.web.access import Access
from glasshouse.web.app import app
from glasshouse.web.connections import Network, networks
from glasshouse.web.server import is_of_this_machine, listening, name_of
from glasshouse.web.server import serve as serve_page

usual_port: Final = 8420

_OPEN = "Open a browser, or not. Default: on a terminal with a display."
_PROXIES = "The address of a proxy, or its network, whose forwarded addresses are believed. Repeatable."
_NAMES = "A name that browsers call the server by, such as that of a proxy. Repeatable."


def serve(
    *,
    port: int = option("N", "The port; 0 takes any free one.", usual_port, min=0, max=65_535),
    host: str = option("ADDRESS", "The address to listen on. Default: this machine alone.", "127.0.0.1"),
    allow_host: list[str] | None = option("NAME", _NAMES),
    proxy: list[str] | None = option("ADDRESS", _PROXIES),
    root_path: str = option("PATH", "Where a proxy shows the page, such as /show.", ""),
    is_opened: Annotated[bool | None, typer.Option("--open/--no-open", help=_OPEN)] = None,
    models: options.ModelsOption = None,
    env_file: options.EnvFileOption = None,
    tools: options.ToolsOption = None,
    store: options.StoreOption = None,
) -> None:
    """Show a store in the browser: watch its runs live, rewind, branch, disturb, and start new ones.

    Only this machine is answered. For any other address set GLASSHOUSE_TOKEN to a secret of at least 16 characters: then
    there is one link for each role, and nobody reads anything without one.

    \b
    Examples:
      glasshouse serve                                        the usual store, on this machine
      glasshouse serve --store other.glasshouse --port 8500   another store, another port
      glasshouse serve --models ollama                        with real models
      glasshouse serve --host 0.0.0.0                         for others, with GLASSHOUSE_TOKEN set
      glasshouse serve --root-path /show --allow-host glass.example --proxy 127.0.0.1   behind a proxy
    """
    if not has_vendor():
        raise Refused(
            "The page's third-party files are missing, so there is nothing to show.",
            "Run make setup, or make serve.",
        )
    address = store_path(store)
    command_line = CommandLine.on(address)
    if not re.fullmatch(r"(/[\w.~-]+)*", root := f"/{root_path.strip('/')}".rstrip("/"), re.ASCII):
        raise typer.BadParameter(f"{root_path!r} is no path. Write --root-path /show.")
    secret = checked_token(host, allow_host, command_line.call("serve", "--host", host))
    proxies = networks(proxy or ())
    with listening(host, port) as listener:
        names = {name_of(listener), host, *(allow_host or ())}
        servers = servers_here(tools)
        # Behind a proxy, whoever asks seems to be at this machine.
        is_own = is_of_this_machine(host) and not (proxies or allow_host or root)
        page = _Page(
            listener,
            proxies,
            Access(secret, names),
            root,
            address,
            command_line,
            is_opened,
            saves_worlds=is_own,
        )
        try:
            run_until_interrupted(lambda: page.serve(ModelChoice(models, {}, env_file), servers))
        except (ModelUnreachable, ModelMisconfigured) as away:
            raise Refused(str(away), PLAY_OFFLINE) from away
    say(f"Stopped. Everything is kept in {command_line.path}.")


class _Page:
    """The page of a store, and what is said about it."""

    def __init__(
        self,
        listener: socket.socket,
        proxies: Collection[Network],
        access: Access,
        root_path: str,
        store: StoreAddress,
        command_line: CommandLine,
        is_opened: bool | None,
        *,
        saves_worlds: bool,
    ) -> None:
        self._saves_worlds = saves_worlds
        self._listener = listener
        self._proxies = proxies
        self._access = access
        self._root_path = root_path
        self._command_line = command_line
        self._store = store
        self._is_new = not store.exists()
        self._is_opened = sys.stdout.isatty() and has_display() if is_opened is None else is_opened

    async def serve(self, choice: ModelChoice, servers: Collection[ToolServer]) -> None:
        """Serve it until somebody stops it."""
        path = self._command_line.path
        models = choice.models()
        seconds_max = checked_settings().act_seconds_max
        try:
            store = store_to_write(self._store)
            async with Terrarium(
                store, models=models, tool_servers=servers, act_seconds_max=seconds_max
            ) as terrarium:
                if isinstance(models, NamedModels):
                    Screen().draw(*heading(models))
                    print(f"  {self._command_line.call('models', *choice.words(models))}")
                await store.announce(self._address)
                new = " is new and empty. It" if self._is_new else ""
                await self._show(terrarium, f"{path}{new} is shown here:")
        except StoreBusy:
            guest = self._store.guest()
            async with Terrarium(guest, models=choice.models()) as terrarium:
                owner = await guest.owner() or "Another process"
                remark = f"{owner} plays {path}. This page follows it, and asks it for changes."
                await self._show(terrarium, remark, f"{path} is shown here:")

    async def _show(self, terrarium: Terrarium, *heading: str) -> None:
        links = self._links()
        say(*heading, *links, "Stop it with Ctrl-C.")
        if self._is_opened:  # A browser in a terminal would not return.
            link = links[0].split()[-1]
            threading.Thread(target=webbrowser.open, args=[link], daemon=True).start()
        page = app(terrarium, self._access, root_path=self._root_path, saves_worlds=self._saves_worlds)
        await serve_page(page, self._listener, self._proxies)

    @property
    def _address(self) -> str:
        return f"http://{name_of(self._listener)}:{self._listener.getsockname()[1]}{self._root_path}/"

    def _links(self) -> list[str]:
        """The address; with a token, one link for each role, the director's first."""
        if not self._access.has_secret:
            return [self._address]
        return [
            f"{role:<10} {self._address}#token={self._access.token_for(role)}" for role in reversed(ROLES)
        ]
