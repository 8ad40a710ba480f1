"""Reading the page: minds, themes, and what would be wrong for somebody who cannot see it."""

from __future__ import annotations

from playwright.async_api import expect

from glasshouse import MemoryStore, Terrarium
from glasshouse.web.access import Access
from tests.browser.looking import Looking, page_of

SECRET = "a secret of more than sixteen characters"
SURFACE = "getComputedStyle(document.body).backgroundColor"


async def test_a_card_turns_and_tells_what_its_creature_thinks(look: Looking) -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, look.at(t, access) as page:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=3)
        link = f"{page_of(page, run)}#token="
        viewer = await (await look(link + access.token_for("audience"))).ready()
        creatures = (await viewer.view())["creatures"]
        name, mind = next((name, creature) for name, creature in creatures.items() if creature.get("thought"))
        card = (
            viewer.region("Stage")
            .get_by_role("listitem")
            .filter(has=viewer.page.locator(f'[data-id="{name}"]'))
        )
        reads = card.get_by_role("button", name="Read the mind of")

        await expect(card.locator("[aria-hidden=false]")).to_contain_text(mind["line"]["text"])
        await reads.click()
        await expect(reads).to_have_attribute("aria-pressed", "true")
        await expect(card.locator("[aria-hidden=false]")).to_contain_text(mind["thought"])
        await viewer.page.keyboard.press("Enter")
        await expect(card.locator("[aria-hidden=false]")).not_to_contain_text(mind["thought"])
        await viewer.page.locator("body").click(position={"x": 5, "y": 5})
        await viewer.page.keyboard.press("t")
        others = [creature["thought"] for creature in creatures.values() if creature.get("thought")]
        for thought in others:
            await expect(viewer.region("Stage").get_by_text(thought).first).to_be_visible()

        stranger = await (await look(link + access.token_for("spectator"))).ready()
        await expect(stranger.region("Stage").get_by_role("listitem")).to_have_count(len(creatures))
        await expect(stranger.page.get_by_role("button", name="Read the mind of")).to_have_count(0)


async def test_the_theme_follows_the_system_until_somebody_chooses(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        await t.open_world("mystery-roots")
        viewer = await (await look(page_of(page), theme="dark")).ready()
        dark = await viewer.page.evaluate(SURFACE)
        await viewer.page.emulate_media(color_scheme="light")
        await expect(viewer.page.locator("html")).not_to_have_attribute("data-theme", "dark")
        light = await viewer.page.evaluate(SURFACE)
        assert light != dark

        await viewer.button("Dark theme").click()
        await expect(viewer.button("Light theme")).to_be_visible()
        assert await viewer.page.evaluate(SURFACE) == dark
        await viewer.page.reload()
        await viewer.ready()
        assert await viewer.page.evaluate(SURFACE) == dark
        await viewer.page.keyboard.press("d")
        await expect(viewer.button("Dark theme")).to_be_visible()
        assert await viewer.page.evaluate(SURFACE) == light
