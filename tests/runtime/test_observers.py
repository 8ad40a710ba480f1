"""Observers: views of a play, live or afterwards, by role, by run, or following one creature."""

from typing import cast

import pytest

from glasshouse import Event, Manifest, MemoryStore, Refused, kinds
from glasshouse.events.redaction import Role
from glasshouse.runtime.ledger.observer import Observer, ObserverPump
from glasshouse.views.diff import ViewDiff
from glasshouse.views.follower import Follower
from glasshouse.views.stage import StageProjection, rebuild_stage
from tests.rules.views.stories_on_stage import patched
from tests.runtime.troupe import all_events, born, line, soon, terrarium_on, troupe
from tests.runtime.watching import A_THOUGHTFUL_LINE, lines_of, reached


async def test_one_who_watches_from_the_beginning_sees_the_stage_that_a_rebuild_gives() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        diffs: list[ViewDiff] = []
        watching, other = Observer(), Observer()
        watching.on_diff(diffs.append)
        pumps = [ObserverPump(t.subscribe(after=0), observer) for observer in (watching, other)]

        for text in ("Hush.", "Hush."):
            await t.append("ada", line(text))
        for pump in pumps:
            await soon(reached(pump, store))

        assert watching.view == other.view == rebuild_stage(await all_events(store))
        assert patched(StageProjection(), diffs) == watching.view
        assert lines_of(watching) == ["Hush.", "Hush."]


async def test_consuming_gives_the_diff_and_tells_every_callback() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        event = await t.append("ada", line("Hush.", None))
        diffs: list[tuple[str, ViewDiff]] = []
        observer = Observer()
        observer.on_diff(lambda diff: diffs.append(("one", diff)))
        observer.on_diff(lambda diff: diffs.append(("other", diff)))

        diff = observer.consume(event)

        assert [note.text for note in diff.new_agent_notes] == ["Hush."]
        assert diffs == [("one", diff), ("other", diff)]


async def test_a_saved_log_fed_afterwards_gives_the_live_view() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        live = Observer()
        pump = ObserverPump(t.subscribe(after=0), live)
        await t.append("bo", line("for later"))
        await soon(reached(pump, store))

        afterwards = Observer()
        for event in await t.events(t.creature("ada").session_id):
            afterwards.consume(event)

        assert lines_of(afterwards) == lines_of(live) == ["for later"]
        assert afterwards.view.cast == live.view.cast


@pytest.mark.parametrize(("role", "thought"), [("spectator", None), ("audience", "hm"), ("director", "hm")])
def test_each_role_sees_what_it_may_and_what_it_cost(role: Role, thought: str | None) -> None:
    observer = Observer(role=role)

    diff = observer.consume(A_THOUGHTFUL_LINE)

    (note,) = diff.new_agent_notes
    assert (note.private or {}).get("thought") == thought
    assert observer.view.counters.calls == 1


def test_there_is_no_other_role() -> None:
    with pytest.raises(Refused, match="spectator, audience, director"):
        Observer(role=cast("Role", "critic"))


async def test_one_who_watches_a_run_sees_no_other() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        ada = await t.add_creature(Manifest(name="ada"), run="r-one")
        bo = await t.add_creature(Manifest(name="bo"), run="r-two")
        observer = Observer(run_id="r-one")
        pump = ObserverPump(t.subscribe(after=0), observer)

        await t.append(ada.id, line("Mine.", None))
        await t.append(bo.id, line("Theirs.", None))
        await soon(reached(pump, store))

        assert lines_of(observer) == ["Mine."]
        assert list(observer.view.cast) == ["ada"]
        assert observer.view == rebuild_stage(await all_events(store), run_id="r-one")


@pytest.mark.parametrize("followed", ["ada", "cy"])
async def test_one_who_follows_a_creature_follows_it_through_merges_and_splits(followed: str) -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        diffs: list[ViewDiff] = []
        observer, homes = Observer(follow=followed), list[set[str]]()
        observer.on_diff(diffs.append)
        pump = ObserverPump(t.subscribe(after=0), observer)

        async def everybody_says(word: str) -> None:
            for creature in t.creatures():
                await t.append(creature.id, line(f"{creature.id} {word}", None))
            await soon(reached(pump, store))
            homes.append(set(t.graph(t.creature(followed).graph_id).creature_ids))
            assert set(observer.view.cast) == homes[-1]

        await troupe(t, "ada", "bo")
        await troupe(t, "cy", "dee", "eve", channel="den")
        await everybody_says("apart")
        await t.connect("ada", "cy", channel="bridge")
        await everybody_says("merged")
        await t.disconnect("ada", "cy", channel="bridge")
        await everybody_says("split")

        mine = {"ada", "bo"} if followed == "ada" else {"cy", "dee", "eve"}
        assert homes == [mine, {"ada", "bo", "cy", "dee", "eve"}, mine]
        expected = [
            f"{name} {word}"
            for here, word in zip(homes, ("apart", "merged", "split"), strict=True)
            for name in ("ada", "bo", "cy", "dee", "eve")
            if name in here
        ]
        assert lines_of(observer) == expected
        assert patched(StageProjection(), diffs) == observer.view
        following = Follower(followed)
        moves = [event for event in await all_events(store) if following.sees(event) and _is_move(event)]
        assert [event.payload["kind"] for event in moves] == ["merge"] * len(mine) + ["split"]


def _is_move(event: Event) -> bool:
    return event.kind == kinds.TOPOLOGY_CHANGED and event.payload["kind"] != "nothing"


async def test_those_met_in_a_merge_are_known_by_the_handles_they_have_then() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        judge = await t.add_creature(Manifest(name="judy", role="judge"), handle="ada")
        observer = Observer(follow="ada")
        pump = ObserverPump(t.subscribe(after=0), observer)

        await t.connect("ada", judge.id, both=True)
        await t.append(judge.id, line("Order!", None))
        await soon(reached(pump, store))

        (note,) = observer.view.judge_notes
        assert note.handle == t.creature(judge.id).handle != "ada"


async def test_one_who_follows_a_creature_that_was_removed_sees_nothing_more() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        observer = Observer(follow="ada")
        pump = ObserverPump(t.subscribe(after=0), observer)

        await t.remove_creature("ada")
        await soon(reached(pump, store))
        seen = observer.view.counters.events
        await t.append("bo", line("alone", None))
        await born(t, "cy")
        await soon(reached(pump, store))

        assert (lines_of(observer), observer.view.cast) == ([], {})
        assert observer.view.counters.events == seen


async def test_one_who_begins_in_the_middle_follows_from_the_creature_s_next_act_on() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        observer = Observer(follow="ada")
        pump = ObserverPump(t.subscribe(), observer)

        for name in ("bo", "ada", "bo"):
            await t.append(name, line(f"{name} speaks"))
        await soon(reached(pump, store))

        assert lines_of(observer) == ["ada speaks", "bo speaks"]
