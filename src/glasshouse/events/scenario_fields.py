"""The fields that views and telemetry read of a scenario in `run.started`. The rules of turns read a `Playbill` of it.

Always holds: a scenario was checked when its run was opened. A field that it leaves out has its default here.
"""

from __future__ import annotations

import msgspec

from glasshouse.errors import BadEvent
from glasshouse.events.event import Json


class ScenarioFields(msgspec.Struct, frozen=True, gc=False):
    """What is shown of a scenario. A run without a scenario has empty fields."""

    name: str = ""
    title: str = ""
    disturbances: tuple[str, ...] = ()


def scenario_fields_of(scenario: Json | None) -> ScenarioFields:
    """These fields of a scenario; its other fields are ignored."""
    try:
        return msgspec.convert(scenario or {}, ScenarioFields)
    except msgspec.ValidationError as wrong:
        raise BadEvent(f"A scenario in the ledger is broken: {wrong}.") from wrong
