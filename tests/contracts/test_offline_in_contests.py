"""The troupe in worlds with tools, tales, debates, tables and near-twins, as a reader would judge it."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from datetime import date
from functools import cache
from importlib.resources import files

import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.manifests import load_world
from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Heard
from glasshouse.troupe.skills.debating import points_of
from glasshouse.troupe.skills.pairing import told_in
from glasshouse.troupe.skills.telling import hero_in, turn_called
from tests.simulation.seeds import fresh_seeds, replayable

SEEDS = range(8)
games_counted = 30
found_share_min = 0.5
found_share_max = 0.9
one_side_share_max = 0.8
games_counted_in_soak = 200
one_side_share_max_in_soak = 0.6
LIT = re.compile(r"(\d+) (?:parts )?in (?:the|a) hundred")


@cache
def played(world: str, seed: int) -> tuple[Event, ...]:
    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(load_world(world), rng_seed=seed)
            await t.run(run.id)
            return await t.run_events(run.id)

    return asyncio.run(play())


def of_kind(world: str, seed: int, kind: str) -> list[Event]:
    return [event for event in played(world, seed) if event.kind == kind]


def winner(world: str, seed: int) -> str | None:
    won_by: str | None = played(world, seed)[-1].payload["winner"]
    return won_by


def handles(world: str, seed: int) -> dict[str, str]:
    return {e.payload["creature"]: e.payload["handle"] for e in of_kind(world, seed, kinds.CREATURE_STARTED)}


# An oracle that looks things up


@pytest.mark.parametrize("seed", SEEDS)
def test_every_night_that_is_asked_about_is_looked_up_once_and_read_out_as_it_stands(seed: int) -> None:
    asked = [event.payload["date"] for event in of_kind("almanac-oak", seed, "night.asked")]
    said = {
        result["day"]: result["moon_lit_percent"]
        for event in of_kind("almanac-oak", seed, kinds.TOOL_RETURNED)
        for result in [json.loads(event.payload["text"])]
    }
    read = {e.payload["date"]: e.payload["lit"] for e in of_kind("almanac-oak", seed, "page.read")}

    assert len(set(asked)) == len(asked)
    assert read == said
    assert set(read) <= set(asked)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_night_that_is_chosen_is_the_brightest_that_was_read_and_is_still_open(seed: int) -> None:
    pages = of_kind("almanac-oak", seed, "page.read")
    chosen = of_kind("almanac-oak", seed, "night.chosen")[-1]

    still = {page.id: page.payload for page in pages if page.payload["date"] <= "2031-02-03"}
    best = max(still.values(), key=lambda page: page["lit"])

    assert chosen.payload["date"] == best["date"]
    assert chosen.payload["rests_on"][0] in still


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_asks_about_a_night_beside_one_that_was_the_opposite_of_what_they_want(seed: int) -> None:
    who = handles("almanac-oak", seed)
    read: dict[date, float] = {}
    beside = []
    for event in played("almanac-oak", seed):
        if event.kind == "page.read":
            read[date.fromisoformat(event.payload["date"])] = event.payload["lit"]
        elif event.kind == "night.asked":
            day = date.fromisoformat(event.payload["date"])
            near = [lit for night, lit in read.items() if abs((night - day).days) == 1]
            wants_dark = who[event.actor] == "moonless-ferryman"
            beside += [lit for lit in near if (lit >= 75 if wants_dark else lit <= 15)]

    assert beside == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_far_bank_answers_every_wish_that_was_said(seed: int) -> None:
    wishes = {
        "knife": ("knife", "letters", "bone handle"),
        "carrot": ("carrot",),
        "misprint": ("figure", "page"),
        "nine winters": ("owl",),
        "barley": ("flour", "quits", "sack"),
    }
    said = [
        str(e.payload["text"]) for e in played("almanac-oak", seed) if e.payload.get("text") and e.caused_by
    ]
    first, ending = " ".join(said[:6]).lower(), said[-1].lower()

    assert [
        wish for wish, words in wishes.items() if wish in first and not any(w in ending for w in words)
    ] == []


# Near-twins


@pytest.mark.parametrize("seed", SEEDS)
def test_no_word_that_was_dealt_is_said_by_anybody_before_the_thimbles_are_lifted(seed: int) -> None:
    events = played("one-odd-acorn", seed)
    dealt = {word for event in events if event.sealed for word in event.sealed["facts"].values()}
    lifted = [event for event in events if event.kind == "thimble.lifted"]
    before = " ".join(str(e.payload.get("text", "")) for e in events[: events.index(lifted[0])]).lower()

    assert len(dealt) == 2
    assert not [word for word in dealt if re.search(rf"\b{re.escape(word)}(?:e?s)?\b", before)]
    assert [any(word in event.payload["text"].lower() for word in dealt) for event in lifted] == [True] * 4


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_names_its_word_and_what_is_said_of_it_is_true(seed: int) -> None:
    words = {
        event.sealed["to"][0]: event.sealed["facts"]["word"]
        for event in played("one-odd-acorn", seed)
        if event.sealed is not None and "facts" in event.sealed
    }
    lines = of_kind("one-odd-acorn", seed, "word.described")

    assert len(words) == 4
    assert Counter(Counter(words.values()).values()) == {3: 1, 1: 1}
    assert [line.payload for line in lines if words[line.actor] in line.payload["text"].lower().split()] == []
    assert [
        line.payload for line in lines if words[line.actor] not in told_in(line.payload["text"])[0].holds
    ] == []


def test_the_odd_one_is_found_more_often_than_not_and_hides_often_enough() -> None:
    wins = sum(winner("one-odd-acorn", seed) == "the three" for seed in range(games_counted))

    assert found_share_min <= wins / games_counted <= found_share_max


@pytest.mark.parametrize("seed", SEEDS)
def test_everybody_votes_once_and_the_count_decides(seed: int) -> None:
    votes = of_kind("one-odd-acorn", seed, "vote.cast")
    names = handles("one-odd-acorn", seed)
    finished = played("one-odd-acorn", seed)[-1].payload
    counts = Counter(vote.payload["who"] for vote in votes)

    assert sorted(vote.actor for vote in votes) == sorted(names)
    if finished["winner"] == "the three":
        odd = next(name for name in names.values() if name not in finished["members"])
        assert all(counts[odd] > counts[member] for member in finished["members"])
    else:
        assert counts[finished["winner"]] <= max(
            counts[name] for name in names.values() if name != finished["winner"]
        )


# Tales


def heard(event: Event) -> Heard:
    return Heard(event.id, event.actor, "cast", event.kind, event.payload["text"])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tale_goes_on_with_its_hero_and_changes_hands_with_it(seed: int) -> None:
    tales = of_kind("two-tale-hearth", seed, "tale.told")
    first, other = dict.fromkeys(event.actor for event in tales)
    heroes = {who: hero_in([heard(e) for e in tales if e.actor == who][:1]) for who in (first, other)}
    beats = [e.turn for e in of_kind("two-tale-hearth", seed, kinds.WORLD_OBSERVED) if e.payload.get("title")]

    for who, its_other in ((first, other), (other, first)):
        mine, theirs = heroes[who], heroes[its_other]
        assert mine is not None
        assert theirs is not None
        pieces = [event for event in tales if event.actor == who]
        assert any(mine.name in e.payload["text"].lower() for e in pieces[1:] if e.turn < beats[0])
        after = [e.payload["text"].lower() for e in pieces if e.turn >= beats[0]]
        assert all(theirs.name in text for text in after)
        assert theirs.wish in after[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_called_for_is_a_turn_and_its_thing_is_in_both_tales(seed: int) -> None:
    events = played("two-tale-hearth", seed)
    calls = of_kind("two-tale-hearth", seed, "turn.called")

    assert len(calls) >= 4
    for call in calls:
        answers = [event for event in events if event.caused_by == call.id]
        assert turn_called(call.payload["text"])
        assert len(answers) == 2
        assert all({*words(answer.payload["text"])} & {*words(call.payload["text"])} for answer in answers)


def words(text: str) -> list[str]:
    return [word.strip(".,?!:") for word in text.lower().split() if len(word) > 2]


# Debates and tables


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rebuttal_meets_a_point_of_the_speech_that_it_answers(seed: int) -> None:
    speeches = {e.id: e for e in played("hedge-parliament", seed) if e.kind in {"case.moved", "case.met"}}
    met = 0

    for speech in speeches.values():
        answers = [point for point in points_of(speech.payload["text"]) if point.is_answer]
        if answers:
            target = speeches[speech.payload["answers"]]
            assert target.actor != speech.actor
            assert answers[0].ground in {point.ground for point in points_of(target.payload["text"])}
            met += 1

    assert met >= 5
    assert [e.payload["part"] for e in speeches.values()][:2] == ["opening", "opening"]
    assert [e.payload["part"] for e in speeches.values()][-2:] == ["closing", "closing"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_contribution_builds_on_a_line_of_somebody_else_and_the_last_ones_speak_for_anothers(
    seed: int,
) -> None:
    events = played("plum-tree-table", seed)
    actors = {event.id: event.actor for event in events}
    plates = of_kind("plum-tree-table", seed, "plate.offered")
    names = handles("plum-tree-table", seed)
    verdict = of_kind("plum-tree-table", seed, kinds.JUDGE_VERDICT)[-1]

    assert [plate.payload for plate in plates if actors[plate.payload["builds_on"]] == plate.actor] == []
    kept = Counter(names.get(actors[plate.payload["builds_on"]]) for plate in plates[-8:])
    assert kept[verdict.payload["winner"]] or verdict.payload["winner"] == "nobody"


@pytest.mark.parametrize("world", ["two-tale-hearth", "hedge-parliament", "plum-tree-table"])
def test_nobody_wins_a_judged_contest_nearly_always(world: str) -> None:
    winners = Counter(winner(world, seed) for seed in range(games_counted))

    assert len(winners) >= 2
    assert max(winners.values()) / games_counted <= one_side_share_max
    assert winners[None] / games_counted <= 0.15


@pytest.mark.soak
@pytest.mark.parametrize("world", ["two-tale-hearth", "hedge-parliament", "twenty-sprouts"])
def test_no_side_of_a_contest_leans_by_more_than_sixty_to_forty(world: str) -> None:
    """A new seed is the first of as many games. About one in two hundred such counts of a fair contest leans further."""
    for first in fresh_seeds(1):
        with replayable(first, "tests/contracts/test_offline_in_contests.py"):
            winners = Counter(winner(world, seed) for seed in range(first, first + games_counted_in_soak))
            decided = [count for name, count in winners.items() if name is not None]

            assert max(decided) / sum(decided) <= one_side_share_max_in_soak


@pytest.mark.parametrize("seed", SEEDS)
def test_the_milestone_names_every_point_that_the_winner_brought_and_nobody_met(seed: int) -> None:
    events, names = played("hedge-parliament", seed), handles("hedge-parliament", seed)
    verdict = of_kind("hedge-parliament", seed, kinds.JUDGE_VERDICT)[-1]
    speeches = [e for e in events if e.kind in {"case.moved", "case.met"} and e.payload["part"] != "closing"]
    won = [e for e in speeches if names[e.actor] == verdict.payload["winner"]]
    met = {
        point.ground
        for e in speeches
        if e not in won
        for point in points_of(e.payload["text"])
        if point.is_answer
    }

    brought = {p.ground for e in won for p in points_of(e.payload["text"]) if not p.is_answer}
    made_good = {p.ground for e in won for p in points_of(e.payload["text"]) if p.is_held}
    standing = (brought - met) | made_good

    assert all(ground.lower() in verdict.payload["text"].lower() for ground in standing)
    assert standing or verdict.payload["winner"] == "nobody"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_point_is_made_good_only_after_it_was_met_and_is_not_met_again(seed: int) -> None:
    events = played("hedge-parliament", seed)
    speeches = [e for e in events if e.kind in {"case.moved", "case.met"}]
    said = [(e.actor, point) for e in speeches for point in points_of(e.payload["text"])]
    for at, (actor, point) in enumerate(said):
        if point.is_held:
            same = [(who, other) for who, other in said[:at] if other.ground == point.ground]

            assert [(who == actor, other.is_answer) for who, other in same] == [(True, False), (False, True)]
            assert [other for _, other in said[at + 1 :] if other.ground == point.ground] == []


def test_some_debates_have_a_point_that_was_met_and_made_good() -> None:
    texts = [
        e.payload["text"]
        for seed in SEEDS
        for e in played("hedge-parliament", seed)
        if e.kind in {"case.moved", "case.met"}
    ]

    assert any(point.is_held for text in texts for point in points_of(text))


def test_a_point_is_called_by_a_word_of_the_sentence_that_brings_it() -> None:
    rows = [row.split(" | ") for rows in shelf.sections("motions.txt").values() for row in rows]
    points = [row for row in rows if len(row) in {3, 4}]

    assert len(points) == len(rows)
    assert [
        name for name, text, *_ in points if name.lower().split()[-1][:4].rstrip("s") not in text.lower()
    ] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_said_of_a_night_fits_its_figure(seed: int) -> None:
    book = shelf.sections("oracle.txt")
    asked = [e.payload["text"].lower() for e in of_kind("almanac-oak", seed, "night.asked")]
    for band, least, most in (("dark", 0, 25), ("half", 26, 59), ("bright", 60, 100)):
        frames = [
            frame for who in ("dark", "bright") for frame in book[f"ask {who} {band}"] if "<lit>" in frame
        ]
        for text in asked:
            said = [f for f in frames if max(re.split(r"<\w+>", f.lower()), key=len).strip() in text]
            assert all(least <= int(lit) <= most for lit in LIT.findall(text) if said), text


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("world", "last"),
    [("two-tale-hearth", "innkeeper"), ("almanac-oak", "far-bank"), ("hedge-parliament", "tenth-mouse")],
)
def test_somebody_tells_how_it_ended(world: str, last: str, seed: int) -> None:
    spoken = [e for e in played(world, seed) if e.caused_by is not None and e.payload.get("text")]

    assert handles(world, seed)[spoken[-1].actor] == last
    assert [e for e in spoken[:-1] if handles(world, seed).get(e.actor) == last] == []


def test_no_word_that_may_be_dealt_stands_in_the_world_where_it_has_a_near_twin() -> None:
    folder = files("glasshouse").joinpath("worlds/one-odd-acorn")
    listed = folder.joinpath("pairs.txt").read_text(encoding="utf-8")
    dealt = {
        word.strip() for line in listed.splitlines() if not line.startswith("#") for word in line.split("|")
    }
    texts = "\n".join(
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("scenario.yaml", "script.txt")
    )

    assert len(dealt) > 8
    assert [word for word in dealt if word and re.search(rf"\b{word}(?:e?s)?\b", texts, re.IGNORECASE)] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_word_comes_out_once_the_guess_is_answered_and_the_verdict_names_it(seed: int) -> None:
    events = played("twenty-sprouts", seed)
    (word,) = [str(event.sealed["facts"]["word"]) for event in events if event.sealed]
    (guess,) = of_kind("twenty-sprouts", seed, "guess.made")
    (lifted,) = of_kind("twenty-sprouts", seed, "hat.lifted")
    (verdict,) = of_kind("twenty-sprouts", seed, kinds.JUDGE_VERDICT)
    before = events[: events.index(guess if guess.payload["word"] == word else lifted)]
    said = [str(event.payload.get("text", "")).lower() for event in before]

    assert [text for text in said if re.search(rf"\b{word}\b", text)] == []
    assert f'"{word}"' in lifted.payload["text"]
    assert word in verdict.payload["text"].lower()
    assert (verdict.payload["winner"] == "guesser") == (guess.payload["word"] == word)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_keeper_begins_with_the_answer_and_no_beat_comes_between(seed: int) -> None:
    begins = {"yes": ("Yes",), "no": ("No",), "unsure": ("Not sure", "Sometimes")}
    events = [event for event in played("twenty-sprouts", seed) if event.turn and event.payload.get("text")]
    answers = [event for event in events if event.kind == "answer.given"]

    assert len(answers) >= 4
    for answer in answers:
        assert answer.payload["text"].startswith(begins[answer.payload["answer"]])
        assert events[events.index(answer) - 1].kind in {"question.asked", "guess.made"}


def test_no_word_that_is_guessed_stands_in_what_is_said_beside_the_game() -> None:
    folder = files("glasshouse").joinpath("worlds/twenty-sprouts")
    listed = folder.joinpath("words.txt").read_text(encoding="utf-8")
    words = [word for word in listed.splitlines() if word and not word.startswith("#")]
    texts = [
        *folder.joinpath("script.txt").read_text(encoding="utf-8").splitlines(),
        *shelf.entries("wonderings.tsv"),
    ]

    assert [word for word in words for text in texts if re.search(rf"\b{word}\b", text.lower())] == []


# Stories that must come to their point


@pytest.mark.parametrize("seed", SEEDS)
def test_every_hatbox_gets_its_seam_mended_once(seed: int) -> None:
    assert len(of_kind("hatbox-and-cello", seed, "seam.mended")) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_attic_closes_right_behind_its_climax(seed: int) -> None:
    events = played("far-end-of-the-attic", seed)
    window = next(at for at, e in enumerate(events) if "The round window" in str(e.payload.get("title")))
    spoken = [e.kind for e in events[window + 1 :] if e.payload.get("text") and e.kind != "agent.reflected"]

    assert spoken[-1] == "journal.closed"
    assert len(spoken) <= 5


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sundial_is_told_the_hour_that_it_asked_for(seed: int) -> None:
    names = handles("keeper-of-dusk", seed)
    carried = [
        e.payload["text"]
        for e in played("keeper-of-dusk", seed)
        if e.payload.get("text") and names.get(e.actor) == "dusk-keeper"
    ]
    hours = ("early four", "ate, she says", "is late there", "begins when you", "begins there when you")

    assert [text for text in carried if any(hour in text for hour in hours)]
