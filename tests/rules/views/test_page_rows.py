"""Rows of the feed and lines in the view: group tools in plain sentences, scenes of several graphs once, and fields of kinds."""

from typing import Any

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.views.page_fold import PageFold
from glasshouse.views.page_talk import field_chars_max, field_items_max, line_fields_max
from tests.rules.views.stories_on_stage import birth, by_conductor, called, returned, said, story_of


def rows_of(*events: Event) -> list[tuple[str, str]]:
    fold = PageFold("spectator")
    rows = [fold.fold(event).row for event in events]
    return [(row.icon, row.text) for row in rows]


def test_a_group_tool_is_one_row_with_a_plain_sentence() -> None:
    story = story_of(
        birth("ada"),
        called("ada", "group_stop_node", creature="bo"),
        returned("ada", "group_stop_node", "bo rests."),
        called("ada", "calculator", expression="3*4"),
        returned("ada", "calculator", "12"),
    )

    assert rows_of(*story)[1:] == [
        ("copy", "group_stop_node"),
        ("tool", "puts bo to rest"),
        ("tool", "calculator"),
        ("tool", "calculator: 12"),
    ]


def test_a_scene_that_is_shown_in_several_graphs_at_once_has_one_row() -> None:
    def scene(turn: int) -> Event:
        return by_conductor(kinds.WORLD_OBSERVED, turn=turn, text="The wind turns.", title="II")

    assert [icon for icon, _ in rows_of(*story_of(scene(4), scene(4), scene(5)))] == [
        "world",
        "copy",
        "world",
    ]


def test_a_line_has_the_fields_of_its_kind_up_to_a_bound() -> None:
    fold = PageFold("spectator")
    many: dict[str, Any] = {f"f{number}": number for number in range(line_fields_max + 1)}
    lines = []
    for event in story_of(
        birth("ada"),
        said("ada", "Not a tree.", "answer.given", answer="no", rests_on=["s-1.1"] * (field_items_max + 1)),
        said("ada", "So.", "answer.given", word="w" * (field_chars_max + 1), sure=True, nothing=None),
        said("ada", "So on.", "answer.given", **many),
        said("ada", "Plain."),
    ):
        fold.fold(event)
        lines.append(fold.view["creatures"]["ada"].get("line", {}).get("fields"))

    assert lines[1] == {"answer": "no", "rests_on": ["s-1.1"] * field_items_max}
    assert lines[2] == {"word": f"{'w' * (field_chars_max - 1)}…", "sure": True}
    assert lines[3] == {f"f{number}": number for number in range(line_fields_max)}
    assert lines[4] is None
