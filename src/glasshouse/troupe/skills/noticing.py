"""Noticing: what a player with a part says of what a visitor told, beside a line of its script.

A script without lines of its own for events answers the thing that a visitor names. Always holds: whoever speaks first after a visitor says what happened, the next asks about
it, and somebody comes back to it once; a line beside which there is no room for it is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasshouse.troupe import kinds
from glasshouse.troupe.grammar import cores, filled, fits, with_capitals
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.skills.branches import Branch, Reply, with_line
from glasshouse.troupe.speaking import Speaker, Spoken
from glasshouse.troupe.surroundings import bare_name
from glasshouse.troupe.talk.echoes import is_echo
from glasshouse.troupe.talk.happenings import slots_of
from glasshouse.troupe.talk.situation import Event, Situation
from glasshouse.troupe.talk.understanding import TALK

_OUTSIDE: Final = frozenset({"visitor", "strange", "outside"})
_TOLD: Final = ("note-event", "note-quoted")
_ASKED: Final = ("ask-event",)
_RETURNED: Final = ("return-event",)
lines_before_return_min: Final = 5
"""What a visitor told comes back no sooner."""


def noticed(speaker: Speaker, branches: Sequence[Branch], reply: Reply) -> Reply:
    """The same reply, with a sentence about what a visitor told where that is due."""
    reading = speaker.reading
    if reading.part is None or reading.part.knows_events or reply.branch.tool or not _has_visitors(reading):
        return reply
    situation = Situation(reading)
    event = next((event for event in situation.events if event.line.origin == "visitor"), None)
    if event is None:
        return reply
    if _is_due(reading, event):
        if not event.notes:
            sentences = _sentences(speaker, situation, event, _TOLD)
            tells_first = reply.branch.is_passing or _answers_what_comes_from_outside(reading, reply)
            if tells_first:
                return _told_first(speaker, branches, reply, sentences)
            return _set_beside(speaker, reply, sentences)
        if not event.asks:
            return _set_beside(speaker, reply, _sentences(speaker, situation, event, _ASKED))
    elif event.notes and not event.returns and event.lines_since >= lines_before_return_min:
        return _set_beside(speaker, reply, _sentences(speaker, situation, event, _RETURNED))
    return reply


def _has_visitors(reading: Reading) -> bool:
    return bool(reading.disturbances) or any(line.origin == "visitor" for line in reading.discussion)


def _is_due(reading: Reading, event: Event) -> bool:
    """Whether I speak for the first time since, and it is no old story."""
    return event.is_new_to_me and (
        event.line == reading.cause or event.line in (*reading.fresh, *reading.fresh_disturbances)
    )


def _answers_what_comes_from_outside(reading: Reading, reply: Reply) -> bool:
    """Whether the line answers what a visitor said. A line of the plot keeps its place, and stays whole."""
    if reading.part is None:
        return False
    known = reading.part.script.recognised(bare_name(reading.me.handle), str(reply.fields.get("text", "")))
    return known is not None and (known.entry.on in _OUTSIDE or bool(known.entry.hears))


def _sentences(speaker: Speaker, situation: Situation, event: Event, moves: Sequence[str]) -> list[str]:
    """The sentences of some moves that nobody has said in sight, those of the first move first."""
    slots = slots_of(event.happenings[0])
    sentences: list[str] = []
    for move in moves:
        fresh = [
            pattern
            for pattern in cores(TALK, move)
            if fits(pattern, slots) and (move, pattern.texts) not in situation.used_patterns
        ]
        dice = speaker.dice
        drawn = dice.sample(fresh, len(fresh))
        sentences += [
            with_capitals(f"{filled(pattern, slots, dice, set())}{pattern.mark}") for pattern in drawn
        ]
    return sentences


def _told_first(
    speaker: Speaker, branches: Sequence[Branch], reply: Reply, sentences: Sequence[str]
) -> Reply:
    """What happened, and behind it the line of my part; without that where there is no room for both."""
    if reply.branch.is_passing:
        branch = next((branch for branch in branches if branch.kind == kinds.AGENT_SPOKE), None)
        text = next(filter(speaker.may_say, sentences), "")
        thought = str(reply.fields.get("reason", ""))
        return reply if branch is None or not text else with_line(branch, Spoken(text, thought, ""))
    if not _takes_more_words(reply):
        return reply
    texts = [*(f"{sentence} {reply.fields['text']}" for sentence in sentences), *sentences]
    return _with_text(reply, next(filter(speaker.may_say, texts), ""))


def _set_beside(speaker: Speaker, reply: Reply, sentences: Sequence[str]) -> Reply:
    """The line of my part and a sentence behind it, if there is room; before it, where the line is a question."""
    if reply.branch.is_passing or not _takes_more_words(reply):
        return reply
    text = str(reply.fields["text"])
    is_asking = text.rstrip('" ').endswith("?")
    texts = (f"{sentence} {text}" if is_asking else f"{text} {sentence}" for sentence in sentences)
    # Beside a short line, what was told before would be most of it, and the line would be dropped as a copy.
    sayable = (whole for whole in texts if speaker.may_say(whole) and not is_echo(whole, speaker.reading))
    return _with_text(reply, next(sayable, ""))


def _with_text(reply: Reply, text: str) -> Reply:
    return reply._replace(fields={**reply.fields, "text": text}) if text else reply


def _takes_more_words(reply: Reply) -> bool:
    """Whether the line is talk: a text, and beside it at most the numbers of lines. What a game counts is left alone."""
    branch = reply.branch
    others = (schema for name, schema in branch.fields.items() if name != "text")
    return (
        isinstance(reply.fields.get("text"), str)
        and branch.kind not in kinds.INNER
        and all(
            isinstance(schema, dict) and (is_ref(schema) or is_ref(schema.get("items"))) for schema in others
        )
    )
