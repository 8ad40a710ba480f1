"""The leaderboard as a function of results: what counts, for whom, and in which order."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events.model_use import Usage
from glasshouse.views.leaderboard import By, Player, Result, Seat, leaderboard


def _seat(name: str, *players: tuple[str, str], usd: float | None = 0.5) -> Seat:
    usage = Usage(2, 10, usd or 0.0, usd is None)
    return Seat(name, tuple([Player(key, key, model, usage) for key, model in players]))


SUN = _seat("sun", ("ada", "big"), ("bo", "big"))
RAIN = _seat("rain", ("cy", "small"))
RESULTS = (
    Result("r-1", "pond", (SUN, RAIN), "sun"),
    Result("r-2", "pond", (SUN, RAIN), "rain"),
    Result("r-3", "pond", (SUN, RAIN), "sun"),
    Result("r-4", "lane", (SUN, RAIN), None),
)


def test_each_line_has_what_was_played_won_and_spent() -> None:
    first, second = leaderboard(RESULTS, "team")

    assert (first.name, first.played, first.won, first.lost, first.no_contest) == ("sun", 4, 2, 1, 1)
    assert (second.name, second.played, second.won, second.lost, second.no_contest) == ("rain", 4, 1, 2, 1)
    assert (first.usage, first.win_rate) == (Usage(16, 80, 4.0), 0.5)


def test_members_win_with_their_team_and_models_with_their_seat() -> None:
    creatures = {
        standing.name: (standing.played, standing.won) for standing in leaderboard(RESULTS, "creature")
    }
    models = {
        standing.name: (standing.played, standing.won, standing.usage.calls)
        for standing in leaderboard(RESULTS, "model")
    }

    assert creatures == {"ada": (4, 2), "bo": (4, 2), "cy": (4, 1)}
    assert models == {"big": (4, 2, 16), "small": (4, 1, 8)}


def test_one_world_may_be_asked_for_alone() -> None:
    assert [standing.played for standing in leaderboard(RESULTS, "team", world="lane")] == [1, 1]
    assert leaderboard(RESULTS, "team", world="nowhere") == ()


def test_a_model_that_plays_itself_is_no_news_of_models() -> None:
    alike = Result("r-5", "pond", (_seat("a", ("ada", "big")), _seat("b", ("bo", "big"))), "a")

    assert leaderboard([alike], "model") == ()
    assert [standing.won for standing in leaderboard([alike], "creature")] == [1, 0]


def test_whoever_shares_a_win_has_won() -> None:
    seats = tuple([_seat(name, (name, name)) for name in ("ada", "bo", "cy")])
    result = Result("r-6", "bluff", seats, "the others", ("ada", "cy"))

    assert {standing.name: (standing.won, standing.lost) for standing in leaderboard([result])} == {
        "ada": (1, 0),
        "cy": (1, 0),
        "bo": (0, 1),
    }


def test_a_price_that_nobody_knows_makes_the_sum_unknown() -> None:
    dear = Result("r-7", "pond", (_seat("sun", ("ada", "big"), usd=None), RAIN), "sun")

    assert {standing.name: standing.usage.usd for standing in leaderboard([*RESULTS, dear], "team")} == {
        "sun": None,
        "rain": 2.5,
    }


SEATS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=3),
    min_size=2,
    max_size=4,
)


@given(st.lists(st.tuples(SEATS, st.integers(0, 5)), max_size=8), st.sampled_from(get_args(By)))
def test_played_is_always_the_sum_of_won_lost_and_no_contest(
    contests: list[tuple[list[list[tuple[str, str]]], int]], by: By
) -> None:
    results = [
        Result(f"r-{n}", "w", tuple([_seat(f"s{i}", *seat) for i, seat in enumerate(seats)]), f"s{winner}")
        for n, (seats, winner) in enumerate(contests)
    ]

    standings = leaderboard(results, by)

    assert all(
        standing.played == standing.won + standing.lost + standing.no_contest for standing in standings
    )
    assert list(standings) == sorted(
        standings, key=lambda standing: (-standing.win_rate, -standing.won, standing.name)
    )
    assert leaderboard(reversed(results), by) == standings


@pytest.mark.parametrize("by", get_args(By))
def test_nothing_played_is_nobody_listed(by: By) -> None:
    assert leaderboard((), by) == ()
