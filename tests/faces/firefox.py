"""Debian's Firefox, driven over WebDriver BiDi: enough to open the page at a size, wait, ask it something and take a picture.

Playwright asks this Firefox for commands that it does not know yet, so the few that are needed are sent here. The protocol is one JSON object
a message; an answer has the number of its command, and everything else is an event, of which only the log is kept.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

NAMES = ("firefox-esr", "firefox")
_LISTENS = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
start_seconds_max = 60
"""How long Firefox may take to listen: a busy machine needs several seconds."""
answer_seconds_max = 120
"""How long a command may take: the longest waits for a page's own promise."""
message_bytes_max = 64 * 2**20
"""A picture of a page comes as one message."""


class BidiError(Exception):
    """Firefox refused a command, or a script failed on the page."""


def firefox_path() -> str | None:
    """Where Firefox is, if it is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Firefox:
    """A running Firefox, and what its pages complained of."""

    socket: ClientConnection
    complaints: list[str] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _awaited: dict[int, asyncio.Future[Any]] = field(default_factory=dict)

    async def send(self, method: str, **params: Any) -> Any:
        """The result of a command."""
        number = next(self._numbers)
        answer = self._awaited[number] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        return await asyncio.wait_for(answer, answer_seconds_max)

    async def listen(self) -> None:
        """Take in what Firefox sends, until it closes."""
        with suppress(ConnectionClosed):
            async for message in self.socket:
                self._take_in(json.loads(message))

    def _take_in(self, message: dict[str, Any]) -> None:
        if message["type"] == "event":
            self._note(message["params"])
            return
        answer = self._awaited.pop(message["id"])
        if message["type"] == "error":
            answer.set_exception(BidiError(f"{message['error']}: {message['message']}"))
        else:
            answer.set_result(message["result"])

    def _note(self, entry: dict[str, Any]) -> None:
        if entry.get("level") == "error":
            self.complaints.append(entry["text"])

    async def open(self, address: str, size: tuple[int, int], pixel_ratio: float = 1) -> FirefoxPage:
        """Open an address in a tab of its own."""
        context = (await self.send("browsingContext.create", type="tab"))["context"]
        viewport = {"width": size[0], "height": size[1]}
        await self.send(
            "browsingContext.setViewport", context=context, viewport=viewport, devicePixelRatio=pixel_ratio
        )
        await self.send("browsingContext.navigate", context=context, url=address, wait="complete")
        return FirefoxPage(self, context)


@dataclass(frozen=True)
class FirefoxPage:
    """One tab."""

    firefox: Firefox
    context: str

    async def evaluate(self, expression: str) -> Any:
        """What an expression is on the page, once its promise is kept. It must be JSON."""
        script = f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))"
        result = await self.firefox.send(
            "script.evaluate", expression=script, target={"context": self.context}, awaitPromise=True
        )
        if result["type"] == "exception":
            raise BidiError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    async def take_picture(self, path: Path) -> None:
        """Keep a picture of what is in sight."""
        taken = await self.firefox.send("browsingContext.captureScreenshot", context=self.context)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(taken["data"]))

    async def close(self) -> None:
        """Close the tab."""
        await self.firefox.send("browsingContext.close", context=self.context)


@asynccontextmanager
async def running_firefox(path: str, *, is_dark: bool = False) -> AsyncIterator[Firefox]:
    """A Firefox without a window, with a profile of its own."""
    with TemporaryDirectory(prefix="glasshouse-firefox-", ignore_cleanup_errors=True) as profile:
        settings = {
            "ui.prefersReducedMotion": 1,
            "layout.css.prefers-color-scheme.content-override": 0 if is_dark else 1,
            "app.update.auto": False,
            "network.captive-portal-service.enabled": False,
            "network.connectivity-service.enabled": False,
            "browser.safebrowsing.malware.enabled": False,
            "browser.safebrowsing.phishing.enabled": False,
            "datareporting.policy.dataSubmissionEnabled": False,
        }
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in settings.items()]
        (Path(profile) / "user.js").write_text("\n".join(lines), encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            path, "--headless", "--remote-debugging-port=0", "--profile", profile, "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            address = await asyncio.wait_for(_listening_at(process), start_seconds_max)
            async with connect(f"{address}/session", max_size=message_bytes_max) as socket:
                firefox = Firefox(socket)
                listening = asyncio.create_task(firefox.listen())
                await firefox.send("session.new", capabilities={})
                await firefox.send("session.subscribe", events=["log.entryAdded"])
                yield firefox
                listening.cancel()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _listening_at(process: asyncio.subprocess.Process) -> str:
    """The address at which Firefox listens, which it prints. The rest of what it prints is read on, so that it never waits."""
    assert process.stderr is not None
    async for line in process.stderr:
        if match := _LISTENS.search(line):
            return match[1].decode()
    raise BidiError("Firefox ended before it listened")
