"""The feed and the answer to "why": what a reader finds in them, and that a long story stays quick."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.async_api import expect

from glasshouse import MemoryStore, Terrarium
from tests.browser.looking import Looking, Viewer, page_of
from tests.browser.test_store import SOURCE
from tests.web.served import Served

ROWS = ".feed-row"
DISTURBANCE = "A small boy at the gate confesses to everything and asks for a biscuit."


def row(k: int) -> str:
    """Where the row of an event is."""
    return f'.feed-row[data-k="{k}"]'


async def count_of(viewer: Viewer) -> int:
    """How many events the feed says that it lists."""
    return int((await viewer.page.locator(".feed-header .count").inner_text()).split(" ")[0])


async def test_each_row_of_the_feed_leads_to_its_event_its_moment_and_its_causes(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as address:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=2)
        disturbance = await t.disturb(run.id, DISTURBANCE)
        await t.run(run.id, turns=2)
        viewer = await (await look(page_of(address, run))).ready()
        page, feed = viewer.page, viewer.region("Events")
        path = f"/api/v1/runs/{run.id}/events"

        # It reads like a play: what was set up is folded, and the last line is in sight.
        head = await viewer.evaluate("store.head.value")
        assert await count_of(viewer) == head
        await viewer.evaluate("(document.querySelector('.feed-scroll').scrollTop = 0)")
        fold = feed.get_by_role("button", name="of setting up")
        await expect(page.locator(row(4))).to_have_count(0)
        await fold.first.click()
        await expect(page.locator(row(4))).to_be_visible()
        for show in ("Speech", "Topology", "World"):
            await feed.get_by_role("button", name=show, exact=True).click()
            listed = (await address.get(path, show=show.lower(), limit=1000))["events"]
            turns = sum(row["event"]["kind"] == "turn.started" for row in listed)
            await expect(page.locator(".feed-header .count")).to_have_text(f"{len(listed) - turns} of {head}")
        assert parse_qs(urlsplit(page.url).query)["kind"] == ["world"]

        # Words are found, and the address brings the same list back.
        await page.keyboard.press("/")
        await page.keyboard.type("BISCUIT")
        await viewer.until("store.filters.value.text === 'BISCUIT'")
        await feed.get_by_role("button", name="All", exact=True).click()
        rows_found = (await address.get(path, text="biscuit", limit=1000))["events"]
        await expect(feed.locator("mark").first).to_have_text("biscuit")
        again = await (await look(page.url)).ready()
        await expect(again.page.locator(".feed-header .count")).to_contain_text(f"of {head}")
        assert 0 < await count_of(again) <= len(rows_found)
        await feed.get_by_role("textbox", name="Search the events").fill("no such words at all")
        await expect(feed.get_by_text("No events match.")).to_be_visible()
        await feed.get_by_role("button", name="Clear filters").click()
        await expect(page.locator(".feed-header .count")).to_have_text(str(head))

        await follow_a_row(viewer, address, run.id, disturbance.id)


async def follow_a_row(viewer: Viewer, address: Served, run_id: str, disturbance_id: str) -> None:
    page, path = viewer.page, f"/api/v1/runs/{run_id}/events"
    # A row opens in place, by the keyboard alone.
    answers = [
        row
        for row in (await address.get(path, limit=1000))["events"]
        if row["event"].get("caused_by") == disturbance_id
    ]
    k, answer = answers[0]["k"], answers[0]["event"]
    await viewer.evaluate("store.seek(given)", k)
    opened = page.locator(row(k))
    await expect(opened.locator(".feed-head")).to_have_attribute("aria-current", "true")
    await opened.locator(".feed-head").focus()
    await page.keyboard.press("Enter")
    await expect(opened.locator(".feed-whole")).to_have_text(answer["payload"]["text"])
    await expect(opened.locator(".feed-facts")).to_contain_text(answer["id"])
    await opened.get_by_role("button", name="Prompt").click()
    await expect(opened.get_by_text("What it was asked")).to_be_visible()
    await expect(opened.locator(".feed-code").nth(1)).to_contain_text(DISTURBANCE)

    # Why: the causes back to the disturbance, who knew, and back to where one was.
    await viewer.evaluate("store.goLive()")
    await viewer.evaluate("(store.selection.value = {kind: 'event', id: given})", answer["id"])
    await page.keyboard.press("w")
    why = viewer.region("Why was this said?")
    await expect(why.get_by_text("began with a disturbance")).to_be_visible()
    cards = why.locator(".why-card")
    links = (await address.get(f"{path}/{answer['id']}/why"))["links"]
    await expect(cards).to_have_count(len(links))
    await expect(cards.last).to_contain_text(DISTURBANCE)
    await expect(cards.last).to_contain_text("no call, no cost")
    assert await viewer.evaluate("store.shown.value") == k
    await page.keyboard.press("ArrowDown")
    await expect(cards.nth(1)).to_be_focused()
    await page.keyboard.press("Enter")
    number = (await address.get(f"{path}/{links[1]['event']['id']}/number"))["k"]
    await viewer.until("store.shown.value === given", number)
    assert await viewer.axe() == []
    await page.keyboard.press("Escape")
    await viewer.until("store.isLive.value && store.panel.value === ''")


LONG_STORY = SOURCE.replace("let events = 3_500", "let events = 100_000").replace(
    "happen: (count)",
    """event: async (run, id) => ({id, kind: "agent.spoke", payload: {text: fake.said}, created_at: "2026-01-01T00:00:00Z"}),
    say: (text) => { fake.said = text; const told = recordOf(events += 1); handlers.onRecord({...told, row: {...told.row, text: text.slice(0, 4000)}}); },
    happen: (count)""",
)
HOSTILE = (
    "<script>globalThis.isHurt = true</script>\u202edesrever\u0007\u0000 \U0001f469\u200d\U0001f680 "
    + "x" * 100_000
)


async def test_a_feed_of_a_hundred_thousand_events_has_few_rows_and_no_gap(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as address:
        viewer = await look(page_of(address))
        await viewer.until("store.isEmpty.value")
        await viewer.evaluate(LONG_STORY)
        page, rows = viewer.page, viewer.page.locator(ROWS)
        await expect(page.locator(row(100_000))).to_be_visible()
        assert await rows.count() < 40

        # It follows the newest until one scrolls up; then it stays where it is, and what is older comes.
        await viewer.evaluate("window.fake.happen(5)")
        await expect(page.locator(row(100_005))).to_be_visible()
        await page.locator(".feed-scroll").hover()
        await page.mouse.wheel(0, -3_000)
        await expect(viewer.button("Jump to live")).to_be_visible()
        first = await rows.nth(8).get_attribute("data-k")
        await viewer.evaluate("window.fake.happen(5)")
        await expect(page.locator(".feed-header .count")).to_have_text("100010")
        await expect(page.locator(row(int(first or 0)))).to_be_in_viewport()
        await viewer.evaluate("(document.querySelector('.feed-scroll').scrollTop = 0)")
        await expect(rows.first).to_be_visible()
        await viewer.button("Jump to live").click()
        await expect(page.locator(row(100_010))).to_be_visible()

        # A jump far back shows the rows before that moment, each once and in order.
        await viewer.seek(42_000)
        await expect(page.locator(row(42_000))).to_be_visible()
        numbers = [int(await row.get_attribute("data-k") or 0) for row in await rows.all()]
        assert numbers == list(range(42_001 - len(numbers), 42_001))

        # Whatever a line says, it is a text.
        await viewer.evaluate("store.goLive()")
        await viewer.evaluate("window.fake.say(given)", HOSTILE)
        said = page.locator(row(100_011))
        await expect(said).to_contain_text(
            "<script>globalThis.isHurt = true</script>⟨202E⟩desrever⟨0007⟩⟨0000⟩"
        )
        await said.locator(".feed-head").click()
        await expect(page.get_by_role("button", name="Show all 100k characters")).to_be_visible()
        assert await page.evaluate("globalThis.isHurt") is None
