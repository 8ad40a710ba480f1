"""Tournaments: each pairing is played in both seat orders with the same seed, and each match is an ordinary run."""

from collections import Counter
from typing import ClassVar

import pytest

from glasshouse import ModelRouter, Terrarium, kinds
from glasshouse.contests.tournament import MatchPlayed, Tournament, rounds_max
from glasshouse.errors import Refused, UnknownName
from glasshouse.manifests import load_world
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.runtime.stage_crew import ticking, world_of

WORLDS = [world.name for world in bundled_worlds()]
CONTESTS = [name for name in WORLDS if load_world(name).scenario.competition.kind != "none"]


async def _played(tournament: Tournament) -> list[MatchPlayed]:
    return [match async for match in tournament.play()]


@pytest.mark.parametrize("name", CONTESTS)
async def test_every_pairing_is_played_in_both_orders_with_the_same_chance(name: str) -> None:
    async with Terrarium() as t:
        contest = Tournament(t, load_world(name), ["offline", "offline:hasty"], rounds=2, rng_seed=5)
        played = await _played(contest)

        assert (len(played), contest.matches) == (4, 4)
        assert [(match.round, match.rng_seed) for match in played] == [(1, 5), (1, 5), (2, 6), (2, 6)]
        for first, second in zip(played[::2], played[1::2], strict=True):
            swap = {"offline": "offline:hasty", "offline:hasty": "offline"}
            assert second.seats == {seat: swap[model] for seat, model in first.seats.items()}
        assert [run.id for run in t.runs()] == [match.run_id for match in played]
        assert {run.rng_seed for run in t.runs()} == {5, 6}
        assert all(run.is_finished for run in t.runs())


async def test_what_was_played_is_on_the_leaderboard() -> None:
    async with Terrarium() as t:
        contest = Tournament(t, load_world("twenty-sprouts"), ["offline", "offline:hasty"], rounds=3)
        played = await _played(contest)
        standings = {standing.name: standing for standing in t.leaderboard("model")}

    won = Counter(match.winning_model for match in played)
    assert {name: standing.won for name, standing in standings.items()} == {
        "offline": won["offline"],
        "offline:hasty": won["offline:hasty"],
    }
    assert all(
        standing.played == 6 and standing.usage.calls > 0 and standing.usage.tokens > 0
        for standing in standings.values()
    )


@pytest.mark.parametrize("name", WORLDS)
async def test_a_troupe_plays_against_one_alone_with_the_same_purse(name: str) -> None:
    async with Terrarium() as t:
        contest = Tournament(t, load_world(name), ["offline"], is_against_solo=True)
        played = await _played(contest)

        assert [[*match.seats] for match in played] == [["troupe", "solo"], ["solo", "troupe"]]
        troupe, solo = (t.run_of(played[0].run_ids[side]) for side in ("troupe", "solo"))
        assert played[1].run_ids == played[0].run_ids
        assert 0 < solo.calls <= troupe.calls
        assert solo.tokens <= troupe.tokens
        for match in played:
            verdicts = [e for e in await t.run_events(match.run_id) if e.kind == kinds.JUDGE_VERDICT]
            assert len(verdicts) == 1
            assert {*verdicts[0].payload["cites"]} <= {e.id for e in await t.run_events(match.run_id)}


async def test_a_reading_comes_out_the_same_when_it_is_verified() -> None:
    async with Terrarium() as t:
        world = load_world("twenty-sprouts")
        (match, _) = await _played(Tournament(t, world, ["offline"], is_against_solo=True))

        verified = await verify(t, match.run_id)

    assert verified.is_same, verified


async def test_whoever_judges_a_reading_is_not_told_who_reads() -> None:
    class Reads:
        name = "reads"
        prompts: ClassVar[list[Prompt]] = []

        async def complete(self, prompt: Prompt) -> Completion:
            if "assessor" in prompt.system:
                self.prompts.append(prompt)
            return await ModelRouter().route("fast").model.complete(prompt)

    async with Terrarium(models=ModelRouter(Reads())) as t:
        await _played(Tournament(t, load_world("mystery-roots"), ["offline"], is_against_solo=True))

    assert len(Reads.prompts) == 2
    for prompt in Reads.prompts:
        assert "solo" not in prompt.user.lower().replace("solomon", "")
        assert "troupe" not in prompt.user.lower()
        assert "contestant A (cast" in prompt.user
        assert "contestant B (cast" in prompt.user


@pytest.mark.parametrize(
    ("models", "rounds", "words"),
    [
        (["offline"], 1, "has nobody to play against"),
        (["offline", "offline"], 1, "each once"),
        ([], 1, "each once"),
        (["offline", "offline:hasty"], 0, "0 rounds cannot be played"),
        (["offline", "offline:hasty"], rounds_max + 1, "from 1 to 1,000"),
    ],
)
async def test_what_cannot_be_played_is_refused_before_anything_begins(
    models: list[str], rounds: int, words: str
) -> None:
    async with Terrarium() as t:
        with pytest.raises(Refused, match=words):
            Tournament(t, load_world("twenty-sprouts"), models, rounds=rounds)

        assert t.runs() == ()


async def test_a_world_without_contestants_and_a_model_that_nobody_knows_are_refused() -> None:
    async with Terrarium() as t:
        with pytest.raises(Refused, match="Nobody plays against anybody in w"):
            Tournament(t, world_of(ticking("a")), ["offline", "offline:hasty"])
        with pytest.raises(UnknownName, match="Did you mean 'offline:hasty'"):
            Tournament(t, load_world("twenty-sprouts"), ["offline", "offline:hasti"])


async def test_runs_that_are_open_or_were_stopped_are_on_no_leaderboard() -> None:
    async with Terrarium() as t:
        await t.open_world("twenty-sprouts")
        stopped = await t.open_world("mystery-roots")
        await t.step(2)
        await t.finish(stopped.id)

        assert t.leaderboard() == ()
