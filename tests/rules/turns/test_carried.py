"""What a fold keeps and what a branch carries over of it are two structs: neither has a field that the other lacks."""

import msgspec
import pytest

from glasshouse.events import carried
from glasshouse.turns.heard.recent_lines import RecentLines, Stretch, Tables
from glasshouse.turns.heard.renaming import Renamed
from glasshouse.turns.runs.agenda import Owed, UnderWay
from glasshouse.turns.runs.purses import Account, Clocks, Spent
from glasshouse.world.hearing.wires import Handed
from glasshouse.world.state.state import Stay

PAIRS: list[tuple[type[msgspec.Struct], type[msgspec.Struct]]] = [
    (Owed, carried.CarriedDebt),
    (UnderWay, carried.CarriedAct),
    (Handed, carried.CarriedHandover),
    (Stretch, carried.CarriedLines),
    (RecentLines, carried.CarriedTable),
    (Tables, carried.CarriedTables),
    (Renamed, carried.CarriedNames),
    (Clocks, carried.CarriedClocks),
    (Account, carried.CarriedAccount),
    (Stay, carried.CarriedStay),
]


def fields_of(struct: type[msgspec.Struct]) -> list[tuple[str, object]]:
    """The name and default of each field. An empty tuple of a fold is an empty list in JSON."""
    fields = msgspec.structs.fields(struct)
    return [(field.name, msgspec.NODEFAULT if field.default == () else field.default) for field in fields]


@pytest.mark.parametrize(("kept", "taken"), PAIRS, ids=lambda struct: struct.__name__)
def test_what_a_fold_keeps_is_carried_over_whole(
    kept: type[msgspec.Struct], taken: type[msgspec.Struct]
) -> None:
    assert fields_of(kept) == fields_of(taken)


def test_what_a_purse_keeps_is_carried_over_whole() -> None:
    kept = [name.replace("minutes_usd", "minutes") for name, _ in fields_of(Spent)]

    assert kept == [name for name, _ in fields_of(carried.CarriedRun)]
