"""A world that means harm: markup, turned directions, enormous texts, emoji and control characters are shown as words."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.async_api import Dialog, expect

from glasshouse import Draft, Manifest, MemoryStore, Terrarium
from glasshouse.manifests.world_folders import bundled_worlds
from tests.browser.looking import Looking, page_of
from tests.web.withheld_tools import changed, granted

MARKUP = "</script><script>window.taken = 1</script><img src=x onerror='window.taken = 2'>"
TURNED = "\u202edesrever\u202c \u0645\u0631\u062d\u0628\u0627 \U0001f469\u200d\U0001f469\u200d\U0001f467"
ODD = TURNED + " \u0007\u0000\u001b[31m \u200bzero"
LONG = "tower" * 12_000
"""An event holds no more than 64 KiB: it is said twice."""
# Characters that would show something else than they say.
UNSEEN = "[...document.body.innerText].filter((mark) => /[\\u0000-\\u0008\\u000e-\\u001f\\u202a-\\u202e\\u2066-\\u2069]/.test(mark))"
ELEMENTS = "document.querySelectorAll('img, iframe, object, embed, body script:not([src])').length"


def a_hostile_world(folder: Path) -> Path:
    """Mystery Roots, with words that try to be more than words."""
    world = next(world for world in bundled_worlds() if world.name == "mystery-roots")
    shutil.copytree(world.path, folder)
    scenario = folder / "scenario.yaml"
    text = scenario.read_text(encoding="utf-8")
    text = text.replace("title: Mystery Roots", f'title: "{MARKUP}"')
    scenario.write_text(text.replace('title: "II. It comes back"', f'title: "{MARKUP}"'), encoding="utf-8")
    return folder


async def test_a_world_that_means_harm_is_shown_as_words(look: Looking, tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        run = await t.open_world(str(a_hostile_world(tmp_path / "mystery-roots")), seed=MARKUP)
        mallory = Manifest(name="mallory", title=MARKUP[:60], bio=MARKUP + TURNED, persona="Means harm.")
        await t.add_creature(mallory, run=run.id)
        await t.connect("mallory", "gate-snail", channel="talk", both=True)
        for text in (MARKUP, ODD, LONG, LONG):
            thought = {"thought": text[:2_000]}
            await t.append(
                "mallory", Draft(kind="agent.spoke", channel="talk", payload={"text": text}, private=thought)
            )
        await granted(t, run.id, "moth")
        await changed(t, "moth", description=MARKUP + ODD)
        await t.disturb(run.id, MARKUP + ODD)
        await t.run(run.id, turns=9)
        viewer = await look(page_of(page, run))
        alerts: list[str] = []

        async def note(dialog: Dialog) -> None:
            alerts.append(dialog.message)
            await dialog.dismiss()

        viewer.page.on("dialog", note)
        await viewer.ready()
        await expect(viewer.page.get_by_role("heading", level=1)).to_contain_text("<script>window.taken")
        await viewer.evaluate("store.minds.value = true")
        feed = viewer.region("Events").get_by_role("log")
        for n, word in enumerate(("onerror", "desrever", "towertower")):
            k = await viewer.evaluate(
                "Array.from({length: store.head.value}, (_, n) => store.record(n + 1))"
                ".find(({row}) => row.actor === 'mallory' && row.text?.includes(given))?.k",
                word,
            )
            await viewer.seek(k)
            row = feed.locator(f'[data-k="{k}"]')
            await row.get_by_role("button").first.click()
            await expect(row).to_contain_text(word)
            assert await viewer.page.evaluate(UNSEEN) == [], n
        for name in ("branch", "connect", "spawn", "archive", "share", "purse", "disturb"):
            await viewer.evaluate("(store.goLive(), store.openDialog(given))", name)
            await expect(viewer.page.get_by_role("dialog")).to_be_visible()
            assert await viewer.page.evaluate(UNSEEN) == [], name
            await viewer.evaluate("store.closeDialog()")
        withheld = viewer.page.get_by_role("list", name="Tools that are withheld")
        await expect(withheld.get_by_role("blockquote").last).to_contain_text(MARKUP)
        await expect(withheld).to_contain_text("The weather of the days to come.")
        assert await viewer.axe(".is-withheld") == []
        await withheld.get_by_role("button", name="Accept").click()
        await expect(withheld).to_have_count(0)
        assert [tool.is_withheld for tool in t.granted_tools(run.id)] == [False]
        await viewer.evaluate("store.stepBy(-1)")
        await expect(withheld).to_contain_text("is withheld from Moth")
        await expect(withheld.get_by_role("button")).to_have_count(0)
        await viewer.evaluate("store.goLive()")
        await viewer.evaluate("store.panel.value = `why:${store.headView().event_id}`")
        await expect(viewer.region("Why was this said?")).to_be_visible()
        assert await viewer.page.evaluate(UNSEEN) == []
        assert await viewer.page.evaluate(ELEMENTS) == 0
        assert await viewer.page.evaluate("window.taken") is None
        assert await viewer.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await viewer.page.evaluate("document.body.innerText.length") < 100_000
        assert alerts == []
