"""Verifying a run: it is driven again from its recorded completions and compared with its record; so are those that it
goes on from."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from glasshouse.assembly import MemoryStore, usual_tools
from glasshouse.cli.drawing.screen import as_json as json_of
from glasshouse.cli.drawing.screen import print_json, spelled
from glasshouse.cli.looking import Lookout, looked_up
from glasshouse.errors import Refused
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event
from glasshouse.runtime.replays.replay import Verification, verify


@dataclass(frozen=True)
class Verified:
    """What came of one run: it was played again, or it cannot be, and why."""

    run_id: str
    found: Verification | None
    why_not: str = ""


def is_verified(store: Path | None, name: str, *, as_json: bool) -> bool:
    """Whether a run comes out the same, told with the first difference if it does not. The runs that a branch or a
    resumed run goes on from are verified, too: their past is part of its story."""

    async def verified(lookout: Lookout) -> list[Verified]:
        first = await verify(lookout.terrarium, lookout.run(name).id, MemoryStore(), usual_tools())
        found = [Verified(lookout.run(name).id, first)]
        while found[-1].found is not None and found[-1].found.grows_from is not None:
            found.append(await _verified(lookout, found[-1].found.grows_from))
        return found

    own, *before = looked_up(store, verified)
    if as_json:
        print_json({**_facts(own), "past": [_facts(one) for one in before]})
    else:
        for one in (own, *before):
            _print(one)
    return all(one.found is None or one.found.is_same for one in (own, *before))


async def _verified(lookout: Lookout, run_id: str) -> Verified:
    try:
        return Verified(run_id, await verify(lookout.terrarium, run_id, MemoryStore(), usual_tools()))
    except Refused as refusal:
        return Verified(run_id, None, str(refusal))


def _facts(one: Verified) -> dict[str, Any]:
    if one.found is None:
        return {"run_id": one.run_id, "is_same": None, "why": one.why_not}
    found = one.found
    return {
        "run_id": one.run_id,
        "is_same": found.is_same,
        "events": found.events,
        "taken": found.taken,
        "recorded_digest": found.recorded_digest,
        "replayed_digest": found.replayed_digest,
        "recorded_event": _content(found.recorded_event),
        "replayed_event": _content(found.replayed_event),
        "prompt_diffs": list(found.prompt_diffs),
    }


def _print(one: Verified) -> None:
    found = one.found
    if found is None:
        print(f"{one.run_id}: cannot be verified, and is taken as it stands. {one.why_not}")
        return
    if found.is_same:
        print(f"{one.run_id}: verified. {_counted(found)} came out the same, byte for byte.{_past(found)}")
        print(f"digest {found.recorded_digest}")
        return
    print(f"{one.run_id}: came out otherwise.")
    print(f"recorded {found.recorded_digest}\nreplayed {found.replayed_digest}")
    for diff in (_event_diff(found.recorded_event, found.replayed_event), *found.prompt_diffs):
        if diff:
            print(f"\n{spelled(diff)}")


def _counted(found: Verification) -> str:
    own = found.events - found.taken
    return f"{own:,} event{'s'[: own != 1]}{' of its own' if found.taken else ''}"


def _past(found: Verification) -> str:
    if not found.taken:
        return ""
    whose = "came in a file, and are taken as they stand"
    if found.grows_from is not None:
        whose = f"are of {found.grows_from}"
    return f" The {found.taken:,} before them {whose}."


def _event_diff(then: Event | None, now: Event | None) -> str:
    """How the first event that differs differs, one field a line. Ids and times differ always and say nothing."""
    if then is None and now is None:
        return ""
    name = then.id if then is not None else "the end of the record"
    lines = unified_diff(_lines(then), _lines(now), f"{name}, recorded", f"{name}, replayed", lineterm="")
    return "\n".join(lines)


def _lines(event: Event | None) -> list[str]:
    if event is None:
        return ["(nothing: it ended before)"]
    told = content_of(event)
    kept = ("turn", "actor", "kind", "channel", "payload", "private", "sealed", "model")
    return [f"{field}: {json_of(told[field])}" for field in kept if told.get(field) is not None]


def _content(event: Event | None) -> dict[str, Any] | None:
    return None if event is None else content_of(event)
