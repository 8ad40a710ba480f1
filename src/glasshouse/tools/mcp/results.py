"""The answer of a server's tool as text for a model and data for programs, both bounded.

Always holds: an answer that is too long is cut, never refused: the tool has done its work, and a failure would say that it
has not. Images, sounds and files are named, not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json, json_copy
from glasshouse.tools.function import result_bytes_max
from glasshouse.tools.mcp.hiding import hid
from glasshouse.turns.moment.line_text import compact_json, cut, one_line
from glasshouse.turns.moment.tools import ToolAnswer

if TYPE_CHECKING:
    from mcp.types import CallToolResult

blocks_max: Final = 64
"""What a tool answers in more blocks is left out behind these."""
name_shown_chars_max: Final = 80
"""The name of a file or an image that an answer holds is cut here."""


def answer_from(result: CallToolResult, keys: Sequence[str]) -> ToolAnswer:
    """What a tool answered, as the SDK reads it, without these keys."""
    texts = [_shown(block) for block in result.content[:blocks_max]]
    if len(result.content) > blocks_max:
        texts.append(f"[{len(result.content) - blocks_max} more parts, not kept]")
    is_ok = not result.is_error
    data = hid(_data(result.structured_content), keys)
    text = str(hid("\n".join([text for text in texts if text]), keys))
    if not text and data is not None:
        text = compact_json(data)
    whole = text.encode("utf-8", "replace")
    if len(whole) > result_bytes_max:
        note = f" [cut: the answer has {len(whole):,} bytes]"
        whole = (
            whole[: result_bytes_max - len(note.encode())].decode("utf-8", "ignore").encode() + note.encode()
        )
    if data is not None and len(canonical_json(data)) > result_bytes_max:
        data = None
    return ToolAnswer(is_ok=is_ok, text=whole.decode() or ("Done." if is_ok else "It failed."), result=data)


def _shown(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio" as sort:
            return f"[{sort}, {_name(block.mime_type)}, {len(block.data) * 3 // 4:,} bytes, not kept]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if isinstance(text, str) else f"[file {_name(block.resource.uri)}, not kept]"
        case "resource_link":
            return f"[link to {_name(block.uri)}]"
        case sort:
            return f"[{_name(sort)}, not kept]"


def _name(value: Any) -> str:
    return cut(one_line(str(value)), name_shown_chars_max)


def _data(structured: Any) -> Any:
    """Structured content as the ledger can hold it; none if it cannot."""
    try:
        data = json_copy(kinds.TOOL_RETURNED, {"value": structured})["value"]
        canonical_json(data)
    except (BadEvent, OverflowError, TypeError, ValueError, RecursionError):
        return None
    return data
