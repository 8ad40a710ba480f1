"""The cold open of every world, as somebody meets it: a picture within a second of the server's answer, a line within five."""

from __future__ import annotations

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.manifests.world_folders import bundled_worlds
from tests.browser.looking import Looking, page_of
from tests.faces.readable import READABLE

WORLDS = [world.name for world in bundled_worlds()]
picture_seconds_max = 1.0
line_seconds_max = 5.0
OPENED = f"""async (world) => {{
  {READABLE}
  const {{ store }} = glasshouse;
  const {{ id }} = await store.source().post("runs", {{ world, speed: "reading" }});
  const answered = performance.now();
  await store.open(id);
  const seconds = () => (performance.now() - answered) / 1000;
  const until = async (isThere) => {{
    while (!isThere() && seconds() < 30) await frame();
    return seconds();
  }};
  const scene = () => store.view()?.scene.text;
  const picture = await until(() => scene() && placesOf(scene()).length > 0);
  const line = await until(() => Object.values(store.view()?.creatures ?? {{}}).some((creature) => creature.line?.text && placesOf(creature.line.text).length > 0));
  return {{ picture, line }};
}}"""


@pytest.mark.parametrize("world", WORLDS)
async def test_a_world_opens_with_a_picture_and_a_line(look: Looking, world: str) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        viewer = await look(page_of(page, face=""), moves=True)
        await viewer.until("store.source()")

        opened = await viewer.page.evaluate(OPENED, world)

    assert opened["picture"] <= picture_seconds_max, opened
    assert opened["line"] <= line_seconds_max, opened
