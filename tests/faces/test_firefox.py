"""The main faces of the page in Debian's Firefox: the newest line is read, nothing is wrong inside, and nothing scrolls sideways."""

from __future__ import annotations

import json

import pytest

from glasshouse import MemoryStore, Terrarium
from tests.faces.firefox import firefox_path, running_firefox
from tests.faces.pictures import picture_path
from tests.faces.readable import LINES, READABLE
from tests.web.served import served

SIZES = {390: 844, 768: 1024, 1440: 900}
FACES = ("graph", "script", "table", "teams")
LOOKED = f"""(async () => {{
  {READABLE}
  {LINES}
  while (!window.glasshouse?.store.headView()) await frame();
  const {{ store }} = glasshouse;
  await shown(store, store.session.value.run);
  const {{ k, text }} = linesOf(store).at(-1);
  await store.seek(k);
  for (let frames = 0; !placesOf(text).length && frames < 120; frames += 1) await frame();
  return {{ text, places: placesOf(text), sideways: document.documentElement.scrollWidth - innerWidth }};
}})()"""


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_firefox_shows_the_newest_line_on_every_face(theme: str) -> None:
    path = firefox_path()
    assert path, "install Firefox: tools/firefox.sh"
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts", rng_seed=4)
        await t.run(run.id)
        async with served(t) as page, running_firefox(path, is_dark=theme == "dark") as firefox:
            for face in FACES:
                for width, height in SIZES.items():
                    opened = await firefox.open(
                        f"{page.address}/?still=1&run={run.id}&face={face}", (width, height)
                    )
                    looked = await opened.evaluate(LOOKED)
                    await opened.take_picture(picture_path(f"firefox-{face}-{theme}-{width}"))
                    await opened.close()
                    assert looked["places"], (
                        f"{face} at {width}: nobody can read {json.dumps(looked['text'])}"
                    )
                    assert looked["sideways"] <= 0, f"{face} at {width} scrolls sideways"
            assert firefox.complaints == []
