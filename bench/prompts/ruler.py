"""The ruler: what is wrong with a line, measured against the texts that its prompt was made from.

Always holds: nothing here comes from the product, so that the ruler stays the same while the product's rules change. All
functions are pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

run_words_min: Final = 3
"""As many words in a row are a run."""
copied_words_min: Final = 5
"""A shorter line is never a copy."""
copied_share_min: Final = 0.5
"""From here on a line is a copy: as much of it stands in runs that one text has too."""
own_lines_max: Final = 6
"""A line is compared with as many of its creature's own last lines."""
heard_lines_max: Final = 12
"""A line is compared with as many of the last lines of others."""
group_words: Final = 5
group_times_min: Final = 3
"""A group of five words that is said three times in a line is a loop."""

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_QUOTED: Final = re.compile(r'"[^"]*"|\u201c[^\u201d]*\u201d')
_PLACEHOLDER: Final = re.compile(r"<([^<>\n]{1,120})>")
_BRACKETED: Final = re.compile(r"[<\[{(]\s*[^<>]{1,80}?\s*[>\]})]")
_SOME: Final = re.compile(r"some [a-z ]{1,40}")
_NUMBER: Final = re.compile(r"\[(\d{1,12})\]")
_REF: Final = re.compile(r"\[?\s*#?\s*(\d{1,12})\s*\]?")
_SAID: Final = re.compile(r"^\W*SAY\W*:(.*)$", re.MULTILINE)
_HOW: Final = "HOW TO ANSWER"
_HEADINGS: Final = ("WHAT YOU ANSWER NOW", "YOUR LAST ANSWER")


class Texts(NamedTuple):
    """What a line may be copied from."""

    voice: tuple[str, ...] = ()
    persona: tuple[str, ...] = ()
    """Persona, wants, temper, what it never does, and the goal of everybody."""
    prompt: tuple[str, ...] = ()
    """The forms and the closing of the prompt."""
    scene: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()


def words_of(text: str) -> list[str]:
    """The words of a text in small letters."""
    return [word.replace("\u2019", "'") for word in _WORD.findall(text.casefold())]


def share_in_runs(line_words: Sequence[str], text_words: Sequence[str]) -> tuple[int, int]:
    """How many words of a line stand in runs of three or more that a text has too, and how many words it has."""
    runs = set(zip(*[text_words[start:] for start in range(run_words_min)], strict=False))
    marked: set[int] = set()
    for start in range(len(line_words) - run_words_min + 1):
        if tuple(line_words[start : start + run_words_min]) in runs:
            marked.update(range(start, start + run_words_min))
    return len(marked), len(line_words)


def is_copy(line: str, text: str) -> bool:
    """Whether half of a line's words stand in runs that the text has too."""
    copied, words = share_in_runs(words_of(line), words_of(text))
    return words >= copied_words_min and copied >= words * copied_share_min


def copied_from(line: str, texts: Texts) -> list[str]:
    """Which sorts of texts a line is a copy of: `voice`, `persona`, `prompt`, `scene`, `own`, `heard`."""
    return [sort for sort, some in texts._asdict().items() if any(is_copy(line, text) for text in some)]


def loops(line: str) -> bool:
    """Whether a group of five words is said three times in a line."""
    words = words_of(line)
    groups = [tuple(words[start : start + group_words]) for start in range(len(words) - group_words + 1)]
    return any(groups.count(group) >= group_times_min for group in set(groups))


def prompt_texts(system: str, user: str) -> tuple[str, ...]:
    """The forms and the closing of a prompt: the values of its forms, its other lines about answering, and the last lines
    that quote nobody."""
    how = system.partition(f"{_HOW}\n")[2].splitlines()
    forms = [*chain.from_iterable(_values_or_line(line) for line in how)]
    at = max([user.rfind(heading) for heading in _HEADINGS], default=-1)
    closing = [line for line in user[max(at, 0) :].splitlines()[1:] if '"' not in line]
    return tuple(text for text in (*forms, *closing) if len(words_of(text)) >= run_words_min)


def _values_or_line(line: str) -> list[str]:
    try:
        return [text for _, text in strings_in(json.loads(line))]
    except ValueError:
        return [line]


def strings_in(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a JSON value, each with the name of its field."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from strings_in(part, str(key))
    elif isinstance(value, list):
        for part in value:
            yield from strings_in(part, name)


def object_in(raw: str) -> dict[str, Any] | None:
    """The JSON object that a reply is, or has in it; none if there is none."""
    for start in [match.start() for match in re.finditer(r"\{", raw)][:8]:
        try:
            value, _ = json.JSONDecoder().raw_decode(raw[start:])
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return None


def text_in(raw: str) -> str:
    """What a reply says aloud: its `text`, or what stands behind SAY."""
    reply = object_in(raw)
    if reply is not None:
        return str(reply.get("text") or "")
    said = _SAID.search(raw)
    return said[1].strip() if said else ""


def placeholders_in(reply: Mapping[str, Any], system: str) -> list[str]:
    """The fields whose value is a placeholder of the prompt's own forms: in brackets, or `some` and the field's name."""
    asked = {_plain(text) for text in _PLACEHOLDER.findall(system)}
    fields = []
    for name, value in strings_in(dict(reply)):
        is_some = _SOME.fullmatch(value.strip().casefold()) is not None
        is_some = is_some and _plain(value) == f"some {name.replace('_', ' ').casefold()}"
        if is_some or _BRACKETED.fullmatch(value.strip()) or _plain(value) in asked:
            fields.append(name)
    return fields


def _plain(text: str) -> str:
    return " ".join(words_of(text))


def cites_of(reply: Mapping[str, Any], ref_fields: Iterable[str], user: str) -> str:
    """Whether the lines that a reply cites are shown: `none` are asked for, `empty`, `valid` or `invalid`."""
    names = [name for name in ref_fields if name in reply]
    if not names:
        return "none"
    given = [*chain.from_iterable(_listed(reply[name]) for name in names)]
    if not given:
        return "empty"
    shown = {*_NUMBER.findall(user)}
    refs = [_REF.fullmatch(str(ref).strip()) for ref in given]
    return "valid" if all(ref is not None and ref[1] in shown for ref in refs) else "invalid"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def own_words(line: str, *, cites: bool) -> str:
    """A line without what it quotes, if it cites and five words of its own are left."""
    rest = _QUOTED.sub(" ", line)
    return rest if cites and len(words_of(rest)) >= copied_words_min else line


def measures_of(
    raw: str, line: str, texts: Texts, *, system: str, user: str, words_max: int, ref_fields: Iterable[str]
) -> dict[str, Any]:
    """Everything that is measured of one reply. `line` is what it says aloud; empty if it says nothing."""
    reply = object_in(raw)
    cites = "none" if reply is None else cites_of(reply, ref_fields, user)
    kind = "" if reply is None else str(reply.get("kind", ""))
    copied = copied_from(own_words(line, cites=cites == "valid"), texts)
    speaks = kind not in ("agent.passed", "tool.called")
    return {
        "json": reply is not None and raw.strip().startswith("{"),
        "kind": kind,
        "words": len(words_of(line)),
        "recited": "voice" in copied,
        "prompt_text": "prompt" in copied and "voice" not in copied,
        "persona": "persona" in copied,
        "scene": "scene" in copied,
        "said_again": "own" in copied,
        "echoed": "heard" in copied,
        "placeholder": [] if reply is None else placeholders_in(reply, system),
        "empty": speaks and not words_of(line),
        "loop": loops(line),
        "over_long": len(words_of(line)) > words_max,
        "cites": cites,
        "calls_tool": kind == "tool.called",
    }


def is_clean(measures: Mapping[str, Any]) -> bool:
    """Whether a line says something, and nothing that the ruler measures is wrong with it."""
    wrong = (
        "recited",
        "prompt_text",
        "persona",
        "scene",
        "said_again",
        "echoed",
        "placeholder",
        "empty",
        "loop",
    )
    is_said = measures["words"] > 0
    return is_said and not any(measures[name] for name in wrong) and measures["cites"] != "invalid"
