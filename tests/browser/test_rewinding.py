"""Rewinding: any moment, of talk and of topology, as the server has it, without asking a model."""

from __future__ import annotations

import random

import msgspec
from playwright.async_api import expect

from glasshouse import MemoryStore, ModelRouter, Terrarium
from glasshouse.events.event import Json
from glasshouse.events.redaction import ROLES
from glasshouse.terrarium import stories_of
from glasshouse.troupe.model import OfflineModel
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.views.page import Record, apply, empty_view
from glasshouse.views.page_fold import PageFold
from tests.browser.looking import Looking, page_of
from tests.browser.table_and_teams import FOLDED, PLACED, UNREAD_AT_THE_TABLE
from tests.simulation.ledger_checks import ledger_of
from tests.simulation.mixing import operate

seeks_tried = 25
steps_of_a_story = 45
events_apart = 7

APPLIED = """async ({view, records, every}) => {
  const { apply } = await import("page/apply");
  const reached = {};
  for (const record of records) {
    apply(view, record);
    if (record.k % every === 0 || record === records.at(-1)) reached[record.k] = structuredClone(view);
  }
  return reached;
}"""

TABLES = {
    "counts": [1, 2, 3, 5, 8, 9, 20],
    "sizes": [[480, 470], [674, 470], [692, 600], [1000, 600]],
    "letters": [120, 400, 4_000],
    "wholeUpTo": 400,
}
"""Seats, rooms in pixels, and lengths of the newest line. One of 65 words has 400 letters."""
ANSWERS = {"yes", "no", "unsure"}


class CountingModel(OfflineModel):
    """The offline troupe; it notes what it was asked. Its copies for worlds with scripts write into the same list."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Completion:
        self.asked.append(prompt)
        return await super().complete(prompt)


def hulls_of(view: Json) -> dict[str, set[str]]:
    """Who is in which graph."""
    hulls: dict[str, set[str]] = {}
    for name, creature in view["creatures"].items():
        hulls.setdefault(creature["graph"], set()).add(name)
    return hulls


async def test_records_change_a_view_in_the_browser_as_they_do_here(look: Looking) -> None:
    contest = MemoryStore()
    async with Terrarium(contest) as t, look.at(t) as page:
        viewer = await look(page_of(page))
        for seed, role in enumerate(ROLES):
            store = MemoryStore()
            async with Terrarium(store) as other:
                run = await other.open_world("mystery-roots", rng_seed=seed)
                await other.disturb(run.id, "A goose walks in.")
                for step in range(steps_of_a_story):
                    await operate(other, seed, step)
                    await other.step(step % 2)
            fold = PageFold(role)
            records = [msgspec.to_builtins(fold.fold(event)) for event in await ledger_of(store)]
            there = await viewer.page.evaluate(
                APPLIED, {"view": empty_view(role), "records": records, "every": events_apart}
            )

            here = empty_view(role)
            for record in records:
                apply(here, msgspec.convert(record, Record))
                if str(record["k"]) in there:
                    assert there[str(record["k"])] == here
            assert len(there) >= len(records) // events_apart

        # What is made of views and records alone: places round a table, and the turns of teams.
        tables = await viewer.page.evaluate(PLACED, TABLES)
        assert tables["wrong"] == []
        assert tables["tried"] > 500
        run = await t.open_world("twenty-sprouts")
        await t.run(run.id)
        fold = PageFold("director")
        records = [msgspec.to_builtins(fold.fold(event)) for event in await ledger_of(contest)]
        folded = await viewer.page.evaluate(
            FOLDED, {"records": records, "teams": fold.view["contest"]["teams"]}
        )
        assert folded["wrong"] == []
        turns = [item for item in folded["items"] if item["is"] == "turn"]
        assert [list(turn["cells"]) for turn in turns] == [["guesser", "keeper"]] * len(turns)
        keepers = [line for turn in turns for line in turn["cells"]["keeper"]]
        answers = [line["fields"]["answer"] for line in keepers if "answer" in line["fields"]]
        assert {*answers} <= ANSWERS
        tally = folded["tallies"]["keeper"]
        assert (
            tally["lines"] == len(keepers) > len(answers) == tally["yes"] + tally["no"] + tally["unsure"] > 0
        )

        # The rows are the turns, and are walked by keys.
        reader = await (await look(page_of(page, run))).ready()
        await reader.button("Look at the stage").click()
        await reader.button("Teams").click()
        await expect(reader.page.locator(".teams-turn")).to_have_count(len(turns))
        focused = reader.page.locator(":focus")
        await reader.page.locator(".teams-bubble[tabindex='0']").focus()
        for key, turn, team in (
            ("ArrowLeft", -1, "guesser"),
            ("ArrowUp", -2, "guesser"),
            ("ArrowRight", -2, "keeper"),
        ):
            await reader.page.keyboard.press(key)
            await expect(focused).to_have_attribute("data-n", str(turns[turn]["cells"][team][0]["k"]))
        await expect(reader.page.get_by_text("word, sealed")).to_be_visible()
        await reader.button("Open").click()
        await expect(reader.page.get_by_text("word, sealed")).to_have_count(0)
        assert await reader.axe(".teams-face") == []


async def test_any_moment_is_the_server_s_and_costs_no_model_call(look: Looking) -> None:
    model = CountingModel()
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t, look.at(t) as page:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=12)
        for step in range(steps_of_a_story):
            await operate(t, 3, step)
        viewer = await (await look(page_of(page, run))).ready()
        calls, head = len(model.asked), await viewer.evaluate("store.head.value")
        dice = random.Random(1)
        moments = [dice.randint(1, head - 1) for _ in range(seeks_tried)]

        for k in moments:
            there = await viewer.seek(k)
            assert there == await page.get(f"/api/v1/runs/{run.id}/view", at=k)
            assert there["k"] == k
        asked = len(viewer.requests)
        for k in moments:
            assert (await viewer.seek(k))["k"] == k
        assert len(viewer.requests) == asked, viewer.requests[asked:]
        # The table shows what was said by then, whole, and is walked by keys.
        await viewer.button("Table").click()
        assert await viewer.page.evaluate(UNREAD_AT_THE_TABLE, [1, *sorted(moments)[::5]]) == []
        await viewer.page.locator(".table-sitter[tabindex='0']").focus()
        await viewer.page.keyboard.press("ArrowRight")
        await expect(viewer.page.locator(".table-sitter:focus")).to_have_count(1)
        await viewer.button("Graph").click()
        assert len(model.asked) == calls > 0
        stories = stories_of(t)
        newest = (await stories.view_at(stories.of_run(run.id), "director")).view
        assert await viewer.evaluate(
            "(store.goLive(), structuredClone(store.view()))"
        ) == msgspec.to_builtins(newest)
