"""The closing of a prompt: the line that is answered, and last of all what to do now.

Always holds: the closing asks for something new, because a small model says again what stands nearest. It names the line
it means by its number, so that it still means that line below a reply that did not count. On a tick it shows the newest
line of others that the discussion has, below words by which a reader knows the tick.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.events import kinds
from glasshouse.turns.moment import line_text
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.line_text import cut, quoted, safe_line
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.tools import GROUP_PREFIX
from glasshouse.turns.prompts.lines import NumberedLines, older_cause
from glasshouse.world.hearing.wires import asked_chars_max

temper_chars_max: Final = 80
"""A longer temper is cut in the last line of a prompt."""
tools_named_max: Final = 4
"""More tools are not named in the last line of a prompt: their list stands above."""
closing_cache_values_max: Final = 1_024
"""Kept so as not to be computed again: how a creature speaks, as the last line of its prompts says it."""

TICK: Final = "It is your turn."
TICK_AFTER: Final = "It is your turn. This was said last:"
ASKED: Final = "You are asked"
KEPT_BACK: Final = "said something. The words were not handed to you."

_NEW: Final = ", with something that nobody has said yet"
_NEW_WORDS: Final = ", in words that nobody has used yet"


class Answered(NamedTuple):
    """What a prompt answers."""

    line: str = ""
    """The physical line; empty if there is none."""
    line_index: int | None = None
    """Its index among the numbered lines; none if it is not one of them."""
    is_scene: bool = False
    """Whether it tells what there is to see. Such a line is no question."""
    is_turn: bool = False
    """Whether the creature has its turn and answers nothing: the line is only what was said last."""


def answered_by(moment: Moment, lines: NumberedLines, discussed: range) -> Answered:
    """The line of the cause; if the cause is no line, as on a tick, the newest line of others in the discussion."""
    index = lines.index_of(moment.cause.id)
    if index is not None:
        return Answered(lines.text(index), index, _is_scene(lines, index))
    line = older_cause(moment, lines)
    if line is not None:
        return Answered(line, None, moment.cause.kind == kinds.WORLD_OBSERVED)
    if moment.is_kept_back:
        return Answered()
    newest = _newest_of_others(moment.creature_id, lines, discussed)
    if newest is None:
        return Answered(is_turn=True)
    return Answered(lines.text(newest), newest, _is_scene(lines, newest), is_turn=True)


def _is_scene(lines: NumberedLines, index: int) -> bool:
    return lines.reading(index).kind == kinds.WORLD_OBSERVED


def _newest_of_others(creature_id: str, lines: NumberedLines, discussed: range) -> int | None:
    for index in reversed(lines.said):
        if index < discussed.start:
            return None
        if lines.reading(index).actor != creature_id:
            return index
    return None


def closing_lines(moment: Moment, answered: Answered) -> list[str]:
    """The lines of the last section: what is answered, what a wire asks with it, and what to do now."""
    handed = moment.handed
    cause = moment.cause
    line = answered.line
    if answered.is_turn:
        shown = [TICK_AFTER, line] if line else [TICK]
    elif line:
        shown = [line]
    else:
        handle, origin = line_text.speaker_of(cause.actor, moment.handles.get(cause.actor))
        shown = [f"{handle} ({origin}, {cause.kind}) {KEPT_BACK}"]
    # What a wire asks is quoted as a whole, so that it can look like nothing else.
    asked = [f"{ASKED}: {quoted(handed.asked, asked_chars_max)}"] if handed and handed.asked else []
    return [*shown, *asked, f"You are {moment.handle}. {what_to_do(moment, answered)}"]


def what_to_do(moment: Moment, answered: Answered) -> str:
    """What the last line asks for, and how to speak."""
    character = moment.character
    number = answered.line[: answered.line.index("]") + 1] if answered.line else ""
    after = f"line {number}" if number else "this"
    new_words = "" if character.voice.may_repeat else _NEW_WORDS
    match character.role:
        case "judge":
            do = f"say now what you find{new_words}"
        case "narrator":
            do = f"say now what is seen or heard there after {after}{new_words}"
        case _:
            do = _spoken(moment, answered, after)
    return f"{_with_tools(moment, do)} {_how_to_speak(character)}{_how_to_call(moment)}"


def _spoken(moment: Moment, answered: Answered, after: str) -> str:
    new = "" if moment.character.voice.may_repeat else _NEW
    if answered.is_scene:
        return f"speak now about what {after} shows you{new}"
    if answered.line or not answered.is_turn:
        return f"answer {after} now{new}"
    return f"nobody has spoken yet: say the first words now{new}"


def _with_tools(moment: Moment, do: str) -> str:
    """The request, after the use of a tool or before it. A small model that is not told of its tools there uses none."""
    spoken = f"{do[0].upper()}{do[1:]}"
    if moment.talk:
        return f"Your tools have answered. {spoken}, and rest on what they said."
    if not moment.tools:
        return f"{spoken}."
    if _looks_up(moment):
        return f"{spoken}."
    names = [safe_line(offer.name) for offer in moment.tools]
    which = f" ({', '.join(names)})" if len(names) <= tools_named_max else ""
    return f"If something must be changed first, call a tool{which}. Else {do}."


def _how_to_call(moment: Moment) -> str:
    """How a call begins, as the very last words. Measured: small models call a tool about once in seven acts without
    these words, and in half of them with. Whatever stands last is nearly always followed by them, so the stronger words
    are only for tools that a call too many does not harm (ADR 0120)."""
    if not moment.tools or moment.talk:
        return ""
    begins = "KIND: tool.called" if moment.form == "prose" else '{"kind":"tool.called"'
    if _looks_up(moment):
        return f" Before you speak: if you are asked for a fact, use a tool first. Then the answer begins with {begins}."
    return f" A call of a tool begins with {begins}."


def _looks_up(moment: Moment) -> bool:
    """Whether some tool is none of those that change the graph."""
    return any(not offer.name.startswith(GROUP_PREFIX) for offer in moment.tools)


@lru_cache(maxsize=closing_cache_values_max)
def _how_to_speak(character: Character) -> str:
    temper = cut(safe_line(character.temper), temper_chars_max).rstrip(".")
    how = f"Speak in your own voice, {temper}" if temper else "Speak in your own voice"
    return f"{how}. At most {character.voice.say_words_max} words."
