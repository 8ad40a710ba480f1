"""What a manifest lets its player say about itself."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glasshouse.troupe.reading import Identity
from glasshouse.troupe.talk.manners import manner_of
from glasshouse.troupe.talk.matters import (
    deed_for_want_of_a_reason,
    matter_of,
    names_the_deed,
    speaks_against,
)
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


@pytest.mark.parametrize(
    ("persona", "want", "is_secret"),
    [
        ("The drummer. He wants to play the old songs, fast, and go home.", "to play the old songs", False),
        ("A canary who sings. She was promised a new mirror.", "a new mirror", False),
        (
            "You are Pete. You are nervous and want everything to be perfect.",
            "everything to be perfect",
            False,
        ),
        ("You are Lucy. You think the goat should stay here.", "the goat to stay here", False),
        ("Tired, would rather work for free than fire anybody.", "to work for free", False),
        ("A thief who secretly plans to steal the crown.", "to steal the crown, secretly", True),
        ("He does not want to be captain, but he wants to be asked.", "to be asked", False),
        ("Everybody wants to marry her. She laughs.", "", False),
        ("The king wants to hang him.", "", False),
    ],
)
def test_without_wants_the_persona_tells_what_its_player_wants(
    persona: str, want: str, is_secret: bool
) -> None:
    story = story_of(Identity("ida", persona=persona))

    assert (story.want, story.is_secret) == (want, is_secret)


def test_what_is_said_as_a_wish_is_no_fact_too() -> None:
    story = story_of(Identity("ida", persona="The drummer. He wants to play the old songs."))

    assert story.facts == ("I am the drummer",)


@pytest.mark.parametrize(
    ("persona", "fact"),
    [
        (
            "A retired keeper, 74, dry, knows every stair.",
            "I am a retired keeper, 74, dry, and I know every stair",
        ),
        ("Stubborn, honest and dry.", "I am stubborn, honest and dry"),
        ("Ida is her sister and has brought a saw.", "I have brought a saw"),
        ("Second floor. Suspects everyone, enjoys it.", "I suspect everyone and enjoy it"),
        ("She calls her Doreen.", "I call her Doreen"),
        ("You help only when somebody asks you nicely.", "I help only when somebody asks me nicely"),
        ("The cook, who never says where the salt is.", "I am the cook"),
    ],
)
def test_who_somebody_is_is_said_in_the_first_person(persona: str, fact: str) -> None:
    assert story_of(Identity("ida", persona=persona)).facts == (fact,)


def test_without_cares_the_persona_tells_what_its_player_is_fond_of() -> None:
    me = Identity("ida", persona='The singer. Proud of her new song "Salt", easily hurt.')

    assert story_of(me).cares == ("my new song",)


def test_a_wish_that_nobody_does_something_is_one_that_others_see_to() -> None:
    story = story_of(Identity("ida", wants="That nobody disturbs the petrels between May and September."))

    assert story.want == "to see to it that nobody disturbs the petrels between May and September"
    assert story.help == "see to it that nobody disturbs the petrels between May and September"


@pytest.mark.parametrize(
    ("persona", "expected"),
    [
        ("Stubborn, dry, knows every stair.", "cross"),
        ("A grandmother with old songs.", ""),
        ("Shy.", "nervous"),
    ],
)
def test_without_a_temper_the_persona_tells_the_manner(persona: str, expected: str) -> None:
    assert manner_of("", persona) == expected


ODD_WORDS = ["he", "you", "who", "wants", "to", "would", "rather", "not", "and", "but", ",", ".", ";", ":", '"', "(", "the", "a", "an", "her", "nobody", "loves", "proud", "of", "retired", "knows", "should", "that", "than", "secretly", "hopes", "whether", "or", "decide", "ate", "key", "Ada", "has", "been"]  # fmt: skip
ODD_TEXTS = st.lists(st.sampled_from([*ODD_WORDS, "", " ", "\u2014"]), max_size=12).map(" ".join)


@given(ODD_TEXTS, ODD_TEXTS, ODD_TEXTS)
@example(", , ,", "", "")
@example("", " ", "")
@example("Ada would not.", "", "Decide who gets  .")
def test_no_manifest_and_no_goal_is_too_odd_to_be_read(persona: str, wants: str, goal: str) -> None:
    me = Identity("ada", persona=persona, wants=wants, goal=goal)
    story = story_of(me)
    matter = matter_of(goal)

    assert all(fact.strip() for fact in story.facts)
    if matter is not None:
        assert not names_the_deed(persona, matter.culprit) or matter.culprit
        assert {speaks_against(persona, who.head) for who in matter.whos} <= {True, False}
        assert not matter.deeds or deed_for_want_of_a_reason("ada", "", persona, matter.deeds) in matter.deeds
