"""What a creature did with a group tool, in a plain sentence."""

from typing import Any

import pytest

from glasshouse.tools.group.requests import ARGUMENTS
from glasshouse.views.group_deeds import GROUP_TOOLS, Deed, deed_of

MERGED = {"change": "merge", "moved": ["bo", "cy", "dot"], "moved_count": 3}
SPLIT = {"change": "split", "moved": ["bo"], "moved_count": 1}
MANY = {"change": "split", "moved": [f"n{number}" for number in range(9)], "moved_count": 40}


@pytest.mark.parametrize(
    ("tool", "arguments", "result", "words", "moves"),
    [
        ("group_add_node", {"use": "bat"}, {"creature": "wall-bat"}, "hires wall-bat", True),
        ("group_remove_node", {"creature": "bo"}, {}, "sends bo away", True),
        ("group_remove_node", {"creature": "ed"}, SPLIT, "sends ed away, and bo goes out of hearing", True),
        ("group_start_node", {"creature": "bo"}, {}, "wakes bo", True),
        ("group_stop_node", {"creature": "bo"}, {}, "puts bo to rest", True),
        ("group_status", {}, None, "looks round", False),
        ("group_channel", {"action": "open", "name": "den"}, {}, "opens the channel den", False),
        ("group_channel", {"action": "join", "channel": "den"}, {}, "joins den", False),
        (
            "group_channel",
            {"action": "join", "channel": "den", "creature": "bo@moat"},
            MERGED,
            "brings bo to den, and bo, cy and dot come within hearing",
            True,
        ),
        (
            "group_channel",
            {"action": "leave", "channel": "den", "creature": "bo"},
            MANY,
            "takes bo off den, and n0, n1, n2, n3, n4, n5 and 34 more go out of hearing",
            True,
        ),
        (
            "group_wire",
            {"action": "add", "source": "ada", "target": "bo"},
            {},
            "hands what ada says to bo",
            False,
        ),
    ],
)
def test_a_deed_is_one_plain_sentence(
    tool: str, arguments: dict[str, str], result: Any, words: str, moves: bool
) -> None:
    assert deed_of(tool, arguments, result, refusal=None) == Deed(words, moves)


def test_what_was_only_considered_or_refused_moves_nobody() -> None:
    given = {"creature": "bo"}

    considered = deed_of("group_remove_node", given, {"is_forecast": True, **SPLIT}, refusal=None)
    refused = deed_of("group_remove_node", given, None, refusal="bo is protected.")

    assert considered == Deed("considers whether to send bo away", moves_somebody=False)
    assert refused == Deed("cannot send bo away: bo is protected.", moves_somebody=False)


def test_every_group_tool_has_a_deed_and_no_other_tool() -> None:
    assert frozenset(ARGUMENTS) == GROUP_TOOLS
    assert deed_of("calculator", {"expression": "3*4"}, None, refusal=None) is None
