"""Replies: reads what a model wrote as a draft, a pass, a tool call, or a problem that the model can correct.

Always holds: `draft_from` never raises, whatever the text and the form it was asked in. The kind of a draft was
offered to the creature. It has the fields of that kind and no others (a last verdict may add `named`), and every event
that it cites is in the moment. Its texts are one line each, without unsafe characters, bounded in words, and never in
the name of another creature. A tool call names an offered tool, and has all its required arguments, each of its type,
and no unknown ones.

The steps: find the JSON object (or the labelled lines of prose), check its kind and fields, clean its texts, look up
the lines that it cites. Small models add fences, labels and lines of others; cleaning removes them and never adds
words. An object is read as it was written; only commas before a closing bracket are removed, and a last brace is
added. A value is read leniently if its meaning is clear. What is wrong is raised as `Wrong`, in a sentence that names
the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.codec import json_copy
from glasshouse.events.event import Draft, Json
from glasshouse.events.payloads import Private, builtins_of
from glasshouse.events.shown import Shown
from glasshouse.turns.moment import reply_schema
from glasshouse.turns.moment.line_text import ELLIPSIS, cut, one_line
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.placeholders import is_all_bracketed, is_placeholder
from glasshouse.turns.moment.reply_schema import NOBODY, items_max
from glasshouse.turns.moment.tools import ToolCall, ToolOffer
from glasshouse.turns.prompts.lines import event_ids_by_ref
from glasshouse.turns.prompts.masking import masked, unmasked
from glasshouse.turns.replies.prose import in_prose_words, prose_in

reply_chars_max: Final = 12_288
"""The rest of a reply is not read."""
argument_chars_max: Final = 4_000
"""A reply with a longer text argument for a tool is not accepted."""
number_size_max: Final = 10**15
"""A reply with a larger number is not accepted."""
named_chars_max: Final = 40
"""The second prompt quotes at most this much of an unknown name."""
objects_tried_max: Final = 8
"""A reply is searched for a JSON object at this many places."""
thought_chars_max: Final = 2_000
"""A longer thought is cut."""
mood_chars_max: Final = 60
"""A longer mood is cut."""
reason_chars_max: Final = 400
"""A longer reason to pass is cut."""
words_said_over_asked_max: Final = 2
"""How many times `say_words_max` a line may have before it is cut: a little over is alive, an essay is not."""
word_chars_max: Final = 24
"""What a word has on average at most, so that a text without blanks is bounded as well."""
looped_words_min: Final = 5
"""A group of this many words, said `looped_times_min` times in one text, is a loop of the model."""
looped_times_min: Final = 3
"""Twice may be meant; a third time nobody says five words on purpose."""
looped_words_again_min: Final = looped_words_min + looped_times_min - 2
"""A text with such a loop says at least this many words again: seven times the same word is the shortest one. Most texts say
fewer, which is quicker to see."""

_CITING: Final = ("events", "some_events")
_WORD: Final = re.compile(r"\w+")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}
_BESIDE_ARGUMENTS: Final = frozenset({"kind", "thought", "mood", "tool"})
_ARGUMENTS: Final = ("arguments", "parameters", "args")
"""Where the arguments of a call stand, and the words that small models write instead."""
_BROKEN: Final = (
    "The JSON object is broken or cut off: write it again, shorter, and close every quote and brace."
)
_NO_OBJECT: Final = 'There is no JSON object: answer with one that starts with {"kind": and nothing else.'
_NO_LINES: Final = (
    "There is no line that starts with SAY: write KIND:, THINK: and SAY:, a line each, with your words."
)
_REF: Final = re.compile(r"\[?\s*#?\s*([0-9]{1,12}|-[0-9]{1,2})\s*\]?")
_THINKING: Final = re.compile(r"\A\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_SPURIOUS_COMMA: Final = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$|```", re.MULTILINE)
_ROLE_TOKEN: Final = re.compile(
    r"<\|?(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|begin_of_text|user|assistant|system)\|?>"
    r"(?:[ \t]*(?:user|assistant|system)\b[ \t]*:?)?"
    r"|</?s>|\[/?INST\]|<<?/?SYS>>?|<(?:start|end)_of_turn>",
    re.IGNORECASE,
)
_OWN_ROLES: Final = frozenset({"assistant", "ai", "say", "answer", "response", "reply"})
_OTHER_ROLES: Final = frozenset({"user", "human", "system", "visitor", "world", "conductor", "terrarium"})
_LABEL: Final = re.compile(
    r"[ \t>*_#-]{0,8}(?:\[#?\w{1,12}\])?[ \t*_@]{0,4}([A-Za-z0-9][\w~-]{0,71}?)[*_]{0,3}[ \t]{0,4}"
    r"(?:\([^()\n]{0,80}\))?[ \t*_]{0,4}[:\uff1a][ \t*_]{0,8}"
)
_QUOTES: Final = dict(zip("\"'`\u201c\u2018\u201e\u00ab", "\"'`\u201d\u2019\u201c\u00bb", strict=True))
_SENTENCE_END: Final = re.compile(r"[.!?\u2026][\"'\u201d\u2019\u00bb)]?(?=\s|$)")
_SAYING: Final = re.compile(
    r"[^\W_]|[^\s\w\u2000-\u206f\u00ab\u00bb\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e]"
)
"""A letter, a digit, or a picture: anything but blanks and punctuation."""


class Wrong(ValueError):
    """Raised where a reply is wrong. `_read` catches it and returns a `Problem`."""


class Passed(msgspec.Struct, frozen=True, gc=False):
    """The creature has nothing to say, and may say why."""

    reason: str = ""
    private: Json | None = None


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Why a reply does not count, in a sentence that a small model can act on."""

    text: str


def draft_from(
    raw_text: str,
    moment: Moment,
    shown: Shown | None = None,
    *,
    reasoning: str | None = None,
    is_last: bool = False,
) -> Draft | Passed | ToolCall | Problem:
    """Read a model's reply. It may cite the lines that its prompt showed; without `shown`, every line of the moment.

    Reasoning is the private thought of a reply that gives none itself. The last reply cannot be corrected, so the valid
    parts of a verdict in it are kept.
    """
    masks = moment.masks
    text = raw_text[:reply_chars_max]
    if "<" in text and (thinking := _THINKING.match(text)) is not None:
        text = text[thinking.end() :]
        reasoning = reasoning or thinking[1]
    reply = _read(text, moment if masks is None else masked(moment, masks), shown, is_last=is_last)
    if isinstance(reply, Problem):
        return reply
    if reasoning:
        reply = _with_thought(reply, reasoning)
    return reply if masks is None else unmasked(reply, masks)


def _read(
    text: str, moment: Moment, shown: Shown | None, *, is_last: bool
) -> Draft | Passed | ToolCall | Problem:
    in_prose = moment.form == "prose"
    reply = None
    try:
        reply = (prose_in(text, moment) or object_in(text)) if in_prose else object_in(text)
        if reply is None and not in_prose and "{" not in text:
            reply = prose_in(text, moment)
        if reply is None:
            raise Wrong(_NO_LINES if in_prose else _BROKEN if "{" in text else _NO_OBJECT)
        if is_last and _is_verdict(reply, moment):
            return _last_verdict(reply, moment, shown)
        return _from_object(reply, moment, shown)
    except Wrong as wrong:
        is_call = reply is not None and _asks_for_tool(reply, moment.tools)
        return Problem(in_prose_words(str(wrong), moment, is_call=is_call) if in_prose else str(wrong))


def _with_thought(reply: Draft | Passed | ToolCall, reasoning: str) -> Draft | Passed | ToolCall:
    """The reply with the model's reasoning as its thought, if it has no thought of its own."""
    private = reply.private or {}
    thought = "" if "thought" in private else _note(reasoning, thought_chars_max)
    return replace(reply, private={"thought": thought, **private}) if thought else reply


def _from_object(
    reply: Json, moment: Moment, shown: Shown | None, *, must_cite: bool = True
) -> Draft | Passed | ToolCall:
    offered = reply_schema.kinds_offered(moment.character.may_emit)
    if moment.tools and _asks_for_tool(reply, moment.tools):
        offer = _offer(reply, moment.tools)
        arguments = arguments_in(_arguments(reply, offer), offer)
        _refuse_placeholders(arguments, kinds.TOOL_CALLED, moment)
        return ToolCall(offer.name, arguments, _private(reply, kinds.TOOL_CALLED, moment))
    kind = reply.get("kind")
    if kind not in offered:
        kind = _kind(kind, offered, has_tools=bool(moment.tools))
    if kind == kinds.AGENT_PASSED:
        notes = _notes(reply, kind, moment, reason=reason_chars_max)
        return Passed(notes["reason"], _private(reply, kind, moment))
    fields = reply_schema.fields_of(kind, moment.playbill)
    if not must_cite:
        fields = {name: "events" if sort == "some_events" else sort for name, sort in fields.items()}
    payload = {name: _value(name, sort, reply, moment, shown) for name, sort in fields.items()}
    _refuse_placeholders(payload, kind, moment)
    return Draft(kind=kind, payload=payload, private=_private(reply, kind, moment))


def _is_verdict(reply: Json, moment: Moment) -> bool:
    kind = reply.get("kind")
    offered = reply_schema.kinds_offered(moment.character.may_emit)
    if kind is None:
        return offered == (kinds.JUDGE_VERDICT,)
    return str(kind).strip().casefold() == kinds.JUDGE_VERDICT and kinds.JUDGE_VERDICT in offered


def _last_verdict(reply: Json, moment: Moment, shown: Shown | None) -> Draft | Passed | ToolCall:
    """The valid parts of a verdict: an unknown winner becomes nobody, kept as `named`; invalid cites are dropped."""
    given = reply.get("winner")
    cites = reply.get("cites")
    mended = dict(reply)
    ids = _ids(moment, shown)
    items = [cites] if isinstance(cites, str | int) else cites if isinstance(cites, list) else []
    mended["cites"] = [cited for cited in items if _ref(cited) in ids][:items_max]
    try:
        winners = reply_schema.words_allowed("winner", moment.playbill, ()) or ()
        mended["winner"] = word_in("winner", given, winners)
    except Wrong:
        mended["winner"] = NOBODY
    draft = _from_object(mended, moment, shown, must_cite=False)
    name_given = _note(str(given or ""), named_chars_max)
    if isinstance(draft, Draft) and mended["winner"] == NOBODY and name_given.casefold() not in ("", NOBODY):
        draft.payload["named"] = name_given
    return draft


def _kind(given: object, offered: tuple[str, ...], *, has_tools: bool) -> str:
    """The kind that is meant where none of those offered was given."""
    if given is None and len(offered) == 1:
        return offered[0]
    known = (*offered, kinds.AGENT_PASSED)
    folded = given.strip().casefold() if isinstance(given, str) else None
    if folded in known:
        return folded
    choice = ", ".join(f'"{kind}"' for kind in ((kinds.TOOL_CALLED, *known) if has_tools else known))
    if given is None:
        raise Wrong(f'The answer has no "kind": give one of {choice}.')
    raise Wrong(f"The kind may not be {named(given)}: give one of {choice}.")


def _private(reply: Json, kind: str, moment: Moment) -> Json | None:
    notes = _notes(reply, kind, moment, thought=thought_chars_max, mood=mood_chars_max)
    return builtins_of(Private(notes["thought"], notes["mood"])) or None


def _notes(reply: Json, kind: str, moment: Moment, **chars_max: int) -> dict[str, str]:
    """Notes of a reply, each cut to its bound. A placeholder is no note; it is not worth asking again for one."""
    notes = {name: _note(reply.get(name), bound) for name, bound in chars_max.items()}
    role = moment.character.role
    return {n: "" if is_placeholder(note, kind, n, role) else note for n, note in notes.items()}


def _note(value: object, chars_max: int) -> str:
    return cut(one_line(value), chars_max) if isinstance(value, str) else ""


def _value(name: str, sort: Any, reply: Json, moment: Moment, shown: Shown | None) -> Any:
    given = reply.get(name)
    if given is None:
        raise Wrong(f'The answer has no "{name}": add it.')
    if sort == "string":
        return _text(name, given, moment)
    words = reply_schema.words_allowed(sort, moment.playbill, reply_schema.handles_around(moment))
    if words is not None:
        return word_in(name, given, words)
    if sort == "number":
        return number_in(name, given)
    if sort == "boolean":
        return truth_in(name, given)
    if sort == "strings":
        return [_text(name, item, moment) for item in items_in(name, given)]
    if sort == "event":
        return _event_id(name, given, _ids(moment, shown))
    if sort in _CITING:
        if sort == "some_events" and given == []:
            raise Wrong(f'"{name}" is empty: give the number of at least one line that you rest on.')
        ids = _ids(moment, shown) if given else {}
        return list(dict.fromkeys([_event_id(name, item, ids) for item in items_in(name, given)]))
    return _text(name, given, moment)


def _text(name: str, given: object, moment: Moment) -> str:
    if not isinstance(given, str):
        raise Wrong(f'"{name}" must be text in quotation marks.')
    text = _said(given, moment)
    if _SAYING.search(text):
        if (looped := group_looped(given)) is not None:
            raise Wrong(f'"{name}" goes round in circles: "{looped}". Say it once, and shorter.')
        return text
    if _SAYING.search(given):
        raise Wrong(f'"{name}" speaks for somebody else: you are {moment.handle}, write only your own words.')
    raise Wrong(f'"{name}" is empty: write your words there, or answer with kind "agent.passed".')


def group_looped(text: str) -> str | None:
    """A group of words that a text says over and over; none if there is none."""
    words = _WORD.findall(text.casefold())
    if len(words) - len({*words}) < looped_words_again_min:
        return None
    groups = [*zip(*[words[start:] for start in range(looped_words_min)], strict=False)]
    if len(groups) - len({*groups}) < looped_times_min - 1:
        return None  # Quicker to see than which: too few groups stand there again.
    looped = next((group for group in groups if groups.count(group) >= looped_times_min), None)
    return None if looped is None else " ".join(looped)


def _refuse_placeholders(fields: Json, kind: str, moment: Moment) -> None:
    """Raise `Wrong` if a field, or a part of it, is what stood in the form, or looks like it."""
    role = moment.character.role
    for name, value in _texts_in(fields):
        if is_placeholder(value, kind, name, role) or is_all_bracketed(value):
            raise Wrong(f'"{name}" still holds what stood in the form: write your own words in its place.')


def _texts_in(fields: Json) -> Iterator[tuple[str, str]]:
    """Each text in some fields with the name of the field that it stands in."""
    for name, value in fields.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, list):
            for item in value:
                yield from _texts_in({name: item})
        elif isinstance(value, dict):
            yield from _texts_in(value)


def _event_id(name: str, given: object, ids: dict[str, str]) -> str:
    ref = _ref(given)
    if ref in ids:
        return ids[ref]
    like = f", such as {next(reversed(ids))}" if ids else ""
    raise Wrong(f'"{name}" names no line before you: {named(given)}. Use the number before a line{like}.')


def _ids(moment: Moment, shown: Shown | None) -> dict[str, str]:
    """Ref -> event id of the lines that a reply may cite, oldest first."""
    ids = event_ids_by_ref(moment)
    if shown is None:
        return ids
    citable = {*shown.discussion, *shown.remembered, *shown.disturbances, *shown.answered}
    return {ref: event_id for ref, event_id in ids.items() if event_id in citable}


def _ref(given: object) -> str:
    """The ref in the form that lines show; empty if the value is not a ref."""
    written = _REF.fullmatch(str(given).strip()) if isinstance(given, str | int) else None
    return str(int(written[1])) if written else ""


def object_in(text: str) -> Json | None:
    """The first object in a text that has a kind; else the first object; else none."""
    try:
        whole = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        return whole
    mended = _SPURIOUS_COMMA.sub(lambda match: match[1] or "", text)
    reply = _first_object(text) or _first_object(mended)
    if reply is None and (mended := mended.rstrip("` \t\n")).endswith("}"):
        # Small models forget the brace behind that of the arguments.
        reply = _first_object(f"{mended}}}")
    return reply


def _first_object(text: str) -> Json | None:
    first: Json | None = None
    at = text.find("{")
    for _ in range(objects_tried_max):
        if at < 0:
            break
        value: Json | None = None
        try:
            value, end = _decoder.raw_decode(text, at)
        except JSONDecodeError as wrong:
            # An object inside a broken one is a part of it, never a reply by itself.
            end = max(at + 1, wrong.pos)
        except (ValueError, RecursionError):
            end = at + 1
        if value is not None and "kind" in value:
            return value
        first = first or value
        at = text.find("{", end)
    return first


def _refused(constant: str) -> Any:
    raise ValueError(constant)


_decoder: Final = JSONDecoder(strict=False, parse_constant=_refused)
"""Accepts raw line ends in texts, which small models write; refuses NaN and infinity, which are not JSON."""


def _said(text: str, moment: Moment) -> str:
    """The creature's own words in what its model wrote; empty if there are none."""
    if "`" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if "<" in text or "[" in text:
        text = _ROLE_TOKEN.sub("\n", text)
    if ":" in text or "\uff1a" in text:  # Else no line begins with the name of who says it.
        text = " ".join(_own_lines(text, moment))
    words_max = moment.character.voice.say_words_max * words_said_over_asked_max
    return _bounded(_unquoted(one_line(text)), words_max)


def _bounded(text: str, words_max: int) -> str:
    """A text of at most this many words, cut after a whole sentence where half of them or more would stay."""
    chars_max = words_max * word_chars_max
    if text.count(" ") < words_max and len(text) <= chars_max:
        return text
    short = " ".join(text.split(" ")[:words_max])[: chars_max - 1].rstrip()
    ends = [end.end() for end in _SENTENCE_END.finditer(short)]
    return short[: ends[-1]] if ends and ends[-1] * 2 >= len(short) else short + ELLIPSIS


def _own_lines(text: str, moment: Moment) -> list[str]:
    """The lines before the first one that speaks for another, without labels of the creature itself."""
    handle = moment.handle.casefold()
    others = {*moment.handles.values(), *[neighbour.handle for neighbour in moment.around.neighbours]}
    not_mine = {name.casefold() for name in others} | _OTHER_ROLES
    kept: list[str] = []
    for line in text.splitlines():
        said = line
        while (label := _LABEL.match(said)) is not None:
            name = label[1].casefold()
            if name != handle and name in not_mine:
                return kept
            if name != handle and name not in _OWN_ROLES:
                break
            said = said[label.end() :]
        kept.append(said)
    return kept


def _unquoted(text: str) -> str:
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        inside = text[1:-1]
        if text[0] in inside or text[-1] in inside:
            return text
        text = inside.strip()
    return text


def word_in(name: str, given: object, words: tuple[str, ...]) -> str:
    """One of the words that a field may be."""
    if isinstance(given, bool):
        given = "yes" if given else "no"
    folded = one_line(given).strip("\"'`.@ ").casefold() if isinstance(given, str) else None
    for word in words:
        if word.casefold() == folded:
            return word
    choice = ", ".join(f'"{word}"' for word in words)
    raise Wrong(f'"{name}" may not be {named(given)}: give one of {choice}.')


def number_in(name: str, given: object) -> int | float:
    """A number, also where it was written as text."""
    if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
        given = float(given) if "." in given else int(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Wrong(f'"{name}" must be a number.')
    if not -number_size_max <= given <= number_size_max:
        raise Wrong(f'"{name}" is too large a number: stay under {number_size_max:,}.')
    return given


def truth_in(name: str, given: object) -> bool:
    """True or false, also where it was written as text."""
    truth = _TRUTHS.get(given.strip().casefold()) if isinstance(given, str) else given
    if not isinstance(truth, bool):
        raise Wrong(f'"{name}" must be true or false.')
    return truth


def items_in(name: str, given: object) -> list[Any]:
    """The items of a list; one alone is a list of one."""
    items = [given] if isinstance(given, str | int) else given
    if not isinstance(items, list):
        raise Wrong(f'"{name}" must be a list.')
    if len(items) > items_max:
        raise Wrong(f'"{name}" is too long a list: give at most {items_max}.')
    return items


def named(given: object) -> str:
    """A wrong value as a problem shows it: short, and on one line."""
    is_short = isinstance(given, str | int | float)
    return f'"{cut(one_line(str(given)), named_chars_max)}"' if is_short else "that"


def _asks_for_tool(reply: Json, offers: tuple[ToolOffer, ...]) -> bool:
    """Whether a reply wants to use a tool: it says so, or it gives the name of one where the kind should stand."""
    kind = reply.get("kind")
    if kind is None:
        return isinstance(reply.get("tool"), str)
    folded = kind.strip().casefold() if isinstance(kind, str) else ""
    return folded == kinds.TOOL_CALLED or folded in [offer.name.casefold() for offer in offers]


def _offer(reply: Json, offers: tuple[ToolOffer, ...]) -> ToolOffer:
    given = reply.get("tool")
    kind = str(reply.get("kind", "")).strip().casefold()
    if given is None and kind != kinds.TOOL_CALLED:
        given = kind
    names = tuple([offer.name for offer in offers])
    if given is None and len(offers) > 1:
        choice = ", ".join(f'"{name}"' for name in names)
        raise Wrong(f'The answer has no "tool": give one of {choice}.')
    name = names[0] if given is None else word_in("tool", given, names)
    return next(offer for offer in offers if offer.name == name)


def _arguments(reply: Json, offer: ToolOffer) -> Json:
    """The arguments of a call as they were given. Small models also write them beside the tool's name. This is accepted
    if it can mean nothing else: there is no object `arguments`, and every other field is a parameter of the tool."""
    parameters: Json = offer.parameters.get("properties", {})
    for name in _ARGUMENTS:
        given = reply.get(name)
        if isinstance(given, str) and given.lstrip()[:1] == "{":
            given = object_in(given)
        if isinstance(given, dict) and (name == "arguments" or name not in parameters):
            return given
    flat = {n: value for n, value in reply.items() if n not in _BESIDE_ARGUMENTS and value is not None}
    for name in flat:
        if name == "arguments" and name not in parameters:
            raise Wrong(f'"arguments" must give each argument of {offer.name} by its name.')
        if name not in parameters:
            raise Wrong(f'Put only the arguments of {offer.name} into "arguments": {named(name)} is none.')
    return flat


def arguments_in(given: Json, offer: ToolOffer) -> Json:
    """The arguments of a call as its schema wants them. What the schema does not know is left out."""
    return _fields_in(given, offer.parameters, f"The tool {offer.name}", offer.open_arguments)


def _fields_in(given: Json, schema: Json, whose: str, open_names: frozenset[str] = frozenset()) -> Json:
    required = schema.get("required", ())
    fields = {}
    for name, part in schema.get("properties", {}).items():
        value = given.get(name)
        if value is not None:
            fields[name] = (_open_argument if name in open_names else _argument)(name, value, part)
        elif name in required:
            raise Wrong(f'{whose} needs the argument "{name}": add it.')
    return fields


def _argument(name: str, given: Any, schema: Json) -> Any:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return _one_of(name, given, schema["enum"])
    match schema.get("type"):
        case "integer":
            number = number_in(name, given)
            if number != int(number):
                raise Wrong(f'"{name}" must be a whole number.')
            return _within(name, int(number), schema)
        case "number":
            return _within(name, number_in(name, given), schema)
        case "boolean":
            return truth_in(name, given)
        case "array":
            return [_argument(name, item, schema.get("items", {})) for item in items_in(name, given)]
        case "object":
            return _object_argument(name, given, schema)
        case _:
            return _text_argument(name, given)


def _open_argument(name: str, given: Any, schema: Json) -> Any:
    """One of the listed texts where it is meant; else the text as it is, for the tool to decide about."""
    try:
        return _argument(name, given, schema)
    except Wrong:
        return _text_argument(name, given)


def _one_of(name: str, given: Any, choices: list[Any]) -> Any:
    words = tuple([choice for choice in choices if isinstance(choice, str)])
    if len(words) == len(choices):
        return word_in(name, given, words)
    if given in choices and not isinstance(given, bool):
        return given
    read = number_in(name, given)
    if read in choices:
        return read
    raise Wrong(f'"{name}" may not be {named(given)}: give one of {", ".join(map(str, choices))}.')


def _within(name: str, number: int | float, schema: Json) -> int | float:
    least = schema.get("minimum")
    most = schema.get("maximum")
    if least is not None and number < least:
        raise Wrong(f'"{name}" must be {least} or more.')
    if most is not None and number > most:
        raise Wrong(f'"{name}" must be {most} or less.')
    return number


def _object_argument(name: str, given: Any, schema: Json) -> Json:
    given = object_in(given) if isinstance(given, str) else given  # Strict servers and prose give it as text.
    if not isinstance(given, dict):
        raise Wrong(f'"{name}" must be an object in braces.')
    if schema.get("properties"):
        return _fields_in(given, schema, f'"{name}"')
    try:
        return json_copy(kinds.TOOL_CALLED, _whole_texts(given))
    except (BadEvent, RecursionError) as wrong:
        raise Wrong(f'"{name}" is nested too deep, or holds a number that is too large.') from wrong


def _whole_texts(value: Any) -> Any:
    """The value without lone surrogates, which UTF-8 cannot encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole_texts(key): _whole_texts(part) for key, part in value.items()}
    return [_whole_texts(part) for part in value] if isinstance(value, list) else value


def _text_argument(name: str, given: Any) -> str:
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = str(given)
    if not isinstance(given, str) or not one_line(given):
        raise Wrong(f'"{name}" must be text in quotation marks.')
    if len(given) > argument_chars_max:
        raise Wrong(f'"{name}" is too long: write at most {argument_chars_max:,} characters.')
    return given.encode("utf-8", "replace").decode()
