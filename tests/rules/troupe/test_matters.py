"""What a goal asks everybody to decide."""

import pytest

from glasshouse.troupe.talk.matters import (
    NO,
    NOT_YET,
    YES,
    deed_for,
    deed_for_want_of_a_reason,
    is_for,
    matter_of,
    names_the_deed,
    speaks_against,
    work_in,
)

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


@pytest.mark.parametrize(
    ("goal", "deeds"),
    [
        ("Agree on one plan to save the barn, or agree to let it go.", ("save the barn", "let it go")),
        (
            "Decide whether to sell the van, borrow money or stay at home.",
            ("sell the van", "borrow money", "stay at home"),
        ),
        (
            "Decide whether to frighten the guests or to welcome them.",
            ("frighten the guests", "welcome them"),
        ),
        ("Decide whether to open the gate.", ("open the gate", "leave it as it is")),
    ],
)
def test_what_is_to_be_agreed_on_are_deeds(goal: str, deeds: tuple[str, ...]) -> None:
    matter = matter_of(goal)

    assert matter is not None
    assert matter.deeds == deeds


def test_who_did_it_is_asked_without_the_hour() -> None:
    matter = matter_of("Find out who ate the key before the vet comes back.")

    assert matter is not None
    assert matter.culprit == "ate the key"


@pytest.mark.parametrize(
    ("persona", "expected"),
    [
        ("A tortoise who swallowed the key this morning.", True),
        ("He ate the key and the string with it.", True),
        ("A canary who saw everything. She saw who took the key.", False),
        ("She lost the key last year.", False),
        ("She has looked after the key for twenty years.", False),
        ("Last night she took the key to open the gate, lost it and ran away.", True),
        ("A bulldog who is always hungry.", False),
    ],
)
def test_a_persona_tells_whether_its_player_did_it(persona: str, expected: bool) -> None:
    assert names_the_deed(persona, "ate the key") is expected


def test_nobody_is_for_what_their_persona_speaks_against() -> None:
    persona = "Tired, would rather work for free than fire anybody. Thinks that borrowing is the worst."
    deeds = ("sell the van", "borrow money", "fire two people")

    assert [speaks_against(persona, deed) for deed in deeds] == [False, True, True]
    assert deed_for_want_of_a_reason("tom", "sad", persona, deeds) == "sell the van"


def test_nobody_is_against_a_thing_for_its_article() -> None:
    assert not speaks_against("She would not sell the piano.", "the big room")
    assert speaks_against("She does not want a big room.", "the big room")


def test_without_a_reason_somebody_is_for_keeping_a_thing() -> None:
    assert deed_for_want_of_a_reason("ida", "", "", ("let it go", "save the barn")) == "save the barn"


@pytest.mark.parametrize(("manner", "expected"), [("bold", "climb on"), ("nervous", "turn back")])
def test_the_bold_are_for_the_first_deed_and_those_who_worry_for_the_last(manner: str, expected: str) -> None:
    assert deed_for_want_of_a_reason("ida", manner, "", ("climb on", "turn back")) == expected


@pytest.mark.parametrize(
    ("goal", "work"),
    [
        ("Make the best dumpling of the village.", "dumpling"),
        ("Tell the biggest lie, and be believed.", "lie"),
        ("Bake the finest apple cake before noon.", "apple cake"),
        ("Win the prize.", ""),
    ],
)
def test_a_goal_names_what_everybody_makes(goal: str, work: str) -> None:
    assert work_in(goal) == work


def test_what_is_to_be_found_out_is_so_or_not() -> None:
    matter = matter_of("Find out whether the vase in the attic is really the one on the old postcard.")

    assert matter is not None
    assert matter.answers() == (YES, NO)


def test_of_three_deeds_one_may_begin_with_a_word_that_is_a_noun_too() -> None:
    matter = matter_of(
        "Decide what to do with the wardrobe: lower it on a rope, saw it up, or leave it behind."
    )

    assert matter is not None
    assert matter.deeds == ("lower it on a rope", "saw it up", "leave it behind")
