"""Prose: a reply that was written line by line, `KIND: … / THINK: … / SAY: …`, as the object that it stands for.

Always holds: only the labels of the kind that the reply names begin a field, so that words with a colon in a line stay
words. What stands behind a label is not checked here: the object is read like any other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from glasshouse.events import kinds
from glasshouse.events.event import Json
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import prose_label
from glasshouse.turns.moment.reply_schema import fields_of, kinds_offered
from glasshouse.turns.moment.tools import ToolOffer

label_cache_values_max: Final = 256
"""Kept so as not to be computed again: the labels of replies in prose."""

_NOTHING: Final = frozenset({"", "-", "\u2013", "\u2014", "none"})
_SILENCE: Final = frozenset({"-", "\u2013", "\u2014"})
_DECORATION: Final = " \t\n*_`\"'."
_REFS: Final = re.compile(r"[;,\n]")
_SPLITS: Final = {"events": _REFS, "some_events": _REFS, "strings": re.compile(r"[;\n]")}
_ALWAYS: Final = ("kind", "thought", "mood")


def prose_in(text: str, moment: Moment) -> Json | None:
    """The object that a text gives line by line; none if no line begins with a label."""
    mark = _labels(("arguments",))[0].search(text) if moment.tools else None
    named = labelled_values(text if mark is None else text[: mark.start()], ("kind", "tool"))
    kind = _kind(named, moment)
    if kind == kinds.TOOL_CALLED:
        return _call(text, mark, _offer(named, moment.tools))
    sorts = fields_of(kind, moment.playbill)
    names = (*_ALWAYS, "reason") if kind == kinds.AGENT_PASSED else (*_ALWAYS, *sorts)
    given = labelled_values(text, names)
    if not given:
        return None
    if given.get("text", "").strip() in _SILENCE:
        return {"kind": kinds.AGENT_PASSED, "thought": given.get("thought")}
    reply: Json = {name: _value(value, sorts.get(name)) for name, value in given.items()}
    if kind:
        reply["kind"] = kind
    return reply


def _call(text: str, mark: re.Match[str] | None, offer: ToolOffer | None) -> Json:
    """The object of a call. Below `ARGUMENTS:` only the tool's own labels count, so a parameter may be called `kind`."""
    sorts: Json = {} if offer is None else offer.parameters.get("properties", {})
    about = (*_ALWAYS, "tool")
    if mark is None:  # Small models leave the line out.
        reply: Json = {
            n: _value(value, sorts.get(n)) for n, value in labelled_values(text, (*about, *sorts)).items()
        }
    else:
        reply = {**labelled_values(text[: mark.start()], about)}
        below = text[mark.end() :].strip()
        given = labelled_values(below, (*sorts,)) if sorts else {}
        arguments = {name: _value(value, sorts[name]) for name, value in given.items()}
        reply["arguments"] = (
            arguments if arguments or below.strip(_DECORATION).casefold() in _NOTHING else below
        )
    return {**reply, "kind": kinds.TOOL_CALLED}


def in_prose_words(problem: str, moment: Moment, *, is_call: bool) -> str:
    """A problem that names fields, with their labels as prose has them."""
    names = {"kind", "thought", "tool", "reason"}
    for kind in kinds_offered(moment.character.may_emit):
        names.update(fields_of(kind, moment.playbill))
    labels = {name: prose_label(name, ()) for name in names}
    if is_call:
        given = [name for offer in moment.tools for name in offer.parameters.get("properties", ())]
        labels |= {name: name.upper() for name in ("arguments", *given)}
    return re.sub(r'"(\w+)"', lambda match: labels.get(match[1], match[0]), problem)


def _kind(named: Json, moment: Moment) -> str:
    """The kind that a reply names or must mean; empty if it can be any."""
    offered = kinds_offered(moment.character.may_emit)
    if "kind" in named:
        kind: str = named["kind"].strip(_DECORATION).casefold()
        is_tool = kind in [offer.name.casefold() for offer in moment.tools]
        return kinds.TOOL_CALLED if is_tool else kind
    if "tool" in named and moment.tools:
        return kinds.TOOL_CALLED
    if len(offered) == 1:
        return offered[0]
    return kinds.AGENT_SPOKE if kinds.AGENT_SPOKE in offered else ""


def _offer(named: Json, offers: tuple[ToolOffer, ...]) -> ToolOffer | None:
    given = str(named.get("tool") or named.get("kind") or "").strip(_DECORATION).casefold()
    alone = offers[0] if len(offers) == 1 else None
    return next((offer for offer in offers if offer.name.casefold() == given), alone)


def labelled_values(text: str, names: tuple[str, ...]) -> dict[str, str]:
    """Field -> what stands behind its label, up to the next label. Of a label that comes twice, the first counts."""
    pattern, fields = _labels(names)
    marks = list(pattern.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    values: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=False):
        name = fields[mark[1].upper().replace(" ", "_")]
        value = text[mark.end() : end].strip()
        # A name is one line. What follows may be a field whose label is not known yet.
        values.setdefault(name, value.partition("\n")[0] if name in ("kind", "tool") else value)
    return values


@lru_cache(maxsize=label_cache_values_max)
def _labels(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern for the labels of some fields, and label -> field. A field is also known by its own name."""
    fields = {name.upper(): name for name in names} | {prose_label(name, names): name for name in names}
    words = "|".join(
        [re.escape(label).replace("_", "[_ ]") for label in sorted(fields, key=len, reverse=True)]
    )
    pattern = rf"^[ \t*_>#-]*({words})[*_]*[ \t]*[:\uff1a][*_]*"
    return re.compile(pattern, re.MULTILINE | re.IGNORECASE), fields


def _value(given: str, sort: Any) -> Any:
    """A value as an object would have it: lists are split, what looks like JSON is left for the reader."""
    if isinstance(sort, dict) and sort.get("type") == "array":
        sort = "strings"
    split = _SPLITS.get(sort) if isinstance(sort, str) else None
    if split is None:
        return given
    items = [item.strip(" \t-*[]") for item in split.split(given)]
    return [item for item in items if item.casefold() not in _NOTHING]
