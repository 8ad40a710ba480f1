"""Take the pictures of the README and the docs: `make screenshots`.

A bundled world whose graphs merge and split is played offline with a fixed seed. The light picture shows it live, while its
graphs are still apart; the dark one looks back from its end, at the moment when they merge, and reads all minds. Then come the
other faces of the page: empty page, script, table, teams, curtain, studio and phone, each from a real play. The last is another run as a
shared file, opened from disk at the line before the verdict.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from playwright.async_api import Browser, Page, async_playwright

from glasshouse import MemoryStore, Terrarium, WhatIf
from glasshouse.runtime.run import Run
from glasshouse.views.shared_file import SharedFile
from tests.browser.chromium import FLAGS, chromium_path
from tests.web.served import Served, served

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
WORLD, RNG_SEED = "three-ways-in", 3
WIDTH, HEIGHT = 1440, 900
SHARED_WIDTH, SHARED_HEIGHT = 1200, 1500
PHONE = (390, 844)
settle_milliseconds = 1500
turns_apart = 7
merges_shown = 2
SHOWN = """async (merges) => {
  const store = await import("page/store");
  const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  while (!store.headView() || store.loadedFrom.value > 1 || !store.record(store.head.value)) await wait(50);
  if (merges) {
    const [k] = store.timeline.value.marks.filter(([, icon]) => icon === "merge")[merges - 1];
    await store.seek(k + 3); // Whoever joined has joined the channel by then, too.
    store.minds.value = true;
  }
  await document.fonts.ready;
  await wait(1500);
}"""


class Face(NamedTuple):
    """One face of the page: its picture's name, the play that it shows, and how the page is opened."""

    name: str
    world: str
    rng_seed: int
    query: str
    theme: Literal["light", "dark"] = "light"
    size: tuple[int, int] = (WIDTH, HEIGHT)
    turns: int | None = None
    """How many turns are played first; none: all."""


FACES = (
    Face("script", WORLD, RNG_SEED, "&face=script", turns=9),
    Face("table", "mystery-roots", 1, "&face=table", "dark", turns=6),
    Face("teams", "twenty-sprouts", 4, "&face=teams", turns=9),
    Face("curtain", WORLD, RNG_SEED, ""),
    Face("studio", "thousand-token-wood", 0, "&panel=studio:thousand-token-wood", turns=1),
    Face("phone", WORLD, RNG_SEED, "", "dark", PHONE, turns=9),
)


async def take_faces(browser: Browser) -> None:
    """Keep a picture of every other face, each from a play of its own; first of the page on which nothing plays yet."""
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        await take_page(browser, f"{page.address}/", "empty", "light", (WIDTH, HEIGHT))
    for face in FACES:
        async with Terrarium(MemoryStore()) as t, served(t) as page:
            run = await t.open_world(face.world, rng_seed=face.rng_seed)
            await t.run(run.id, turns=face.turns)
            await take_page(
                browser, f"{page.address}/?run={run.id}{face.query}", face.name, face.theme, face.size
            )


async def take_page(
    browser: Browser, address: str, name: str, theme: Literal["light", "dark"], size: tuple[int, int]
) -> None:
    """Open an address, let it come to rest, and keep its picture."""
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=theme, reduced_motion="reduce"
    )
    opened = await context.new_page()
    await opened.goto(address)
    await opened.evaluate("document.fonts.ready.then(() => true)")
    await opened.wait_for_timeout(2 * settle_milliseconds)
    await keep(opened, name)
    await context.close()


async def main() -> None:
    """Play, look, and keep the pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(WORLD, rng_seed=RNG_SEED)
        await t.run(run.id, turns=turns_apart)
        async with served(t) as page, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
            await page.client.post(f"/api/v1/runs/{run.id}/play", json={"speed": "reading"})
            await take(browser, page, run, "light", 0)
            await page.client.post(f"/api/v1/runs/{run.id}/play", json={"speed": "fast"})
            while not t.run_of(run.id).is_finished:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.1)
            await take(browser, page, run, "dark", merges_shown)
            await take_shared(browser, await shared(t))
            await take_faces(browser)
            await browser.close()


async def take(browser: Browser, page: Served, run: Run, theme: str, merges: int) -> None:
    """Keep a picture of the page as it is, or after so many merges."""
    context = await browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    opened = await context.new_page()
    await opened.goto(f"{page.address}/?run={run.id}&face=graph")
    await opened.evaluate(SHOWN, merges)
    await keep(opened, theme)
    await context.close()


async def shared(t: Terrarium) -> SharedFile:
    """Another play, with a visitor and a branch, as a file."""
    run = await t.open_world("two-tale-hearth", rng_seed=7)
    await t.run(run.id, turns=turns_apart)
    visit = await t.disturb(
        run.id, "A wet dog comes in with a letter in its mouth and lies down by the fire."
    )
    await t.run(run.id)
    await t.branch(visit.session_id, visit.id, WhatIf(disturb="The dog keeps the letter."))
    return await t.share(run.id, verify=True)


async def take_shared(browser: Browser, file: SharedFile) -> None:
    """Keep a picture of the shared file, from its head, at a line near its end."""
    context = await browser.new_context(
        viewport={"width": SHARED_WIDTH, "height": SHARED_HEIGHT}, reduced_motion="reduce"
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / file.name
        path.write_bytes(file.content)
        opened = await context.new_page()
        await opened.goto(f"file://{path}")
        await opened.get_by_role("button", name="Line", exact=False).first.click()
        await opened.keyboard.press("k")
        await opened.evaluate(
            "document.fonts.ready.then(() => (document.activeElement.blur(), scrollTo(0, 0)))"
        )
        await opened.wait_for_timeout(settle_milliseconds)
        await keep(opened, "shared")
    await context.close()


async def keep(opened: Page, name: str) -> None:
    """Keep a picture of an open page."""
    path = IMAGES / f"{name}.png"
    await opened.screenshot(path=path)
    print(f"{path.relative_to(IMAGES.parent.parent)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    asyncio.run(main())
