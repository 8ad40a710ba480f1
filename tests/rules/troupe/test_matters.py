"""What a goal asks everybody to decide."""

import pytest

from glasshouse.troupe.talk.matters import NOT_YET, YES, deed_for, is_for, matter_of

POOL = "Decide what to do with the old windmill. Paint it, mend it or sell it."


def test_a_goal_with_some_deeds_asks_which_is_to_be_done() -> None:
    matter = matter_of(POOL)

    assert matter is not None
    assert matter.deeds == ("paint it", "mend it", "sell it")
    assert matter.answers() == ("we paint it", "we mend it", "we sell it")


def test_a_goal_that_asks_whether_is_answered_with_yes_or_not_yet() -> None:
    matter = matter_of("Find out whether the bridge can carry the circus.")

    assert matter is not None
    assert matter.whether == "the bridge can carry the circus"
    assert matter.answers() == (YES, NOT_YET)


def test_a_goal_that_asks_who_is_answered_with_a_name() -> None:
    matter = matter_of("Agree who feeds the goat and who gets the front seat when we leave.")

    assert matter is not None
    assert [who.answer("Ida") for who in matter.whos] == ["Ida feeds the goat", "Ida gets the front seat"]
    assert [who.deed for who in matter.whos] == ["feed the goat", "get the front seat"]


def test_a_goal_that_asks_who_did_something_is_a_search_for_the_culprit() -> None:
    matter = matter_of("Light the stove again, and find out who stole the matches.")

    assert matter is not None
    assert matter.culprit == "stole the matches"


@pytest.mark.parametrize(
    "goal",
    [
        "Bring the goat home before dark.",
        "Find the crown or die.",
        "Bake a cake. The judge picks a winner.",
        "",
    ],
)
def test_a_goal_that_leaves_nothing_to_choose_is_no_matter(goal: str) -> None:
    matter = matter_of(goal)

    assert matter is None or not matter.whos


@pytest.mark.parametrize(
    ("want", "expected"),
    [
        ("to sell the windmill", "sell it"),
        ("to save the windmill for the birds", "mend it"),
        ("to mend the windmill", "mend it"),
        ("to save the whales", ""),
        ("a quiet evening", ""),
    ],
)
def test_a_want_tells_for_which_deed_somebody_is(want: str, expected: str) -> None:
    assert deed_for(want, ("paint it", "mend it", "sell it"), POOL) == expected


def test_who_is_spoken_of_or_wants_the_same_says_yes() -> None:
    clause = "the apprentice is ready for the big oven"

    assert is_for("to go home", clause, "apprentice")
    assert is_for("to see the big oven used", clause, "baker")
    assert not is_for("no burnt bread", clause, "old-baker")
