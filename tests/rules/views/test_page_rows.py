"""Rows of the feed: group tools in plain sentences, and scenes of several graphs once."""

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.views.page_fold import PageFold
from tests.rules.views.stories_on_stage import birth, by_conductor, called, returned, story_of


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
