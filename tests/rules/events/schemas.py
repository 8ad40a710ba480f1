"""The schema of every struct that reaches the ledger, by its name and version, as `golden_schemas.json` keeps it.

A schema in the file is never rewritten: there are ledgers with that shape. What only got more, so that everything written
before is still read, keeps its version: `GROWN` names what it got, and the new schema is kept beside the old one. To add
the schema of a new kind or version, run

    python -m tests.rules.events.schemas

which writes only what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from glasshouse.events import kinds
from glasshouse.events.codec import EVENT_VERSION, VERSIONS
from glasshouse.events.event import Event
from glasshouse.events.payloads import (
    PAYLOAD_TYPES,
    RUN_PAYLOAD_TYPES,
    JudgeVerdict,
    Private,
    Sealed,
    WorldObserved,
)
from glasshouse.events.shown import PackedShown
from glasshouse.runtime.ledger.house_record import HouseRecord, record_version
from glasshouse.runtime.ledger.session_file import FileEnd, FileHead, FileSegment, format_version
from glasshouse.world.decisions.requests import Answer, Asked, Request, request_version
from tests.rules.events import golden_files

FILE = Path(__file__).with_name("golden_schemas.json")

TYPES: dict[str, type[msgspec.Struct]] = {
    **PAYLOAD_TYPES,
    **RUN_PAYLOAD_TYPES,
    kinds.WORLD_OBSERVED: WorldObserved,
    kinds.JUDGE_VERDICT: JudgeVerdict,
}

BESIDE_PAYLOADS: dict[str, type[msgspec.Struct]] = {
    f"event@{EVENT_VERSION}": Event,
    f"private@{EVENT_VERSION}": Private,
    f"sealed@{EVENT_VERSION}": Sealed,
    f"shown@{EVENT_VERSION}": PackedShown,
    f"request@{request_version}": Request,
    f"asked@{request_version}": Asked,
    f"answer@{request_version}": Answer,
    f"file head@{format_version}": FileHead,
    f"file segment@{format_version}": FileSegment,
    f"file end@{format_version}": FileEnd,
    f"house record@{record_version}": HouseRecord,
}


GROWN: dict[str, str] = {
    **{kind: fields[-1] for kind, fields in golden_files.GROWN.items()},
    "event": "recalled",
    "request": "RevokePrivilege",
    "asked": "RevokePrivilege",
}
"""The newest field with a default, or the newest intent, of what was extended without a version."""


def schema_of(struct: type[msgspec.Struct]) -> Any:
    """Every field of a struct and of those in it: name, type, default, and whether others are refused; no prose."""
    return _without_prose(msgspec.to_builtins(msgspec.json.schema(struct)))


def _without_prose(value: Any) -> Any:
    if isinstance(value, dict):
        # A field may be called `title` or `description`, but its schema is an object, not a text.
        return {
            key: _without_prose(part)
            for key, part in value.items()
            if not (key in ("title", "description") and isinstance(part, str))
        }
    return [_without_prose(part) for part in value] if isinstance(value, list | tuple) else value


def schemas_now(
    types: Mapping[str, type[msgspec.Struct]] = TYPES, versions: Mapping[str, int] = VERSIONS
) -> dict[str, Any]:
    """The schemas of today: of the event, what stands beside it, and each kind's payload."""
    payloads = {f"{kind}@{versions.get(kind, 1)}": types[kind] for kind in sorted(types)}
    return {_with_growth(name): schema_of(struct) for name, struct in {**BESIDE_PAYLOADS, **payloads}.items()}


def _with_growth(name: str) -> str:
    grown = GROWN.get(name.partition("@")[0])
    return name if grown is None else f"{name}+{grown}"


def kept() -> dict[str, Any]:
    """The schemas in the file."""
    schemas: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return schemas


def changed(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    """What differs from the file: a shape that changed without a version, or one that the file does not have."""
    return [name for name, schema in now.items() if then.get(name) != schema]


if __name__ == "__main__":
    schemas = sorted({**schemas_now(), **kept()}.items())
    lines = [f"{json.dumps(name)}: {json.dumps(schema, sort_keys=True)}" for name, schema in schemas]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
