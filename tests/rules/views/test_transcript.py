"""The transcript: who said what, in order, in words."""

from typing import Any

from hypothesis import given

from glasshouse.events import kinds
from glasshouse.events.event import TERRARIUM, VISITOR, Event
from glasshouse.events.payloads import TopologyChanged, builtins_of
from glasshouse.views.stage import ToolUsed, rebuild_stage, tool_arguments_max, tool_text_chars_max
from glasshouse.views.transcript import transcript_of
from tests.rules.events.events_by_hand import an_event
from tests.rules.views.stories_on_stage import (
    an_event_at,
    birth,
    by_conductor,
    called,
    returned,
    said,
    stories,
    story_of,
)


def test_everybody_s_lines_are_read_in_order() -> None:
    story = story_of(
        birth("ada"),
        birth("judy", role="judge", handle="her-honour"),
        by_conductor(kinds.TURN_STARTED, turn=1),
        by_conductor(kinds.WORLD_OBSERVED, text="Dusk.", title="One"),
        said("ada", "Hush."),
        said(VISITOR, "A bell rings.", kinds.USER_INJECTED),
        said("judy", "Ada wins.", kinds.JUDGE_VERDICT, winner="ada"),
    )

    lines = list(transcript_of(story))

    assert [line.plain for line in lines] == [
        "world: Dusk.",
        "ada: Hush.",
        "visitor: A bell rings.",
        "her-honour: Ada wins.",
    ]
    assert [line.voice for line in lines] == ["world", "cast", "visitor", "judge"]
    assert lines[0].fields == {"title": "One"}
    assert lines[3].fields == {"winner": "ada"}


def test_silences_say_why() -> None:
    silent = an_event(actor="ada", kind=kinds.AGENT_FAILED, payload={"reason": "no JSON", "attempts": 2})

    (line,) = transcript_of(story_of(birth("ada"), silent))

    assert (line.plain, line.voice, line.fields) == ("(ada: no JSON)", "silence", {"attempts": 2})


def test_the_use_of_a_tool_is_one_line_with_what_was_asked_and_answered() -> None:
    story = story_of(
        birth("ada"),
        called("ada", "calculator", expression="3*4"),
        returned("ada", "calculator", "12"),
        called("ada", "calculator", expression="1/0"),
        returned("ada", "calculator", "Division by zero.", is_ok=False),
        called("ada", "group_stop_node", creature="bo"),
        returned("ada", "group_stop_node", "bo is protected.", is_ok=False, is_engine=True),
    )

    lines = list(transcript_of(story))

    assert [line.plain for line in lines] == [
        "(ada asked calculator, which answered: 12)",
        "(ada asked calculator, which failed: Division by zero.)",
        "(ada cannot put bo to rest: bo is protected.)",
    ]
    assert {line.voice for line in lines} == {"tool"}
    assert lines[0].used == ToolUsed("calculator", {"expression": "3*4"}, "answered")
    assert [line.used.outcome for line in lines if line.used] == ["answered", "failed", "refused"]


def test_of_a_long_use_of_a_tool_only_the_beginning_is_kept() -> None:
    many: Any = {f"name_{number}": ["y" * 9_000] for number in range(tool_arguments_max + 5)}
    story = story_of(called("ada", "read", **many), returned("ada", "read", "z" * 9_000))

    (line,) = transcript_of(story)

    assert len(line.text) == tool_text_chars_max + 1
    assert line.used is not None
    assert len(line.used.arguments) == tool_arguments_max
    assert max(map(len, line.used.arguments.values())) == tool_text_chars_max + 1


def test_a_thought_behind_a_line_is_there_for_those_who_may_read_it() -> None:
    aloud = an_event(actor="ada", private={"thought": "Nobody asked.", "mood": "wary"})

    open_line, hidden = transcript_of(story_of(birth("ada"), aloud, said("ada", "Hush.")))

    assert (open_line.thought, open_line.mood) == ("Nobody asked.", "wary")
    assert (hidden.thought, hidden.mood) == ("", "")


def test_a_run_s_transcript_has_no_line_of_another_run() -> None:
    story = story_of(
        said("ada", "Mine.", run_id="r-one"),
        said("bo", "Theirs.", run_id="r-two"),
        by_conductor(kinds.WORLD_OBSERVED, text="Elsewhere.", run_id="r-two"),
    )

    assert [line.text for line in transcript_of(story, run_id="r-one")] == ["Mine."]


@given(story=stories())
def test_the_transcript_holds_every_line_of_the_stage(story: list[Event]) -> None:
    stage = rebuild_stage(story)

    lines = list(transcript_of(story))

    for voice, notes in (
        ("cast", stage.agent_notes),
        ("judge", stage.judge_notes),
        ("visitor", stage.user_artifacts),
    ):
        assert [line.id for line in lines if line.voice == voice] == [note.id for note in notes]
    assert [line.id for line in lines] == sorted({line.id for line in lines}, key=_seq_of)


def _seq_of(event_id: str) -> int:
    return int(event_id.rpartition(".")[2])


def test_what_a_creature_changed_in_the_graph_is_told_and_what_came_from_outside_is_not() -> None:
    ada, bo = birth("ada"), birth("bo")
    use = {"tool": "t", "arguments": {}, "number": 1}
    call = an_event_at(3, kind=kinds.TOOL_CALLED, actor="ada", payload=use, run_id="r-one")
    changes = (
        (kinds.CREATURE_STARTED, {**birth("cy").payload, "parent": "ada"}),
        (kinds.TOPOLOGY_CHANGED, builtins_of(TopologyChanged("merge", [], [], ["bo"], 1))),
        (kinds.TOPOLOGY_CHANGED, builtins_of(TopologyChanged("nothing", [], [], ["cy"], 1))),
        (kinds.CREATURE_STOPPED, {"creature": "bo", "reason": "removed"}),
    )

    def story(cause: str | None) -> list[Event]:
        shaped = [
            an_event_at(number, kind=kind, actor=TERRARIUM, payload=payload, run_id=None, caused_by=cause)
            for number, (kind, payload) in enumerate(changes, start=4)
        ]
        return [*story_of(ada, bo), call, *shaped]

    inside, outside = transcript_of(story(call.id), "r-one"), transcript_of(story(None), "r-one")

    assert [line.plain for line in inside] == ["(cy comes in)", "(within hearing now: bo)", "(bo is gone)"]
    assert list(outside) == []


def test_a_change_by_another_run_is_told_only_where_it_touches_the_cast() -> None:
    born = story_of(birth("ada"), birth("bo"))
    graphs = {"old_graph_ids": ["g-1"], "new_graph_ids": ["g-1", "g-2"], "affected_count": 1}
    split = {"kind": "split", **graphs, "affected_creatures": ["ada"]}
    elsewhere = {**split, "affected_creatures": ["zoe", "xi"]}
    changes = [
        an_event_at(
            number,
            kind=kinds.TOPOLOGY_CHANGED,
            actor=TERRARIUM,
            payload=payload,
            run_id=None,
            caused_by="s-x.9",
        )
        for number, payload in enumerate((split, elsewhere), start=3)
    ]

    lines = transcript_of([*born, *changes], "r-one")

    assert [line.plain for line in lines] == ["(out of hearing now: ada)"]


def test_what_a_group_tool_did_is_one_line_and_the_changes_that_it_made_are_none() -> None:
    use = {"tool": "group_add_node", "arguments": {"use": "cy"}, "number": 1}
    call = an_event_at(2, kind=kinds.TOOL_CALLED, actor="ada", payload=use)
    born = an_event_at(
        3,
        kind=kinds.CREATURE_STARTED,
        actor=TERRARIUM,
        caused_by=call.id,
        payload={**birth("cy").payload, "parent": "ada"},
    )
    done = {
        "tool": "group_add_node",
        "number": 1,
        "is_ok": True,
        "text": "cy is born.",
        "result": {"creature": "cy"},
    }
    answer = an_event_at(4, kind=kinds.TOOL_RETURNED, actor="ada", payload=done)

    (line,) = transcript_of([*story_of(birth("ada")), call, born, answer])

    assert line.plain == "(ada hires cy)"
    assert line.used is not None
    assert line.used.moves_somebody


def test_a_scene_that_is_shown_in_several_graphs_at_once_is_one_line() -> None:
    def scene(turn: int, text: str = "The wind turns.") -> Event:
        return by_conductor(kinds.WORLD_OBSERVED, turn=turn, text=text, title="II")

    lines = list(transcript_of(story_of(scene(4), scene(4), scene(4, "Rain."), scene(5))))

    assert [(line.turn, line.text) for line in lines] == [
        (4, "The wind turns."),
        (4, "Rain."),
        (5, "The wind turns."),
    ]
