"""The errors of PyYAML's parsers in plain words.

Always holds: each sentence says what to do. The two parsers of PyYAML word the same error differently; both are covered.
"""

from __future__ import annotations

from typing import Any

import yaml

_MESSAGES = (
    # (part of the parser's context, part of its problem, our message, whether the place is where it began)
    ("flow sequence", "expected ',' or ']'", "this '[' is not closed. Write ']' after the last item, and ',' between items.", True),
    ("flow mapping", "expected ',' or '}'", "this '{' is not closed. Write '}' after the last field, and ',' between fields.", True),
    ("quoted scalar", "end of stream", "this quotation mark is never closed. Write the closing one.", True),
    ("quoted scalar", "document separator", "this quotation mark is never closed. Write the closing one.", True),
    ("quoted scalar", "escape", "this escape after a backslash does not exist. Write '\\\\' for a backslash itself.", False),
    ("", "mapping values are not allowed", "a ':' is not allowed here. Put text that has ': ' in it in quotes, or correct the indentation.", False),
    ("simple key", "could not find expected ':'", "this line has no ':'. Write 'key: value', or indent text that continues.", True),
    ("block mapping", "", "this line is not indented like any line above. Correct the indentation.", False),
    ("block collection", "", "each item of a list begins with '- '. Put '- ' before this item, or correct the indentation.", False),
    ("flow node", "", "something is missing before this. Write a value, or close the bracket that is open.", False),
    ("block scalar", "", "after '|' or '>' the text begins on the next line, indented.", False),
    ("anchor", "", "a name of letters or digits follows '&' and '*'. Put text that begins with one of them in quotes.", False),
    ("alias", "", "a name of letters or digits follows '&' and '*'. Put text that begins with one of them in quotes.", False),
    ("tag", "", "text that begins with '!' needs quotes.", False),
    ("", "incompatible YAML", "this asks for another version of YAML. Remove the %YAML line.", False),
    ("directive", "", "a line that begins with '%' needs quotes.", False),
)  # fmt: skip


def words_for(fault: yaml.MarkedYAMLError, lines: list[str]) -> tuple[str, Any]:
    """A parser's error as a sentence, and the mark of its place."""
    context = fault.context or ""
    problem = fault.problem or ""
    mark = fault.problem_mark or fault.context_mark
    if "cannot start any token" in problem:
        return _stray_character(mark, lines), mark
    for in_context, in_problem, words, where_it_began in _MESSAGES:
        if in_context in context and in_problem in problem:
            return words, (fault.context_mark or mark) if where_it_began else mark
    return f"this is not YAML ({problem or 'it ends too early'}). Correct the line.", mark


def _stray_character(mark: Any, lines: list[str]) -> str:
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    letter = line[mark.column : mark.column + 1] if mark else ""
    if letter == "\t":
        return "a tab cannot indent YAML. Use spaces."
    return f"text cannot begin with {letter!r}. Put it in quotes."
