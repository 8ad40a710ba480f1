"""A shared run as its reader meets it: a file opened from disk, and a frame in a notebook."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from glasshouse import Terrarium, kinds
from glasshouse.terrarium import stories_of
from glasshouse.testing import ScriptedModel, play_offline
from tests.browser.looking import Looking, page_of
from tests.runtime.test_played import two_who_talk

HOSTILE = "</script><!--<script>document.title = 'taken'</script>\u2028<img src=x onerror=alert(1)>"


async def test_a_shared_file_opens_from_disk_at_any_moment_and_asks_nobody(
    look: Looking, tmp_path: Path
) -> None:
    async with Terrarium() as t, look.at(t) as house:
        run = await t.open_world("keeper-of-dusk", rng_seed=1)
        await t.run(run.id)
        file = tmp_path / "dusk.html"
        page = await (await look(page_of(house, run))).ready()
        await page.button("Share").click()
        async with page.page.expect_download() as download:
            await page.button("Download").click()
        await (await download.value).save_as(file)
        stories = stories_of(t)
        story = stories.of_run(run.id)
        said = [e for e in await t.run_events(run.id) if e.kind == kinds.AGENT_SPOKE]
        wanted = await stories.number_of(story, "spectator", said[4])

        assert file.read_bytes() == (await t.share(run.id)).content
        viewer = await (await look(f"file://{file}?still=1#{wanted}", size=(1200, 900))).ready()

        await viewer.until("store.shown.value === given", wanted)
        row = viewer.page.locator("[aria-current=true]").first
        assert str(said[4].payload["text"]) in (await row.text_content() or "")
        box = await row.locator("p").last.bounding_box()
        assert box is not None and box["width"] > 400  # noqa: PT018 - no style of another panel reaches it
        for k in (wanted, 2, file_events := stories.length(story), wanted + 1):
            at_k = await stories.view_at(story, "spectator", k)
            assert await viewer.seek(k) == msgspec.to_builtins(at_k.view)
        assert file_events == await viewer.evaluate("store.head.value")
        await viewer.seek(wanted)
        await viewer.page.keyboard.press("j")
        await viewer.until("store.shown.value > given", wanted)
        shown = await viewer.evaluate("store.shown.value")
        await viewer.page.wait_for_function("(k) => location.hash === `#${k}`", arg=shown)
        await viewer.page.evaluate("location.hash = '#9'")
        await viewer.until("store.shown.value === 9")
        assert await viewer.axe() == []
        await viewer.page.keyboard.press("d")
        await viewer.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        asked = {address for address in viewer.requests if not address.startswith(("data:", "blob:"))}
        assert asked == {f"file://{file}?still=1"}


async def test_a_notebook_shows_the_page_of_a_run_in_a_frame_and_hostile_lines_as_words(
    look: Looking, tmp_path: Path
) -> None:
    reply = json.dumps({"kind": "agent.spoke", "thought": HOSTILE, "text": HOSTILE})
    played = play_offline(two_who_talk(), turns=1, model=ScriptedModel(reply))
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8>{played.page()._repr_html_()}", encoding="utf-8")

    viewer = await look(f"file://{notebook}")

    frame = viewer.page.frame_locator("iframe")
    line = frame.get_by_role("region", name="Transcript").get_by_role("listitem").last
    await line.wait_for()
    said = await line.text_content() or ""
    assert "</script><!--<script>document.title = 'taken'</script>" in said
    assert "<img src=x onerror=alert(1)>" in said
    assert await frame.locator("h1").text_content() == "The <Pond>"
    await line.click()
    await frame.locator("[aria-current=true]").first.wait_for()
    assert await viewer.page.title() == ""
    assert await frame.locator("img").count() == 0
