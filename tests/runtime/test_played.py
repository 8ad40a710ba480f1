"""`play`, `play_offline` and `Played`: a whole play in one call, and the questions it answers afterwards."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from glasshouse import MemoryStore, SqliteStore, Terrarium, kinds
from glasshouse.assembly import ModelRouter
from glasshouse.errors import UnknownName
from glasshouse.events.payloads import Governor
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario
from glasshouse.runtime.blocking import outcome_of
from glasshouse.terrarium import play
from glasshouse.testing import CountingModel, ScriptedModel, play_offline

WOOD, SPROUTS = "thousand-token-wood", "twenty-sprouts"


def spoken(text: str, thought: str = "nobody knows") -> str:
    return json.dumps({"kind": "agent.spoke", "thought": thought, "text": text})


def two_who_talk(**more: object) -> LoadedWorld:
    """Two creatures on one channel; only the first begins anything."""
    scenario = Scenario.model_validate(
        {"name": "pond", "title": "The <Pond>", "cast": ["reed", "newt"], "opening": "A pond.", **more}
    )
    reed = Manifest.model_validate({"name": "reed", "schedule": {"tick_every": 2}, "subscribes_to": []})
    newt = Manifest.model_validate({"name": "newt", "subscribes_to": [kinds.AGENT_SPOKE]})
    return LoadedWorld.of(scenario, [reed, newt])


async def passing(_graph_id: str) -> None:
    """A gate that lets everybody pass."""


async def digest_when_driven(world: str, drive: str) -> str:
    async with Terrarium() as t:
        run = await t.open_world(world)
        match drive:
            case "run":
                await t.run(run.id)
            case "step":
                while await t.step(1):
                    pass
            case _:
                await t.run(run.id, turns=10_000, before_act=passing)
        return await t.digest(run.id)


@pytest.mark.parametrize("world", [WOOD, SPROUTS, "mystery-roots"])
async def test_a_gate_gives_the_same_play_as_every_other_way_of_driving(world: str) -> None:
    digests = {await digest_when_driven(world, drive) for drive in ("run", "step", "gated")}

    assert len(digests) == 1


def test_a_play_can_be_asked_what_happened() -> None:
    played = play(SPROUTS)

    assert played.run.is_finished
    assert played.winner == played.events[-1].payload["winner"]
    assert played.events[0].kind == kinds.RUN_STARTED
    assert [line.kind for line in played.lines][-1] == kinds.JUDGE_VERDICT
    assert played.lines[0].plain in str(played)
    assert str(played).splitlines()[-1].startswith(f"The end: {played.winner} won. It took ")


def test_equal_plays_have_equal_digests_wherever_they_are_kept(tmp_path: Path) -> None:
    stores = [None, MemoryStore(), SqliteStore(tmp_path / "show.glasshouse")]

    digests = {play(WOOD, turns=6, store=store).digest for store in stores}

    assert len(digests) == 1


async def test_it_plays_where_an_event_loop_is_running() -> None:
    played = play(WOOD, turns=2)

    assert played.run.turns == 2


def test_some_turns_leave_the_run_open_and_the_governor_is_heeded() -> None:
    left, ended = play(WOOD, turns=3), play(WOOD, governor=Governor(max_turns=3))

    assert (left.run.status, left.run.turns, left.winner) == ("playing", 3, None)
    assert ended.events[-1].payload["axis"] == "max_turns"


def test_turns_that_are_skipped_are_counted() -> None:
    played = play_offline(two_who_talk(), turns=3, model=ScriptedModel(spoken("Is it deep?")))

    turns = [event.turn for event in played.events if event.kind == kinds.TURN_STARTED]
    assert turns == [2, 3]


def test_a_run_with_nothing_left_to_do_has_ended() -> None:
    scenario = Scenario.model_validate({"name": "rest", "cast": ["newt"], "opening": "Nobody begins."})
    world = LoadedWorld.of(scenario, [Manifest(name="newt")])

    played = play_offline(world)

    assert [event.payload["reason"] for event in played.events if event.kind == kinds.RUN_FINISHED] == [
        "ended"
    ]


def test_only_the_run_that_is_played_moves(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    first = play(WOOD, turns=2, store=SqliteStore(path))

    play(WOOD, turns=5, store=SqliteStore(path))

    assert asyncio.run(digest_in(path, first.run.id)) == first.digest


async def digest_in(path: Path, run_id: str) -> str:
    async with Terrarium(SqliteStore(path)) as t:
        return await t.digest(run_id)


def test_what_a_creature_heard_is_what_others_said_without_their_thoughts() -> None:
    model = ScriptedModel(spoken("Is it deep?", "I am afraid."), spoken("To the third leaf.", "It is not."))

    played = play_offline(two_who_talk(), turns=3, model=model)

    assert [line.plain for line in played.heard_by("newt")] == ["world: A pond.", "reed: Is it deep?"]
    assert [line.plain for line in played.heard_by("reed")] == ["world: A pond.", "newt: To the third leaf."]
    assert {line.thought for line in played.heard_by("newt")} == {""}
    assert [line.thought for line in played.lines] == ["", "I am afraid.", "It is not."]


def test_nobody_heard_the_word_that_was_dealt_to_another() -> None:
    played = play(SPROUTS, turns=3)

    (dealt,) = [event.sealed for event in played.events if event.sealed]
    heard = "\n".join(line.plain for line in played.heard_by("sprout-guesser"))

    assert dealt["to"] == ["secret-keeper"]
    assert str(dealt["facts"]["word"]) not in heard


def test_who_was_never_there_heard_nothing_and_that_is_told() -> None:
    played = play(WOOD, turns=1)

    with pytest.raises(UnknownName, match="Did you mean 'echo'"):
        played.heard_by("ehco")


def test_a_notebook_shows_lines_and_no_markup_of_anybody() -> None:
    played = play_offline(two_who_talk(), turns=1, model=ScriptedModel(spoken("<script>x</script>", "<b>")))

    page = played.page()._repr_html_()
    html = played._repr_html_()

    assert page.count("<") == 2  # One frame, and everything else inside of its quotes.
    assert "The &lt;Pond&gt;" in page
    assert "&lt;script&gt;x&lt;/script&gt;" in html
    assert "The &lt;Pond&gt;" in html
    assert "<script" not in html
    assert "<b>&lt;b&gt;" not in html.replace("<i>&lt;b&gt;</i>", "")


def test_a_counting_model_counts_and_one_alone_refuses() -> None:
    counting = CountingModel(ScriptedModel(spoken("Yes.")))

    played = play_offline(two_who_talk(), turns=3, model=counting)
    alone = play_offline(two_who_talk(), turns=1, model=CountingModel())

    assert counting.calls == played.run.calls == 2
    assert all("HOW TO ANSWER" in prompt.system for prompt in counting.prompts)
    assert {event.kind for event in alone.events if event.actor == "reed"} == {kinds.AGENT_FAILED}


interruptions = 100


def test_an_interrupted_caller_goes_on_only_when_the_work_has_cleaned_up() -> None:
    left: list[str] = []

    async def work() -> None:
        try:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            left.append("cleaned up")

    async def cell_of_a_notebook() -> None:
        outcome_of(work)

    for _ in range(interruptions):  # At whatever moment it comes: also just as the wait begins.
        loop = asyncio.new_event_loop()
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell_of_a_notebook())
        loop.close()

    assert left == ["cleaned up"] * interruptions


async def test_models_can_be_given_by_profile() -> None:
    played = play(two_who_talk(), turns=1, models=ModelRouter({"fast": ScriptedModel(spoken("Once."))}))

    assert played.lines[-1].text == "Once."


OTHERS_TESTS = """
def test_it(glasshouse_play):
    assert glasshouse_play("thousand-token-wood", turns=1).run.turns == 1
"""


def test_the_fixture_plays_a_world_in_the_tests_of_others(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(OTHERS_TESTS)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "glasshouse.testing.plugin", "test_theirs.py"]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}

    done = subprocess.run(words, cwd=tmp_path, env=alone, capture_output=True, encoding="utf-8", check=False)

    assert done.returncode == 0, done.stdout
