"""Diffs: what each event changed, and that all of them in a row are the stage."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import VISITOR, Event
from glasshouse.views.diff import ViewDiff, diff_of
from glasshouse.views.stage import StageProjection, rebuild_stage, stage_lines_max, stage_runs_max
from glasshouse.views.transcript import line_of, transcript_of
from tests.rules.views.stories_on_stage import (
    RUNS,
    birth,
    by_conductor,
    patched,
    run_started,
    said,
    stories,
    story_of,
)


def diffs_of(story: list[Event], run_id: str | None = None) -> list[ViewDiff]:
    stage, diffs = StageProjection(run_id=run_id), []
    for event in story:
        before = replace(stage.counters)
        diffs.append(diff_of(stage, stage.apply(event), before))
    return diffs


def test_each_event_tells_what_it_changed() -> None:
    scene, verdict, line, bell = diffs_of(
        story_of(
            by_conductor(kinds.WORLD_OBSERVED, text="Dusk."),
            by_conductor(kinds.JUDGE_VERDICT, text="Ada.", winner="ada"),
            said("ada", "Hush."),
            said(VISITOR, "A bell rings.", kinds.USER_INJECTED),
        )
    )

    assert scene.scene_changed
    assert not any(diff.scene_changed for diff in (verdict, line, bell))
    assert [note.text for note in verdict.new_judge_notes] == ["Ada."]
    assert [note.text for note in line.new_agent_notes] == ["Hush."]
    assert [note.text for note in bell.new_user_artifacts] == ["A bell rings."]
    assert all(diff.has_changes for diff in (scene, verdict, line, bell))


def test_counters_alone_are_no_change_on_stage() -> None:
    (decided,) = diffs_of(story_of(by_conductor(kinds.EDIT_DECIDED, is_approved=True)))

    assert not decided.has_changes
    assert [step.path for step in decided.patch] == [("counters", "events")]


def test_a_silence_comes_as_a_line_that_says_why() -> None:
    (silence,) = diffs_of(story_of(by_conductor(kinds.AGENT_PASSED, reason="too cold")))

    assert [(note.voice, note.text) for note in silence.new_lines] == [("silence", "too cold")]
    assert silence.has_changes


@given(story=stories(), run_id=st.sampled_from(RUNS))
def test_the_diffs_tell_every_line_of_the_transcript(story: list[Event], run_id: str | None) -> None:
    notes = sum(diffs_of(story, run_id), ViewDiff()).new_lines

    assert [line_of(note) for note in notes] == list(transcript_of(story, run_id))


def test_a_scene_shown_again_has_not_changed() -> None:
    dusk = by_conductor(kinds.WORLD_OBSERVED, text="Dusk.", title="One")

    first, again = diffs_of(story_of(dusk, dusk))

    assert first.scene_changed
    assert not again.scene_changed


def test_an_event_of_another_run_changes_nothing_at_all() -> None:
    (diff,) = diffs_of(story_of(said("ada", "Elsewhere.", run_id="r-two")), run_id="r-one")

    assert (diff.has_changes, diff.patch) == (False, ())


def test_a_line_said_twice_is_two_lines() -> None:
    story = story_of(birth("ada"), said("ada", "Hush."), said("ada", "Hush."))

    whole = sum(diffs_of(story), ViewDiff())

    assert [note.text for note in whole.new_agent_notes] == ["Hush.", "Hush."]
    assert len(patched(StageProjection(), [whole]).agent_notes) == 2


@given(story=stories(), run_id=st.sampled_from(RUNS))
def test_diffs_in_a_row_rebuild_the_stage_after_every_event(story: list[Event], run_id: str | None) -> None:
    stage = StageProjection(run_id=run_id)

    for k, diff in enumerate(diffs_of(story, run_id), start=1):
        diff.apply_to(stage)

        assert stage == rebuild_stage(story[:k], run_id)


@given(story=stories())
def test_all_diffs_as_one_through_json_rebuild_the_stage(story: list[Event]) -> None:
    sent = msgspec.json.encode(sum(diffs_of(story), ViewDiff()))

    diff = msgspec.json.decode(sent, type=ViewDiff)

    assert patched(StageProjection(), [diff]) == rebuild_stage(story)
    assert len(diff.new_user_artifacts) == len(rebuild_stage(story).user_artifacts)


@given(story=stories(), at=st.integers(0, 25))
def test_diffs_behind_a_stage_bring_it_up_to_date_and_leave_it_as_it_was(story: list[Event], at: int) -> None:
    before = rebuild_stage(story[:at])

    after = patched(before, diffs_of(story)[at:])

    assert after == rebuild_stage(story)
    assert before == rebuild_stage(story[:at])


def test_diffs_rebuild_the_stage_when_old_lines_and_runs_have_gone() -> None:
    lines = [said("ada", f"{n}") for n in range(stage_lines_max + 3)]
    story = story_of(*lines, *(run_started(f"r-{n}") for n in range(stage_runs_max + 3)))

    assert patched(StageProjection(), diffs_of(story)) == rebuild_stage(story)
