"""The stage and its dialogs: a large cast, a play from its start to its limit and beyond, and the archive of all runs."""

from __future__ import annotations

from playwright.async_api import Locator, expect

from glasshouse import Manifest, MemoryStore, Terrarium, kinds
from tests.browser.looking import Looking, Viewer, page_of

CAST = 64
NOTE_DRAWN_CARDS = """() => {
  window.drawn = new Set();
  const note = (changes) => changes.forEach(({target}) => {
    const card = (target.closest ? target : target.parentElement)?.closest(".card");
    if (card) window.drawn.add(card.querySelector("[data-id]").dataset.id);
  });
  new MutationObserver(note).observe(document.querySelector(".cast"), {subtree: true, childList: true, characterData: true, attributes: true});
}"""


async def test_of_a_large_cast_only_what_is_in_sight_and_what_has_changed_is_drawn(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        run = await t.open_world("plum-tree-table")
        for number in range(CAST - 5):
            await t.add_creature(Manifest(name=f"guest-{number}", persona="Sits."), run=run.id)
        viewer = await (await look(page_of(page, run))).ready()
        cards = viewer.region("Stage").get_by_role("listitem")
        await expect(viewer.region("Stage").get_by_role("heading", name="Cast")).to_contain_text(str(CAST))
        assert await cards.count() < CAST / 2

        await viewer.page.evaluate(NOTE_DRAWN_CARDS)
        before = (await viewer.view())["creatures"]
        await t.run(run.id, turns=2)
        await viewer.until("store.head.value >= given", (await t.run_events(run.id))[-1].position)
        after = (await viewer.view())["creatures"]
        changed = {name for name in after if after[name] != before[name]}
        assert any("line" in after[name] for name in changed)
        assert set(await viewer.page.evaluate("[...window.drawn]")) <= changed

        await cards.first.get_by_role("button").first.focus()
        await viewer.page.keyboard.press("End")
        last = viewer.region("Stage").locator(f'[data-id="guest-{CAST - 6}"]')
        await expect(last).to_be_focused()
        assert await viewer.evaluate("store.selection.value.id") == f"guest-{CAST - 6}"
        await viewer.page.keyboard.press("Enter")
        await expect(last.locator("[aria-hidden=false]")).to_contain_text("thinks, privately")


async def test_a_play_goes_from_its_start_to_its_limit_and_on_in_a_branch(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        viewer = await look(page_of(page), may_fail="/api/v1/")
        await viewer.button("Configure").click()
        dialog = viewer.page.get_by_role("dialog")
        await dialog.get_by_role("radio", name="Hedge Parliament").check()
        await expect(dialog.get_by_label("Seed text")).to_have_value("a gate in every hedge")
        await expect(dialog.get_by_text("calls, free of charge")).to_be_visible()
        await expect_no_barriers(viewer)
        await dialog.get_by_label("Turns").fill("none")
        await expect(dialog.get_by_role("alert")).to_have_text("A whole number above 0")
        await dialog.get_by_label("Turns").fill("2")
        await dialog.get_by_text("A model per creature").click()
        await dialog.get_by_label("Magpie For").fill("no-such-model")
        await viewer.button("Start the play").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("no-such-model")
        await dialog.get_by_label("Magpie For").fill("")
        await dialog.get_by_label("Speed").select_option("fast")
        await dialog.get_by_label("Turns").press("Enter")

        end = viewer.region("The end")
        await expect(end.get_by_role("heading", name="It stopped at the turn limit.")).to_be_visible()
        first = await viewer.evaluate("store.session.value.run")
        await viewer.button("Look at the stage").click()
        await expect(end).to_have_count(0)
        stage = viewer.region("Stage")
        await expect(stage.get_by_text("It stopped at the turn limit.")).to_be_visible()
        await stage.get_by_role("button", name="Show the end").click()
        await end.get_by_role("button", name="Raise limit").click()
        await expect(dialog.get_by_label("New limit: Turns")).to_have_value("4")
        await expect_no_barriers(viewer)
        await viewer.page.keyboard.press("Enter")
        await viewer.until("store.session.value.run !== given && store.run()?.limits.max_turns === 4", first)

        await viewer.page.get_by_role("button", name="Archive").click()
        await expect(dialog.get_by_text("2 runs")).to_be_visible()
        await expect_no_barriers(viewer)
        await expect_an_empty_search(dialog)
        await dialog.get_by_role("button", name="Label Hedge Parliament").last.click()
        await viewer.page.keyboard.type("the first, short")
        await viewer.page.keyboard.press("Enter")
        await expect(dialog.get_by_text("the first", exact=True)).to_be_visible()
        assert (await t.labels())[first] == ("the first", "short")
        await dialog.get_by_role("button", name="When").click()
        await dialog.get_by_role("searchbox").press("Enter")
        await expect(dialog.get_by_role("row").nth(1).get_by_role("link")).to_be_focused()
        assert "format=csv" in str(await dialog.get_by_role("link", name="CSV").get_attribute("href"))
        await viewer.page.keyboard.press("Enter")
        await viewer.until("store.session.value.run === given", first)
        await expect(viewer.page.get_by_role("dialog")).to_have_count(0)
        await expect(viewer.button("Archive")).to_be_focused()
        await expect_a_curtain(t, viewer)


async def expect_an_empty_search(dialog: Locator) -> None:
    """What no run has is not found, and the filters can be cleared."""
    await dialog.get_by_role("searchbox").fill("nothing of the kind")
    await expect(dialog.get_by_text("No run matches.")).to_be_visible()
    await dialog.get_by_role("button", name="Clear filters").click()


async def expect_a_curtain(t: Terrarium, viewer: Viewer) -> None:
    """At the end stand the verdict and the lines it rests on. A seek takes that away; one click plays what might have been."""
    run = await t.open_world("three-ways-in")
    await t.run(run.id)
    events = await t.run_events(run.id)
    digest = await t.digest(run.id)
    won = f"{t.run_of(run.id).winner}".replace("-", " ").title() + " won."
    (verdict,) = [event for event in events if event.kind == kinds.JUDGE_VERDICT]
    cited = [event.payload["text"] for event in events if event.id in verdict.payload["cites"]]
    await viewer.page.evaluate("(run) => glasshouse.store.open(run)", run.id)

    end = viewer.region("The end")
    await expect(end.get_by_role("heading", name=won)).to_be_visible()
    for text in (verdict.payload["text"], *cited):
        await expect(end.get_by_text(text)).to_be_visible()
    await expect(viewer.region("Graph")).to_be_hidden()
    await expect(viewer.page.locator("[aria-live=polite]").get_by_text(won)).to_have_count(1)
    await expect_no_barriers(viewer, ".curtain")
    await viewer.page.keyboard.press("[")
    await expect(end).to_have_count(0)
    await expect(viewer.region("Graph")).to_be_visible()
    await viewer.page.keyboard.press("End")
    await end.get_by_role("button", name="Weathercock brings nobody together").click()
    await viewer.until(
        "store.session.value.run !== given && store.run()?.branch_of?.run_id === given", run.id
    )
    await expect(end).to_have_count(0)
    assert await t.digest(run.id) == digest


async def expect_no_barriers(viewer: Viewer, part: str = ".dialog") -> None:
    """Nothing in a part of the page keeps anybody out, in either theme."""
    for theme in ("dark", "light"):
        await viewer.page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        assert await viewer.axe(part) == []
