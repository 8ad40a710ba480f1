"""The built docs in a browser: no fault that axe knows, no request that leaves the folder, and a search that finds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

import pytest
from playwright.async_api import Browser, Page, Request

from tests.pages import ROOT

SITE: Final = ROOT / "build/docs"
PICTURES: Final = ROOT / "build/docs-pictures"
AXE: Final = ROOT / "node_modules/axe-core/axe.min.js"
Theme = Literal["light", "dark"]

LOOKS: Final[list[tuple[Theme, int]]] = [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)]
PAGES: Final = (
    "index",
    "architecture",
    "how-to/bound-a-run",
    "how-to/troubleshooting",
    "reference/api",
    "reference/limits",
    "reference/python/glasshouse",
    "adr/0172-sphinx-builds-the-docs",
    "examples/notebooks/first_look",
    "project/README",
    "search",
)
VIOLATIONS: Final = """() => axe.run("html", {resultTypes: ["violations"]}).then(({violations}) =>
  violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 4).map(({html}) => html.slice(0, 160)).join(" | ")}`))"""


@asynccontextmanager
async def opened(
    browser: Browser, theme: Theme = "light", width: int = 1440
) -> AsyncIterator[tuple[Page, list[str]]]:
    """A page, and what it asked for beyond the folder of the site."""
    context = await browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
    )
    page = await context.new_page()
    asked: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((SITE.as_uri(), "data:", "blob:")):
            asked.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda wrong: asked.append(f"exception: {wrong}"))
    try:
        yield page, asked
    finally:
        await context.close()


@pytest.mark.parametrize(("theme", "width"), LOOKS)
async def test_axe_finds_nothing_on_the_pages_and_none_asks_another_host(
    theme: Theme, width: int, browser: Browser
) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    faults: dict[str, list[str]] = {}
    async with opened(browser, theme, width) as (page, asked):
        for name in PAGES:
            await page.goto((SITE / f"{name}.html").as_uri())
            if await page.locator("pre.mermaid").count():
                await page.wait_for_selector("pre.mermaid svg")
            await page.screenshot(path=PICTURES / f"{name.replace('/', '-')}-{theme}-{width}.png")
            await page.evaluate(AXE.read_text(encoding="utf-8"))
            faults[name] = await page.evaluate(VIOLATIONS)

    assert [f"{name}: {fault}" for name, listed in faults.items() for fault in listed] == []
    assert asked == []


async def test_axe_finds_nothing_on_any_page_but_the_decisions(browser: Browser) -> None:
    faults: list[str] = []
    async with opened(browser) as (page, asked):
        for path in sorted(SITE.rglob("*.html")):
            name = path.relative_to(SITE)
            if name.parts[0] in ("adr", "_static") or name.with_suffix("").as_posix() in PAGES:
                continue
            await page.goto(path.as_uri())
            await page.evaluate(AXE.read_text(encoding="utf-8"))
            faults += [f"{name}: {fault}" for fault in await page.evaluate(VIOLATIONS)]

    assert faults == []
    assert asked == []


async def test_on_a_phone_one_searches_on_the_search_page(browser: Browser) -> None:
    async with opened(browser, width=390) as (page, _):
        await page.goto((SITE / "search.html").as_uri())
        await page.get_by_role("searchbox", name="Search the docs").fill("fenced")
        await page.keyboard.press("Enter")

        await page.locator("ul.search li a", has_text="Write a store").first.wait_for()


async def test_the_search_finds_a_page_by_a_word_of_its_text(browser: Browser) -> None:
    async with opened(browser) as (page, asked):
        await page.goto(f"{(SITE / 'search.html').as_uri()}?q=fenced")
        await page.locator("ul.search li a", has_text="Write a store").first.wait_for()
        titles = await page.locator("ul.search li a").all_inner_texts()

    assert any("Write a store" in title for title in titles)
    assert asked == []


def test_every_page_of_the_repository_is_on_the_site() -> None:
    written = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    built = [
        SITE / ("index.html" if page == Path("README.md") else page.with_suffix(".html")) for page in written
    ]

    assert [page for page in built if not page.is_file()] == []


def test_the_index_for_assistants_names_the_pages_and_their_markdown() -> None:
    lines = (SITE / "llms.txt").read_text(encoding="utf-8").splitlines()

    assert lines[0] == "# Glasshouse"
    assert any("](_sources/how-to/bound-a-run.md.txt): " in line for line in lines)
