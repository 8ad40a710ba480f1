"""Hearing, through the real engine: in every bundled world what was said is taken up, and what was not said is not.

A made-up noun comes once from a castmate and once, another one, from the visitor, in ten plays of each world, and in a hundred
and forty new ones in `make soak`.
The plays are short: to the turn of the second noun and three turns on. A new world is covered without a line of test.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Self

import msgspec
import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.events.payloads import Governor
from glasshouse.manifests import LoadedWorld, load_world
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.models.router import ModelRouter
from glasshouse.troupe.model import OfflineModel
from glasshouse.troupe.vocabulary import is_a, is_rare
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.simulation.seeds import rig_seeds

WORLDS = [world.name for world in bundled_worlds()]
TENS = rig_seeds(1, plays=14)
"""The plays in tens: ten of each world in every run of the tests, and a hundred and forty new ones in `make soak`."""
turns_to_take_up_max = 3
turns_of_variety = 40
reused_share_max = 0.10

FIRST = ("quan", "brim", "snor", "vel", "drub", "plim", "gral", "twem", "frub", "skel", "zam", "mer")
MIDDLE = ("", "i", "o", "a")
LAST = ("dle", "fold", "rel", "wick", "bin", "pet", "ton", "gle", "mock", "fin")
SAID = (
    "Somebody left a brass {} on the path.",
    "A {} hums behind the curtain!",
    "Has anyone seen my {}?",
    "The wind carries a smell of {} and old rope.",
    "I found a tin {} in the wheelbarrow.",
    "Quick, hide the three {}s before the gramophone wakes.",
    "My grandmother's {} has stopped ticking.",
    "There is {} soup again, and the lamp is low.",
)
SEED_TEXTS = (None, "a clock that lost an hour", "the smallest door in the house", "a song without an end")
PLAIN = (
    "The moon has eaten a left boot.",
    "I found a saddle under the bridge.",
    "The ladder has gone for a walk.",
)


@dataclass(frozen=True)
class Plot:
    """What happens in one play, and what is made of it."""

    world: str
    seed: int
    is_cut: bool = False
    is_swapped: bool = False

    @property
    def nouns(self) -> tuple[str, str]:
        """The castmate's noun and the visitor's."""
        return made_up(2 * self.seed), made_up(2 * self.seed + 1)

    @property
    def castmates_line(self) -> str:
        if self.is_swapped:
            return PLAIN[self.seed % len(PLAIN)]
        return SAID[self.seed % len(SAID)].format(self.nouns[0])

    @property
    def visitors_line(self) -> str:
        # Never the castmate's own frame: a line that only swaps a noun would be a repetition.
        frames = [frame for frame in SAID if frame != SAID[self.seed % len(SAID)]]
        return frames[(self.seed // 3) % len(frames)].format(self.nouns[1])

    @property
    def lines(self) -> tuple[str, str]:
        return self.castmates_line, self.visitors_line

    @property
    def reply_replaced(self) -> int:
        """Which of the cast's lines is another one, counted from the first."""
        return self.seed % 5

    @property
    def turn_disturbed(self) -> int:
        return 1 + (self.seed // 5) % 4


class Rewriting:
    """The troupe, with one of its lines exchanged, and perhaps deaf to some words."""

    name = "offline"

    def __init__(self, plot: Plot) -> None:
        self.plot = plot
        self.spoken = 0
        self._troupe = OfflineModel()

    def with_script(self, script: str) -> Self:
        self._troupe = self._troupe.with_script(script)
        return self

    async def complete(self, prompt: Prompt) -> Completion:
        if self.plot.is_cut:
            prompt = msgspec.structs.replace(prompt, user=without_lines(prompt.user, self.plot.nouns))
        completion = await self._troupe.complete(prompt)
        reply = json.loads(completion.text)
        if reply["kind"] in {kinds.AGENT_PASSED, kinds.TOOL_CALLED}:
            return completion
        self.spoken += 1
        if self.spoken - 1 != self.plot.reply_replaced:
            return completion
        return msgspec.structs.replace(
            completion, text=json.dumps({**reply, "text": self.plot.castmates_line})
        )


def made_up(number: int) -> str:
    """A noun that nobody has a word for; another one for each number."""
    number, first = divmod(number, len(FIRST))
    number, last = divmod(number, len(LAST))
    return FIRST[first] + MIDDLE[number % len(MIDDLE)] + LAST[last]


def without_lines(user: str, words: tuple[str, ...]) -> str:
    """A prompt without the physical lines that have one of the words."""
    return "\n".join(line for line in user.split("\n") if not any(word in line for word in words))


@cache
def loaded(name: str) -> LoadedWorld:
    return load_world(name)


@cache
def played(plot: Plot) -> tuple[Event, ...]:
    """A play until both lines are old enough, or to its end."""

    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore(), models=ModelRouter(Rewriting(plot))) as t:
            seed = SEED_TEXTS[plot.seed % len(SEED_TEXTS)]
            run = await t.open_world(loaded(plot.world), seed=seed, rng_seed=plot.seed)
            await t.step(plot.turn_disturbed)
            await t.disturb(run.id, plot.visitors_line)
            while await t.step(turns_to_take_up_max):
                events = await t.run_events(run.id)
                said = [at for at in map(partial(place_of, events), plot.lines) if at is not None]
                if (
                    len(said) == 2
                    and events[-1].turn >= max(events[at].turn for at in said) + turns_to_take_up_max
                ):
                    break
            return await t.run_events(run.id)

    return asyncio.run(play())


def place_of(events: tuple[Event, ...], line: str) -> int | None:
    """Where a line was said; none if it was not."""
    return next((at for at, event in enumerate(events) if event.payload.get("text") == line), None)


def lines_after(events: tuple[Event, ...], line: str) -> list[str]:
    """What others said in the turns after a line that it may be taken up in."""
    at = place_of(events, line)
    assert at is not None, f"nobody said {line!r}"
    said = events[at]
    return [
        event.payload["text"]
        for event in events[at + 1 :]
        if event.turn <= said.turn + turns_to_take_up_max
        and event.caused_by is not None
        and event.actor != said.actor
        and event.kind != kinds.TOOL_RETURNED
        and isinstance(event.payload.get("text"), str)
    ]


def plots(world: str, tens: int, **how: bool) -> list[Plot]:
    return [Plot(world, seed, **how) for seed in range(tens * 10, tens * 10 + 10)]


@pytest.mark.parametrize("tens", TENS)
@pytest.mark.parametrize("world", WORLDS)
def test_a_castmates_and_a_visitors_noun_are_taken_up_by_somebody_within_three_turns(
    world: str, tens: int
) -> None:
    unheard = []
    for plot in plots(world, tens):
        for noun, line in zip(plot.nouns, plot.lines, strict=True):
            answers = lines_after(played(plot), line)
            if not any(noun in answer.lower() for answer in answers):
                unheard.append((plot.seed, line, answers))

    assert unheard == []


@pytest.mark.parametrize("tens", TENS)
@pytest.mark.parametrize("world", WORLDS)
def test_a_noun_whose_line_is_cut_from_every_prompt_is_said_by_nobody(world: str, tens: int) -> None:
    said = []
    for plot in plots(world, tens, is_cut=True):
        events = played(plot)
        others = [event for event in events if event.payload.get("text") not in plot.lines]
        assert None not in [place_of(events, line) for line in plot.lines]
        assert kinds.AGENT_FAILED not in [event.kind for event in events]
        said += [(plot.seed, e.payload) for e in others if any(noun in str(e.payload) for noun in plot.nouns)]

    assert said == []


@pytest.mark.parametrize("tens", TENS[:4])
@pytest.mark.parametrize("world", WORLDS)
def test_another_line_by_a_castmate_changes_what_follows(world: str, tens: int) -> None:
    unchanged = []
    for plot, other in zip(plots(world, tens), plots(world, tens, is_swapped=True), strict=True):
        before = place_of(played(plot), plot.castmates_line)
        assert before == place_of(played(other), other.castmates_line)
        if lines_after(played(plot), plot.castmates_line) == lines_after(played(other), other.castmates_line):
            unchanged.append(plot.seed)

    assert unchanged == []


def without_an_end(name: str) -> LoadedWorld:
    """A world that goes on when its story is over."""
    world = loaded(name)
    return replace(world, scenario=world.scenario.model_copy(update={"ends_when": None}))


def skeleton(line: str) -> str:
    """A line with everything masked but its small words."""
    words = re.findall(r"[\w'-]+|[.,?!:]", line.lower())
    masked = [word if not word[0].isalpha() or is_a(word, "stop") else "_" for word in words]
    return re.sub(r"(_ )+_", "_", " ".join(masked))


def said_in_a_long_play(name: str, seed: int) -> list[tuple[str, str]]:
    """Every line with the graph it was said in: nobody can know what was said in another."""

    async def play() -> list[tuple[str, str]]:
        limits = Governor(max_turns=turns_of_variety, max_calls_per_turn=16, max_total_calls=1_000)
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(without_an_end(name), rng_seed=seed, governor=limits)
            await t.step(turns_of_variety)
            events = await t.run_events(run.id)
            return [
                (e.graph_id, e.payload["text"])
                for e in events
                if e.caused_by is not None and e.payload.get("text") and e.kind != kinds.TOOL_RETURNED
            ]

    return asyncio.run(play())


@pytest.mark.parametrize("seed", rig_seeds(1, plays=20))
@pytest.mark.parametrize("world", WORLDS)
def test_in_a_long_play_no_line_comes_twice_and_hardly_a_sentences_bones(world: str, seed: int) -> None:
    lines = said_in_a_long_play(world, seed)
    skeletons = [skeleton(line) for _, line in lines]

    assert [line for line, times in Counter(lines).items() if times > 1] == []
    assert 1 - len(set(skeletons)) / len(skeletons) <= reused_share_max


def test_the_nouns_are_made_up_and_each_play_has_its_own() -> None:
    nouns = [noun for seed in range(200) for noun in Plot(WORLDS[0], seed).nouns]

    assert len(set(nouns)) == 400
    assert all(is_rare(noun) for noun in nouns)
