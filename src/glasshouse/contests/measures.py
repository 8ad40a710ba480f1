"""Measures of a rehearsal: how well a model plays a world in one form, counted from its calls and from what was said.

Always holds: everything is counted, nothing is judged by a model. A share or a mean comes with how many it was counted
over and its 95 % interval: Wilson's for shares, the normal one for means, that of order statistics for medians.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, stdev
from typing import Final, NamedTuple

import msgspec

from glasshouse.contests.copied_text import closing_texts, form_texts, has_placeholder
from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, Event, Json, text_of
from glasshouse.events.payloads import CreatureStarted, RunStarted, payload_of, sealed_of
from glasshouse.turns.moment.line_text import content_words
from glasshouse.turns.moment.playbill import KEPT, DealRule, playbill_of
from glasshouse.turns.moment.prompt import Completion, Prompt, text_digest
from glasshouse.turns.replies.copied import is_copy, own_words
from glasshouse.turns.replies.prose import labelled_values
from glasshouse.turns.replies.repetition import (
    lines_remembered_max,
    own_lines_compared_max,
    says_the_same,
    table_lines_compared_max,
)
from glasshouse.turns.replies.reply import object_in
from glasshouse.turns.replies.sealed_words import is_sealed_word, says_word

z_of_95_percent: Final = 1.96
words_of_a_language_min: Final = 4
"""A line with fewer words tells nothing about its language."""

_FENCE: Final = re.compile(r"```|~~~")
_REFUSAL: Final = re.compile(
    r"\bas an ai\b|\bai (?:language )?model\b|\bi(?:'m| am) sorry,? but\b|\bi can(?:no|')t (?:assist|help|comply|continue)",
    re.IGNORECASE,
)
_LABELLED: Final = re.compile(r"^[ \t*_>#-]*([A-Z_]+)[*_]*[ \t]*[:\uff1a](.*)$", re.MULTILINE)
_REF: Final = re.compile(r"#?\[?(\d+[a-z]*)\]?")
_STOP_WORDS: Final = {
    "en": "the and of to is you that it he was for on are with as his they be at this have from not but what",
    "de": "der die und das ist nicht ein eine ich sie es den mit sich auf dem zu wir auch noch wie aber nur",
    "fr": "le la les et est un une que qui dans pas pour sur avec ce il elle nous vous des du au mais comme",
    "es": "el la los las y es un una que en no por para con se lo como pero su del al más yo ella nosotros",
    "it": "il lo la gli le e è un una che di non per con si come ma del della nel sono io lei noi anche",
    "pt": "o a os as e é um uma que de não por para com se como mas do da em no na eu ela nós também",
    "nl": "de het een en is niet van dat die ik je hij zij we met voor op maar ook nog als naar zijn",
}
_STOPS: Final = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
_SCRIPTS: Final = {
    "zh": "\u4e00-\u9fff",
    "ja": "\u3040-\u30ff",
    "ko": "\uac00-\ud7af",
    "ru": "\u0400-\u04ff",
    "ar": "\u0600-\u06ff",
    "hi": "\u0900-\u097f",
}
_IN_SCRIPT: Final = {language: re.compile(f"[{signs}]") for language, signs in _SCRIPTS.items()}
_WORD: Final = re.compile(r"[^\W\d_]+")


class Measure(msgspec.Struct, frozen=True):
    """One figure: its value, the bounds of its interval, and how many it was counted over. None: nothing to count."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Sample(msgspec.Struct, frozen=True):
    """One request to a model and its answer; none if there was none."""

    prompt: Prompt
    completion: Completion | None = None


class Rehearsed(msgspec.Struct, frozen=True):
    """What one model did in one form: the calls, the events of each round, and the made-up word that a visitor said."""

    samples: tuple[Sample, ...]
    rounds: tuple[tuple[Event, ...], ...]
    handles: tuple[str, ...]
    nonces: tuple[str, ...]
    language: str = "en"


def share(hits: Iterable[bool]) -> Measure:
    """The share of hits, with Wilson's interval, which is sound also for few and for all or none."""
    counted = list(hits)
    n = len(counted)
    if not n:
        return Measure()
    p = sum(counted) / n
    zz = z_of_95_percent**2
    middle = p + zz / (2 * n)
    spread = z_of_95_percent * math.sqrt(p * (1 - p) / n + zz / (4 * n * n))
    return Measure(
        p, max(0.0, (middle - spread) / (1 + zz / n)), min(1.0, (middle + spread) / (1 + zz / n)), n
    )


def average(values: Iterable[float]) -> Measure:
    """The mean, with the normal interval; of one value there is none."""
    counted = list(values)
    if not counted:
        return Measure()
    middle = mean(counted)
    n = len(counted)
    spread = z_of_95_percent * stdev(counted) / math.sqrt(n) if n > 1 else 0.0
    return Measure(middle, middle - spread, middle + spread, n)


def quantile(values: Iterable[float], q: float) -> Measure:
    """A quantile, with the interval that its order statistics give."""
    counted = sorted(values)
    n = len(counted)
    if not n:
        return Measure()
    spread = z_of_95_percent * math.sqrt(n * q * (1 - q))
    at, low, high = (min(n - 1, max(0, math.floor(x))) for x in (n * q, n * q - spread, n * q + spread))
    return Measure(counted[at], counted[low], counted[high], n)


def measures_of(rehearsed: Rehearsed) -> dict[str, Measure]:
    """All measures of a rehearsal, by name, in the order of the table."""
    events = [event for played in rehearsed.rounds for event in played]
    acts = [event for event in events if event.ends_its_act and event.model is not None and event.calls]
    spoken = [event for event in acts if event.kind not in kinds.NO_LINES]
    answers = [sample for sample in rehearsed.samples if sample.completion is not None]
    replies = [sample.completion for sample in answers if sample.completion is not None]
    texts = [text for reply in replies if (text := text_in_reply(reply.text))]
    cited = [is_shown for sample in answers for is_shown in _citations(sample)]
    language = _code_of(rehearsed.language)
    prompts = _prompts_by_digest(rehearsed.samples)
    copied = [reply for played in rehearsed.rounds for reply in _copies(played, prompts)]
    tokens = [reply.usage for reply in replies]
    return {
        "valid at first try": share(
            len(event.calls) == 1 and event.kind != kinds.AGENT_FAILED for event in acts
        ),
        "repaired": share(len(event.calls) > 1 and event.kind != kinds.AGENT_FAILED for event in acts),
        "cut by length": share(reply.finish == "length" for reply in replies),
        "fenced": share(bool(_FENCE.search(reply.text)) for reply in replies),
        "refused": share(
            reply.finish == "filtered" or bool(_REFUSAL.search(reply.text)) for reply in replies
        ),
        "passed": share(event.kind == kinds.AGENT_PASSED for event in acts),
        "near-duplicate": share(is_same for played in rehearsed.rounds for is_same in _repetitions(played)),
        "recited": share(reply.recites for reply in copied if reply.speaks),
        "echoed": share(reply.echoes for reply in copied if reply.speaks),
        "prompt text": share(reply.quotes_prompt for reply in copied if reply.speaks),
        "placeholder": share(reply.has_placeholder for reply in copied),
        "new words a line": average(new for played in rehearsed.rounds for new in new_words(played)),
        "uptake": share(
            _is_taken_up(played, nonce)
            for played, nonce in zip(rehearsed.rounds, rehearsed.nonces, strict=True)
            if nonce
        ),
        "citation accuracy": share(cited),
        "speaks for others": share(speaks_for_others(text, rehearsed.handles) for text in texts),
        "leaks": share(says for played in rehearsed.rounds for says in _leaks(played)),
        "language": share(
            spoken_in == language
            for event in spoken
            if language and (spoken_in := language_of(text_of(event))) is not None
        ),
        "p50 seconds": quantile([reply.milliseconds / 1_000 for reply in replies], 0.5),
        "p95 seconds": quantile([reply.milliseconds / 1_000 for reply in replies], 0.95),
        "load seconds": Measure(
            max([reply.load_ms for reply in replies], default=0.0) / 1_000, n=len(replies)
        ),
        "prompt tokens": average(usage.input for usage in tokens),
        "cached share": ratio([(usage.cache_read, usage.input) for usage in tokens]),
        "usd a turn": _usd_a_turn(rehearsed.rounds),
    }


def ratio(parts_of_wholes: Sequence[tuple[int, int]]) -> Measure:
    """The sum of the parts in the sum of the wholes, with the normal interval of such a ratio."""
    n = len(parts_of_wholes)
    whole = sum(whole for _, whole in parts_of_wholes)
    if not whole:
        return Measure(n=n)
    share_of_all = sum(part for part, _ in parts_of_wholes) / whole
    if n < 2:
        return Measure(share_of_all, share_of_all, share_of_all, n)
    off = sum((part - share_of_all * whole) ** 2 for part, whole in parts_of_wholes) / (n - 1)
    spread = z_of_95_percent * math.sqrt(off / n) / (whole / n)
    return Measure(share_of_all, max(0.0, share_of_all - spread), min(1.0, share_of_all + spread), n)


def _usd_a_turn(rounds: Sequence[Sequence[Event]]) -> Measure:
    """What a turn of a graph cost; unknown if the price of any call is."""
    dollars: dict[tuple[int, str, int], float | None] = {}
    for number, played in enumerate(rounds):
        for event in played:
            turn = (number, event.graph_id, event.turn)
            if event.kind == kinds.TURN_STARTED:
                dollars.setdefault(turn, 0.0)
            for usd in [call.usd for call in event.calls if call.reached]:
                before = dollars.get(turn, 0.0)
                dollars[turn] = None if usd is None or before is None else before + usd
    known = [usd for usd in dollars.values() if usd is not None]
    return average(known) if len(known) == len(dollars) else Measure(n=len(dollars))


def _repetitions(played: Sequence[Event]) -> list[bool]:
    """For each reply: whether it says again what was said lately, also if another line was said in its place."""
    said: list[tuple[str, str]] = []
    repetitions: list[bool] = []
    for event in played:
        own = [text for actor, text in said if actor == event.actor][-own_lines_compared_max:]
        lately = [*own, *[text for _, text in said[-table_lines_compared_max:]]]
        texts = [text for call in event.calls if (text := text_in_reply(call.completion))]
        repetitions += [any(says_the_same(text, other) for other in lately) for text in texts]
        if event.kind not in kinds.NO_LINES and event.kind not in kinds.INNER:
            said.append((event.actor, text_of(event)))
    return repetitions


class _Copied(NamedTuple):
    """What one reply took from elsewhere."""

    speaks: bool
    """Whether it says something aloud: a pass and the call of a tool do not."""
    recites: bool
    """A line of its creature's voice."""
    echoes: bool
    """One of its creature's last lines, or of the last lines that were heard."""
    quotes_prompt: bool
    """The form, the closing or the scene."""
    has_placeholder: bool


def _prompts_by_digest(samples: Iterable[Sample]) -> dict[str, str]:
    """The texts of prompts by the digests under which events name them."""
    texts = {text for sample in samples for text in (sample.prompt.system, sample.prompt.user)}
    return {text_digest(text): text for text in texts}


def _copies(played: Sequence[Event], prompts: Mapping[str, str]) -> list[_Copied]:
    """What each reply took from elsewhere, also if another line was said in its place."""
    voices: dict[str, tuple[str, ...]] = {}
    may_repeat: set[str] = set()
    scenes: list[str] = []
    said: list[tuple[str, str]] = []
    copied: list[_Copied] = []
    for event in played:
        if event.kind == kinds.CREATURE_STARTED:
            started = payload_of(event, CreatureStarted)
            voice = (started.manifest or {}).get("voice", {})
            voices[started.creature] = tuple(voice.get("examples", ()))
            may_repeat |= {started.creature} if voice.get("may_repeat") else set()
        own = [text for actor, text in said if actor == event.actor][-own_lines_compared_max:]
        heard = [text for actor, text in said if actor != event.actor][-table_lines_compared_max:]
        for call in event.calls:
            reply = _reply_in(call.completion)
            line = text_in_reply(call.completion)
            line = own_words(line) if _cites(reply) else line
            system = prompts.get(call.system, "")
            around = (*scenes, *form_texts(system), *closing_texts(prompts.get(call.user, "")))
            recites = is_copy(line, voices.get(event.actor, ()))
            if reply is not None or line:
                echoes = event.actor not in may_repeat and is_copy(line, (*own, *heard))
                quotes_prompt = not recites and is_copy(line, around)
                is_left = reply is not None and has_placeholder(reply, system)
                copied.append(_Copied(bool(line), recites, echoes, quotes_prompt, is_left))
        if event.kind == kinds.WORLD_OBSERVED and event.actor == CONDUCTOR:
            scenes.append(text_of(event))
        elif event.kind not in kinds.NO_LINES and event.kind not in kinds.INNER:
            said.append((event.actor, text_of(event)))
    return copied


def _cites(reply: Json | None) -> bool:
    """Whether a reply names lines by their numbers. Then it may quote them."""
    values = [*(reply or {}).values()]
    lists = [value if isinstance(value, list) else [value] for value in values]
    return any(
        items and all(isinstance(item, str) and _REF.fullmatch(item.strip()) for item in items)
        for items in lists
    )


def _leaks(played: Sequence[Event]) -> list[bool]:
    """For each reply of a creature that holds a sealed word which nobody has said yet: whether it says the word."""
    rules: dict[str, DealRule] = {}
    words: dict[str, dict[str, str]] = {}
    said = ""
    leaks = list[bool]()
    for event in played:
        if event.kind == kinds.RUN_STARTED:
            rules = playbill_of(payload_of(event, RunStarted).scenario).deal
        if event.sealed is not None:
            sealed = sealed_of(event)
            kept = {fact: word for fact, word in sealed.facts.items() if is_sealed_word(word)}
            for owner in sealed.to:
                words.setdefault(owner, {}).update(kept)
        held = [
            word
            for fact, word in words.get(event.actor, {}).items()
            if not rules.get(fact, KEPT).may_be_said_in(event.kind) and not says_word(said, word)
        ]
        if held and event.kind not in {*kinds.INNER, kinds.JUDGE_VERDICT}:
            texts = [text for call in event.calls if (text := text_in_reply(call.completion))]
            leaks += [any(says_word(text, word) for word in held) for text in texts]
        if event.kind not in kinds.NO_LINES and event.kind not in kinds.INNER:
            said += f"\n{event.payload.get('text', '')}"
    return leaks


def text_in_reply(raw: str) -> str:
    """The public text of a reply as the model wrote it, before anything was cleaned."""
    reply = object_in(raw) or labelled_values(raw, ("kind", "thought", "text", "mood"))
    text = reply.get("text")
    return text if isinstance(text, str) else ""


def new_words(events: Iterable[Event]) -> list[int]:
    """For each line that a creature said: how many of its words nobody had said within the last lines."""
    lines = [event for event in events if event.kind not in kinds.NO_LINES and event.kind not in kinds.INNER]
    words = [frozenset(content_words(text_of(event))) for event in lines]
    counts = []
    for at, event in enumerate(lines):
        if event.model is not None:
            heard = frozenset().union(*words[max(0, at - lines_remembered_max) : at])
            counts.append(len(words[at] - heard))
    return counts


def _is_taken_up(events: Sequence[Event], nonce: str) -> bool:
    """Whether a creature said the word of the visitor."""
    return any(
        event.model is not None and nonce in text_of(event).casefold()
        for event in events
        if event.kind not in kinds.NO_LINES
    )


def _citations(sample: Sample) -> list[bool]:
    """For each line that a reply cites: whether the prompt showed it."""
    reply = None if sample.completion is None else _reply_in(sample.completion.text)
    branches = (sample.prompt.schema or {}).get("anyOf", ())
    branch = next((branch for branch in branches if reply and _kind_of(branch) == reply.get("kind")), None)
    if reply is None or branch is None:
        return []
    cited: list[bool] = []
    for name, allowed in _ref_fields(branch).items():
        given = reply.get(name)
        items = given if isinstance(given, list) else [] if given is None else str(given).split(",")
        refs = [_REF.fullmatch(str(item).strip()) for item in items]
        cited += [ref is not None and ref[1] in allowed for ref in refs]
    return cited


def _reply_in(raw: str) -> Json | None:
    """A reply as fields, also if it was written line by line; none if it is neither."""
    labelled = {label.casefold(): words.strip() for label, words in _LABELLED.findall(raw)}
    return object_in(raw) or (labelled if "kind" in labelled else None)


def _kind_of(branch: Json) -> object:
    return branch.get("properties", {}).get("kind", {}).get("const")


def _ref_fields(branch: Json) -> dict[str, frozenset[str]]:
    """The fields that cite lines, and the numbers that were shown."""
    fields = {}
    for name, schema in branch.get("properties", {}).items():
        words = schema.get("items", schema).get("enum", ())
        refs = [_REF.fullmatch(str(word)) for word in words]
        if refs and all(refs) and name != "kind":
            fields[name] = frozenset([ref[1] for ref in refs if ref is not None])
    return fields


def speaks_for_others(text: str, handles: Iterable[str]) -> bool:
    """Whether a text has a line that begins with somebody's name, as in a script: its own name counts, too."""
    names = "|".join(map(re.escape, (*handles, "user", "assistant", "system", "visitor")))
    return (
        re.search(rf"(?:^|\n)[ \t*_>\[(#-]*(?:{names})[\])*_]*[ \t]*[:\uff1a]", text, re.IGNORECASE)
        is not None
    )


def _code_of(language: str) -> str:
    """The language of a code such as `pt-BR`; empty if lines in it cannot be told from others."""
    code = language.partition("-")[0].casefold()
    return code if code in {*_STOPS, *_IN_SCRIPT} else ""


def language_of(text: str) -> str | None:
    """The language that a text is most likely in; none if that cannot be told."""
    for language, signs in _IN_SCRIPT.items():
        if len(signs.findall(text)) * 3 > len(text):
            return language
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) < words_of_a_language_min:
        return None
    counts = {language: sum(word in stops for word in words) for language, stops in _STOPS.items()}
    best = max(counts, key=lambda language: counts[language])
    is_clear = counts[best] > 0 and list(counts.values()).count(counts[best]) == 1
    return best if is_clear else None
