"""The general talk as a story: requests, conditions, promises, what becomes of them, and a vote where the goal asks for one."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from glasshouse.events.event import Event
from glasshouse.troupe.speaking import name_of
from glasshouse.troupe.talk.situation import QUESTIONS
from glasshouse.troupe.talk.understanding import called_before, understood
from glasshouse.turns.moment.character import Character, Memory
from glasshouse.turns.moment.playbill import Playbill
from tests.contracts.offline_stage import OfflineStage, judged

SEEDS = range(8)
turns_played = 9
WIDE = Memory(window=64)

MILL = (
    Character(
        name="miller",
        persona="Runs the windmill on the hill.",
        wants="new sails for the windmill",
        cares_about=("the west wind",),
        temper="warm",
        memory=WIDE,
    ),
    Character(
        name="carter",
        persona="Drives two old horses.",
        wants="to sell the grey horse",
        cares_about=("dry roads",),
        temper="sly",
        memory=WIDE,
    ),
    Character(
        name="widow",
        persona="Taught everybody here to read.",
        wants="to win the flower show",
        cares_about=("her roses",),
        temper="angry",
        memory=WIDE,
    ),
)
VILLAGE = Playbill(goal="Get the harvest in before the rain.")
BRIDGE = Playbill(goal="Decide what to do with the old bridge. Mend it, burn it or sell it.")
COUNCIL = (
    Character(name="mason", persona="Cuts stone.", wants="to mend the bridge", temper="warm", memory=WIDE),
    Character(
        name="trader", persona="Buys and sells.", wants="to sell the bridge", temper="dry", memory=WIDE
    ),
    Character(name="priest", persona="Rings the bell.", wants="a new bell rope", temper="shy", memory=WIDE),
)


@cache
def played(world: str, seed: int) -> tuple[Event, ...]:
    """What the cast of one of the worlds below says in a whole play."""
    cast, playbill = WORLDS[world]
    stage = OfflineStage(cast, playbill, seed)
    stage.observes("A market square. The clock on the tower has stopped.")
    stage.play(turns_played)
    return tuple(event for event in stage.events if event.kind != "world.observed")


def moves_in(events: tuple[Event, ...]) -> list[tuple[str, str, str, str]]:
    """Who said which move, whom by name, with which sentence."""
    return [
        (
            event.actor,
            said.move,
            (said.slots.get("you") or called_before(event.payload["text"], said.at)).lower(),
            said.pattern.longest,
        )
        for event in events
        for said in understood(event.payload["text"])
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_gives_their_word_before_the_condition_was_met(seed: int) -> None:
    met = settled = 0
    for _, move, _, _ in moves_in(played("mill", seed)):
        met += move in {"promise", "promise-care", "agree"}
        settled += move == "settle"
        assert met >= settled


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_asks_the_same_one_for_help_twice_or_more_than_two(seed: int) -> None:
    asked = Counter(
        (actor, to) for actor, move, to, _ in moves_in(played("mill", seed)) if move == "ask-help"
    )

    assert all(count == 1 for count in asked.values())
    assert all(count <= 2 for count in Counter(actor for actor, _ in asked).values())


def test_a_play_has_requests_conditions_and_an_end() -> None:
    for seed in SEEDS:
        moves = [move for _, move, _, _ in moves_in(played("mill", seed))]

        assert "ask-help" in moves
        assert {"set-term", "help-if", "hold-back", "help-yes", "help-no"} & {*moves}
        assert any(move.startswith("close-") for move in moves)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_lines_ask_nothing_new(seed: int) -> None:
    last = played("mill", seed)[-2:]

    for event in last:
        asked = {said.move for said in understood(event.payload["text"])} & QUESTIONS
        assert not asked - {"set-term", "hold-back", "help-if"}, event.payload["text"]


@pytest.mark.parametrize("seed", SEEDS)
def test_two_creatures_share_hardly_a_sentence(seed: int) -> None:
    speakers: dict[str, set[str]] = {}
    for actor, _, _, sentence in moves_in(played("mill", seed)):
        speakers.setdefault(sentence, set()).add(actor)

    shared = [sentence for sentence, actors in speakers.items() if len(actors) > 1]
    assert len(shared) * 8 <= len(speakers), shared


def test_a_rival_gets_no_help() -> None:
    stage = OfflineStage(COUNCIL, BRIDGE)
    stage.says("trader", "For the record: I want to sell the bridge.")
    stage.says("mason", "Hear it from me first: I want to mend the bridge.")
    stage.says("trader", "A question, Mason: do you help me sell the bridge, yes or no?")

    moves = {said.move for said in understood(stage.reply("mason")["text"])}

    assert moves & {"help-no-rival", "help-no"}
    assert not moves & {"help-yes", "set-term", "help-if", "hold-back"}


def test_a_broken_promise_is_met_by_whoever_got_it() -> None:
    stage = OfflineStage(MILL, VILLAGE)
    stage.says("miller", "Would you stand by me, Carter, and help me get new sails for the windmill?")
    stage.says("carter", "I was only waiting to be asked.")
    stage.says("miller", "Does your word to me still hold, Carter, now that the rain came?")
    stage.says("carter", "Circumstances change, Miller, and so do I.")

    moves = [said.move for said in understood(stage.reply("miller")["text"])]

    assert moves[0] == "betrayed"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_vote_is_called_cast_and_counted_as_it_was_cast(seed: int) -> None:
    events = played("council", seed)
    votes: dict[str, str] = {}
    for event in events:
        for said in understood(event.payload["text"]):
            if said.move in {"stand-for", "stand-for-word", "back", "back-other"}:
                votes[name_of(event.actor)] = said.slots["option"].lower()
            if said.move == "count":
                tally = said.slots["tally"].replace("I say", f"{name_of(event.actor)} says")
                for name, option in votes.items():
                    assert name in tally or "and I say" in said.slots["tally"]
                    assert option in tally.lower()
    moves = [move for _, move, _, _ in moves_in(events)]

    assert moves.count("call") == 1
    assert moves.count("count") == 1
    assert moves.index("call") < moves.index("count")


WATCH = (
    Character(
        name="engineer",
        persona="Keeps the pumps.",
        wants="a dry cellar",
        temper="dry",
        may_emit=("state.filed",),
        memory=WIDE,
    ),
    Character(name="cook", persona="Cooks.", wants="to light the stove", temper="warm", memory=WIDE),
)
FLOOD = Playbill(
    goal="Stop the water in the cellar.", kinds={"state.filed": {"text": "string", "hours_left": "number"}}
)


def test_hours_that_are_left_only_grow_fewer_as_the_world_tells_them() -> None:
    stage = OfflineStage(WATCH, FLOOD)
    stage.observes("Hour zero. Water stands in the cellar.")
    for scene in ("Hour two. The water rises.", "Hour five. A pump stops.", "Three hours left."):
        stage.play(2)
        stage.observes(scene)
    stage.play(2)
    left = [event.payload["hours_left"] for event in stage.events if event.kind == "state.filed"]

    assert left == sorted(left, reverse=True)
    assert {left[0], left[-1]} == {10, 3}


FLAT = Playbill(
    goal="Agree who gets the attic when the tenant leaves.",
    kinds={"hand.raised": {"text": "string", "for": "creature"}},
)
TENANTS = tuple(
    Character(
        name=name,
        persona="Rents a room.",
        wants=wants,
        temper=temper,
        may_emit=("agent.spoke", "hand.raised"),
        memory=WIDE,
    )
    for name, wants, temper in (
        ("painter", "the attic", "warm"),
        ("drummer", "the attic for the drums", "sly"),
        ("student", "a quiet winter", "shy"),
    )
)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_vote_in_a_field_is_for_whom_the_line_names(seed: int) -> None:
    for event in played("flat", seed):
        if event.kind == "hand.raised":
            assert name_of(event.payload["for"]) in event.payload["text"]
            assert "gets the attic" in event.payload["text"]


FAIR = Playbill(
    goal="Show the best kite. The judge picks a winner.",
    kinds={"kite.shown": {"text": "string", "kite": "string", "tails": "number"}},
    competition=judged("anna", "bert"),
)
FLYERS: tuple[Any, ...] = (
    Character(
        name="anna",
        persona="Anna made the sails of the windmill.",
        wants="to win with her silver kite",
        temper="bold",
        may_emit=("agent.spoke", "kite.shown"),
        memory=WIDE,
    ),
    Character(
        name="bert",
        persona="Bert is the baker. This is his first kite.",
        wants="to be taken for a flyer",
        temper="shy",
        may_emit=("agent.spoke", "kite.shown"),
        memory=WIDE,
    ),
    Character(
        name="old-judge",
        role="judge",
        persona="Has seen many kites.",
        may_emit=("judge.verdict",),
        memory=WIDE,
    ),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_shown_is_ones_own_and_shown_once(seed: int) -> None:
    shown = [event for event in played("fair", seed) if event.kind == "kite.shown"]

    assert {event.actor: event.payload["kite"] for event in shown}.items() <= {
        "anna": "my silver kite",
        "bert": "my first kite",
    }.items()
    assert len({event.actor for event in shown}) == len(shown)
    assert all(event.payload["kite"] in event.payload["text"] for event in shown)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_judge_names_what_was_shown_and_does_not_repeat_a_verdict(seed: int) -> None:
    events = played("fair", seed)
    verdicts = [event.payload for event in events if event.kind == "judge.verdict"]
    texts = [verdict["text"] for verdict in verdicts]

    assert all(before != after for before, after in pairwise(texts))
    assert len({*texts}) * 2 > len(texts)
    for verdict in verdicts:
        if verdict["winner"] != "nobody":
            assert name_of(verdict["winner"]) in verdict["text"]


SONG = Playbill(goal="Sing the best song. The judge picks a winner.", competition=judged("anna", "bert"))
SINGERS = (
    Character(
        name="anna",
        persona="Anna sings on the ferry.",
        wants="to win with a song about the sea",
        temper="bold",
        memory=WIDE,
    ),
    Character(
        name="bert",
        persona="Bert whistles while he bakes.",
        wants="to be heard once",
        temper="shy",
        memory=WIDE,
    ),
    Character(
        name="old-judge", role="judge", persona="Has heard many.", may_emit=("judge.verdict",), memory=WIDE
    ),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_where_nothing_can_be_shown_each_contestant_does_it_once_and_the_judge_decides(seed: int) -> None:
    events = played("song", seed)
    done = [
        event.actor
        for event in events
        if event.kind == "agent.spoke"
        if any(said.move.startswith("perform") for said in understood(event.payload["text"]))
    ]
    verdicts = [event for event in events if event.kind == "judge.verdict"]

    assert sorted(done) == ["anna", "bert"]
    assert verdicts[-1].payload["winner"] in {"anna", "bert"}


def test_what_happens_is_told_whole_by_one_and_somebody_mostly_does_a_deed_that_fits() -> None:
    deeds = 0
    for seed in SEEDS:
        stage = OfflineStage(MILL, VILLAGE, seed)
        stage.play(2)
        stage.observes("The stove sets the curtain on fire.")
        stage.play(3)
        texts = [event.payload["text"] for event in stage.events if event.kind == "agent.spoke"]
        done = sum("I fetch water" in text or "I beat it out" in text for text in texts)
        deeds += done

        assert sum("set the curtain on fire" in text for text in texts) == 1
        assert done <= 1

    assert deeds * 2 > len(SEEDS)


def test_the_sum_of_the_bargains_says_who_helps_whom_and_is_told_once() -> None:
    sums = 0
    for seed in SEEDS:
        moves = [move for _, move, _, _ in moves_in(played("mill", seed))]
        assert moves.count("close-sum") <= 1
        sums += moves.count("close-sum")

    assert sums


WORLDS = {
    "song": (SINGERS, SONG),
    "mill": (MILL, VILLAGE),
    "council": (COUNCIL, BRIDGE),
    "flat": (TENANTS, FLAT),
    "fair": (FLYERS, FAIR),
}
