"""A model that loops is asked once more and then skipped; talk that brings nothing new moves on or ends."""

import json
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from glasshouse import Draft, kinds, verify
from glasshouse.events import Event
from glasshouse.manifests import Voice
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.turns.replies.repetition import brings_nothing_new, line_repeated, says_the_same
from glasshouse.turns.runs.purses import stale_lines_max
from tests.made_up_words import word_for
from tests.rules.turns.moments_by_hand import a_moment, a_tick, said
from tests.runtime.stage_crew import on_stage, ticking, world_of
from tests.runtime.troupe import soon

REFRAIN = "The lantern by the gate has been burning since Tuesday evening."
ALMOST = "The lantern by the gate had been burning since Tuesday evening!"


class Says:
    """A model that says given lines, one a call, and then the last one for ever."""

    name, is_free = "says", True

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Completion:
        line = self.lines[min(len(self.prompts), len(self.lines) - 1)]
        self.prompts.append(prompt)
        reply = {"kind": kinds.AGENT_SPOKE, "thought": "Hm.", "text": line, "mood": "calm"}
        return Completion(json.dumps(reply), self.name, Tokens(5, 5), usd=0.0)


async def acts_of(model: Says, count: int, *manifests: Any, **fields: Any) -> list[Event]:
    manifests = manifests or (ticking("ada"),)
    async with on_stage(models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(*manifests, **fields))
        await soon(t.run(run.id, turns=count))
        played = await t.played(run.id)
        assert (await verify(t, run.id)).is_same
        return [event for event in played.events if event.ends_its_act and event.caused_by]


async def test_a_line_said_again_is_asked_for_once_more_and_a_new_one_counts() -> None:
    model = Says(REFRAIN, ALMOST, "Nobody has trimmed its wick, and the moths are drunk.")

    first, second = await acts_of(model, 2)

    assert [first.payload["text"], second.payload["text"]] == [model.lines[0], model.lines[2]]
    assert [len(first.calls), len(second.calls)] == [1, 2]
    assert model.prompts[1].seed != model.prompts[2].seed
    assert "said a moment ago" in model.prompts[2].user


async def test_a_line_said_again_twice_is_skipped_and_the_ledger_names_what_it_repeats() -> None:
    first, second = await acts_of(Says(REFRAIN, ALMOST, REFRAIN), 2)

    assert (second.kind, second.payload["repeats"]) == (kinds.LOOP_SUSPECTED, first.id)
    assert second.private == {"thought": "Hm.", "mood": "calm"}
    assert len(second.calls) == 2


@pytest.mark.parametrize(
    ("fields", "more", "kind"),
    [
        (
            {"suspect": "string", "cites": "events"},
            {"suspect": "the mole", "cites": []},
            kinds.LOOP_SUSPECTED,
        ),
        ({"against": ["ada", "bo"]}, {"against": "bo"}, "doubt.raised"),
    ],
    ids=["further words", "a vote"],
)
async def test_a_line_with_further_words_may_not_be_said_again_but_a_vote_may(
    fields: Any, more: Any, kind: str
) -> None:
    class Doubts(Says):
        async def complete(self, prompt: Prompt) -> Completion:
            answer = await super().complete(prompt)
            return replace(answer, text=json.dumps({"kind": "doubt.raised", "text": REFRAIN, **more}))

    world = {"kinds": {"doubt.raised": {"text": "string", **fields}}}

    _, second = await acts_of(Doubts(REFRAIN), 2, ticking("ada", may_emit=("doubt.raised",)), **world)

    assert second.kind == kind


FURTHER = "Nobody trimmed the wick, and every moth of the garden came to drink from its flame."
LONG = " ".join([word_for(number * 797) for number in range(400)])


@pytest.mark.parametrize(
    ("text", "heard", "fields"),
    [
        (REFRAIN, REFRAIN, {"why": FURTHER}),
        (LONG, LONG, {}),
        ("Lantern, willow, river, candle, mirror.", "Lantern,\nwillow,\nriver,\ncandle,\nmirror.", {}),
    ],
    ids=["further words", "longer than its line shows", "line ends"],
)
def test_texts_are_compared_as_they_were_said_and_not_as_lines_show_them(
    text: str, heard: str, fields: dict[str, str]
) -> None:
    line = said(1, "moth-id", heard, **fields)

    draft = Draft(kind=kinds.AGENT_SPOKE, payload={"text": text})

    assert line_repeated(draft, a_moment([line], cause=a_tick(9))) == line.id


def test_a_word_at_the_start_of_a_line_of_a_text_is_heard_as_it_is() -> None:
    heard = said(1, "moth-id", "A lantern,\na willow:\nriver\u200bcandle.")

    draft = Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Lantern, willow, river, candle."})

    assert brings_nothing_new(draft, a_moment([heard], cause=a_tick(9)))


async def test_a_creature_that_passes_when_asked_once_more_has_passed() -> None:
    class Yields(Says):
        async def complete(self, prompt: Prompt) -> Completion:
            completion = await super().complete(prompt)
            if "said a moment ago" not in prompt.user:
                return completion
            return Completion('{"kind": "agent.passed", "reason": "I said it."}', self.name, usd=0.0)

    _, second = await acts_of(Yields(REFRAIN), 2)

    assert (second.kind, second.payload["reason"]) == (kinds.AGENT_PASSED, "I said it.")


@pytest.mark.parametrize(
    "lines", [("Yes, it is.",) * 4, (REFRAIN, "It is the moon that has been burning since the gate fell.")]
)
async def test_short_lines_and_lines_that_differ_enough_are_no_repetition(lines: tuple[str, ...]) -> None:
    acts = await acts_of(Says(*lines), len(lines))

    assert [event.payload.get("text") for event in acts] == list(lines)


async def test_a_creature_that_may_repeat_itself_is_left_alone() -> None:
    acts = await acts_of(Says(REFRAIN), 3, ticking("ada", voice=Voice(may_repeat=True)))

    assert [event.payload["text"] for event in acts] == [REFRAIN] * 3


async def test_what_others_said_lately_is_not_said_again_either() -> None:
    acts = await acts_of(Says(REFRAIN, ALMOST, ALMOST), 1, ticking("ada"), ticking("bo"))

    assert [event.kind for event in acts] == [kinds.AGENT_SPOKE, kinds.LOOP_SUSPECTED]


@pytest.mark.parametrize(
    ("said_by_act", "repeated_in_act", "is_seen"),
    [(0, 24, True), (0, 28, False), (1, 12, True), (1, 14, False)],
    ids=["one's own, six lines ago", "one's own, seven lines ago", "twelve lines ago", "fourteen lines ago"],
)
async def test_a_line_is_compared_with_ones_own_last_six_and_the_last_twelve_at_the_table(
    said_by_act: int, repeated_in_act: int, is_seen: bool
) -> None:
    class OneAgain(Says):
        async def complete(self, prompt: Prompt) -> Completion:
            is_second_try = "said a moment ago" in prompt.user
            acts = len([prompt for prompt in self.prompts if "said a moment ago" not in prompt.user])
            number = 90 if is_second_try else said_by_act if acts == repeated_in_act else acts
            words = " ".join([word_for(number * 10 + n * 797) for n in range(6)])
            answer = await super().complete(prompt)
            return replace(answer, text=json.dumps({"kind": kinds.AGENT_SPOKE, "text": f"{words}."}))

    cast = [ticking(name, memory={"window": 40}) for name in ("ada", "bo", "cy", "dee")]
    acts = await acts_of(OneAgain(""), 8, *cast)

    asked_again = [number for number, event in enumerate(acts) if len(event.calls) > 1]
    assert acts[repeated_in_act].kind == kinds.AGENT_SPOKE
    assert asked_again == ([repeated_in_act] if is_seen else [])


async def test_nobody_hears_a_suspected_loop() -> None:
    model = Says(REFRAIN, ALMOST, REFRAIN, "The well is dry, so let us dig by the old fence.")

    await acts_of(model, 3)

    assert "loop.suspected" not in model.prompts[-1].user
    assert model.prompts[-1].user.count("burning since") == 1


async def test_talk_that_brings_nothing_new_brings_the_next_beat_forward() -> None:
    circle = [
        f"{a} {b} {c}." for a in ("Lantern", "Tuesday") for b in ("gate", "evening") for c in ("lane", "hill")
    ]
    beats = [{"turn": 40, "text": "A storm breaks over the orchard and the roof is gone."}]
    acts = await acts_of(Says(*circle * 12), 60, ticking("ada", voice=Voice(may_repeat=True)), beats=beats)

    turns = [event.turn for event in acts]

    assert 40 in turns
    before = [turn for turn in turns if turn < 40]
    assert len(before) <= len(circle) + stale_lines_max
    assert any(turn > 40 for turn in turns)


async def test_talk_that_brings_nothing_new_ends_the_scene_if_no_beat_is_left() -> None:
    model = Says("Round and round the same old mill we go.")
    async with on_stage(models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada", voice=Voice(may_repeat=True))))

        await soon(t.run(run.id))

        finished = t.run_of(run.id).finished
        assert finished is not None
        assert (finished.reason, finished.turns) == ("ended", stale_lines_max + 1)
        assert finished.why == f"The talk brought nothing new for {stale_lines_max} lines."


async def test_a_visitor_who_says_something_new_brings_the_talk_back_to_life() -> None:
    model = Says("Round and round the same old mill we go.")
    async with on_stage(models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada", voice=Voice(may_repeat=True))))
        await soon(t.run(run.id, turns=stale_lines_max))
        await t.disturb(run.id, "A heron lands on the wheel.")

        await soon(t.run(run.id, turns=4))

        assert t.run_of(run.id).finished is None


@pytest.mark.parametrize("seed", range(40))
def test_no_repetition_is_missed_because_its_words_differ(seed: int) -> None:
    """The quick look at words never rejects what the groups of letters would call the same."""
    chance = Random(seed)
    line = [
        word_for(chance.randrange(10_000))[: chance.randrange(2, 9)] for _ in range(chance.randrange(5, 14))
    ]
    moment = a_moment([said(1, "moth-id", " ".join(line))], cause=a_tick(9))
    for _ in range(30):
        other = [*line]
        for _ in range(chance.randrange(1, len(line))):
            at = chance.randrange(len(other))
            other[at] = chance.choice([other[at] + "s", other[at][:-1], chance.choice(line), "x" + other[at]])
        draft = Draft(kind=kinds.AGENT_SPOKE, payload={"text": " ".join(other)})

        is_same = says_the_same(" ".join(other), " ".join(line))
        assert (line_repeated(draft, moment) is not None) == is_same, (line, other)
