"""Prompts follow the size of the model that plays. A run records it, so a replay makes the same prompts without a server."""

from itertools import count
from pathlib import Path

import pytest

from glasshouse import Manifest, MemoryStore, ModelRouter, SqliteStore, kinds
from glasshouse.errors import ModelUnreachable, UnknownName
from glasshouse.events.event import Event
from glasshouse.events.model_use import FREE
from glasshouse.events.payloads import CastEntry, RunStarted, payload_of
from glasshouse.model_values import Size, Tokens
from glasshouse.models.router import ModelRouter as Router
from glasshouse.runtime.ports import Route
from glasshouse.terrarium import Terrarium, verify
from glasshouse.turns.moment.depth import DEPTHS
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for
from tests.rules.turns.prompts_read_back import discussion_in
from tests.runtime.limits_by_hand import only
from tests.runtime.stage_crew import on_stage, ticking, world_of
from tests.runtime.troupe import soon

LONG_TALK = DEPTHS["strong"].window_lines_max + 6
"""More lines than any window shows."""


class Talker:
    """A model that says something new each time, until its server is away; keeps its prompts."""

    name = "talker"
    is_free = True

    def __init__(self, first: int = 1, calls_max: int = 1_000) -> None:
        self.prompts: list[Prompt] = []
        self._lines = count(first)
        self._calls_max = calls_max

    async def complete(self, prompt: Prompt) -> Completion:
        if len(self.prompts) == self._calls_max:
            raise ModelUnreachable("Nobody answers.")
        self.prompts.append(prompt)
        number = next(self._lines)
        text = " ".join(word_for(number * 7 + index) for index in range(5))
        reply = f'{{"kind": "agent.spoke", "thought": "So.", "text": "{text}", "mood": "calm"}}'
        return Completion(reply, self.name, Tokens(8, 8), usd=0.0)

    @property
    def lines_shown_max(self) -> int:
        """How many lines of the discussion its prompts showed at most."""
        return max(len(discussion_in(prompt.user)) for prompt in self.prompts)

    @property
    def thoughts_asked(self) -> set[int]:
        """The lengths of thoughts that its schemas asked for."""
        branches = [branch for prompt in self.prompts for branch in (prompt.schema or {})["anyOf"]]
        return {b["properties"]["thought"]["maxLength"] for b in branches if "thought" in b["properties"]}


def router(model: Talker, size: Size) -> Router:
    route = Route(model, f"{model.name}-{size}", 8_192, 384, FREE, size=size)
    return ModelRouter(dict.fromkeys(DEPTHS, route))


async def cast_of(t: Terrarium, run_id: str) -> list[CastEntry]:
    """The cast as the run recorded it; for a branch, not as the run before it did."""
    started = [event for event in await t.run_events(run_id) if event.kind == kinds.RUN_STARTED][-1]
    return payload_of(started, RunStarted).cast


async def spoken_in(t: Terrarium, run_id: str) -> list[Event]:
    return [event for event in await t.run_events(run_id) if event.kind == kinds.AGENT_SPOKE]


async def sizes_in(t: Terrarium, run_id: str) -> list[str]:
    """The size that each line was asked for with, in their order."""
    return [event.model.model_size for event in await spoken_in(t, run_id) if event.model is not None]


async def is_made_again(t: Terrarium, run_id: str) -> bool:
    verified = await verify(t, run_id)
    return verified.is_same and verified.prompt_diffs == ()


async def test_a_run_plays_and_replays_at_the_depth_of_the_model_that_plays() -> None:
    model = Talker()
    async with on_stage(models=router(model, "tiny")) as t:
        world = world_of(
            ticking("a"), ticking("b", model_profile="tiny"), ticking("c", model_profile="strong")
        )
        run = await t.open_world(world, governor=only(max_total_calls=LONG_TALK))

        await soon(t.run())

        entries = {entry.handle: entry.model_size for entry in await cast_of(t, run.id)}
        assert entries == {"a": "tiny", "b": "", "c": "tiny"}
        assert set(await sizes_in(t, run.id)) == {"tiny", ""}
        assert model.lines_shown_max == DEPTHS["tiny"].window_lines_max
        assert model.thoughts_asked == {DEPTHS["tiny"].thought_asked_chars_max}
        assert await is_made_again(t, run.id)


async def test_a_model_of_unknown_size_plays_as_the_profile_and_nothing_is_recorded() -> None:
    model = Talker()
    async with on_stage(models=ModelRouter(model)) as t:
        world = world_of(ticking("a", model_profile="strong"))
        run = await t.open_world(world, governor=only(max_total_calls=LONG_TALK))

        await soon(t.run())

        assert {entry.model_size for entry in await cast_of(t, run.id)} == {""}
        assert set(await sizes_in(t, run.id)) == {""}
        assert model.lines_shown_max == DEPTHS["strong"].window_lines_max
        assert model.thoughts_asked == {DEPTHS["strong"].thought_asked_chars_max}
        assert await is_made_again(t, run.id)


async def test_a_run_that_goes_on_with_a_model_of_another_size_records_it_from_there_on() -> None:
    store = MemoryStore()
    small, large = Talker(), Talker(first=100)
    world = world_of(ticking("a"), ticking("b"))
    async with on_stage(store, models=router(small, "tiny")) as t:
        run = await t.open_world(world, governor=only(max_total_calls=2 * LONG_TALK))
        await soon(t.step(LONG_TALK // 2))

    async with on_stage(store, models=router(large, "strong")) as t:
        await soon(t.run())

        sizes = await sizes_in(t, run.id)
        assert sizes == ["tiny"] * LONG_TALK + ["strong"] * LONG_TALK
        assert (small.lines_shown_max, large.lines_shown_max) == (
            DEPTHS["tiny"].window_lines_max,
            DEPTHS["strong"].window_lines_max,
        )
        assert {entry.model_size for entry in await cast_of(t, run.id)} == {"tiny"}
        assert await is_made_again(t, run.id)


async def test_a_creature_that_joins_a_run_is_asked_and_replayed_at_the_models_depth() -> None:
    model = Talker()
    async with on_stage(models=router(model, "tiny")) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_total_calls=LONG_TALK))
        await soon(t.step(4))
        late = await t.add_creature(ticking("late"), run=run.id, graph=t.creature("a").graph_id)
        await t.connect(late.id, "a", channel="stage", both=True)

        await soon(t.run())

        of_late = [event for event in await spoken_in(t, run.id) if event.actor == late.id]
        assert of_late
        assert all(event.model is not None and event.model.model_size == "tiny" for event in of_late)
        assert await is_made_again(t, run.id)


async def test_a_branch_records_the_size_of_the_model_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    async with on_stage(SqliteStore(path), models=router(Talker(), "tiny")) as t:
        run = await t.open_world(world_of(ticking("a"), ticking("b")), governor=only(max_total_calls=16))
        await soon(t.step(4))
        session_id = t.creature("a").session_id

    async with on_stage(SqliteStore(path), models=router(Talker(first=100), "balanced")) as t:
        branch = await t.branch(session_id, at=None)
        await soon(t.run(branch.id))

        assert {entry.model_size for entry in await cast_of(t, branch.id)} == {"balanced"}
        assert set(await sizes_in(t, branch.id)) == {"tiny", "balanced"}
        assert await is_made_again(t, branch.id)
        assert {entry.model_size for entry in await cast_of(t, run.id)} == {"tiny"}


async def test_the_rest_of_a_run_offline_is_played_as_its_profiles() -> None:
    async with Terrarium(models=router(Talker(calls_max=3), "strong")) as t:
        run = await t.open_world("thousand-token-wood", governor=only(max_total_calls=10))
        await soon(t.run(run.id))
        assert t.run_of(run.id).paused is not None

        await t.continue_run(run.id, offline=True, by="visitor")
        await soon(t.run(run.id))

        sizes = [
            event.model.model_size for event in await t.run_events(run.id) if event.calls and event.model
        ]
        assert sizes[0] == "strong"
        assert sizes[-1] == ""
        assert await is_made_again(t, run.id)


def test_a_size_that_there_is_not_is_refused_in_words() -> None:
    wrong = ModelRouter({"fast": Route(Talker(), "m", 8_192, 384, size="huge")})  # type: ignore[arg-type]

    with pytest.raises(UnknownName, match=r"size .*'huge'.*tiny"):
        wrong.route("fast")


def test_the_window_of_a_manifest_is_not_given_unless_it_says_one() -> None:
    manifests = [Manifest(name="ada"), Manifest(name="ada", memory={"window": 8})]

    assert [manifest.as_json().get("memory") for manifest in manifests] == [None, {"window": 8}]
