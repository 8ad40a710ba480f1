"""Every line of every world is wholly readable somewhere, without a click, at the moment when it is the newest."""

from __future__ import annotations

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.manifests.world_folders import bundled_worlds
from tests.browser.looking import Looking, page_of
from tests.faces.readable import UNREAD_LINES

WORLDS = [world.name for world in bundled_worlds()]
SIZES = [(1024, 768), (1180, 800), (1280, 720), (1440, 900), (1920, 1080)]


@pytest.mark.parametrize("world", WORLDS)
async def test_every_line_is_read_at_every_width(look: Looking, world: str) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        run = await t.open_world(world)
        await t.run(run.id)
        for face in ("", "graph", "script", "table"):
            viewer = await (await look(page_of(page, run, face=face))).ready()
            for width, height in SIZES:
                await viewer.page.set_viewport_size({"width": width, "height": height})
                answer = await viewer.page.evaluate(UNREAD_LINES, [run.id, 0])
                assert answer["read"] > 0
                assert answer["unread"] == [], f"{world} {face} at {width}x{height}"
            await look.close()
