"""The kinds of answer that every world may ask for, as they stand in a schema.

The troupe reads kinds from schemas, as any model does; these are the few that it treats in a way of their own.
"""

from typing import Final

AGENT_SPOKE: Final = "agent.spoke"
AGENT_PASSED: Final = "agent.passed"
WORLD_OBSERVED: Final = "world.observed"
TOOL_CALLED: Final = "tool.called"
AGENT_REFLECTED: Final = "agent.reflected"
INNER: Final = frozenset({"agent.thought", AGENT_REFLECTED})
"""What nobody else hears."""
LOOK_UP: Final = "look_up"
"""The tool that searches the documents of a world."""
RECALL: Final = "recall"
"""The tool that searches the long memory of a creature."""
