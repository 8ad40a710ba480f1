"""The pure parts of `glasshouse play`: header and bar, reading speed, what a key means, the last words."""

import dataclasses

import pytest

from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.drawing.run_view import KEYS, Gauge, RunView, prospect, status, thinking_in_words
from glasshouse.cli.live.controls import line_meant
from glasshouse.cli.live.duration import rehearsed_seconds
from glasshouse.cli.live.summary import Summary
from glasshouse.cli.pace import duration_of, seconds_for
from glasshouse.events.event import Event, Json
from glasshouse.manifests.loading import load_world
from glasshouse.testing import ScriptedModel, play_offline
from glasshouse.views import Thinking

SAYS = '{"kind": "seed.planted", "thought": "warm", "text": "A kettle hums in the moss tonight, my dears."}'


def events_of(*answers: str, turns: int = 2) -> tuple[Event, ...]:
    return play_offline("thousand-token-wood", turns=turns, model=ScriptedModel(*answers or (SAYS,))).events


def followed(events: tuple[Event, ...], *, has_minds: bool = False) -> tuple[RunView, list[str]]:
    view = RunView(events[0].run_id or "", has_minds=has_minds)
    lines = [line for event in events if view.concerns(event) for line in view.take(event)]
    return view, [line.plain for line in lines]


def renamed(event: Event, **fields: object) -> Event:
    from msgspec.structs import replace

    return replace(event, **fields)


def test_a_view_of_a_run_knows_what_is_played_and_how_far_it_is() -> None:
    view, lines = followed(events_of())

    assert view.run.title == "Thousand Token Wood"
    assert view.stage.turn == 2
    assert len(view.run.disturbances) == 3
    assert not view.is_finished
    assert lines[1] == "seedkeeper: A kettle hums in the moss tonight, my dears."


def test_another_run_of_the_store_changes_nothing() -> None:
    mine, others = events_of(), events_of(turns=5)
    strangers = tuple(
        renamed(e, run_id=e.run_id and "r-other", graph_id="g-other", payload=_of_another(e.payload))
        for e in others
    )

    alone, lines = followed(mine)
    beside, lines_beside = followed(mine + strangers)

    assert lines == lines_beside
    assert alone.stage == beside.stage


def _of_another(payload: Json) -> Json:
    return payload | ({"run_id": "r-other"} if "run_id" in payload else {})


def test_who_passes_is_shown_with_minds_only_and_who_fails_always() -> None:
    passes, nonsense = '{"kind": "agent.passed", "reason": "too cold"}', "no JSON at all"

    _, quiet = followed(events_of(passes))
    _, minds = followed(events_of(passes), has_minds=True)
    _, failed = followed(events_of(nonsense))

    assert not [line for line in quiet if "too cold" in line]
    assert [line for line in minds if "too cold" in line]
    assert [line for line in failed if line.startswith("(seedkeeper: ")]


def test_thoughts_are_not_even_there_unless_minds_are_shown() -> None:
    events = events_of()
    quiet, minds = RunView(events[0].run_id or ""), RunView(events[0].run_id or "", has_minds=True)

    without = [line for event in events for line in quiet.take(event)]
    with_thoughts = [line for event in events for line in minds.take(event)]

    assert {line.thought for line in without} == {""}
    assert "warm" in {line.thought for line in with_thoughts}


def test_a_line_that_names_another_quotes_it() -> None:
    (said, *_) = [event for event in events_of() if event.kind == "seed.planted"]
    naming = renamed(
        said, id="s-x.1", payload={"text": "That one.", "keeps": said.id, "cites": [said.id, "s-y.9"]}
    )
    view = RunView(said.run_id or "")

    view.take(said)
    (line,) = view.take(naming)

    assert line.fields["keeps"] == "seedkeeper, “A kettle hums in the moss…”"
    assert line.fields["cites"] == "seedkeeper, “A kettle hums in the moss…”; s-y.9"


def test_a_bar_shows_how_much_of_a_limit_is_used() -> None:
    assert Gauge("calls", 0, 12).drawn(6) == "calls 0/12 ┄┄┄┄┄┄"
    assert Gauge("calls", 6, 12).drawn(6) == "calls 6/12 ━━━┄┄┄"
    assert Gauge("calls", 99, 12).drawn(6, is_plain=True) == "calls 99/12 ######"
    assert Gauge("turn", 3, None).drawn() == "turn 3"
    assert Gauge("USD", 0.5, 2.0).drawn(8) == "USD 0.50/2.00 ━━┄┄┄┄┄┄"
    assert Gauge("USD", 0.5, 2.0).in_words() == "USD 0.50 of 2.00"


def test_the_bar_fits_whatever_the_width() -> None:
    view, _ = followed(events_of(turns=8))

    shown = {columns: status(view, columns) for columns in range(1, 160)}

    assert all(len(text) < columns for columns, text in shown.items())
    assert "II. The wrong weather" in shown[120]
    assert shown[60].endswith("q finish")
    assert all(set(text.split()) <= set(shown[60].split()) for columns, text in shown.items() if columns < 40)


def test_the_bar_says_who_thinks_for_how_long_and_what_has_come() -> None:
    ada = Thinking("ada", "ada", "r-1", "m", 12.4)
    waiting = Thinking("bo", "bo", "r-1", "m", 30.0, is_waiting=True)
    speaking = Thinking(
        "ada", "ada", "r-1", "m", 3.0, text="Well,\nI think that the gardener was never there at all"
    )

    assert thinking_in_words([]) == ""
    assert thinking_in_words([waiting]) == "bo waits for its turn, 30 s · Ctrl-C leaves"
    assert thinking_in_words([waiting, ada]) == "ada thinks (1 waits), 12 s · Ctrl-C leaves"
    assert thinking_in_words([ada, speaking, waiting]).startswith(
        "ada thinks (and 2 more, 1 of them waits), 12 s"
    )
    assert thinking_in_words([speaking]) == "ada thinks, 3 s: …that the gardener was never there at all"


def test_the_bar_says_how_far_a_slow_model_is() -> None:
    reads = Thinking("ada", "ada", "r-1", "m", 40.0, prompt_percent=40)
    writes = Thinking("ada", "ada", "r-1", "m", 90.0, tokens=120, text="Well, I think")

    assert thinking_in_words([reads]) == "ada reads its prompt, 40 %, 40 s · Ctrl-C leaves"
    assert thinking_in_words([writes]) == "ada writes, 120 tokens so far, 90 s: Well, I think"


def test_how_long_a_run_takes_is_told_from_what_is_left_of_its_limits() -> None:
    events = events_of(turns=12)
    new, _ = followed(events[: [event.kind for event in events].index("turn.started")])
    later, _ = followed(events)
    spent, _ = followed(events)
    spent.calls_before = 155
    unlimited = RunView("r-unknown")

    pace, left = "at reading pace (--pace fast: at once).", 21 - later.stage.turn
    assert prospect(new, None) == f"Up to 20 turns, about 5 minutes {pace} {KEYS}"
    assert prospect(new, None, 250.0) == f"Up to 20 turns, about 4 minutes {pace} {KEYS}"
    assert prospect(new, 1) == f"Up to 1 turn, about 20 seconds {pace} {KEYS}"
    assert prospect(later, None) == f"Up to {left} turns, about 2 minutes {pace} {KEYS}"
    assert prospect(spent, None) == f"Up to {left} turns, about 10 seconds {pace} {KEYS}"
    assert prospect(unlimited, None) == KEYS


@pytest.mark.parametrize("seconds", [15, 44, 99, 100, 149, 150, 900])
def test_a_duration_in_words_is_right_within_a_third(seconds: int) -> None:
    number, unit = duration_of(seconds).removeprefix("about ").split()

    expected = int(number) * (60 if unit == "minutes" else 1)

    assert abs(expected - seconds) <= seconds / 3


@pytest.mark.parametrize("world", ["three-ways-in", "twenty-sprouts"])
def test_the_duration_told_at_the_start_of_an_offline_play_is_right_within_a_third(world: str) -> None:
    """Measured on the lines of the play itself, drawn as they are on a terminal."""
    loaded = load_world(world)
    expected = rehearsed_seconds(loaded, "a lamp", 7, 4, None, has_minds=False)

    played = play_offline(world, seed="a lamp", rng_seed=7, turns=4)

    view = RunView(played.events[0].run_id or "")
    read = sum(seconds_for(line) for event in played.events for line in view.take(event))
    assert expected is not None
    assert abs(expected - read) <= read / 3


def test_a_world_in_which_creatures_run_code_of_their_own_is_not_rehearsed() -> None:
    world = load_world("thousand-token-wood")
    (first, *_) = world.manifests
    reaching = world.manifests[first].model_copy(update={"tools": ("weather/forecast",)})

    altered = dataclasses.replace(world, manifests={**world.manifests, first: reaching})

    assert rehearsed_seconds(altered, None, 0, 2, None, has_minds=False) is None


def test_a_number_means_what_is_offered_under_it_and_all_else_itself() -> None:
    offered = ("A hen.", "Hail.")

    assert line_meant("2", offered) == "Hail."
    assert line_meant("3", offered) == "3"
    assert line_meant("A boat.", offered) == "A boat."
    assert line_meant("", offered) == ""


def test_the_commands_that_are_offered_name_the_run_and_the_store() -> None:
    view, _ = followed(events_of())

    calls = Summary(view, "d1").calls(CommandLine("glasshouse", " --store x.glasshouse"))

    assert calls[:2] == [
        f"glasshouse play --continue {view.run_id} --store x.glasshouse",
        f"glasshouse show {view.run_id} --store x.glasshouse",
    ]
    assert calls[-1] == (
        f"glasshouse branch {view.run_id} --at {view.turn_ids[-1]}"
        " --disturb 'A postman wades out of the brook with a parcel that is breathing.' --store x.glasshouse"
    )


def test_a_finished_run_is_not_offered_to_be_continued() -> None:
    view, _ = followed(events_of(turns=200))

    lines = Summary(view, "d1").lines(CommandLine("glasshouse"))

    assert view.run.finished is not None
    assert view.run.finished.reason == "budget"
    assert lines[:4] == ["", lines[1], "digest d1", f"  glasshouse show {view.run_id}"]
    assert lines[1].startswith("The end: it stopped at the turn limit (max_turns).")
    assert not [line for line in lines if "--continue" in line]
