"""Names on the command line: whole ids, beginnings of ids, `last`, and what is said about all others."""

from pathlib import Path

import pytest

from glasshouse.cli.store_reader import short_ids
from glasshouse.errors import Refused
from glasshouse.views.names import id_meant
from tests.journeys.commanding import OPEN, ROOTS, WOOD, objects, run


@pytest.mark.parametrize(
    ("name", "meant"), [("last", OPEN), (WOOD, WOOD), ("r-00aa9", ROOTS), ("77", OPEN), ("r-7", OPEN)]
)
def test_a_name_means_one_run(name: str, meant: str) -> None:
    assert id_meant("run", name, [WOOD, ROOTS, OPEN]) == meant


def test_a_whole_id_is_meant_even_where_a_longer_one_begins_alike() -> None:
    assert id_meant("event", "s-1.1", ["s-1.1", "s-1.10", "s-1.11"]) == "s-1.1"


def test_a_beginning_of_many_names_some_of_them() -> None:
    known = [f"r-a{number:02}" for number in range(12)]

    with pytest.raises(Refused, match=r"'r-a' could be any of r-a00, .*r-a07 and 4 more\. Write more of it"):
        id_meant("run", "r-a", known)


@pytest.mark.parametrize("name", ["last", "", "r-1"])
def test_where_there_is_nothing_no_name_means_anything(name: str) -> None:
    with pytest.raises(Refused):
        id_meant("run", name, [])


def test_a_short_id_means_the_same_one() -> None:
    known = [WOOD, ROOTS, OPEN, "r-00aa11bb22cc44"]

    short = short_ids(known)

    assert {id_meant("run", name, known): run_id for run_id, name in short.items()} == {
        run_id: run_id for run_id in known
    }
    assert short[OPEN] == OPEN[:8]


def test_last_is_the_run_that_began_last(store: str) -> None:
    (answer,) = objects("digest", "last", "--store", store)

    assert answer["run_id"] == OPEN


def test_an_ambiguous_name_lists_what_it_could_mean(store: str) -> None:
    tried = run("digest", "r-00aa", "--store", store)

    assert (tried.returncode, tried.stdout) == (3, "")
    assert f"could be any of {WOOD}, {ROOTS}. Write more of it." in tried.stderr


@pytest.mark.parametrize("words", [("show",), ("digest",), ("replay",), ("replay", "--verify")])
def test_an_unknown_name_is_met_with_a_likely_one(store: str, words: tuple[str, ...]) -> None:
    tried = run(*words, "r-00aa11bb22cc33dx", "--store", store)

    assert (tried.returncode, tried.stdout) == (3, "")
    assert "Did you mean 'r-00aa11bb22cc33d0'?" in tried.stderr


def test_a_session_can_be_read_like_a_run(store: str) -> None:
    session = objects("runs", "--store", store)[0]["session_id"]

    (answer,) = objects("digest", session, "--store", store)

    assert answer["session_id"] == session


def test_looking_leaves_the_store_as_it_is(store: str) -> None:
    before = Path(store).read_bytes()

    run("show", "last", "--store", store)
    run("replay", "last", "--store", store)

    assert Path(store).read_bytes() == before
