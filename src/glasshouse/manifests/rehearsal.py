"""`Rehearsal`: a world as the cross checks look at it.

Always holds: `scenario` is sound by itself. `hurt` names the top fields that lost something in reading; `known` names
every creature there is a file for, also those that could not be read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from glasshouse.manifests.functions_beside import FunctionsIn, no_functions
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import At
from glasshouse.manifests.scenario import CastEntry, Scenario, Troupe

DEALS_OF_REFEREES = {"names_the_word": "word"}
"""The referees that are built in, and the deal that each of them looks at."""
BUILT_IN_REFEREES = frozenset(DEALS_OF_REFEREES)


@dataclass(frozen=True)
class Rehearsal:
    """Everything a cross check may look at."""

    scenario: Scenario
    manifests: Mapping[str, Manifest]
    known: Collection[str]
    hurt: frozenset[str] = frozenset()
    referees: frozenset[str] = BUILT_IN_REFEREES
    functions_in: FunctionsIn = no_functions
    """The functions in a Python file beside the world, or none if there is no such file."""
    tools: frozenset[str] | None = None
    """The tools that may be granted by name; none if nobody has told, and then no name is held against anybody."""
    tools_in: FunctionsIn = no_functions
    """The functions in such a file that may be tools: those that are awaited, too."""

    @property
    def cast_is_whole(self) -> bool:
        """Whether everybody in the cast could be read, so that a name not found there is nobody's."""
        return not self.hurt & {"cast", "troupes", "root"}

    @property
    def manifests_are_whole(self) -> bool:
        """Whether every creature of the cast could be read."""
        return self.cast_is_whole and all(name in self.manifests for name in self.used)

    @property
    def troupes(self) -> list[tuple[At, Troupe]]:
        """Each cast as it was written, and where."""
        scenario = self.scenario
        if scenario.troupes:
            return [(("troupes", name), troupe) for name, troupe in scenario.troupes.items()]
        return [((), Troupe(cast=scenario.cast, channels=scenario.channels, root=scenario.root))]

    @property
    def entries(self) -> list[tuple[At, CastEntry]]:
        """Everybody in any cast as they were written, and where."""
        return [
            ((*at, "cast", n), entry) for at, troupe in self.troupes for n, entry in enumerate(troupe.cast)
        ]

    @property
    def handles(self) -> tuple[str, ...]:
        """What everybody is called, the root included."""
        stages = self.scenario.stages.values()
        return tuple(dict.fromkeys(entry.name for stage in stages for entry in stage.cast))

    @property
    def used(self) -> tuple[str, ...]:
        """The creatures that play or may be born, each once."""
        cast = [entry.use for stage in self.scenario.stages.values() for entry in stage.cast]
        return tuple(dict.fromkeys([*cast, *self.scenario.spawnable]))
