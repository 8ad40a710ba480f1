"""Props: the things, places and signs that a player's own manifest puts at its hand.

Always holds: what is drawn for colour comes mostly from the player's own texts, so two players of one world reach for
other things; what nobody wrote down is filled up from the troupe's stock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_classes import class_of
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reading import Identity
from glasshouse.troupe.vocabulary import is_a

props_cache_identities_max: Final = 512
"""Kept so as not to be computed again: things, labels and signs of a speaker's own."""
props_cache_scenes_max: Final = 1_024
"""Kept so as not to be computed again: what a speaker can point at in a scene."""
label_words_max: Final = 5
"""A longer beginning before a colon is no label of a voice."""
own_things_min: Final = 4
"""With fewer of its own, a creature points at things of the troupe's stock alone."""
own_times_max: Final = 6
"""A creature's own things are drawn at most this many times as often as the stock's."""

_OWN_SHARE: Final = 3
"""How much likelier a thing of one's own is than one of the stock."""
_SIGNS: Final = re.compile(r"\bthe ([a-z]+) (?:leaves|sheds|drops|trails) ([a-z, ]+)(?=[.;])")
_PARTS: Final = re.compile(r",| and ")


@lru_cache(maxsize=props_cache_scenes_max)
def stock_of(me: Identity, scene: str) -> Mapping[str, tuple[str, ...]]:
    """The troupe's stock with a player's own things before it, and with the places of its texts and of the scene."""
    stock = dict(shelf.sections("stock.txt"))
    things = own_things(me)
    if len(things) >= own_things_min:
        stock["thing"] = _mixed(things, stock["thing"])
    places = places_near(me, scene)
    stock["spot"] = places or stock["place"]
    if places:
        stock["place"] = _mixed(places, stock["place"])
    return MappingProxyType(stock)


@lru_cache(maxsize=props_cache_scenes_max)
def places_near(me: Identity, scene: str) -> tuple[str, ...]:
    """The places that the scene and a player's own texts name."""
    return tuple(dict.fromkeys((*_places(scene), *_places(" ".join((me.persona, *me.examples))))))


@lru_cache(maxsize=props_cache_identities_max)
def own_things(me: Identity) -> tuple[str, ...]:
    """What a player's cares, persona and example lines name, as things one can point at."""
    nouns = [noun for care in me.cares for noun in nouns_in(care)[:1]]
    nouns += [noun for text in (me.persona, *me.examples) for noun in nouns_in(text) if noun.det]
    return tuple({noun.head: noun.definite for noun in nouns if _is_prop(noun)}.values())


@lru_cache(maxsize=props_cache_identities_max)
def labels_of(me: Identity) -> tuple[str, ...]:
    """What a player writes before a colon: where something was, mostly."""
    starts = (example.partition(":") for example in me.examples)
    return tuple(
        label
        for label, colon, _ in starts
        if colon and len(label.split()) <= label_words_max and "." not in label
    )


@lru_cache(maxsize=props_cache_identities_max)
def signs_of(me: Identity) -> Mapping[str, tuple[str, ...]]:
    """By which signs a player knows somebody, as far as its persona says so."""
    return MappingProxyType(
        {
            who: tuple(part.strip() for part in _PARTS.split(signs) if part.strip())
            for who, signs in _SIGNS.findall(me.persona.lower())
        }
    )


def _is_prop(noun: Noun) -> bool:
    return not (
        noun.is_plural
        or noun.is_name
        or noun.is_word
        or is_a(noun.head, "hollow")
        or noun.head in shelf.words_listed("animates.txt")
    )


def _places(text: str) -> tuple[str, ...]:
    where = shelf.words_listed("places.txt")
    return tuple(
        noun.definite
        for noun in nouns_in(text)
        if (noun.head in where or class_of(noun) == "place") and not (noun.is_plural or noun.is_name)
    )


def _mixed(own: tuple[str, ...], stock: tuple[str, ...]) -> tuple[str, ...]:
    """Both, with one's own so often that it is drawn the more often."""
    times = max(1, min(own_times_max, round(_OWN_SHARE * len(stock) / len(own))))
    return own * times + stock
