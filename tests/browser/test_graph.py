"""The graph: how it moves, how it rests, and how it is used without a pointer."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from playwright.async_api import expect

from glasshouse import Manifest, MemoryStore, Terrarium
from tests.browser.looking import Looking, Viewer, page_of

HULLS = "glasshouse.graph.picture.hulls().map(({ points }) => points)"


async def at_rest(viewer: Viewer) -> int:
    """How many frames were drawn, once none is drawn any more."""
    return int(
        await viewer.page.evaluate(
            """async () => {
              for (let tries = 0, before = -1; tries < 100; tries += 1) {
                if (before === glasshouse.graph.frames()) return before;
                before = glasshouse.graph.frames();
                await new Promise((resolve) => setTimeout(resolve, 400));
              }
              throw new Error("The graph does not come to rest.");
            }"""
        )
    )


def are_apart(first: list[dict[str, float]], second: list[dict[str, float]]) -> bool:
    """Whether a line along an edge of either hull parts them."""
    for hull in (first, second):
        for start, end in zip(hull, [*hull[1:], hull[0]], strict=True):
            across = (start["y"] - end["y"], end["x"] - start["x"])
            sides = [[p["x"] * across[0] + p["y"] * across[1] for p in points] for points in (first, second)]
            if max(sides[0]) < min(sides[1]) or max(sides[1]) < min(sides[0]):
                return True
    return False


async def test_hulls_stay_apart_and_nothing_is_drawn_at_rest(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        run = await t.open_world("three-ways-in")
        for n in range(6):
            await t.add_creature(Manifest(name=f"guest-{n}", persona="Waits."), run=run.id)
        viewer = await (await look(page_of(page, run), moves=True)).ready()

        before = await at_rest(viewer)
        hulls: list[Any] = await viewer.page.evaluate(HULLS)
        assert len(hulls) == len(t.graphs())
        assert all(are_apart(first, other) for first, other in combinations(hulls, 2))

        places = await viewer.page.evaluate("glasshouse.graph.positions()")
        await viewer.seek(3)
        await viewer.page.evaluate("glasshouse.store.goLive()")
        await at_rest(viewer)
        again = await viewer.page.evaluate("glasshouse.graph.positions()")
        assert all(
            abs(again[name][axis] - position[axis]) < 60
            for name, position in places.items()
            for axis in ("x", "y")
        )
        assert await viewer.page.evaluate("glasshouse.graph.frames()") > before


async def test_the_graph_is_walked_and_changed_by_keyboard_alone(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        run = await t.open_world("mystery-roots")
        await t.add_creature(Manifest(name="lamplighter", persona="Lights lamps."), run=run.id)
        viewer = await (await look(page_of(page, run))).ready()
        keys = viewer.page.keyboard
        focused = viewer.page.locator(":focus")

        await keys.press("g")
        await expect(focused).to_have_attribute("aria-label", "Graph Stage, 5 creatures, 1 channel")
        await keys.press("Tab")
        await expect(focused).to_have_attribute("aria-label", "Graph Alone, 1 creature, 0 channels")
        await keys.press("ArrowRight")
        await expect(focused).to_have_attribute("aria-label", "Lamplighter")
        await keys.press("Enter")
        await viewer.page.get_by_role("menuitem", name="Remove…").press("Enter")
        dialog = viewer.page.get_by_role("dialog", name="Disconnect Lamplighter")
        await expect(dialog).to_contain_text("It leaves the play")
        await expect(dialog.get_by_label("Remove Lamplighter from the play")).to_be_focused()
        await keys.press("Enter")
        await viewer.until("!store.view().creatures.lamplighter")
        await expect(dialog).to_have_count(0)

        await keys.press("n")
        spawn = viewer.page.get_by_role("dialog", name="Spawn a creature")
        await expect(spawn.get_by_label("Handle")).to_be_focused()
        await keys.type("Night Heron")
        await expect(spawn).to_contain_text("on #stage")
        await expect(spawn.get_by_role("button", name="Spawn")).to_be_enabled()
        await keys.press("Enter")
        await viewer.until("store.view().creatures['night-heron']")
        assert t.creature("night-heron").graph_id == t.creature("gate-snail").graph_id
        assert await viewer.axe() == []
