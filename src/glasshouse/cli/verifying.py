"""Verifying a run: it is driven again from its recorded completions and compared with its record."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import Any

from glasshouse.assembly import MemoryStore, usual_tools
from glasshouse.cli.looking import Lookout, looked_up
from glasshouse.cli.screen import as_json as json_of
from glasshouse.cli.screen import print_json, spelled
from glasshouse.errors import Refused
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event
from glasshouse.runtime.replay import Verification, verify


def is_verified(store: Path | None, name: str, *, as_json: bool) -> bool:
    """Whether a run comes out the same, told with the first difference if it does not."""

    async def verified(lookout: Lookout) -> tuple[str, Verification]:
        run = lookout.run(name)
        if run.branch_of is not None:
            raise Refused(
                f"Run {run.id} goes on from {run.branch_of}, so it has no beginning of its own to play again.",
                f"Verify {run.branch_of}, and compare the two.",
            )
        run_id = run.id
        return run_id, await verify(lookout.terrarium, run_id, MemoryStore(), usual_tools())

    run_id, found = looked_up(store, verified)
    if as_json:
        print_json(_facts(run_id, found))
    else:
        _print(run_id, found)
    return found.is_same


def _facts(run_id: str, found: Verification) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "is_same": found.is_same,
        "events": found.events,
        "recorded_digest": found.recorded_digest,
        "replayed_digest": found.replayed_digest,
        "recorded_event": _content(found.recorded_event),
        "replayed_event": _content(found.replayed_event),
        "prompt_diffs": list(found.prompt_diffs),
    }


def _print(run_id: str, found: Verification) -> None:
    if found.is_same:
        print(f"{run_id}: verified. {found.events:,} events came out the same, byte for byte.")
        print(f"digest {found.recorded_digest}")
        return
    print(f"{run_id}: came out otherwise.")
    print(f"recorded {found.recorded_digest}\nreplayed {found.replayed_digest}")
    for diff in (_event_diff(found.recorded_event, found.replayed_event), *found.prompt_diffs):
        if diff:
            print(f"\n{spelled(diff)}")


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
