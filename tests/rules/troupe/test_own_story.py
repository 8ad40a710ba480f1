"""What a manifest lets its player say about itself."""

import pytest

from glasshouse.troupe.reading import Identity
from glasshouse.troupe.talk.manners import manner_of
from glasshouse.troupe.talk.own_story import story_of


def test_what_a_player_tells_nobody_is_neither_told_nor_cared_about_aloud() -> None:
    story = story_of(
        Identity(
            "ida",
            persona="Ida is the pilot. Her wrist hurts and she tells nobody.",
            cares=("her wrist", "the sky"),
        )
    )

    assert story.facts == ("I am the pilot",)
    assert story.cares == ("the sky",)


@pytest.mark.parametrize(
    "wants",
    ["nobody to know where the letter is", "to take the spoon before anybody notices", "to leave unnoticed"],
)
def test_who_wants_that_nobody_knows_keeps_it_secret(wants: str) -> None:
    assert story_of(Identity("ida", wants=wants)).is_secret


@pytest.mark.parametrize(
    ("wants", "expected"),
    [
        ("to cross the river", "cross the river"),
        ("a second helping", "get a second helping"),
        ("no visitors on a Sunday", "see to it that there are no visitors on a Sunday"),
        ("no noise", "see to it that there is no noise"),
    ],
)
def test_a_want_is_said_as_what_others_may_help_with(wants: str, expected: str) -> None:
    assert story_of(Identity("ida", wants=wants)).help == expected


def test_a_wish_about_others_is_said_to_them() -> None:
    story = story_of(Identity("ida", wants="that one of them sings a low note"))

    assert story.want == "one of you to sing a low note"


def test_what_a_persona_says_of_something_else_is_no_fact_about_its_player() -> None:
    me = Identity(
        "ida", persona="You keep the bees. They are the only quick thing here, and you sing to them."
    )

    assert story_of(me).facts == ("I keep the bees",)


@pytest.mark.parametrize(
    ("temper", "expected"),
    [
        ("warm and stubborn", "warm"),
        ("sceptical but polite", "sly"),
        ("loud and cheerful", "bold"),
        ("patient until he is not", "warm"),
        ("", ""),
        ("purple", ""),
    ],
)
def test_the_first_word_of_a_temper_that_has_a_manner_decides(temper: str, expected: str) -> None:
    assert manner_of(temper) == expected


def test_a_second_verb_is_said_in_the_first_person_behind_an_adverb_too() -> None:
    me = Identity("walter", persona="Taught geography for forty years and rather likes being stuck.")

    assert story_of(me).facts == ("I taught geography for forty years and rather like being stuck",)
