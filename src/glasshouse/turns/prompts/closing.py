"""The closing of a prompt: the line that is answered, and last of all what to do now.

Always holds: the closing asks for something new, because a small model says again what stands nearest. It names the line
it means by its number, so that it still means that line below a reply that did not count. On a tick it shows the newest
line of others that the discussion has, below words by which a reader knows the tick.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from glasshouse.events import kinds
from glasshouse.model_values import Form
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

_About: TypeAlias = Literal["line", "scene", "nothing"]
"""What the last line of a prompt is about."""
_FIRST_WORDS: Final = "nobody has spoken yet: say the first words now"
_ANSWERED_BY_TOOLS: Final = "Your tools have answered."
_CHANGED_FIRST: Final = "If something must be changed first, call a tool"
_CALLED: Final = "A call of a tool begins with {begins}."
_LOOKED_UP_FIRST: Final = (
    "Before you speak: if you are asked for a fact, use a tool first. Then the answer begins with {begins}."
)
_CALL_BEGINS: Final[dict[Form, str]] = {
    "schema": '{"kind":"tool.called"',
    "json": '{"kind":"tool.called"',
    "prose": "KIND: tool.called",
}
_REFLECT: Final = (
    "reflect now on {after} and on what was said before it: tell yourself what you understand now and did not before, and"
    " give the numbers of the lines that it rests on"
)
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
    if answered.is_scene:
        about: _About = "scene"
    else:
        about = "line" if answered.line or not answered.is_turn else "nothing"
    do = _request(character, about, after)
    return f"{_with_tools(moment, do)} {_how_to_speak(character)}{how_to_call(moment, moment.form)}"


def closing_sentences(handle: str, character: Character, form: Form) -> tuple[str, ...]:
    """What the last lines of the creature's prompts may say, without the line that is answered and its number."""
    how = _how_to_speak(character)
    requests = dict.fromkeys(_request(character, about, "this") for about in get_args(_About))
    return (
        *[f"You are {handle}. {do} {how}" for do in requests],
        TICK_AFTER,
        _LOOKED_UP_FIRST.format(begins=_CALL_BEGINS[form]),
        _CHANGED_FIRST,
        _ANSWERED_BY_TOOLS,
    )


def _request(character: Character, about: _About, after: str) -> str:
    new = "" if character.voice.may_repeat else _NEW
    new_words = "" if character.voice.may_repeat else _NEW_WORDS
    if character.reflects:
        return _REFLECT.format(after=after)
    if character.role == "judge":
        return f"say now what you find{new_words}"
    if character.role == "narrator":
        return f"say now what is seen or heard there after {after}{new_words}"
    if about == "scene":
        return f"speak now about what {after} shows you{new}"
    return f"answer {after} now{new}" if about == "line" else f"{_FIRST_WORDS}{new}"


def _with_tools(moment: Moment, do: str) -> str:
    """The request, after the use of a tool or before it. A small model that is not told of its tools there uses none."""
    spoken = f"{do[0].upper()}{do[1:]}"
    if moment.talk:
        return f"{_ANSWERED_BY_TOOLS} {spoken}, and rest on what they said."
    if not moment.tools:
        return f"{spoken}."
    if _looks_up(moment):
        return f"{spoken}."
    names = [safe_line(offer.name) for offer in moment.tools]
    which = f" ({', '.join(names)})" if len(names) <= tools_named_max else ""
    return f"{_CHANGED_FIRST}{which}. Else {do}."


def how_to_call(moment: Moment, form: Form) -> str:
    """How a call begins in a form, as the very last words; empty for who has no tool to call. Measured: small models call a tool about once in seven acts without
    these words, and in half of them with. Whatever stands last is nearly always followed by them, so the stronger words
    are only for tools that a call too many does not harm (ADR 0120)."""
    if not moment.tools or moment.talk:
        return ""
    begins = _CALL_BEGINS[form]
    how = _LOOKED_UP_FIRST if _looks_up(moment) else _CALLED
    return f" {how.format(begins=begins)}"


def _looks_up(moment: Moment) -> bool:
    """Whether some tool is none of those that change the graph."""
    return any(not offer.name.startswith(GROUP_PREFIX) for offer in moment.tools)


@lru_cache(maxsize=closing_cache_values_max)
def _how_to_speak(character: Character) -> str:
    temper = cut(safe_line(character.temper), temper_chars_max).rstrip(".")
    do = "Nobody hears it. Think in your own voice" if character.reflects else "Speak in your own voice"
    how = f"{do}, {temper}" if temper else do
    return f"{how}. At most {character.voice.say_words_max} words."
