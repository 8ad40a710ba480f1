"""A play to export, and the lines of its file, which a test can change."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Literal

from glasshouse import Draft, Event, Manifest, Terrarium, kinds
from glasshouse.events.codec import content_of, raw_decoded
from glasshouse.events.digest import digest_with_costs

Role = Literal["spectator", "audience", "director"]
Line = dict[str, Any]

ROLES: tuple[Role, ...] = ("spectator", "audience", "director")
TELLS = Manifest(name="ada", may_emit=(kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT))


def said(text: str, **parts: Any) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": text}, **parts)


async def a_play(terrarium: Terrarium) -> str:
    """Two creatures meet, talk, think, keep a secret and part; the session of the first one."""
    ada = await terrarium.add_creature(TELLS)
    bo = await terrarium.add_creature(Manifest(name="bo"))
    await terrarium.append(ada.id, said("alone", private={"thought": "nobody hears"}))
    await terrarium.connect(ada.id, bo.id, channel="talk")
    await terrarium.append(ada.id, said("hello", channel="talk", sealed={"word": "lantern"}))
    await terrarium.append_all(ada.id, [said("one"), said("two"), said("three")])
    await terrarium.append(ada.id, Draft(kind=kinds.AGENT_THOUGHT, payload={"text": "I wonder"}))
    await terrarium.disconnect(ada.id, bo.id)
    await terrarium.append(ada.id, said("alone again"))
    return terrarium.creature(ada.id).session_id


def lines_of(path: Path) -> list[Line]:
    """The lines of a file, packed or plain, without its records: a file is whole without them."""
    raw = path.read_bytes()
    plain = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    lines = [json.loads(line) for line in plain.splitlines()]
    for line in lines:
        if isinstance(line.get("end"), dict):
            line["end"].pop("record", None)
    return [line for line in lines if "record" not in line]


def rewrite(path: Path, lines: list[Line]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def seal(path: Path, lines: list[Line]) -> None:
    """Write lines as somebody would who knows how the last one is made."""
    exported = [{name: line[name] for name in line if name != "change"} for line in lines if "id" in line]
    events = [raw_decoded(json.dumps(line).encode()) for line in exported]
    rewrite(path, [*lines[:-1], {"end": {"events": len(events), "digest": digest_with_costs(events)}}])


def contents(events: tuple[Event, ...]) -> list[Line]:
    return [content_of(event) for event in events]


async def state_of(terrarium: Terrarium) -> tuple[object, ...]:
    """Everything that a refused import might have touched."""
    graphs = terrarium.graphs()
    return (graphs, terrarium.creatures(), [await terrarium.events(graph.session_id) for graph in graphs])
