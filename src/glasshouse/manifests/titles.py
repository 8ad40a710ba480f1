"""Titles and openings that could deceive a reader: which are refused, and why.

A title is shown wherever its creature speaks, so it must not look like the engine's or another creature's, and no title or
opening may show its letters in another order than they are written.

Always holds: these rules are for what is loaded or given anew. They are no part of `Manifest` and `Scenario`, because a
recorded run is read as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import category, name, normalize

from glasshouse.errors import Refused
from glasshouse.events.event import RESERVED_ACTORS
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import At, Complaint, shown
from glasshouse.world.state.ids import SPOKEN_FOR
from glasshouse.world.state.state import World

REORDERING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Embeddings, overrides and isolates of text that runs from right to left, and what ends them."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_ALIKE: Final = ("CYRILLIC", "GREEK")
"""Alphabets with letters that look like Latin ones."""


def folded(title: str) -> str:
    """A title as it is compared with others: without case, width, fonts, and characters that are not shown."""
    plain = normalize("NFKC", normalize("NFKC", title).casefold())
    return " ".join("".join(char for char in plain if category(char) != "Cf").split())


def fault_of_order(text: str) -> str | None:
    """What is wrong with a text whose letters are not shown in the order in which they are written."""
    match = REORDERING.search(text)
    if match is None:
        return None
    mark = match.group()
    shown_order = "which shows letters in another order than they are written"
    return f"there is a {name(mark)} (U+{ord(mark):04X}), {shown_order}. Delete it."


def fault_of_title(title: str, reserved: frozenset[str] = RESERVED_ACTORS | SPOKEN_FOR) -> str | None:
    """What is wrong with a title by itself. `reserved` are the names that it may not look like."""
    if fault := fault_of_order(title):
        return fault
    if folded(title) in reserved:
        return f"{shown(title)} is what the engine calls {folded(title)!r}. Choose another title."
    for word in _WORD.findall(normalize("NFKC", title)):
        for alphabet in _ALIKE:
            if fault := _mixture(word, alphabet):
                return fault
    return None


def _mixture(word: str, alphabet: str) -> str | None:
    """That a word has letters of this alphabet and Latin ones, and which of them are probably wrong."""
    letters = {"LATIN": "", alphabet: ""}
    for char in dict.fromkeys(word):
        script = name(char, "").partition(" ")[0]
        if script in letters:
            letters[script] += char
    if not all(letters.values()):
        return None
    fewer = min(letters, key=lambda script: len(letters[script]))
    codes = ", ".join(f"{char} (U+{ord(char):04X})" for char in letters[fewer])
    mixed = f"{shown(word)} mixes Latin with {alphabet.capitalize()} letters"
    return f"{mixed}: {fewer.capitalize()} is {codes}. Type the whole word in one alphabet."


def fault_beside(title: str, other: str) -> str:
    """That a title looks like that of another creature."""
    return f"{shown(title)} looks like the title of {other!r}. Give one of them another title."


def complaints_about_creature(manifest: Manifest) -> list[Complaint]:
    """What is wrong with the title of one creature, whatever world it plays in."""
    fault = fault_of_title(manifest.title)
    return [Complaint(("title",), fault, manifest.name)] if fault else []


def complaints_about_titles(world: CheckedWorld) -> Iterator[Complaint]:
    """What is wrong with the titles and openings of a world and its creatures."""
    scenario = world.scenario
    titles: list[tuple[At, str]] = [(("title",), scenario.title)]
    titles += [(("beats", n, "title"), beat.title) for n, beat in enumerate(scenario.beats)]
    openings: dict[At, str] = {("opening",): scenario.opening}
    openings |= {(*at, "opening"): troupe.opening for at, troupe in world.troupes}
    faults = [
        *((at, fault_of_title(title, RESERVED_ACTORS)) for at, title in titles),
        *((at, fault_of_order(opening)) for at, opening in openings.items()),
    ]
    yield from (Complaint(at, fault) for at, fault in faults if fault)
    for manifest in world.played.values():
        yield from complaints_about_creature(manifest)
    yield from _alike(world)


def _alike(world: CheckedWorld) -> Iterator[Complaint]:
    """Titles that look like the title of another creature. Two creatures of one file may share theirs."""
    played = world.played
    seats = {**{use: use for use in world.scenario.spawnable}, **world.scenario.cast_by_handle}
    seated = [(handle, use) for handle, use in seats.items() if use in played]
    first: dict[str, str] = {}
    # Those without a title come first, because nobody chose how their handles look.
    for handle, use in sorted(seated, key=lambda seat: bool(played[seat[1]].title)):
        title = played[use].title
        other = first.setdefault(folded(title_shown(title, handle)), use)
        if title and other != use:
            yield Complaint(("title",), fault_beside(title, other), use)


def check_titles(world: World, graph_id: str | None, newcomer: Manifest, *spawnable: Manifest) -> None:
    """Refuse a newcomer whose title deceives, by itself or beside those of the graph that it would join."""
    faults = [(each, fault_of_title(each.title)) for each in (newcomer, *spawnable)]
    graph = world.graphs.get(graph_id or "") if newcomer.title else None
    for member in () if graph is None else graph.creatures:
        creature = world.creatures[member]
        facts = world.facts_of(creature)
        is_alike = folded(title_shown(facts.title, creature.handle)) == folded(newcomer.title)
        if is_alike and facts.manifest.get("name") != newcomer.name:
            faults.append((newcomer, fault_beside(newcomer.title, creature.handle)))
    for each, fault in faults:
        if fault is not None:
            reason, _, instead = fault.rpartition(". ")
            raise Refused(f"The title of {each.name} is refused: {reason}.", instead)


def title_shown(title: str, handle: str) -> str:
    """What a creature is called: its title, or its handle in words."""
    return title or re.sub("[-_]", " ", handle)
