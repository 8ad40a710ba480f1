"""How a model on llama.cpp samples if nobody said how: with a penalty on repeating runs of words (DRY).

Pure. Always holds: nothing here samples cooler than the server does by itself, because temperature and the cuts of unlikely
words stay the server's. What its operator chose stays too (ADR 0126).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from glasshouse.events.event import Json

DRY: Final[Mapping[str, Any]] = MappingProxyType(
    {"dry_multiplier": 0.8, "dry_allowed_length": 3, "dry_penalty_last_n": 2_048}
)
"""Runs of more than three tokens that stand among the last 2,048 are made unlikely, the longer the more."""
NOTHING_SENT: Final[Mapping[str, Any]] = MappingProxyType({})


def usual_decoding(props: Json) -> Mapping[str, Any]:
    """What is sent to the llama.cpp server with these `/props` if nobody gave a `decoding`.

    Nothing if it does not know DRY, or was started with a DRY of its own.
    """
    settings = props.get("default_generation_settings")
    own = settings.get("params") if isinstance(settings, dict) else None
    is_off = isinstance(own, dict) and own.get("dry_multiplier") == 0
    return DRY if is_off else NOTHING_SENT
