"""Wires: which wires carry a line, and what the target is asked.

Always holds: what a wire hands over is a function of the wire, the line and the speaker's handle at that moment. So
it can be folded again, and later changes of the wire do not matter. A wire without content never shows a word of the
line. In the question to the target, values from the line are in quotation marks. The question has a maximum length.
ADR 0036.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from json import JSONEncoder
from string import Formatter
from typing import Final

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.carried import CarriedHandover
from glasshouse.events.event import Event
from glasshouse.world.hearing.conditions import condition_of, holds
from glasshouse.world.state.state import World
from glasshouse.world.state.values import Wire

prompt_chars_max: Final = 1_000
"""A longer prompt of a wire is refused."""
heard_chars_max: Final = 400
"""A longer value is cut in a wire's prompt."""
asked_chars_max: Final = 1_200
"""A filled-in wire prompt is cut here."""
templates_cache_max: Final = 1_024
"""How many are kept: parsed prompts of wires; more are computed again."""

ALWAYS_KNOWN: Final = frozenset({"handle", "kind"})
"""Placeholders that a wire may use even without content."""

_EXAMPLE: Final = "Write one such as: What do you make of {text}, {handle} asks."
_ELLIPSIS: Final = "…"
_encode: Final = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Parts = tuple[tuple[str, str | None], ...]
"""A template: texts, each with the placeholder that follows it, if any."""


class Handed(CarriedHandover, frozen=True, gc=False, array_like=True):
    """What a wire adds to a line, as snapshots keep it: whether the target gets the words, and what it is asked."""


def check_wire(*, with_content: bool, prompt: str | None, when: str | None) -> None:
    """Refuse a wire with a malformed condition or prompt."""
    if isinstance(when, str):
        condition_of(when)
    if not isinstance(prompt, str):
        return
    for name in placeholders_of(prompt):
        if not with_content and name not in ALWAYS_KNOWN:
            raise Refused(
                f"A wire without content cannot show {{{name}}} in its prompt.",
                "Use {handle} and {kind} alone, or let the wire carry the words.",
            )


def placeholders_of(prompt: str) -> tuple[str, ...]:
    """The placeholders of a wire's prompt, or a refusal if one is not allowed."""
    return tuple(name for _, name in _template(prompt) if name is not None)


@lru_cache(maxsize=templates_cache_max)
def _template(prompt: str) -> Parts:
    if len(prompt) > prompt_chars_max:
        raise Refused(f"The prompt has {len(prompt):,} characters.", f"Write at most {prompt_chars_max:,}.")
    try:
        parts = list(Formatter().parse(prompt))
    except ValueError:
        raise Refused(
            "The prompt has a single '{' or '}'.", f"Write it twice for a literal brace. {_EXAMPLE}"
        ) from None
    for _, name, form, conversion in parts:
        if name is not None and (form or conversion or not _is_field(name)):
            shown = f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"
            raise Refused(
                f"There is no placeholder {{{shown}}}.",
                "Use {handle}, {kind}, {text}, or the name of another field of the line.",
            )
    return tuple((text, name) for text, name, _, _ in parts)


def _is_field(name: str) -> bool:
    return name.isascii() and name.islower() and name.replace("_", "a").isalnum() and name[0].isalpha()


def handed(wire: Wire, event: Event, handle: str) -> Handed:
    """What a wire hands over with a line of its source. `handle` is the handle of the source."""
    if wire.prompt is None:
        return Handed(wire.with_content)
    try:
        parts = _template(wire.prompt)
    except Refused:  # Written before prompts were checked, so it is shown unchanged.
        return Handed(wire.with_content, _cut(wire.prompt, asked_chars_max))
    filled = "".join(
        text + ("" if name is None else _filling(wire, event, handle, name)) for text, name in parts
    )
    return Handed(wire.with_content, _cut(filled, asked_chars_max))


def _filling(wire: Wire, event: Event, handle: str, name: str) -> str:
    """The value of a placeholder: handle and kind unchanged, values of the line as quoted JSON."""
    if name == "handle":
        return handle
    if name == "kind":
        return event.kind
    value = event.payload.get(name) if wire.with_content else None
    if value is None:
        return ""
    written = value if isinstance(value, str) else _encode(value)
    return _encode(_cut(written, heard_chars_max))


def _cut(text: str, chars_max: int) -> str:
    return text if len(text) <= chars_max else text[: chars_max - 1] + _ELLIPSIS


def is_carried(event: Event) -> bool:
    """Whether wires carry an event: it must be a line that ended an act, and not a thought."""
    kind = event.kind
    return event.ends_its_act and kind not in kinds.WITHOUT_A_LINE and kind not in kinds.INNER


def wires_taken(world: World, event: Event) -> Iterator[Wire]:
    """The wires that carry a line, in a world that has just folded it."""
    if event.actor in world.wires_of and is_carried(event):
        for wire_id in world.wires_of[event.actor]:
            wire = world.wires[wire_id]
            if wire.source == event.actor and holds(wire.when, event):
                yield wire
