"""The stage: what each event shows, and that folding in one go, one by one or from a checkpoint is the same."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import VISITOR, Event
from glasshouse.events.redaction import redacted
from glasshouse.views.stage import (
    CastMember,
    StageProjection,
    ToolAsked,
    rebuild_stage,
    stage_lines_max,
    stage_runs_max,
)
from tests.rules.views.stories_on_stage import (
    LIMITS,
    RUNS,
    an_event_at,
    asked,
    birth,
    by_conductor,
    called,
    returned,
    run_finished,
    run_started,
    said,
    stories,
    story_of,
    structural,
)


def texts(notes: list[object]) -> list[str]:
    return [note.text for note in notes]  # type: ignore[attr-defined]


def test_the_stage_shows_the_last_scene_and_keeps_a_movement_s_title() -> None:
    events = story_of(
        by_conductor(kinds.WORLD_OBSERVED, text="Dusk.", title="One"),
        by_conductor(kinds.WORLD_OBSERVED, text="Rain."),
    )

    stage = rebuild_stage(events)

    assert (stage.current_scene, stage.scene_title) == ("Rain.", "One")


def test_a_line_carries_who_said_what_where_and_when() -> None:
    events = story_of(birth("ada", handle="ada~2"), said("ada", "Hush.", "riddle.posed", against="s-1.1"))

    (note,) = rebuild_stage(events).agent_notes

    assert (note.id, note.actor, note.handle) == (events[1].id, "ada", "ada~2")
    assert (note.kind, note.text, note.fields) == ("riddle.posed", "Hush.", {"against": "s-1.1"})
    assert (note.channel, note.turn) == (events[1].channel, events[1].turn)


def test_the_stage_tells_who_waits_for_a_tool_and_then_what_it_answered() -> None:
    *before, answer = story_of(
        birth("ada"), called("ada", "almanac", day="today"), returned("ada", "almanac", "A new moon.")
    )
    stage = rebuild_stage(before)
    assert stage.asking == {"ada": ToolAsked("almanac", {"day": "today"}, before[-1].id)}

    stage.apply(answer)

    assert stage.asking == {}
    assert [note.text for note in stage.tool_notes] == ["A new moon."]


def test_a_line_keeps_the_handle_that_its_speaker_had_then() -> None:
    rename = structural(kinds.CREATURE_RENAMED, {"creature": "ada", "old_handle": "ada", "handle": "ada~2"})

    stage = rebuild_stage(story_of(birth("ada"), said("ada", "One."), rename, said("ada", "Two.")))

    assert [note.handle for note in stage.agent_notes] == ["ada", "ada~2"]


def test_what_judges_say_and_every_verdict_are_judge_notes() -> None:
    events = story_of(
        birth("ada"),
        birth("judy", role="judge"),
        said("judy", "I listen."),
        said("ada", "I win.", kinds.JUDGE_VERDICT, winner="ada"),
        by_conductor(kinds.JUDGE_VERDICT, text="Ada.", winner="ada"),
    )

    stage = rebuild_stage(events)

    assert [(note.handle, note.text) for note in stage.judge_notes] == [
        ("judy", "I listen."),
        ("ada", "I win."),
        ("world", "Ada."),
    ]
    assert stage.agent_notes == []


def test_a_disturbance_is_a_user_artifact_and_no_line_of_the_cast() -> None:
    stage = rebuild_stage(story_of(said(VISITOR, "A bell rings.", kinds.USER_INJECTED)))

    assert [(note.handle, note.text) for note in stage.user_artifacts] == [("visitor", "A bell rings.")]
    assert stage.agent_notes == []


def test_the_cast_is_born_rests_runs_again_and_goes() -> None:
    restart = {"creature": "ada", "handle": "ada", "cast_key": "ada", "manifest_digest": "d"}
    events = story_of(
        birth("ada", role="narrator"),
        structural(kinds.CREATURE_STOPPED, {"creature": "ada", "reason": "stopped"}),
        structural(kinds.CREATURE_STARTED, restart),
        structural(kinds.CREATURE_STOPPED, {"creature": "ada", "reason": "removed"}),
    )

    shown = [rebuild_stage(events[:k]).cast.get("ada") for k in range(1, 5)]

    running = CastMember("ada", role="narrator", is_running=True, profile="tiny")
    assert shown == [running, msgspec.structs.replace(running, is_running=False), running, None]


def test_a_run_tells_its_budget_its_profiles_and_how_it_ended() -> None:
    stage = rebuild_stage(story_of(birth("ada"), run_started()))

    assert stage.run is not None
    assert (stage.run.state, stage.run.title, stage.budget) == ("playing", "The Moss", LIMITS)
    assert stage.cast["ada"].profile == "strong"
    for event in story_of(by_conductor(kinds.RUN_PAUSED, reason="circuit"), run_finished()):
        stage.apply(event)
    ending = stage.run.finished
    assert ending is not None
    assert (stage.run.state, ending.reason, ending.axis) == ("finished", "budget", "max_turns")
    assert (ending.winner, ending.turns, ending.usd) == ("ada", 12, None)


def test_a_creature_cannot_end_a_run_on_stage() -> None:
    forged = said("ada", "The end.", kinds.RUN_FINISHED, reason="ended", winner="ada")

    stage = rebuild_stage(story_of(birth("ada"), run_started(), forged))

    assert stage.run is not None
    assert stage.run.state == "playing"


def test_counters_count_what_happened_and_calls_that_reached_a_model() -> None:
    events = story_of(
        by_conductor(kinds.TURN_STARTED, turn=1),
        said("ada", "Hush.", model=asked()),
        said("ada", "Hush.", model=asked(reached=False)),
        by_conductor(kinds.AGENT_PASSED, reason="nothing"),
        by_conductor(kinds.AGENT_FAILED, reason="no JSON", attempts=2),
    )

    counters = rebuild_stage(events).counters

    assert (counters.events, counters.turns, counters.lines) == (5, 1, 2)
    assert (counters.calls, counters.tokens, counters.passes, counters.failures) == (1, 245, 1, 1)


def test_only_the_last_lines_and_runs_are_kept_and_all_are_counted() -> None:
    lines = [said("ada", f"{n}") for n in range(stage_lines_max + 5)]
    runs = [run_started(f"r-{n}") for n in range(stage_runs_max + 5)]

    stage = rebuild_stage(story_of(*lines, *runs))

    assert texts([*stage.agent_notes]) == [f"{n}" for n in range(5, stage_lines_max + 5)]
    assert list(stage.runs) == [f"r-{n}" for n in range(5, stage_runs_max + 5)]
    assert stage.counters.lines == stage_lines_max + 5


def test_a_spectator_s_stage_has_no_thoughts() -> None:
    events = story_of(birth("ada"), said("ada", "Nobody knows.", kinds.AGENT_THOUGHT))

    stage = rebuild_stage(redacted(event, "spectator") for event in events)

    assert stage.agent_notes == []
    assert texts([*rebuild_stage(redacted(event, "audience") for event in events).agent_notes]) == [
        "Nobody knows."
    ]


def test_the_stage_of_one_run_has_no_line_and_no_creature_of_another() -> None:
    events = story_of(
        birth("ada", run_id="r-one"),
        birth("bo", run_id="r-two"),
        said("ada", "Mine.", run_id="r-one"),
        said("bo", "Theirs.", run_id="r-two"),
    )

    stage = rebuild_stage(events, run_id="r-one")

    assert (texts([*stage.agent_notes]), list(stage.cast)) == (["Mine."], ["ada"])


@pytest.mark.parametrize("payload", [{}, {"text": None}, {"text": 7}, {"text": ["a"]}, {"title": 3}])
@pytest.mark.parametrize("kind", [kinds.AGENT_SPOKE, kinds.WORLD_OBSERVED, kinds.JUDGE_VERDICT])
def test_a_payload_without_words_is_shown_without_words(kind: str, payload: dict[str, object]) -> None:
    events = [
        an_event_at(n, kind=kind, actor=actor, payload=payload) for n, actor in enumerate(("ada", VISITOR))
    ]

    stage = rebuild_stage(events)

    assert all(note.text == "" for note in (*stage.agent_notes, *stage.judge_notes))
    assert stage.current_scene == ""


@given(story=stories(), run_id=st.sampled_from(RUNS))
def test_the_stage_rebuilt_at_every_event_equals_the_one_folded_on(
    story: list[Event], run_id: str | None
) -> None:
    live = StageProjection(run_id=run_id)

    for k, event in enumerate(story, start=1):
        live.apply(event)

        assert rebuild_stage(story[:k], run_id) == live


@given(story=stories())
def test_a_copy_and_a_snapshot_go_their_own_way(story: list[Event]) -> None:
    half = rebuild_stage(story[: len(story) // 2])
    kept = msgspec.json.encode(half)

    copy, snapshot = half.copy(), msgspec.json.decode(kept, type=StageProjection)
    for event in story[len(story) // 2 :]:
        copy.apply(event)
        snapshot.apply(event)

    assert copy == snapshot == rebuild_stage(story)
    assert msgspec.json.encode(half) == kept


def test_a_tool_that_changes_is_told_on_the_stage_of_those_who_were_granted_it() -> None:
    tool = {
        "name": "weather/forecast", "description": "x", "parameters": {}, "is_read_only": True, "digest": "d",
    }  # fmt: skip
    changed = structural(kinds.TOOL_CHANGED, {"tool": tool, "creatures": ["ada"]})
    accepted = structural(
        kinds.TOOL_ACCEPTED, {"tool": "weather/forecast", "creatures": ["ada"], "by": "visitor"}
    )

    here = rebuild_stage([birth("ada"), changed, accepted])
    elsewhere = rebuild_stage([birth("bo"), changed, accepted])

    assert texts(here.world_notes) == [  # type: ignore[arg-type]
        "weather/forecast has changed, and nobody uses it until it is accepted or as it was",
        "weather/forecast is accepted as it is now",
    ]
    assert elsewhere.world_notes == []
