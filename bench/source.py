"""How much there is to read: lines of code of the engine, of the models and of the faces, the offline troupe aside.

A line of code has a token that is no comment and no docstring.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path
from typing import Final

import glasshouse
from bench.result import Result, figure

SOURCE: Final = Path(glasshouse.__file__).parent
TROUPE: Final = "troupe"
ENGINE: Final = "the engine"
_PARTS: Final = {
    "models": "models",
    "web": "the page's server",
    "runtime/sharing": "the page's server",
    "mcp_server": "assistants",
    "tools/mcp": "tool servers",
    "runtime/telemetry": "telemetry",
    "cli/watched": "telemetry",
    "frameworks": "other frameworks",
    "grids": "grids",
} | dict.fromkeys(("cli", "views", "contests", "testing"), "faces")
"""Folder -> its part, which its inner folders belong to as well unless they are named. All others are the engine (ADR 0079)."""

_NO_CODE: Final = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)


def run() -> list[Result]:
    """The lines of code of all modules, by part. They are figures to compare, without a bound (ADR 0113)."""
    lines = Counter({ENGINE: 0})
    for room, count in _lines_by_room().items():
        lines[_PARTS.get(room) or _PARTS.get(room.partition("/")[0], ENGINE)] += count
    return [figure(f"source: {part}", count, "lines of code") for part, count in lines.items()]


def _lines_by_room() -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in sorted(SOURCE.rglob("*.py")):
        folders = path.relative_to(SOURCE).parts[:-1]
        if TROUPE not in folders:
            counts["/".join(folders) or "."] += lines_of_code(path.read_text(encoding="utf-8"))
    return counts


def lines_of_code(text: str) -> int:
    """The number of lines that hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        n for token in tokens if token.type not in _NO_CODE for n in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - _docstring_lines(ast.parse(text)))


def _docstring_lines(tree: ast.Module) -> set[int]:
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return {n for node in texts for n in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
