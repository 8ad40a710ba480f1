"""The troupe in the bundled worlds, as a reader would judge it: voices apart, reasons that follow, things that are things."""

from __future__ import annotations

import asyncio
from functools import cache
from itertools import combinations

import pytest

from glasshouse import Event, MemoryStore, Terrarium
from glasshouse.manifests import load_world
from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.grammar import cores, cores_owned, with_capitals
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.skills.sleuthing import mentions

SEEDS = range(12)
games_counted = 40
won_share_min = 0.4
won_share_max = 0.6
SUSPECTS = {"magpie", "mole", "heron", "lodger", "gardener"}
SIDES = {"hypothesis-former": "spider", "devils-advocate": "wasp"}


@cache
def played(world: str, seed: int) -> tuple[tuple[Event, ...], str | None]:
    async def play() -> tuple[tuple[Event, ...], str | None]:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(load_world(world), rng_seed=seed)
            await t.run(run.id)
            return await t.run_events(run.id), t.run_of(run.id).winner

    return asyncio.run(play())


def of_kind(world: str, seed: int, kind: str) -> list[Event]:
    return [event for event in played(world, seed)[0] if event.kind == kind]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_suspicion_names_one_of_the_suspects_and_rests_on_clues_that_speak_of_them(seed: int) -> None:
    clues = {event.id: event.payload["text"] for event in of_kind("mystery-roots", seed, "clue.found")}
    claims = of_kind("mystery-roots", seed, "hypothesis.formed")

    assert claims
    for claim in claims:
        suspect, text = claim.payload["suspect"], claim.payload["text"]
        assert suspect in SUSPECTS
        assert suspect in text
        assert claim.payload["cites"]
        assert all(mentions(clues[cited], suspect) for cited in claim.payload["cites"])


@pytest.mark.parametrize("seed", SEEDS)
def test_an_objection_attacks_a_clue_of_the_suspicion_or_shows_one_that_it_leaves_out(seed: int) -> None:
    events = played("mystery-roots", seed)[0]
    by_id = {event.id: event for event in events}
    clues = [event for event in events if event.kind == "clue.found"]

    objections = of_kind("mystery-roots", seed, "objection.raised")

    assert objections
    for objection in objections:
        claim = by_id[objection.payload["against"]]
        assert claim.kind == "hypothesis.formed"
        known = [clue.payload["text"] for clue in clues if clue.lamport < objection.lamport]
        things = {noun.head.lower() for text in known for noun in nouns_in(text)}
        assert any(thing in objection.payload["text"].lower() for thing in things)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_verdict_says_whose_case_held_and_points_at_what_was_found(seed: int) -> None:
    events, winner = played("mystery-roots", seed)
    kinds_by_id = {event.id: event.kind for event in events}

    half_time, verdict = of_kind("mystery-roots", seed, "judge.verdict")

    assert half_time.payload["winner"] in {*SIDES, "nobody"}
    assert winner is not None
    assert verdict.payload["winner"] == winner
    assert f"for the {SIDES[winner]}" in verdict.payload["text"]
    assert "clue.found" in [kinds_by_id[cited] for cited in verdict.payload["cites"]]
    claims = [event for event in events if event.kind == "hypothesis.formed"]
    seen = [event.payload["text"] for event in events if event.actor == "gate-snail"][-1]
    if seen.startswith("It is the ") and verdict.payload["winner"] == "hypothesis-former":
        assert claims[-1].payload["suspect"] in seen


@pytest.mark.parametrize("seed", SEEDS)
def test_the_spider_answers_every_clue_and_every_objection_at_once(seed: int) -> None:
    events = played("mystery-roots", seed)[0]
    clues = [event for event in events if event.kind == "clue.found"]
    answers = {event.caused_by: event.turn for event in events if event.actor == "hypothesis-former"}
    said = [event for event in events if event.actor == "hypothesis-former" and event.payload.get("text")]
    objections = [event for event in events if event.kind == "objection.raised" and event.turn <= 17]

    assert [clue.payload["text"] for clue in clues if clue.turn <= 17 and clue.id not in answers] == []
    assert all(answers[clue.id] <= clue.turn + 1 for clue in clues if clue.id in answers)
    for objection in objections:
        assert any(objection.turn <= line.turn <= objection.turn + 1 for line in said)


def test_both_sides_of_the_mystery_win_now_and_then() -> None:
    assert {played("mystery-roots", seed)[1] for seed in SEEDS} >= {"hypothesis-former", "devils-advocate"}


@pytest.mark.parametrize("tens", [0])
def test_the_guesser_wins_about_as_often_as_not_and_names_a_word_in_time(tens: int) -> None:
    seeds = range(tens, tens + games_counted)

    winners = [played("twenty-sprouts", seed)[1] for seed in seeds]
    named = [len(of_kind("twenty-sprouts", seed, "guess.made")) for seed in seeds]

    assert won_share_min <= winners.count("guesser") / games_counted <= won_share_max
    assert set(named) == {1}


def test_no_sentence_of_the_talk_belongs_to_two_players_of_one_cast() -> None:
    cast = ("actor", "critic", "echo", "keeper")
    for move in shelf.names_in("grammar"):
        for heading in shelf.sections(f"grammar/{move}.txt"):
            owned = [core for handle in cast for core in cores_owned(move, heading, cast, handle, 0)]

            assert len(set(owned)) == len(owned) == len(cores(move, heading))


def test_a_sentence_begins_with_a_capital_and_a_pause_ends_none() -> None:
    assert with_capitals("is it... new? no. it is not!") == "Is it... new? No. It is not!"


def test_two_players_of_one_world_neither_open_nor_end_alike() -> None:
    said: dict[str, set[str]] = {}
    for seed in SEEDS:
        for event in played("thousand-token-wood", seed)[0]:
            if event.caused_by is not None and isinstance(event.payload.get("text"), str):
                said.setdefault(event.actor, set()).add(event.payload["text"])
    opened = {actor: {tuple(line.lower().split()[:4]) for line in lines} for actor, lines in said.items()}
    ended = {actor: {tuple(line.lower().split()[-4:]) for line in lines} for actor, lines in said.items()}

    assert set(said) == {"seedkeeper", "pocket-actor", "echo", "critic"}
    for first, other in combinations(said, 2):
        assert opened[first] & opened[other] == set()
        # The echo gives back the ends of what others say.
        assert "echo" in (first, other) or ended[first] & ended[other] == set()


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("Honest answer, please, and listen to me.", []),
        ("With respect, a wet boot is evidence of rain.", ["boot"]),
        ("You could hear it in a low hum.", ["hum"]),
        ("A button that dreams of being a door.", ["button"]),
        ("Right, the clever part was under the lodger sleeps tonight.", ["lodger"]),
        ("Dusk in Thousand Token Wood, and a kettle is late.", ["kettle"]),
        ("Something you'd trip on, in a bucket.", ["bucket"]),
    ],
)
def test_what_is_lifted_from_a_line_is_a_thing(text: str, heads: list[str]) -> None:
    lifted = [noun.head for noun in nouns_in(text) if not noun.is_word]

    assert lifted[: len(heads)] == heads
    assert not {"honest", "listen", "respect", "low", "clever", "dreams", "sleeps", "you'd"} & set(lifted)


def test_the_title_of_a_world_is_not_spoken_of() -> None:
    lines = [
        event.payload["text"]
        for seed in SEEDS
        for event in played("thousand-token-wood", seed)[0]
        if event.caused_by is not None and isinstance(event.payload.get("text"), str)
    ]

    assert [line for line in lines if "token wood" in line.lower()] == []
