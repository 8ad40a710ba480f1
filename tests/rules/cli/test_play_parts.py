"""The pure parts of `glasshouse play`: header and bar, reading speed, what a key means, the last words."""

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.drawing.stage_header import Gauge, drawn_gauge, status
from glasshouse.cli.performing import farewell
from glasshouse.cli.performing.desk import meant
from glasshouse.cli.performing.farewell import Words
from glasshouse.cli.performing.reading_speed import (
    line_milliseconds_max,
    line_milliseconds_min,
    seconds_to_read,
)
from glasshouse.events.event import Event, Json
from glasshouse.testing import ScriptedModel, play_offline

SAYS = '{"kind": "seed.planted", "thought": "warm", "text": "A kettle hums in the moss tonight, my dears."}'


def events_of(*answers: str, turns: int = 2) -> tuple[Event, ...]:
    return play_offline("thousand-token-wood", turns=turns, model=ScriptedModel(*answers or (SAYS,))).events


def followed(events: tuple[Event, ...], *, has_minds: bool = False) -> tuple[Programme, list[str]]:
    programme = Programme(events[0].run_id or "", has_minds=has_minds)
    lines = [programme.apply(event) for event in events if programme.concerns(event)]
    return programme, [line.plain for line in lines if line is not None]


def renamed(event: Event, **fields: object) -> Event:
    from msgspec.structs import replace

    return replace(event, **fields)


def test_a_programme_knows_what_is_played_and_how_far_it_is() -> None:
    programme, lines = followed(events_of())

    assert programme.run.title == "Thousand Token Wood"
    assert programme.stage.turn == 2
    assert len(programme.disturbances) == 3
    assert not programme.is_finished
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
    quiet, minds = Programme(events[0].run_id or ""), Programme(events[0].run_id or "", has_minds=True)

    without = [line for event in events if (line := quiet.apply(event)) is not None]
    with_thoughts = [line for event in events if (line := minds.apply(event)) is not None]

    assert {line.thought for line in without} == {""}
    assert "warm" in {line.thought for line in with_thoughts}


def test_a_line_that_names_another_quotes_it() -> None:
    (said, *_) = [event for event in events_of() if event.kind == "seed.planted"]
    naming = renamed(
        said, id="s-x.1", payload={"text": "That one.", "keeps": said.id, "cites": [said.id, "s-y.9"]}
    )
    programme = Programme(said.run_id or "")

    programme.apply(said)
    line = programme.apply(naming)

    assert line is not None
    assert line.fields["keeps"] == "seedkeeper, “A kettle hums in the moss…”"
    assert line.fields["cites"] == "seedkeeper, “A kettle hums in the moss…”; s-y.9"


def test_a_bar_shows_how_much_of_a_limit_is_used() -> None:
    assert drawn_gauge(Gauge("calls", 0, 12), 6) == "calls 0/12 ┄┄┄┄┄┄"
    assert drawn_gauge(Gauge("calls", 6, 12), 6) == "calls 6/12 ━━━┄┄┄"
    assert drawn_gauge(Gauge("calls", 99, 12), 6, is_plain=True) == "calls 99/12 ######"
    assert drawn_gauge(Gauge("turn", 3, None)) == "turn 3"


def test_the_bar_fits_whatever_the_width() -> None:
    programme, _ = followed(events_of(turns=8))

    shown = {columns: status(programme, columns) for columns in range(1, 160)}

    assert all(len(text) < columns for columns, text in shown.items())
    assert "II. The wrong weather" in shown[120]
    assert shown[60].endswith("q stop")


def test_reading_takes_time_by_the_word_within_bounds() -> None:
    short, longer, endless = "Yes.", "word " * 20, "word " * 10_000

    assert seconds_to_read(short) * 1_000 == line_milliseconds_min
    assert seconds_to_read(longer) == 4.0
    assert seconds_to_read(endless) * 1_000 == line_milliseconds_max


def test_a_number_means_what_is_offered_under_it_and_all_else_itself() -> None:
    offered = ("A hen.", "Hail.")

    assert meant("2", offered) == "Hail."
    assert meant("3", offered) == "3"
    assert meant("A boat.", offered) == "A boat."
    assert meant("", offered) == ""


def test_only_commands_that_exist_are_offered() -> None:
    programme, _ = followed(events_of())
    few = Words("glasshouse", frozenset({"play", "show"}), " --store x.glasshouse")
    more = Words("glasshouse", frozenset({"play", "show", "replay", "branch"}))

    assert farewell.commands_for(programme, few) == [
        f"glasshouse play --continue {programme.run_id} --store x.glasshouse",
        f"glasshouse show {programme.run_id} --store x.glasshouse",
    ]
    assert farewell.commands_for(programme, more)[-1] == (
        f"glasshouse branch {programme.run_id} --at {programme.turn_ids[-1]}"
        " --disturb 'A postman wades out of the brook with a parcel that is breathing.'"
    )


def test_a_finished_run_is_not_offered_to_be_gone_on_with() -> None:
    programme, _ = followed(events_of(turns=200))

    told = farewell.told(programme, "d1", Words("glasshouse", frozenset({"play", "show"})))

    assert programme.run.reason == "budget"
    assert told == ["", told[1], "digest d1", f"  glasshouse show {programme.run_id}"]
    assert told[1].startswith("The end: the budget is used up (max_turns).")
