"""What a noun is, as a sentence of the offline troupe may ask."""

import pytest

from glasshouse.troupe.noun_classes import can, class_of, class_of_word
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.vocabulary import NOUN_CLASSES, of_sort


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the brass telephone", "object"),
        ("the honey jar", "object"),
        ("a slice of bread", "food"),
        ("three muddy boots", "object"),
        ("the geese", "animal"),
        ("the beekeeper", "person"),
        ("the potting shed", "place"),
        ("the thunderstorm", "weather"),
        ("an old lullaby", "sound"),
        ("the forgiveness", "abstract"),
        ("the zorblax", "unknown"),
        ("We have met Rupert before", "person"),
        ("the sourdoughs", "food"),
        ("a raincoat", "object"),
    ],
)
def test_a_noun_has_the_class_of_its_last_word(text: str, expected: str) -> None:
    assert class_of(nouns_in(text)[0]) == expected


def test_every_everyday_noun_has_a_class() -> None:
    without = {word for word in of_sort("noun") if class_of_word(word) not in NOUN_CLASSES}

    assert without == set()


def test_what_opens_carries_and_speaks() -> None:
    door, cart, king = (nouns_in(text)[0] for text in ("the doors", "a cart", "the king"))

    assert [can(noun, "opens") for noun in (door, cart, king)] == [True, False, False]
    assert [can(noun, "carries") for noun in (door, cart, king)] == [False, True, False]
    assert [can(noun, "speaks") for noun in (door, cart, king)] == [False, False, True]
