"""People who look at the page: what they see, and what they do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from glasshouse import Terrarium
from glasshouse.runtime.run import Run
from glasshouse.web.access import Access
from tests.browser.cable import Cable
from tests.pages import ROOT
from tests.web.served import Served, served

expect.set_options(timeout=60_000)

Theme = Literal["light", "dark"]

# Whatever stands in a test's way for so long is broken; a busy machine is not.
milliseconds_max = 60_000


AXE = """async (within) => {
  const { flipTheme, theme } = await import("page/colours");
  const found = [];
  for (const rules of [{}, {runOnly: ["color-contrast"]}]) {
    const { violations } = await axe.run(within, {...rules, resultTypes: ["violations"]});
    for (const { id, help, nodes } of violations) {
      found.push(`${theme.value}: ${id}: ${help}: ${nodes.slice(0, 5).map(({ target }) => target).join(", ")}`);
    }
    flipTheme();
  }
  return found;
}"""


class Looking:
    """Opens pages in contexts of their own, and gathers what goes wrong inside of them."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    @asynccontextmanager
    async def at(self, terrarium: Terrarium, access: Access | None = None) -> AsyncIterator[Served]:
        """Serve a terrarium. Pages are closed before the server, which would wait for their streams."""
        async with served(terrarium, access) as page:
            try:
                yield page
            finally:
                await self.close()

    async def close(self) -> None:
        """Close every page."""
        contexts, self.contexts = self.contexts, []
        await asyncio.gather(*(context.close() for context in contexts))

    async def __call__(
        self,
        address: str,
        *,
        theme: Theme = "light",
        size: tuple[int, int] = (1440, 900),
        moves: bool = False,
        may_fail: str = "",
        reads_plain: bool = False,
        beside: Viewer | None = None,
    ) -> Viewer:
        """Open an address. Addresses that contain `may_fail` may not load. With `reads_plain`, nothing
        is sent compressed. `beside` another viewer, it is a tab of the same browser."""
        if beside is None:
            context = await self._browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme=theme,
                extra_http_headers={"accept-encoding": "identity"} if reads_plain else None,
                reduced_motion="no-preference" if moves else "reduce",
            )
            context.set_default_timeout(milliseconds_max)
            self.contexts.append(context)
        else:
            context = beside.page.context
        page = await context.new_page()
        viewer = Viewer(page, [])
        host = urlsplit(address).netloc

        def note_request(request: Request) -> None:
            viewer.requests.append(request.url)
            asked = urlsplit(request.url)
            if asked.scheme not in ("data", "blob") and asked.netloc != host:
                self.complaints.append(f"asked another host: {request.url}")

        def note_console(message: ConsoleMessage) -> None:
            is_expected = message.text.startswith("Failed to load resource") and (
                may_fail and may_fail in message.location["url"]
            )
            if message.type == "error" and not is_expected:
                self.complaints.append(f"console: {message.text} ({message.location['url']})")

        page.on("request", note_request)
        page.on("console", note_console)
        page.on("pageerror", lambda wrong: self.complaints.append(f"exception: {wrong}"))
        await page.goto(address)
        return viewer


@dataclass(frozen=True)
class Viewer:
    """One page, and the addresses that it asked for."""

    page: Page
    requests: list[str]

    async def evaluate(self, expression: str, argument: Any = None) -> Any:
        """What an expression is on the page. `store` in it is the page's state."""
        return await self.page.evaluate(
            f"(given) => {{ const store = window.glasshouse.store; return ({expression}); }}", argument
        )

    async def until(self, condition: str, argument: Any = None) -> Self:
        """Wait until something holds of the page's state."""
        script = f"(given) => {{ const store = window.glasshouse?.store; return store && ({condition}); }}"
        await self.page.wait_for_function(script, arg=argument)
        return self

    async def ready(self) -> Self:
        """Wait until a run is on the page with all of its events."""
        return await self.until(
            "store.headView() && store.loadedFrom.value === 1 && store.record(store.head.value)"
        )

    async def view(self) -> Any:
        """The view that the page shows."""
        return await self.evaluate("structuredClone(store.view())")

    async def seek(self, k: int) -> Any:
        """Rewind to an event; the view then."""
        return await self.evaluate("store.seek(given).then(() => structuredClone(store.view()))", k)

    def region(self, name: str) -> Locator:
        """A landmark by its name."""
        return self.page.get_by_role("region", name=name, exact=True)

    def button(self, name: str) -> Locator:
        """A button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    async def axe(self, within: str = "html") -> list[str]:
        """What axe finds wrong in a part of the page as it stands: everything as it is, contrasts in the other theme too."""
        if not await self.page.evaluate("Boolean(window.axe)"):
            await self.page.evaluate((ROOT / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8"))
        return list(await self.page.evaluate(AXE, within))


def page_of(page: Served | Cable, run: Run | None = None, query: str = "", face: str = "graph") -> str:
    """The address of the page as tests look at it: nothing moves, its state can be read, and it shows one face of the play,
    whichever suits the world; without a name, the one that suits."""
    named_face = f"&face={face}" if face else ""
    return f"{page.address}/?still=1{f'&run={run.id}' if run else ''}{named_face}{query}"
