"""The text of a line: what a creature said, made safe for one physical line of a prompt.

Always holds: text in a prompt has no control character, no line or paragraph separator, no direction override, no
invisible tag, no lone surrogate and no control token of a chat template. So it can neither end its line nor look like
another line, and to no tokenizer does it end a message (ADR 0065). A `Reading` is the part of an event that is the same
in every prompt. It depends only on what every hearer may see: the speaker's handle, the kind and the payload, never an
id, a turn or a time. Readings are cached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import filterfalse, islice, repeat
from json import JSONEncoder
from json.encoder import encode_basestring
from typing import Any, Final

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, TERRARIUM, VISITOR, Event, Json, is_event_id

line_chars_max: Final = 1_200
"""A longer line is cut in prompts."""
field_chars_max: Final = 240
"""A longer field beside the text of a line is cut."""
fields_chars_max: Final = 800
"""All fields beside the text of a line share this space; what does not fit is left out."""
reading_cache_events_max: Final = 32_768
"""How many are kept: events as prompts show them; more are computed again."""
words_cache_texts_max: Final = 1_024
"""How many are kept: the words of texts; more are computed again."""
heads_cache_max: Final = 4_096
"""Kept so as not to be computed again: how lines name a speaker and a kind."""

ELLIPSIS: Final = "…"
UNSAFE: Final = (
    r"\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
"""The characters that never appear raw in a prompt, as the inside of a regular expression's character class."""

_unsafe: Final = re.compile(f"[{UNSAFE}]")
_blank: Final = re.compile(rf"[\s{UNSAFE}]+")
_control_token: Final = re.compile(
    r"[<\uff1c\ufe64](?=[|\uff5c]|[^\s<>]{1,64}[>\uff1e\ufe65])"  # <|im_end|>, <s>, </think>, <turn|>, DeepSeek's bars
    r"|[\[\uff3b](?=[|\uff5c]|/?[a-z]?[A-Z][A-Z0-9_]+[\]\uff3d]|e~\[)"  # [INST], [/INST], [gMASK], [|system|]
    r"|\](?=~)|>>(?=[A-Z]+<<)"  # ]~b] and [e~[ of MiniMax, >>QUESTION<< of Falcon
)
"""The first characters of whatever a tokenizer may read as a control token. It matches by shape, not by a list of known
tokens, so that it holds for model families to come."""
_encode: Final = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_PLAIN_WORD: Final = re.compile(r"[a-z]{4,}")
"""The same for text that is all ASCII; it is faster."""
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
"""A character as JSON escapes it; its letters belong to no word."""
_HOLLOW: Final = frozenset(
    _PLAIN_WORD.findall(
        "about after again also because been before being between both came cannot come could does done down each "
        "even ever every from gave give goes gone have here into itself just know like made make many maybe more "
        "most much must never nothing once only other over quite really said same shall should some something still "
        "such take than that their them then there these they thing think this those though through upon very want "
        "well went were what when where which while whom whose will with without would your yours",
    )
)
"""Words that do not say what a text is about."""
_STRIKING: Final = frozenset(
    (kinds.USER_INJECTED, kinds.JUDGE_VERDICT, kinds.AGENT_REFLECTED, kinds.WORLD_OBSERVED)
)


def compact_json(value: Any) -> str:
    """A JSON value on one line of a prompt, with everything unsafe in its texts escaped or defanged."""
    text = _encode(value)
    # Unsafe characters are never printable.
    return defanged(text if text.isprintable() else _unsafe.sub(_escaped, text))


def quoted(text: str, chars_max: int) -> str:
    """A text in quotation marks, cut to a bound before it is escaped."""
    written = encode_basestring(text if len(text) <= chars_max else cut(text, chars_max))
    return defanged(written if written.isprintable() else _unsafe.sub(_escaped, written))


def one_line(text: str) -> str:
    """A text with every run of blanks, line ends and unsafe characters folded to one space."""
    if "  " not in text and text.isprintable():  # Then the only blanks in it are single spaces.
        return text.strip()
    return _blank.sub(" ", text).strip()


def safe_line(text: str) -> str:
    """A text as `one_line` gives it, defanged: words of others that a prompt shows without quotation marks."""
    return defanged(one_line(text))


def defanged(text: str) -> str:
    """The text with a space inside whatever a tokenizer may read as a control token: `<|im_end|>` is `< |im_end|>`."""
    if "<" in text or "[" in text or "]" in text or not text.isascii():
        return _control_token.sub(r"\g<0> ", text)
    return text


def cut(text: str, chars_max: int) -> str:
    """The text, cut to at most `chars_max` characters; a cut text ends with an ellipsis."""
    return text if len(text) <= chars_max else text[: chars_max - 1] + ELLIPSIS


def and_more(names: list[str], count: int) -> str:
    """Some names, and how many more of `count` there are."""
    more = [f"{count - len(names)} more"] if names and count > len(names) else []
    return ", ".join(names + more)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


class Reading(msgspec.Struct, frozen=True, gc=False):
    """The part of an event that is the same in every prompt that shows it."""

    payload: Json
    kind: str
    actor: str
    known_as: str | None
    head: str
    body: str
    rest: Json
    """The fields other than the text that are shown unchanged."""
    points: dict[str, list[str]]
    """Field -> event ids, for the fields that cite other events."""
    words: tuple[str, ...]
    is_striking: bool
    """Whether it may be remembered, whatever it is about: a question, and lines of some kinds."""
    has_text: bool


def is_line_for(creature_id: str, event: Event) -> bool:
    """Whether an event that a creature sees is a line for it."""
    kind = event.kind
    return kind not in kinds.NO_LINES and (kind not in kinds.INNER or event.actor == creature_id)


def speaker_of(actor: str, known_as: str | None) -> tuple[str, str]:
    """The name that a line shows for its actor, and the origin of the line."""
    if actor == VISITOR:
        return "visitor", "visitor"
    if actor in (CONDUCTOR, TERRARIUM):
        return "world", "world"
    return safe_line(known_as or "") or "somebody", "cast"


_reading_cache: dict[int, Reading] = {}
"""The key is the `id()` of a payload. Each entry keeps its payload alive, so that the `id()` is not used again."""


def reading_of(event: Event, known_as: str | None) -> Reading:
    """The reading of an event whose actor has this handle."""
    payload = event.payload
    kind = event.kind
    actor = event.actor
    reading = _reading_cache.get(id(payload))
    if reading is None or (reading.kind, reading.actor, reading.known_as) != (kind, actor, known_as):
        if len(_reading_cache) >= reading_cache_events_max:
            # Many at once: a dict finds its first key slowly after keys before it were deleted.
            for oldest in [*islice(_reading_cache, reading_cache_events_max // 64 + 1)]:
                del _reading_cache[oldest]
        reading = _reading_cache[id(payload)] = _read(payload, kind, actor, known_as)
    return reading


def forget_readings(events: Iterable[Event]) -> None:
    """Let the readings of events go that are no longer in memory themselves."""
    for event in events:
        _reading_cache.pop(id(event.payload), None)


def _read(payload: Json, kind: str, actor: str, known_as: str | None) -> Reading:
    rest = payload.copy()
    text = rest.pop("text", None)
    if kind == kinds.USER_INJECTED:
        rest.pop("copy_of", None)  # It names a line of another graph.
    points = {field: ids for field, value in rest.items() if (ids := _ids_in(value))} if rest else {}
    for field in points:
        del rest[field]
    has_text = isinstance(text, str)
    body = quoted(text, line_chars_max) if has_text and not rest else body_of(text, rest)
    is_striking = kind in _STRIKING or (has_text and "?" in text)
    # Quoted and otherwise unchanged, a text has the same words, which were looked for when it was said.
    words = content_words(text if body[1:-1] == text else _ESCAPE.sub(" ", body))
    head = _head_of(actor, known_as, kind)
    return Reading(payload, kind, actor, known_as, head, body, rest, points, words, is_striking, has_text)


def words_of_line(event: Event) -> tuple[str, ...]:
    """The words of a line, as prompts count them. They depend on nobody who hears it."""
    # No reading is kept: lines are indexed once, and most are old.
    return _read(event.payload, event.kind, event.actor, None).words


@lru_cache(maxsize=heads_cache_max)
def _head_of(actor: str, known_as: str | None, kind: str) -> str:
    """What a line shows before its body: who said it, and what kind of line it is."""
    handle, origin = speaker_of(actor, known_as)
    return f"{handle} ({origin}, {kind}): "


def body_of(text: object, rest: Json) -> str:
    """What a line shows after its colon: the quoted text, then the other fields if there are any."""
    said = quoted(text, line_chars_max) if isinstance(text, str) else '""'
    return f"{said} {_fields(rest)}" if rest else said


def _fields(rest: Json) -> str:
    """The other fields as JSON. If that is too long, long texts are cut and fields that do not fit are left out."""
    written = compact_json(rest)
    if len(written) <= fields_chars_max:
        return written
    parts: list[str] = []
    room = fields_chars_max - 2
    for field, value in rest.items():
        short = cut(value, field_chars_max) if isinstance(value, str) else value
        part = compact_json({cut(field, field_chars_max): short})[1:-1]
        if len(part) + 1 <= room:
            parts.append(part)
            room -= len(part) + 1
    return "{" + ",".join(parts) + "}"


def _ids_in(value: object) -> list[str]:
    """The event ids in a field's value; empty if it holds anything else."""
    if isinstance(value, list):
        return value if all(map(is_event_id, value)) else []
    return [value] if is_event_id(value) else []


@lru_cache(maxsize=words_cache_texts_max)
def content_words(text: str) -> tuple[str, ...]:
    """The words that say what a text is about, each once, without an `s` at the end, in the order of the text."""
    pattern = _PLAIN_WORD if text.isascii() else _WORD
    words = pattern.findall(text.casefold())
    return tuple(dict.fromkeys(map(str.rstrip, filterfalse(_HOLLOW.__contains__, words), repeat("s"))))
