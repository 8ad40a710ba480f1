"""Bundles: what one act answers together, for debts of any shape."""

from __future__ import annotations

from operator import attrgetter

import msgspec
import pytest

from glasshouse.turns.runs.agenda import Owed
from glasshouse.views.page_state import Debt
from glasshouse.world.hearing.bundles import begin_bundle, bundle_heard_into, bundle_up, newest_cause, settle

time_of = attrgetter("at")


class Line(msgspec.Struct):
    """A debt that knows nothing but what the rule needs."""

    at: int
    bundle: int = 0


def mailbox(*bundles: int) -> dict[str, Line]:
    """Causes a, b, c and so on, one after another, in these bundles."""
    return {chr(ord("a") + at): Line(at, bundle) for at, bundle in enumerate(bundles)}


def test_bundles_of_a_creature_are_counted_from_one() -> None:
    begun: dict[str, int] = {}

    assert [begin_bundle(begun, name) for name in ("ada", "ada", "bo")] == [1, 2, 1]
    assert begun == {"ada": 2, "bo": 1}


def test_only_a_stopped_creature_hears_into_a_bundle() -> None:
    begun = {"ada": 3}

    assert bundle_heard_into(begun, "ada", is_running=False) == 3
    assert bundle_heard_into(begun, "ada", is_running=True) == 0
    assert bundle_heard_into(begun, "bo", is_running=False) == 0


def test_a_full_turn_bundles_all_but_what_an_act_under_way_answers() -> None:
    owed = mailbox(0, 1, 0)

    bundle_up(owed, 2, but="b")

    assert [(cause, debt.bundle) for cause, debt in owed.items()] == [("a", 2), ("b", 1), ("c", 2)]


@pytest.mark.parametrize("debt", [Debt(4, 1), Owed("s-1.4", 4, 1)], ids=["page", "agenda"])
def test_a_bundled_debt_keeps_what_else_it_knows(debt: Debt | Owed) -> None:
    owed = {"s-1.4": debt}

    bundle_up(owed, 2)

    assert owed == {"s-1.4": msgspec.structs.replace(debt, bundle=2)}


def test_the_act_for_a_bundle_answers_its_newest_cause() -> None:
    assert newest_cause(mailbox(1, 0, 1, 2), 1) == "c"


@pytest.mark.parametrize(
    ("bundles", "cause", "left"),
    [
        ((0, 0, 0), "b", "ac"),
        ((1, 1, 1), "c", ""),
        ((1, 0, 1, 2), "c", "bd"),
        # An act that began before its cause became part of the bundle has not heard what came after it.
        ((1, 1, 1), "b", "c"),
        ((1, 1), "z", "ab"),
    ],
)
def test_an_act_settles_its_cause_and_what_it_has_heard_of_the_bundle(
    bundles: tuple[int, ...], cause: str, left: str
) -> None:
    owed = mailbox(*bundles)
    expected = owed.get(cause)

    settled = settle(owed, cause, time_of)

    assert settled == expected
    assert "".join(owed) == left
