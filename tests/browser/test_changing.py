"""Changing the graph on the page: by pointer, by menu and by dialog, with the server's forecast before."""

from __future__ import annotations

import math
import re

from playwright.async_api import expect

from glasshouse import Manifest, MemoryStore, Terrarium, verify
from tests.browser.looking import Looking, Viewer, page_of


async def members(viewer: Viewer) -> list[list[str]]:
    """Who is in which hull."""
    return sorted((await viewer.page.evaluate("glasshouse.graph.members()")).values())


async def drag_a_line(viewer: Viewer, creature: str, target: str, tip: str) -> None:
    """Draw a line from a creature's edge, wait for what is told, and let go."""
    box = await viewer.region("Graph").locator("canvas").first.bounding_box()
    assert box is not None
    places = await viewer.page.evaluate("glasshouse.graph.positions()")
    (x, y), (end_x, end_y) = (
        (places[name]["x"] + box["x"], places[name]["y"] + box["y"]) for name in (creature, target)
    )
    far = math.hypot(end_x - x, end_y - y)
    radius = await viewer.page.evaluate(
        "(id) => { const { picture } = glasshouse.graph; const node = picture.layout.nodes.get(id);"
        " const at = picture.lens.toCanvas(node); return 10 / picture.farFrom(node, {x: at.x + 10, y: at.y}); }",
        creature,
    )
    mouse = viewer.page.mouse
    await mouse.move(x + (end_x - x) / far * radius * 0.85, y + (end_y - y) / far * radius * 0.85)
    await mouse.down()
    await mouse.move((x + end_x) / 2, (y + end_y) / 2, steps=4)
    await mouse.move(end_x, end_y, steps=4)
    await expect(viewer.region("Graph")).to_contain_text(tip)
    await mouse.up()


async def test_a_line_drawn_between_two_graphs_makes_one_hull_and_a_closed_channel_two(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        run = await t.open_world("mystery-roots")
        cast = sorted(creature.id for creature in t.creatures())
        await t.add_creature(Manifest(name="lamplighter", persona="Lights lamps."), run=run.id)
        viewer = await (await look(page_of(page, run))).ready()
        assert await members(viewer) == [cast, ["lamplighter"]]

        await drag_a_line(viewer, "lamplighter", "gate-snail", "Merges")
        await viewer.until("Object.keys(store.view().graphs).length === 1")
        assert await members(viewer) == [sorted([*cast, "lamplighter"])]

        bridge = next(
            channel
            for channel in (await viewer.view())["channels"].values()
            if "lamplighter" in channel["edges"]
        )
        await viewer.page.get_by_role("treeitem", name=f"Channel #{bridge['name']}").focus()
        await viewer.page.keyboard.press("Shift+F10")
        await viewer.page.get_by_role("menuitem", name=re.compile("Close")).click()
        dialog = viewer.page.get_by_role("dialog", name="Close a channel")
        await expect(dialog).to_contain_text("Splits")
        await dialog.get_by_role("button", name="Close").click()
        await viewer.until("Object.keys(store.view().graphs).length === 2")
        assert await members(viewer) == [cast, ["lamplighter"]]


async def test_two_runs_that_are_joined_stay_two_with_two_purses(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        other = await t.open_world("twenty-sprouts")
        run = await t.open_world("mystery-roots")
        for played in (run, other):
            await t.run(played.id, turns=1)
        viewer = await (await look(page_of(page, run))).ready()
        await viewer.page.keyboard.press("c")
        dialog = viewer.page.get_by_role("dialog", name="Connect")
        await dialog.get_by_label("From").select_option("gate-snail")
        await dialog.get_by_label("Creatures of another run").select_option(other.id)
        stranger = next(creature for creature in t.creatures() if creature.run_id == other.id)
        await dialog.get_by_role("combobox", name=re.compile(r"^To\b")).select_option(stranger.id)
        await expect(dialog).to_contain_text("Merges")
        await dialog.get_by_role("button", name="Connect").click()
        await viewer.until("Object.keys(store.view().runs).length === 2 && store.loadedFrom.value === 1")

        assert len(await members(viewer)) == 1
        await t.run(run.id, turns=2)
        await t.run(other.id, turns=1)
        await viewer.until("store.head.value === given", (await page.get(f"/api/v1/runs/{run.id}/view"))["k"])
        spent = {name: run_view["spent"]["turns"] for name, run_view in (await viewer.view())["runs"].items()}
        assert spent == {played.id: t.run_of(played.id).turns for played in (run, other)}
        for played in (run, other):
            assert (await verify(t, played.id)).is_same
