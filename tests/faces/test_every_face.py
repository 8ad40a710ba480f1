"""Every face of the page in both themes, on four kinds of screens: axe finds nothing, nothing scrolls sideways, and a picture is kept."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest
from playwright.async_api import Page, expect

from glasshouse import MemoryStore, Terrarium
from tests.browser.looking import Looking, Theme, Viewer, page_of
from tests.faces.pictures import picture_path

SIZES: Final = {"390": (390, 844), "768": (768, 1024), "1440": (1440, 900), "400-percent": (360, 225)}
SIDEWAYS: Final = "document.documentElement.scrollWidth - innerWidth"


class Shown(NamedTuple):
    """A face, and how to come to it."""

    name: str
    query: str = ""
    state: str = ""
    """What is done with the page's state before the picture is taken."""
    waits_for: str = ""
    """What then must be there."""


FACES: Final = [
    Shown("graph", "&face=graph", "store.seek(40)"),
    Shown("script", "&face=script", "store.seek(40)"),
    Shown("table", "&face=table", "store.seek(40)"),
    Shown("teams", "&face=teams", "store.seek(40)"),
    Shown("curtain", "", "store.goLive()", ".at-curtain h2"),
    Shown("why", "&face=graph", "store.panel.value = `why:${store.headView().event_id}`", ".at-why"),
    Shown("start", "", "store.openDialog('start')", "[role=dialog]"),
    Shown("archive", "", "store.openDialog('archive')", "[role=dialog]"),
    Shown("palette", "", "store.openDialog('palette')", "[role=dialog]"),
]


async def look_closely(viewer: Viewer, page: Page, name: str) -> list[str]:
    """What is wrong with the page as it stands; its picture is kept."""
    await page.evaluate("document.fonts.ready.then(() => true)")
    await page.screenshot(path=picture_path(name))
    sideways = await page.evaluate(SIDEWAYS)
    wrong = [f"scrolls {sideways} pixels sideways"] if sideways > 0 else []
    return [f"{name}: {complaint}" for complaint in (*wrong, *await viewer.axe())]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
async def test_every_face_is_sound(look: Looking, size: str, theme: Theme) -> None:
    wrong: list[str] = []
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        empty = await look(page_of(page, face=""), theme=theme, size=SIZES[size])
        await expect(empty.page.get_by_role("button", name="Watch")).to_be_visible()
        wrong += await look_closely(empty, empty.page, f"empty-{theme}-{size}")
        run = await t.open_world("twenty-sprouts", rng_seed=4)
        await t.run(run.id)
        for shown in FACES:
            viewer = await (
                await look(page_of(page, run, shown.query, face=""), theme=theme, size=SIZES[size])
            ).ready()
            await viewer.evaluate(f"void ({shown.state})")
            if shown.waits_for:
                await viewer.page.wait_for_selector(shown.waits_for)
            else:
                await viewer.until("store.shown.value === 40")
            wrong += await look_closely(viewer, viewer.page, f"{shown.name}-{theme}-{size}")
            await viewer.page.context.close()
    assert wrong == []
