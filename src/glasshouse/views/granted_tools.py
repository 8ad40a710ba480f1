"""The tools of servers that a run's creatures were granted: as they were described then, and as they are now if they
changed.

Always holds: it is a pure view of the world. Its texts are strangers'.
"""

from __future__ import annotations

import msgspec

from glasshouse.events.described_tool import DescribedTool
from glasshouse.reprs import repr_of
from glasshouse.world.state.state import World


class ToolOfRun(msgspec.Struct, frozen=True):
    """A tool of a server, and the creatures that know this description of it."""

    __repr__ = repr_of("name", "is_withheld", "handles")

    tool: DescribedTool
    """As it was granted or accepted."""
    now: DescribedTool | None
    """As its server describes it now, if that is different."""
    handles: tuple[str, ...]

    @property
    def name(self) -> str:
        """The server and the tool, such as `weather/forecast`."""
        return self.tool.name

    @property
    def is_withheld(self) -> bool:
        """Whether it is not offered until somebody accepts it."""
        return self.now is not None


def tools_of_run(world: World, run_id: str) -> tuple[ToolOfRun, ...]:
    """The tools of a run, in the order in which they were granted."""
    handles: dict[tuple[str, str | None], list[str]] = {}
    for creature in world.creatures.values():
        for grant in (creature.grants or {}).values() if creature.run_id == run_id else ():
            handles.setdefault((grant.granted, grant.now), []).append(creature.handle)
    return tuple(
        [
            ToolOfRun(world.tools[key], world.tools.get(now or ""), tuple(some))
            for (key, now), some in handles.items()
        ]
    )
