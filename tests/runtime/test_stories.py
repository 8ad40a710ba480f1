"""Stories: which events one page shows, and its view at any of them, with and without kept views."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Event, MemoryStore, Refused, SqliteStore, Terrarium, WhatIf
from glasshouse.events.event import Json
from glasshouse.events.redaction import ROLES
from glasshouse.runtime.past.stories import Stories, Story
from glasshouse.terrarium import stories_of
from glasshouse.views.page import apply
from glasshouse.views.page_fold import PageFold


async def events_of(stories: Stories, story: Story) -> list[Event]:
    return [event async for some in stories.events(story) for event in some]


async def check_any_number(stories: Stories, story: Story) -> None:
    """The view at any number is the fold from the beginning, and records lead from any to any later one."""
    events = await events_of(stories, story)
    for role in ROLES:
        fold, views = PageFold(role), list[Json]()
        for number, event in enumerate(events, 1):
            fold.fold(event)
            assert (fold.view["k"], fold.view["event_id"]) == (number, event.id)
            if number % 7 == 0:
                at = (await stories.view_at(story, role, number)).view
                assert at == fold.view
                views.append(at)
        assert (await stories.view_at(story, role)).view == fold.view
        view = views[0]
        for record in await stories.records(story, role, view["k"], len(events)):
            apply(view, record)
        assert view == fold.view


async def test_a_story_is_a_run_and_nothing_of_its_neighbours() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        other = await t.open_world("thousand-token-wood")
        await t.step(4)
        stories = stories_of(t)

        story = stories.of_run(run.id)

        assert story.runs == (run.id,)
        events = await events_of(stories, story)
        assert {event.id for event in await t.run_events(run.id)} == {event.id for event in events}
        assert not {event.id for event in await t.run_events(other.id)} & {event.id for event in events}
        assert [event.position for event in events] == sorted(event.position or 0 for event in events)
        await check_any_number(stories, story)


async def test_a_run_that_joins_makes_one_story_of_two() -> None:
    async with Terrarium(MemoryStore()) as t:
        wood = await t.open_world("thousand-token-wood")
        case = await t.open_world("mystery-roots")
        await t.step(2)
        stories = stories_of(t)
        before = stories.of_run(wood.id)
        await t.connect("seedkeeper", "clue-gatherer")
        await t.step(2)

        story = stories.of_run(wood.id)

        assert before.runs == (wood.id,)
        assert story.runs == tuple(sorted((wood.id, case.id)))
        assert story == stories.of_run(case.id)
        assert story.id != before.id
        assert len(await events_of(stories, story)) == await t._house.store.position()
        await check_any_number(stories, story)


async def test_the_story_of_a_branch_is_its_past_and_itself() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.step(6)
        at = (await t.run_events(run.id))[30]
        branch = await t.branch(at.session_id, at.id, WhatIf(disturb="A hen walks in."))
        await t.step(3)
        stories = stories_of(t)

        events = await events_of(stories, stories.of_run(branch.id))

        assert {event.id for event in await t.run_events(branch.id)} <= {event.id for event in events}
        assert not [
            event for event in events if event.run_id == run.id and (event.position or 0) > (at.position or 0)
        ]
        assert stories.of_run(run.id).runs == (run.id,)
        await check_any_number(stories, stories.of_run(branch.id))


async def test_a_run_from_a_file_is_a_story_in_the_order_of_its_history(tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("hatbox-and-cello")
        await t.run(run.id)
        file = await t.export(run.id, tmp_path / "play.glass", role="director")
        played = [event.id for event in await t.run_events(run.id)]
    async with Terrarium(MemoryStore()) as other:
        await other.import_file(file)
        stories = other._archive.stories

        story = stories.of_run(run.id)

        events = await events_of(stories, story)
        assert sorted(event.id for event in events) == sorted(played)
        await check_any_number(stories, story)


async def test_views_that_were_kept_are_used_and_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    async with Terrarium(SqliteStore(path)) as t:
        run = await t.open_world("thousand-token-wood")
        await t.run(run.id)
        stories = stories_of(t)
        story = stories.of_run(run.id)
        fold = await stories.view_at(story, "audience", 40)
        stories.keep(story, fold)
        await t._house.ledger.writer.wait_for_durability()

        near = await stories._nearest(story, "audience", 45)

        assert near.view["k"] == 40
        assert (await stories._nearest(story, "audience", 39)).view["k"] == 0
        assert (await stories._nearest(story, "director", 45)).view["k"] == 0
        await check_any_number(stories, story)
    async with Terrarium(SqliteStore(path)) as t:
        stories = stories_of(t)
        story = stories.of_run(run.id)
        assert (await stories._nearest(story, "audience", None)).view["k"] == 40
        await check_any_number(stories, story)


async def test_an_event_that_a_story_does_not_have_is_refused_in_words() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        stories = stories_of(t)

        with pytest.raises(Refused, match=r"This story has \d+ events, and no event 9,999"):
            await stories.view_at(stories.of_run(run.id), "audience", 9_999)
