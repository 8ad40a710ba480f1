"""What a server says of a tool that creatures may use, as the ledger keeps it; and the names of tools that have rules of their own.

Always holds: the text is a stranger's. It is bounded and its schema is normalised before it gets here, and it stands only
quoted in prompts. What a creature was granted is in the ledger, so no reader of the past needs the server.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from typing import Final

import msgspec

from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.reprs import repr_of

SERVER_SEPARATOR: Final = "/"
"""Between a server and its tool, as in `weather/forecast`. No other tool has it in its name."""
LOOK_UP: Final = "look_up"
"""The tool that finds passages in documents. No other tool may have this name."""

RECALL: Final = "recall"
"""The tool that searches long memory. No other tool may have this name."""
OF_THE_ENGINE: Final = frozenset({LOOK_UP, RECALL})
"""The tools that come with the engine and are granted by name, beside those of groups."""


class DescribedTool(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """A tool as its server describes it."""

    __repr__ = repr_of("name", "is_read_only", "description")

    name: str
    """The server and the tool, such as `weather/forecast`."""
    description: str
    """One line: what the tool does, and what its parameters are."""
    parameters: Json
    """A JSON Schema of an object, without texts of the server."""
    is_read_only: bool
    digest: str
    """The digest of the whole definition, as the server sent it."""


class GrantedTool(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """A tool of a server that a creature may use."""

    tool: DescribedTool
    """As it was when it was granted, or accepted."""
    now: DescribedTool | None = None
    """As the server describes it now, if that is different. Then the tool is withheld until somebody accepts it."""


def is_of_server(tool: str) -> bool:
    """Whether this names a tool of a server. A name with a colon is a function beside a world, wherever its file is."""
    return SERVER_SEPARATOR in tool and ":" not in tool


def server_of(tool: str) -> str:
    """The name of a tool's server."""
    return tool.partition(SERVER_SEPARATOR)[0]


def is_grantable(tool: str, names: Collection[str]) -> bool:
    """Whether a manifest may grant a tool. Among the names, `weather/` stands for every tool of the server `weather`."""
    return tool in names or (is_of_server(tool) and f"{server_of(tool)}{SERVER_SEPARATOR}" in names)


def key_of(tool: DescribedTool) -> str:
    """A key for a description: equal texts have equal keys. `digest` is none, because a file from elsewhere may lie."""
    return blake2b(canonical_json(msgspec.to_builtins(tool)), digest_size=16).hexdigest()
