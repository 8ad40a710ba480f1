"""Time on the page: the range, the lanes, the family of branches, and two branches side by side."""

from __future__ import annotations

import re

from playwright.async_api import expect

from glasshouse import Event, MemoryStore, Terrarium, WhatIf
from glasshouse.runtime.run import Run
from tests.browser.looking import Looking, page_of

TYPED = """(keys) => {
  for (const key of keys) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  return document.activeElement.getAttribute("aria-label");
}"""
"""Types keys faster than any frame is drawn. Returns the label of what has the focus afterwards."""


async def branched(t: Terrarium) -> tuple[Run, Event, Run]:
    """A run that merges and splits, an event in its middle, and a branch from there."""
    run = await t.open_world("three-ways-in")
    await t.run(run.id)
    said = [event for event in await t.run_events(run.id) if event.kind == "remark.made"]
    at = said[len(said) // 2]
    branch = await t.branch(at.session_id, at.id, WhatIf(disturb="A hen walks in."))
    await t.label_run(branch.id, ["what if a hen"])
    await t.run(branch.id)
    return run, at, branch


async def test_time_is_walked_by_keys_and_two_branches_stand_side_by_side(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as address:
        run, at, branch = await branched(t)
        viewer = await (await look(page_of(address, run), theme="dark")).ready()
        page, time = viewer.page, viewer.region("Timeline")
        head = await viewer.evaluate("store.head.value")

        # The timeline is a range, which says where it stands.
        events = time.get_by_role("slider", name="Event")
        await events.focus()
        for key in ("ArrowLeft", "ArrowLeft", "["):
            await page.keyboard.press(key)
        await expect(events).to_have_attribute("aria-valuetext", f"event {head - 3} of {head}")
        await expect(time).to_contain_text(
            f"Everything on screen is event {head - 3}. No model is called while you look back."
        )
        await page.keyboard.press("Home")
        await viewer.until("store.shown.value === 1")

        # Dragging rewinds; releasing it where the newest event is goes back to live.
        box = await time.locator(".tracks").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 300, box["y"] + 20)
        await page.mouse.down()
        await page.mouse.move(box["x"] + 500, box["y"] + 90, steps=4)
        await page.mouse.up()
        await viewer.until("store.isRewound.value && store.shown.value > 30")
        await page.keyboard.press("End")
        await viewer.until("!store.isRewound.value")

        # Lanes are walked by arrows; Enter rewinds to where a graph began, merged or split.
        # The lanes have the focus at once: the keys come before the next frame.
        merge = await page.evaluate(TYPED, ["l", "Home", "ArrowRight"])
        assert "merges" in merge
        await page.keyboard.press("Enter")
        await viewer.until("String(store.shown.value) === given", merge.rsplit(" ", 1)[1])
        assert len((await viewer.view())["graphs"]) == 3

        # The other branch leaves the lanes where it began, and can be put beside this one.
        fork = time.get_by_role("button", name="Branch what if a hen")
        await expect(fork).to_have_attribute("aria-haspopup", "menu")
        assert await viewer.axe() == []
        await viewer.button("original").click()
        await page.get_by_role("menuitem", name="Compare with what if a hen").click()
        number = await viewer.evaluate("store.numberOf(given)", at.id)
        await expect(page.get_by_text(f"They share {number} events.")).to_be_visible()
        await expect(page.get_by_role("button", name=f"first differs at {number + 1}")).to_be_visible()
        both = page.get_by_role("slider", name="Turn, of both runs")
        before = await both.get_attribute("aria-valuetext")
        await page.keyboard.press("]")
        await expect(both).not_to_have_attribute("aria-valuetext", before or "")
        await expect(page).to_have_url(re.compile(f"panel=compare%3A{branch.id}$"))
        assert await viewer.axe() == []
        await page.keyboard.press("Escape")
        await expect(time).to_be_visible()
