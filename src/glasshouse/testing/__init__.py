"""What users test their own worlds with: play one offline in one call, script a model, count how often one is asked.

Always holds: nothing here reaches the network or writes a file; the same world and seeds give the same `digest`. Each
name is brought from its home when it is first asked for, so that the plugin costs a run of pytest nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.models.scripted import CountingModel, ScriptedModel
    from glasshouse.runtime.played import Played
    from glasshouse.testing.offline import play_offline

__all__ = ["CountingModel", "Played", "ScriptedModel", "play_offline"]

_HOMES = {
    "CountingModel": "glasshouse.models.scripted",
    "Played": "glasshouse.runtime.played",
    "ScriptedModel": "glasshouse.models.scripted",
    "play_offline": "glasshouse.testing.offline",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"glasshouse.testing has no name {name!r}. It has {', '.join(__all__)}.")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
