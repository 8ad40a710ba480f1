"""Acting: a line of one's own part, when its cue has come.

Chosen wherever a player has learned a part and an entry of it fits. Always holds: an entry is said once a show unless it
may come again; what came from outside is answered first, then what was said to me, then what the world did; what I want
comes before what I merely might say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from glasshouse.scripts.script import (
    ACTS,
    CHANGES,
    DEALT_WORD,
    EVENT,
    EVENT_SLOTS,
    GAME_FACT,
    REMARK,
    REMARKS,
    SLOT,
    Entry,
    Part,
    Phrasing,
)
from glasshouse.troupe import kinds
from glasshouse.troupe.grammar import slots_for, with_capitals
from glasshouse.troupe.noun_classes import class_of
from glasshouse.troupe.noun_phrases import Noun
from glasshouse.troupe.reactions import acts
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.salience import main_thing, owed_by
from glasshouse.troupe.script_memory import Said, ScriptMemory
from glasshouse.troupe.skills.branches import Branch, Reply, in_a_list, passing, with_line
from glasshouse.troupe.skills.timed_lines import changes_made
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.surroundings import bare_name, circle_of
from glasshouse.troupe.talk.echoes import is_echo
from glasshouse.troupe.told_events import ToldEvent, told_event, with_one_mark
from glasshouse.troupe.world_topic import matter_of

draws_max: Final = 24
"""How many ways to say something are tried before the next step is looked at."""

_OUTSIDE: Final = frozenset({"visitor", "strange", "outside"})
_NOTHING_ADDED: Final = frozenset({"judge", "narrate"})
"""Acts that leave a stranger's rare word to the others."""
_LAST_STEP_OUTSIDE: Final = 3
"""Whoever has words for what comes from outside, and none that fit, leaves the general grammar to find some."""


def performed(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A line of my part whose cue has come; else silence where nobody waits for me; none where I have no part."""
    part = speaker.reading.part
    if part is None:
        return None
    return _Performance(speaker, branches, part).reply()


def performed_inwardly(speaker: Speaker, branch: Branch) -> Reply | None:
    """A line of my part that I tell myself alone; none if no entry of that kind fits."""
    part = speaker.reading.part
    if part is None:
        return None
    performance = _Performance(speaker, [branch], part)
    performance.open_branches = [branch]
    performance.entries = tuple(entry for entry in part.entries if entry.kind == branch.kind)
    performance.owed = []  # Nobody hears it, so nothing must be taken up in it.
    return performance.line_that_fits()


def remark(speaker: Speaker, *facts: str) -> str:
    """A sentence of my part to set beside what a game has me say; empty if none fits.

    `facts` are what the game knows and no line says: an entry may need them or exclude them, as `game:FACT`.
    """
    part = speaker.reading.part
    if part is None:
        return ""
    performance = _Performance(speaker, (), part)
    performance.memory.counts.update(f"{GAME_FACT}{fact}" for fact in facts)
    return performance.remark()


def remarked(speaker: Speaker, spoken: Spoken, *facts: str, is_last: bool = False) -> Spoken:
    """What a game has me say with a sentence of my part before it, or behind it, if one fits and there is room.

    Others know a line of a script by how it begins: what is set behind is known to nobody.
    """
    return speaker.with_remark(remark(speaker, *facts), spoken, is_last=is_last)


def without_remark(reading: Reading, line: Heard) -> str:
    """What somebody said in a game, without the sentence of their part that stands before it."""
    part = reading.part
    known = part.script.recognised(bare_name(line.handle), line.text) if part is not None else None
    if known is None or known.entry.act != REMARK:
        return line.text
    texts = (phrasing.text for phrasing in known.entry.phrasings)
    lower = line.text.lower()
    said = next((text for text in texts if lower.startswith(text.lower())), "")
    return line.text[len(said) :].lstrip()


def with_event(speaker: Speaker, reply: Reply) -> Reply:
    """A line of mine on something else, with what I say of an event behind it, if that falls to me and there is room."""
    part = speaker.reading.part
    text = reply.fields.get("text")
    branch = reply.branch
    if part is None or not part.knows_events or branch.tool or branch.kind in kinds.INNER:
        return reply
    if not isinstance(text, str) or not text or part.script.event_acts_in(part.handle, text):
        return reply
    whole = _Performance(speaker, (), part).with_event(text)
    return reply._replace(fields={**reply.fields, "text": whole})


def _has_any(line: Heard, texts: Sequence[str]) -> bool:
    return any(words in line.text.lower() for words in texts)


def played(
    speaker: Speaker, branches: Sequence[Branch], facts: Iterable[str], slots: Mapping[str, str]
) -> Reply | None:
    """A line of my part for what a game has me do now; none if I have no part, or no line for that.

    `facts` are known to entries as `game:FACT`; `slots` are filled by the game, and only by it.
    """
    part = speaker.reading.part
    if part is None:
        return None
    performance = _Performance(speaker, branches, part)
    memory = performance.memory
    memory.counts.update(f"{GAME_FACT}{fact}" for fact in facts)
    memory.bound |= slots
    return performance.line_that_fits()


class _Cue(NamedTuple):
    """What an entry answers: a line of the script, or one that none knows and the thing it is about."""

    line: Heard | None = None
    noun: Noun | None = None


class _Performance:
    """One player with its part at one moment."""

    def __init__(self, speaker: Speaker, branches: Sequence[Branch], part: Part) -> None:
        self.speaker = speaker
        self.reading = speaker.reading
        self.memory = memory = ScriptMemory(part, speaker.reading)
        self.lists = part.script.lists
        self.entries = part.entries
        self.branches = branches
        self.open_branches = [
            branch
            for branch in branches
            if not branch.is_passing and branch.kind not in kinds.INNER and branch.takes_text("text")
        ]
        fresh = {line.ref for line in self.reading.fresh}
        cause = self.reading.cause
        self.cues = [said for said in memory.said if self._is_cue(said, fresh)]
        strangers = [line for line in memory.strange if line.ref in fresh or line == cause]
        self.event: ToldEvent | None = told_event(self.reading, part) if part.knows_events else None
        answers_things = not part.knows_events or part.answers_visitors
        visitors = self.reading.fresh_disturbances[-1:] if answers_things else []
        if (
            answers_things
            and not visitors
            and cause is not None
            and cause.origin == "visitor"
            and self._is_left_open(cause)
        ):
            visitors = [cause]
        self.outside = {
            "visitor": visitors,
            "strange": strangers[-1:],
            "outside": visitors or strangers[-1:],
        }
        self.world_lines = [line for line in self.reading.fresh if line.origin == "world"]
        if cause is not None and cause.origin == "world":
            self.world_lines.append(cause)
        brought = self.reading.fresh_disturbances if answers_things else []
        unknown = {line.ref for lines in (brought, strangers) for line in lines}
        # A rare word of a script is no news to anybody who knows the script.
        self.owed = [(line, noun) for line, noun in owed_by(self.reading) if line.ref in unknown]
        self._owe(None)

    def _owe(self, answered: Heard | None) -> None:
        """Owe what must be taken up; of a line that an entry was written for, only what nobody has a word for."""
        owed = [noun for line, noun in self.owed if line != answered or class_of(noun) == "unknown"]
        self.speaker.topic = self.speaker.topic._replace(owed=tuple(owed))

    def _is_left_open(self, line: Heard) -> bool:
        """Whether I have spoken since a line, and only of what my tools did."""
        since = [said for said in self.memory.said if int(said.line.ref) > int(line.ref)]
        mine = [said.entry for said in since if self.reading.is_mine(said.line)]
        return bool(mine) and all(entry.on in CHANGES for entry in mine)

    def _is_cue(self, said: Said, fresh: set[str]) -> bool:
        if self.reading.is_mine(said.line):
            return False
        return said.line.ref in fresh or (
            self.reading.cause is not None and said.line.ref == self.reading.cause.ref
        )

    def reply(self) -> Reply | None:
        if not self.open_branches:
            return None
        reply = self.line_that_fits()
        is_awaited = self._is_owed or any(self.outside.values()) or self._goes_on_with_a_game
        return reply if reply is not None or is_awaited else passing(self.branches, self.speaker, "pass")

    @property
    def _is_owed(self) -> bool:
        return bool(self.speaker.topic.owed or self.outside["visitor"])

    def line_that_fits(self) -> Reply | None:
        """A line whose cue has come; none if there is none, or none for what came from outside."""
        for step, entries in enumerate(self._steps()):
            reply = self._chosen(entries)
            if reply is not None:
                return reply
            if (
                step == _LAST_STEP_OUTSIDE
                and self._is_owed
                and any(entry.on in _OUTSIDE for entry in self.entries)
            ):
                return None
        return None

    @property
    def _goes_on_with_a_game(self) -> bool:
        """Whether my part is only what I say beside a game, and what I answer is more than talk."""
        cause = self.reading.cause
        answers_visitors = any(entry.on in {EVENT, "visitor"} for entry in self.entries)
        is_talk = cause is not None and (
            cause.kind == kinds.AGENT_SPOKE or (cause.origin == "visitor" and answers_visitors)
        )
        return not is_talk and any(entry.act == REMARK and entry.on != EVENT for entry in self.entries)

    def _steps(self) -> Iterator[list[tuple[Entry, _Cue]]]:
        """What may be said, the most pressing first; among the entries of one step the dice choose."""
        fitting = [(entry, cue) for entry, cue in self._fitting() if entry.act != REMARK]
        yield [(entry, cue) for entry, cue in fitting if entry.on in self._changes]
        outside = [
            (entry, cue)
            for entry, cue in fitting
            if entry.on in _OUTSIDE or (entry.hears and not entry.after)
        ]
        # A line written for what was heard goes before one for whatever was heard.
        yield [(entry, cue) for entry, cue in outside if entry.hears]
        yield [(entry, cue) for entry, cue in fitting if entry.on == EVENT]
        yield outside
        replies = [(entry, cue) for entry, cue in fitting if entry.after and entry.on not in self._changes]
        yield [(entry, cue) for entry, cue in replies if self._is_to_me(cue.line)]
        yield [(entry, cue) for entry, cue in fitting if entry.on == "beat"]
        yield replies
        own = [(entry, cue) for entry, cue in fitting if not entry.has_cue]
        yield [(entry, cue) for entry, cue in own if entry.want]
        yield own

    def _fitting(self) -> list[tuple[Entry, _Cue]]:
        return [(entry, cue) for entry in self.entries if self._holds(entry) for cue in self._cue_of(entry)]

    def remark(self) -> str:
        """One of the remarks that fit; what answers something goes first."""
        fitting = [(entry, cue) for entry, cue in self._fitting() if entry.act == REMARK]
        for candidates in ([(entry, cue) for entry, cue in fitting if entry.has_cue], fitting):
            for entry, cue in self.speaker.dice.sample(candidates, len(candidates)):
                for phrasing, bound in self._sayings(entry, cue):
                    return with_capitals(_filled(phrasing.text, bound))
        return ""

    def _remarks_beside(self, entry: Entry) -> str | None:
        """All remarks that fit, in the order of the part, but those that a line of this entry excludes; none if there are none."""
        texts = [
            next((_filled(phrasing.text, bound) for phrasing, bound in self._sayings(remark, cue)), "")
            for remark, cue in self._fitting()
            if remark.act == REMARK and remark.on != EVENT and remark.excluded.isdisjoint(entry.names)
        ]
        return " ".join(with_capitals(text) for text in texts if text) or None

    def _is_to_me(self, line: Heard | None) -> bool:
        if line is None:
            return False
        said = next(cue for cue in self.cues if cue.line.ref == line.ref)
        return self.reading.me.handle in said.entry.to or line == self.reading.cause

    def _holds(self, entry: Entry) -> bool:
        """Whether an entry may be said now, apart from the line that it answers. What fails most often is asked first."""
        memory = self.memory
        known = self._known
        if (
            (entry.movements and memory.movement not in entry.movements)
            or (entry.after and entry.after.isdisjoint(self._cued))
            or (entry.id in known and not entry.is_repeatable)
            or not entry.excluded.isdisjoint(known)
        ):
            return False
        for either in entry.needs:
            if either.isdisjoint(known):
                return False
        for group, chosen in entry.plots:
            if memory.plots.get(group, chosen) != chosen:
                return False
        return entry.is_simple or self._holds_too(entry)

    def _holds_too(self, entry: Entry) -> bool:
        """Whether the conditions hold that few entries have."""
        memory = self.memory
        counts = self.memory.counts
        return (
            (not entry.answers or self._answered in entry.answers)
            and (not entry.seeds or any(words in self._seed_text for words in entry.seeds))
            and (not entry.wait or memory.lines_in_movement >= entry.wait)
            and all(memory.lines_since(name) >= count for name, count in entry.later)
            and all(counts[name] > counts[other] for name, other in entry.more)
            and all(counts[name] == counts[other] for name, other in entry.even)
            and (not entry.company or entry.company <= self._neighbours)
            and not (entry.absent and entry.absent & self._neighbours)
            and (entry.chance >= 1.0 or self.speaker.dice.random() < entry.chance)
        )

    @cached_property
    def _known(self) -> frozenset[str]:
        """What was said, by every name that it has."""
        return frozenset(name for name, count in self.memory.counts.items() if count)

    @cached_property
    def _cued(self) -> frozenset[str]:
        """What may be answered now, by every name that it has."""
        return frozenset[str]().union(*(said.entry.names for said in self.cues))

    @cached_property
    def _neighbours(self) -> frozenset[str]:
        return frozenset(circle_of(self.reading).channels_of)

    @property
    def _answered(self) -> str:
        """Who said what I answer now; `turn` where it is simply my turn."""
        return "turn" if self.reading.cause is None else bare_name(self.reading.cause.handle)

    @cached_property
    def _seed_text(self) -> str:
        """What the run grew from, in small letters; empty if no scene names it."""
        matter = matter_of(self.reading)
        return "" if matter is None else matter.text.lower()

    @cached_property
    def _changes(self) -> dict[str, list[str]]:
        """What my tools have just done to my circle, and to whom."""
        return changes_made(self.reading)

    def _cue_of(self, entry: Entry) -> list[_Cue]:
        """What an entry answers now; nothing if its cue has not come."""
        if entry.on in CHANGES and entry.on not in self._changes:
            return []
        if entry.after:
            cues = [said.line for said in self.cues if entry.after & said.entry.names]
            if entry.hears:
                cues = [line for line in cues if _has_any(line, entry.hears)]
            return [_Cue(cues[-1])] if cues else []
        if entry.hears:
            fresh = [*self.reading.fresh, *self.reading.fresh_disturbances, *self.outside["visitor"]]
            heard = [line for line in fresh if _has_any(line, entry.hears)]
            return [_Cue(heard[-1], self._thing_in(heard[-1]))] if heard else []
        if entry.on in _OUTSIDE:
            lines = self.outside[entry.on]
            return [_Cue(lines[0], self._thing_in(lines[0]))] if lines else []
        if entry.on == EVENT:
            return self._cue_of_event(entry)
        if entry.on == "beat":
            return [_Cue(self.world_lines[-1])] if self.world_lines else []
        if entry.on == "turn":
            return [_Cue()] if self.reading.cause is None else []
        return [_Cue()] if not entry.on or entry.on in self._changes else []

    def _cue_of_event(self, entry: Entry) -> list[_Cue]:
        """The question about what a visitor brought, if I answer that visitor, and an entry does what falls to me then."""
        event = self.event
        cause = self.reading.cause
        if event is None or cause is None or event.act != entry.act:
            return []
        return [_Cue(event.question)] if cause.ref == event.line.ref and cause.origin == "visitor" else []

    def with_event(self, text: str) -> str:
        """A line of mine with what falls to me to say of an event behind it; the line if nothing does, or nothing fits."""
        event = self.event
        if event is None or not event.act:
            return text
        # Of two questions one behind the other, the first would get no answer. Where there is no room, one asks all the same.
        doing = ("react", "ask") if event.act == "ask" and text.endswith("?") else (event.act,)
        for act in doing:
            for form in (event, event.briefly):
                self.event = form
                whole = self._with_event_behind(text, act)
                if whole:
                    return whole
        return text

    def _with_event_behind(self, text: str, act: str) -> str:
        """A line with one of my sentences for an event behind it; empty if none fits."""
        entries = [entry for entry in self.entries if entry.on == EVENT and entry.act == act]
        fitting = [entry for entry in entries if self._holds(entry)]
        question = None if self.event is None else self.event.question
        for entry in self.speaker.dice.sample(fitting, len(fitting)):
            for phrasing, bound in self._sayings(entry, _Cue(question)):
                sentence = with_one_mark(with_capitals(_filled(phrasing.text, bound)))
                whole = self.speaker.with_remark(sentence, Spoken(text, "", ""), is_last=True).text
                if whole != text and not is_echo(whole, self.reading):
                    return whole
        return ""

    def _thing_in(self, line: Heard) -> Noun | None:
        topic = self.speaker.topic
        if topic.line is not None and topic.line.ref == line.ref:
            return topic.noun
        return main_thing(self.reading, line)

    def _chosen(self, candidates: list[tuple[Entry, _Cue]]) -> Reply | None:
        """One of what fits, drawn by weight; another one where that cannot be said."""
        dice = self.speaker.dice
        left = list(candidates)
        for _ in range(draws_max):
            if not left:
                return None
            at = dice.choices(range(len(left)), [entry.weight for entry, _ in left])[0]
            entry, cue = left.pop(at)
            reply = self._reply_with(entry, cue)
            if reply is not None:
                return reply
        return None

    def _reply_with(self, entry: Entry, cue: _Cue) -> Reply | None:
        branch = self._branch_for(entry)
        if branch is None:
            return None
        self._owe(cue.line if entry.hears else None)
        for phrasing, bound in self._sayings(entry, cue):
            text = with_capitals(_filled(phrasing.text, bound))
            if entry.on == EVENT:
                text = with_one_mark(text)
                if is_echo(text, self.reading):
                    continue
            if entry.act not in _NOTHING_ADDED and not self._answers_later(entry):
                text = self.speaker.with_what_is_owed(text, tells_secret=DEALT_WORD in phrasing.slots)
            fields = self._fields_of(entry, branch, bound)
            if text and fields is not None:
                return with_line(branch, self._spoken(entry, text, bound), **fields)
        return None

    def _answers_later(self, entry: Entry) -> bool:
        """Whether I speak of what my tool did, as a root, which has an act of its own for what a visitor said."""
        cause = self.reading.cause
        is_later = cause is None or cause.origin != "visitor"
        return is_later and entry.on in self._changes and self.reading.me.role == "root"

    def _sayings(self, entry: Entry, cue: _Cue) -> Iterator[tuple[Phrasing, dict[str, str]]]:
        """The ways to say an entry that nobody can have heard yet, each with what stands in its slots."""
        visible = self.reading.visible_text
        if entry.on == EVENT:
            visible = "\n".join(line.text for line in self.reading.whole_discussion).lower()
        phrasings = self.speaker.dice.sample(entry.phrasings, len(entry.phrasings))
        if entry.on == EVENT:
            # A question that is certain goes before a mere request to be told more.
            phrasings.sort(key=lambda phrasing: "event.why" not in phrasing.slots)
        for phrasing in phrasings:
            if phrasing.longest not in visible:
                bound = self._bound_for(phrasing, cue, entry)
                if bound is not None:
                    yield phrasing, bound

    def _branch_for(self, entry: Entry) -> Branch | None:
        if not entry.kind:
            return self.open_branches[0]
        return next((branch for branch in self.open_branches if branch.kind == entry.kind), None)

    def _spoken(self, entry: Entry, text: str, bound: dict[str, str]) -> Spoken:
        dice = self.speaker.dice
        act = acts()[ACTS[entry.act]]
        thoughts = [thought for thought in entry.thoughts if bound.keys() >= set(SLOT.findall(thought))]
        thought = _filled(dice.choice(thoughts), bound) if thoughts else self.speaker.thought(act)
        return Spoken(text, with_capitals(thought), entry.mood.replace("_", " ") or dice.choice(act.moods))

    def _fields_of(self, entry: Entry, branch: Branch, bound: dict[str, str]) -> dict[str, Any] | None:
        """The other fields of a reply; none if one of them cannot be filled."""
        fields: dict[str, Any] = {}
        for name, text in entry.fields:
            schema = branch.fields.get(name)
            if schema is None:
                return None
            value: Any = text
            if text.startswith("@"):
                refs = self.memory.refs_of(text[1:].removesuffix("*"))
                if not refs:
                    return None
                value = refs if text.endswith("*") else refs[0]
            elif "{" in text:
                values = {slot: self._field_value(slot, bound) for slot in SLOT.findall(text)}
                known = {slot: value for slot, value in values.items() if value is not None}
                if len(known) < len(values):
                    return None
                value = _filled(text, known)
            if schema.get("type") in {"integer", "number"}:
                value = float(value) if schema["type"] == "number" else int(value)
            fields[name] = value
        return fields

    def _field_value(self, slot: str, bound: dict[str, str]) -> str | None:
        """What a slot is in a field: there somebody is named as the prompt names them."""
        name, _, of = slot.partition(":")
        if name == "by" and of in self.memory.newest:
            return self.memory.newest[of].line.handle
        return self._value_of(slot, _Cue(), bound)

    def _bound_for(self, phrasing: Phrasing, cue: _Cue, entry: Entry) -> dict[str, str] | None:
        """What stands in the slots of a line; none if one of them cannot be filled."""
        bound = dict(self.memory.bound)
        for slot in phrasing.slots:
            value = self._remarks_beside(entry) if slot == REMARKS else self._value_of(slot, cue, bound)
            if value is None:
                return None
            bound[slot] = value
            name, drawn, _ = slot.partition("=")
            if drawn:
                bound[name] = value
        return bound

    def _value_of(self, slot: str, cue: _Cue, bound: dict[str, str]) -> str | None:
        name, drawn, from_list = slot.partition("=")
        if drawn:
            return self._drawn(from_list)
        name, is_of, condition = slot.partition(":")
        if slot in EVENT_SLOTS:
            return None if self.event is None else self.event.value_of(slot)
        if name in {"X", "a X", "x"}:
            return _as_thing(name, cue.noun, condition)
        if is_of:
            said = self.memory.newest.get(condition)
            if said is None:
                return None
            return name_of(said.line.handle) if name == "by" else said.bound.get(name)
        if name == "you":
            return name_of(cue.line.handle) if cue.line is not None and cue.line.origin == "cast" else None
        if name == "who":
            changed = dict.fromkeys(who for names in self._changes.values() for who in names)
            return in_a_list(list(changed)) or None
        if name.startswith("seed"):
            return self._seed(name.partition(".")[2])
        if cue.noun is not None and name in (agreeing := slots_for(cue.noun)):
            return agreeing[name]
        return bound.get(name, self.memory.bound.get(name))

    def _drawn(self, name: str) -> str | None:
        values = self.lists[name]
        fresh = [value for value in values if value.lower() not in self.reading.visible_text]
        return self.speaker.dice.choice(fresh or values)

    def _seed(self, form: str) -> str | None:
        matter = matter_of(self.reading)
        if matter is None:
            return None
        return {"": matter.noun.definite, "a": matter.text, "full": matter.called}.get(form)


def _as_thing(form: str, noun: Noun | None, classes: str) -> str | None:
    """The thing that was heard of, as it stands in a sentence; none if it is of another class."""
    if noun is None or (classes and class_of(noun) not in classes.split("|")):
        return None
    if form == "X":
        return noun.definite
    slots = slots_for(noun)
    return slots.get("aX" if form == "a X" else "x")


def _filled(text: str, bound: dict[str, str]) -> str:
    return SLOT.sub(lambda slot: bound[slot[1]], text)
