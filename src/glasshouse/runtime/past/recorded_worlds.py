"""Worlds as the ledger recorded them: what a replay opens again, and what a run of an edited world continues with (ADR 0137).

Always holds: no file is read here. A record that came in a file for others may lack the cards of its deals: such a deal
deals nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from glasshouse.errors import Refused
from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event
from glasshouse.events.payloads import payload_of
from glasshouse.events.recorded_fields import is_public_part
from glasshouse.manifests.decks import decks_of
from glasshouse.manifests.documents import Document
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario


def recorded_scenario(started: payloads.RunStarted) -> Scenario:
    """The scenario of a run, as its start has it."""
    plain = dict(started.scenario or {})
    plain["deal"] = {key: deal for key, deal in plain.get("deal", {}).items() if "from" in deal}
    return Scenario.model_validate(plain)


def births_in(events: Iterable[Event]) -> dict[str, payloads.CreatureStarted]:
    """The creatures that begin in these events, by id; each as it began last."""
    births = [
        payload_of(event, payloads.CreatureStarted)
        for event in events
        if event.kind == kinds.CREATURE_STARTED
    ]
    return {born.creature: born for born in births}


def recorded_world(started: payloads.RunStarted, births: Iterable[payloads.CreatureStarted]) -> LoadedWorld:
    """The edited world that a run was opened with. Code beside it is looked for where it was opened."""
    played = {entry.creature for entry in started.cast}
    plain = {born.cast_key: born.manifest or {} for born in births if born.creature in played}
    hidden = [name for name, manifest in plain.items() if is_public_part(manifest)]
    if hidden:
        raise Refused(
            f"This session came in a file for spectators, which does not say who {hidden[0]} is.",
            "Import a file that was exported for the audience or a director.",
        )
    manifests = {
        name: Manifest.model_validate(manifest) for name, manifest in {**started.spawnable, **plain}.items()
    }
    scenario = recorded_scenario(started)
    listed = {key: deal for key, deal in scenario.deal.items() if not isinstance(deal.source, str)}
    scenario = scenario.model_copy(update={"deal": listed})
    decks, _, _ = decks_of(scenario, None, {})
    recipe = started.recipe
    path = Path(recipe.path) if recipe is not None and recipe.path else None
    known_by = started.scenario_digest if recipe is None else recipe.digest
    # Their texts are not on record: a creature that looks something up reads the files as they are then.
    documents = {file: Document(file, "", digest, 0) for file, digest in started.documents.items()}
    return LoadedWorld(scenario, manifests, decks, path, documents, edited_from=known_by)
