"""Rehearsals: a world that somebody edits, played by the offline troupe beside the store, and what was asked in it (ADR 0140).

Always holds: a rehearsal costs nothing and writes no event to the store. It grows from the one before: a model that was asked
the same is not asked again, its answer comes from the record. How many are kept is bounded; the oldest are forgotten.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from msgspec.structs import replace

from glasshouse.assembly import ModelRouter, store_meant
from glasshouse.contests.expected_cost import without_dollars
from glasshouse.errors import UnknownName
from glasshouse.events.event import Event
from glasshouse.events.model_use import Call
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.capabilities import capabilities_of
from glasshouse.runtime.played import Played
from glasshouse.runtime.ports import Model
from glasshouse.runtime.store_port import Store
from glasshouse.scripts.script_text import script_digest
from glasshouse.terrarium import play
from glasshouse.turns.moment import prompt as prompts
from glasshouse.turns.moment.prompt import Completion, Prompt, tokens_guessed
from glasshouse.views.transcript import TranscriptLine

calls_max: Final = 400
"""How many calls a rehearsal has at most: an evening of the largest bundled world."""
rehearsals_kept_max: Final = 8
"""With more, the oldest one is forgotten: each has its prompts in memory, about two megabytes."""
lines_max: Final = 400
"""How many lines of a rehearsal are told."""

Key = tuple[str, int, str]
"""The digests of a prompt and of the script that the troupe plays from, and the seed: whoever asks the same gets the same answer."""

_HEADINGS: Final = frozenset(
    {
        prompts.FOREIGN_TOOLS,
        prompts.DISCUSSION,
        prompts.AROUND,
        prompts.SCENE,
        prompts.KNOWN,
        prompts.REMEMBERED,
        prompts.DISTURBANCES,
        prompts.TOOLS_SAID,
        prompts.ANSWERED,
        prompts.LAST_ANSWER,
        prompts.HOW_TO_ANSWER,
    }
)


class Recorder:
    """The offline troupe, which is asked only what the record has no answer to. It keeps what it was asked."""

    is_free: Final = True
    answers_at_once: Final = True

    def __init__(self, record: Mapping[Key, Completion]) -> None:
        self._troupe: Model = ModelRouter().route("tiny").model
        self._script = ""
        self._record = record
        self.name = "offline"
        self.answers: dict[Key, Completion] = {}
        self.new_calls = 0

    def with_script(self, script: str) -> Recorder:
        """The same recorder in a world that has a script. One rehearsal has one world."""
        scripted = capabilities_of(self._troupe).with_script
        if scripted is not None and self._script != script:
            self._troupe = scripted(script)
            self._script = script
        return self

    async def complete(self, prompt: Prompt) -> Completion:
        """The recorded answer to this prompt, or a new one."""
        key = (prompt.digest, prompt.seed, script_digest(self._script))
        answer = self._record.get(key)
        if answer is None:
            self.new_calls += 1
            answer = await self._troupe.complete(prompt)
        self.answers[key] = answer
        return answer


class Section(NamedTuple):
    """A part of a prompt under its heading; the first of each message has none."""

    heading: str
    text: str

    @property
    def tokens(self) -> int:
        """About how many tokens it has."""
        return tokens_guessed(self.text)


@dataclass(frozen=True)
class Rehearsal:
    """One rehearsal, with its record."""

    id: str
    played: Played
    answers: Mapping[Key, Completion]
    new_calls: int
    differs_at: int | None
    """The first line that differs from the rehearsal before; none if no line does, or there was none."""
    kept: frozenset[str]
    """The events whose words come from the record of the rehearsal before."""
    store: Store
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The number of each event."""

    @property
    def lines(self) -> tuple[TranscriptLine, ...]:
        """What was said and done."""
        return self.played.lines[:lines_max]


class Rehearsals:
    """The last rehearsals, one played at a time. A cache: it can be dropped."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Rehearsal] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()
        self._count = 0

    def of(self, name: str) -> Rehearsal:
        """A rehearsal that is still kept."""
        if name not in self._kept:
            raise UnknownName(noun="rehearsal that is kept", name=name, known=list(self._kept))
        return self._kept[name]

    async def rehearse(
        self, world: LoadedWorld, seed: str | None, rng_seed: int, turns: int, after: str | None
    ) -> Rehearsal:
        """Play some turns of a world. What the rehearsal `after` has asked already comes from its record."""
        async with self._one_at_a_time:
            before = self._kept.get(after or "")
            self._count += 1
            name = f"rehearsal-{self._count}"
            made = await asyncio.to_thread(_rehearsed, name, world, seed, rng_seed, turns, before)
            self._kept[name] = made
            if len(self._kept) > rehearsals_kept_max:
                self._kept.popitem(last=False)
            return made


def _rehearsed(
    name: str, world: LoadedWorld, seed: str | None, rng_seed: int, turns: int, before: Rehearsal | None
) -> Rehearsal:
    recorder = Recorder({} if before is None else before.answers)
    limits = world.scenario.limits
    calls = min(limits.max_total_calls or calls_max, calls_max)
    bounded = without_dollars(replace(limits, max_total_calls=calls, max_wall_minutes=None))
    store = store_meant(None)
    played = play(
        world,
        seed=seed,
        rng_seed=rng_seed,
        turns=turns,
        governor=bounded,
        store=store,
        models=ModelRouter(recorder),
    )
    lines = played.lines[:lines_max]
    differs_at = None if before is None else _first_difference(before.lines, lines)
    asked = set() if before is None else {_question(call) for call in _calls(before.played.events)}
    kept = frozenset(
        event.id
        for event in played.events
        if event.calls and all(_question(call) in asked for call in event.calls)
    )
    numbers = {event.id: number for number, event in enumerate(played.events, 1)}
    return Rehearsal(name, played, recorder.answers, recorder.new_calls, differs_at, kept, store, numbers)


def _calls(events: tuple[Event, ...]) -> Iterator[Call]:
    for event in events:
        yield from event.calls


def _question(call: Call) -> tuple[str, str, int]:
    return call.system, call.user, call.seed


def _first_difference(before: tuple[TranscriptLine, ...], now: tuple[TranscriptLine, ...]) -> int | None:
    for number, (old, new) in enumerate(zip(before, now, strict=False)):
        if (old.who, old.kind, old.text) != (new.who, new.kind, new.text):
            return number
    return None if len(before) == len(now) else min(len(before), len(now))


def sections_of(text: str) -> list[Section]:
    """A message of a prompt by its headings. What a creature heard is quoted below them, so no line forges one."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        heading = next(
            (name for name in _HEADINGS if line == name or line.startswith((f"{name}:", f"{name} ("))), None
        )
        if heading is None:
            sections[-1][1].append(line)
        else:
            sections.append((heading, [line[len(heading) :].lstrip(" :")] if line != heading else []))
    texts = [(heading, "\n".join(lines).strip()) for heading, lines in sections]
    return [Section(heading, text) for heading, text in texts if text]
