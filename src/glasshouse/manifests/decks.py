"""Decks: the cards that a scenario may deal, read from its files before the play starts.

Always holds: a deck has at least one card; a card is plain JSON within a bound. A deck's file is beside the scenario: lines
of text (empty lines and lines that begin with '#' are ignored), or a YAML list. A card for a deal with an odd one is a
pair of two different values.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glasshouse.errors import BadWorld
from glasshouse.events.codec import canonical_json
from glasshouse.manifests.problem import Complaint, Problem, likely, shown
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.yaml_source import source_at, yaml_bytes_max

card_bytes_max = 16_384
"""A larger card is refused."""
deck_cards_max = 20_000
"""A larger deck is refused."""
card_shown_chars_max = 60
"""The message about a card that is not a pair shows this much of it."""

Deck = tuple[Any, ...]


def decks_of(
    scenario: Scenario, folder: Path | None, given: Mapping[str, Deck]
) -> tuple[dict[str, Deck], list[Complaint], list[Problem]]:
    """Every deck by the key of its deal; complaints about the scenario; problems of the decks' files."""
    decks: dict[str, Deck] = {}
    complaints: list[Complaint] = []
    problems: list[Problem] = []
    for key, deal in scenario.deal.items():
        try:
            deck = given[key] if key in given else _deck(deal.source, folder)
            decks[key] = _checked(tuple(map(_pair, deck)) if deal.odd_one else deck)
        except _NoDeck as fault:
            complaints.append(Complaint(("deal", key, "from"), str(fault)))
        except BadWorld as fault:
            problems += [problem for problem in fault.problems if isinstance(problem, Problem)]
    return decks, complaints, problems


class _NoDeck(Exception):
    """Why a deck cannot be used."""


def _deck(source: str | Deck, folder: Path | None) -> Deck:
    if not isinstance(source, str):
        return source
    if folder is None:
        raise _NoDeck(f"a world without a folder has no file {source!r}. Write a list, or pass decks=.")
    if Path(source).name != source:
        raise _NoDeck(f"{source!r} is not beside the scenario. Put the file there and write only its name.")
    files = sorted(path.name for path in folder.iterdir() if path.is_file())
    if source not in files:
        text = f"there is no file {shown(source)} beside the scenario."
        raise _NoDeck(f"{text} {likely(source, files, '')}".rstrip())
    return (_yaml_list if source.endswith((".yaml", ".yml")) else _lines)(folder / source)


def _lines(path: Path) -> Deck:
    try:
        with path.open("rb") as file:
            text = file.read(yaml_bytes_max + 1)
        if len(text) > yaml_bytes_max:
            raise _NoDeck(f"{path.name} has more than {yaml_bytes_max:,} bytes. Shorten it.")
        lines = [line.strip() for line in text.decode("utf-8-sig").splitlines()]
    except OSError as fault:
        raise _NoDeck(f"{path.name} cannot be read ({fault.strerror}). Check its permissions.") from fault
    except UnicodeDecodeError as fault:
        raise _NoDeck(f"{path.name} is not UTF-8. Save it as UTF-8.") from fault
    return tuple(line for line in lines if line and not line.startswith("#"))


def _yaml_list(path: Path) -> Deck:
    source = source_at(path)
    if source.problems:
        raise BadWorld(source.problems)
    if not isinstance(source.data, list):
        raise _NoDeck(f"{path.name} should be a YAML list. Begin each card with '- '.")
    return tuple(source.data)


def _pair(card: Any) -> list[Any]:
    """A card for a deal with an odd one; in text, '|' separates the two."""
    pair = [part.strip() for part in card.split("|")] if isinstance(card, str) else card
    if isinstance(pair, list | tuple) and len(pair) == 2 and all(pair) and pair[0] != pair[1]:
        return list(pair)
    text = f"{str(card)[:card_shown_chars_max]!r} is not a pair."
    raise _NoDeck(f"{text} For 'odd_one' write [one, other], or 'one | other' in text.")


def _checked(deck: Deck) -> Deck:
    if not deck:
        raise _NoDeck("the deck is empty. Write at least one card.")
    if len(deck) > deck_cards_max:
        raise _NoDeck(f"there are {len(deck):,} cards. Keep at most {deck_cards_max:,}.")
    if any(card is None or len(canonical_json({"card": card})) > card_bytes_max for card in deck):
        raise _NoDeck(f"a card is empty, or larger than {card_bytes_max:,} bytes. Correct it.")
    return deck
