"""What servers say of themselves and of their tools: declarations, descriptions and answers, as values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import CallToolResult

from glasshouse.errors import Refused
from glasshouse.events.codec import canonical_json
from glasshouse.events.described_tool import DescribedTool
from glasshouse.tools.function import result_bytes_max
from glasshouse.tools.mcp.described import described, description_with_parameters_chars_max
from glasshouse.tools.mcp.hiding import hid
from glasshouse.tools.mcp.results import answer_from
from glasshouse.tools.mcp.tool_server import ToolServer

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEY = "sk-this-is-secret"


def defined(**fields: Any) -> dict[str, Any]:
    """A tool's definition as a server sends it."""
    return {"name": "forecast", "description": "The weather.", "inputSchema": {"type": "object"}, **fields}


def test_a_changed_definition_has_another_digest() -> None:
    digests = {
        tool.digest
        for fields in (
            {},
            {"description": "Other weather."},
            {"inputSchema": {"type": "object", "description": "Not shown, but changed."}},
            {"annotations": {"readOnlyHint": True}},
        )
        for tool in described("weather", [defined(**fields)]).values()
        if isinstance(tool, DescribedTool)
    }

    assert len(digests) == 4
    assert described("weather", [defined()]) == described("weather", [defined(title="Not shown.")])


def test_a_tool_is_read_only_if_its_server_says_exactly_that() -> None:
    for hints, is_read_only in (
        ({"readOnlyHint": True}, True),
        ({"readOnlyHint": "yes"}, False),
        ("x", False),
    ):
        tool = described("weather", [defined(annotations=hints)])["weather/forecast"]
        assert isinstance(tool, DescribedTool)
        assert tool.is_read_only is is_read_only


@given(
    st.lists(
        st.fixed_dictionaries({}, optional=dict.fromkeys(defined(annotations=None), ANYTHING)), max_size=4
    )
)
def test_whatever_a_server_lists_is_described_or_refused(definitions: list[dict[str, Any]]) -> None:
    for name, tool in described("weather", definitions).items():
        assert name.startswith("weather/")
        assert len(name) < 80
        if isinstance(tool, DescribedTool):
            assert len(tool.description) <= description_with_parameters_chars_max
            assert tool.description.isprintable()
            assert canonical_json(tool)


@given(st.lists(st.text(max_size=2_000), max_size=5), ANYTHING, st.booleans())
def test_whatever_a_tool_answers_fits_the_ledger(texts: list[str], data: Any, is_error: bool) -> None:
    blocks = [{"type": "text", "text": text} for text in texts]
    result = CallToolResult.model_validate(
        {"content": blocks, "structuredContent": data, "isError": is_error}
    )

    answer = answer_from(result, [])

    assert answer.is_ok is not is_error
    assert answer.text
    assert len(answer.text.encode()) <= result_bytes_max
    assert len(canonical_json(answer.result)) <= result_bytes_max


def test_keys_are_taken_out_of_texts_and_data() -> None:
    assert hid({KEY: [f"a {KEY}!", 1, None]}, [KEY]) == {"***": ["a ***!", 1, None]}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "Weather", "url": "http://localhost/"}, "No tool server can be called 'Weather'."),
        ({"name": "a/b", "url": "http://localhost/"}, "No tool server can be called 'a/b'."),
        ({}, "it needs a command or a url, and not both."),
        ({"command": ["x"], "url": "http://localhost/"}, "it needs a command or a url, and not both."),
        ({"command": "python weather.py"}, "its command is not a list of words."),
        ({"command": ["python", ""]}, "a word of its command is empty or holds a zero byte."),
        ({"url": "localhost:8000"}, "its url is not the address of a server."),
        ({"url": "http://[::1/mcp"}, "its url is not the address of a server."),
        ({"url": "file:///etc/passwd"}, "its url is not the address of a server."),
        ({"url": f"https://ada:{KEY}@example.org/"}, "its url holds a user name or a password."),
        (
            {"url": "http://example.org/mcp", "headers": {"X-Key": "KEY"}},
            "it would get a key over plain HTTP.",
        ),
        ({"command": ["x"], "headers": {"X-Key": "KEY"}}, "headers are for a url."),
        ({"url": "http://localhost/", "variables": ["KEY"]}, "variables are for a command."),
        ({"command": ["x"], "variables": [KEY]}, "what should be the name of a variable is none."),
        ({"url": "https://example.org/", "headers": {"X Key": "KEY"}}, "a header has no plain name."),
        ({"command": ["x"], "seconds_max": 0}, "seconds_max is 0."),
        ({"command": ["x"], "seconds_max": float("nan")}, "seconds_max is nan."),
    ],
)
def test_a_declaration_that_cannot_work_is_refused_in_words(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused) as refusal:
        ToolServer(**{"name": "weather", **fields})

    assert words in str(refusal.value)
    assert KEY not in str(refusal.value)


def test_a_declaration_shows_its_command_or_its_address_without_a_query() -> None:
    assert ToolServer("a", command=["python", "my server.py"]).shown == "python 'my server.py'"
    assert ToolServer("a", url=f"https://example.org/mcp?key={KEY}#x").shown == "https://example.org/mcp"
    assert KEY not in repr(ToolServer("a", url=f"https://example.org/mcp?key={KEY}"))
    assert ToolServer("a", url="http://[::1]:8000/mcp").is_loopback
    assert not ToolServer("a", url="https://example.org/mcp").is_loopback
