"""How much memory a model needs, how much is free, and the context that fits.

`context_that_fits` is pure. Always holds: a model for which the memory does not suffice is refused before it is loaded, with
what it needs and what is there, instead of being loaded until the system kills something.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.errors import Refused
from glasshouse.models.installed import usual_context_tokens
from glasshouse.models.local.found_files import ModelFile

context_tokens_min: Final = 2_048
"""If there is no memory for so much context, the model is refused: a scene and a few lines take that much."""
context_step_tokens: Final = 256
"""A context that memory limits is a multiple of this."""
batch_tokens: Final = 512
"""llama.cpp reads a prompt in pieces of so many tokens, and keeps a number for each of them and each word it knows."""
overhead_bytes: Final = 200 * 1024 * 1024
"""What llama.cpp and Python need beside the weights, the context and the words: a process with a small model took 150 MB above its file."""
prompts_share: Final = 4
"""Prompts of other creatures are kept in a quarter of the memory that is left, so that they need not be read again."""
prompts_bytes_max: Final = 2 * 1024**3
"""And in no more than this: some forty prompts of a model with 8 billion parameters."""

_LIMIT_OF_GROUP: Final = Path("/sys/fs/cgroup/memory.max")
_USED_BY_GROUP: Final = Path("/sys/fs/cgroup/memory.current")
_DETAILS_OF_GROUP: Final = Path("/sys/fs/cgroup/memory.stat")


class Room(NamedTuple):
    """What a model gets: its context, and the memory for prompts that are kept."""

    context_tokens: int
    prompts_bytes: int


def free_bytes() -> int:
    """How much memory can be had without taking it from somebody: the system's, or what is left of this container's."""
    import psutil

    system = int(psutil.virtual_memory().available)
    try:
        limit = int(_LIMIT_OF_GROUP.read_text())
        details = dict(line.split() for line in _DETAILS_OF_GROUP.read_text().splitlines())
        # Pages of files count as used, and are given up for others.
        left = limit - int(_USED_BY_GROUP.read_text()) + int(details.get("inactive_file", 0))
    except (OSError, ValueError):
        return system  # No container, or one without a limit, which says "max".
    return max(0, min(system, left))


def context_that_fits(file: ModelFile, free: int, wanted: int | None = None) -> Room:
    """The context that a model gets: as wanted, else 8,192 tokens or what it was trained for and the memory holds. Refused if
    that is too little."""
    header = file.header
    needed = file.bytes + overhead_bytes + batch_tokens * header.vocabulary * 4
    trained = header.context_tokens or usual_context_tokens
    most = wanted or min(usual_context_tokens, trained)
    per_token = max(1, header.cache_bytes_per_token)
    fits = max(0, free - needed) // per_token
    least = wanted or min(context_tokens_min, trained)
    if fits < least:
        reason = f"{file.name} needs {_gigabytes(needed + least * per_token)} of memory, and {_gigabytes(free)} are free."
        instead = "End other programs, or take a smaller model."
        raise Refused(reason, f"Lower context_tokens. {instead}" if wanted else instead)
    tokens = most if fits >= most else max(least, fits // context_step_tokens * context_step_tokens)
    left = free - needed - tokens * per_token
    return Room(tokens, min(prompts_bytes_max, max(0, left) // prompts_share))


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"
