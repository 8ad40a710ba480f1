"""Verifying a run: it is driven again from its recorded completions and compared with its record.

The runs that it continues are verified too, because their past is part of its story.
"""

from __future__ import annotations

from difflib import unified_diff
from typing import Any

from glasshouse.cli.drawing.screen import Screen, counted, facts_of, print_json, spelled
from glasshouse.cli.drawing.screen import as_json as json_of
from glasshouse.cli.store_reader import StoreReader, read_store
from glasshouse.errors import Refused
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event
from glasshouse.runtime.replay.replay import Verification
from glasshouse.terrarium import verify


def is_verified(store: str | None, name: str, *, as_json: bool) -> bool:
    """Whether a run, and every run that it continues, comes out the same; printed with the first difference."""
    results = read_store(store, lambda reader: _results(reader, name))
    if as_json:
        own, *past = [_facts(run_id, result) for run_id, result in results.items()]
        print_json({**own, "past": past})
    else:
        for run_id, result in results.items():
            _print(run_id, result)
    return all(isinstance(result, Refused) or result.is_same for result in results.values())


async def _results(reader: StoreReader, name: str) -> dict[str, Verification | Refused]:
    """What came of each run, or why it cannot be verified. The run that was named must be."""
    results: dict[str, Verification | Refused] = {}
    run_id: str | None = reader.any_run(name)
    while run_id is not None:
        try:
            results[run_id] = result = await verify(reader.terrarium, run_id)
        except Refused as refusal:
            if not results:
                raise
            results[run_id] = refusal
            break
        run_id = result.grows_from
    return results


def _facts(run_id: str, result: Verification | Refused) -> dict[str, Any]:
    if isinstance(result, Refused):
        return {"run_id": run_id, "is_same": None, "why": str(result)}
    facts = facts_of(result, "is_same", "events", "taken", "recorded_digest", "replayed_digest")
    for name, event in facts_of(result, "recorded_event", "replayed_event").items():
        facts[name] = None if event is None else content_of(event)
    facts |= facts_of(result, "acts_not_thought_again", "prompting_then", "prompts_not_built")
    return {"run_id": run_id, **facts, "prompt_diffs": result.prompt_diffs}


def _print(run_id: str, result: Verification | Refused) -> None:
    if isinstance(result, Refused):
        Screen().draw(f"{run_id}: cannot be verified, and is taken as it stands. {result}")
    elif result.is_same:
        count = counted(result.events - result.taken, "event")
        past = ""
        if result.taken:
            is_here = result.grows_from is not None
            whose = (
                f"are of {result.grows_from}" if is_here else "came in a file, and are taken as they stand"
            )
            count = f"{count} of its own"
            past = f" The {result.taken:,} before them {whose}."
        Screen().draw(f"{run_id}: verified. {count} came out the same, byte for byte.{past}")
        if result.prompts_not_built:
            Screen().draw(result.prompts_not_built)
        print(f"digest {result.recorded_digest}")
    else:
        Screen().draw(f"{run_id}: came out differently.")
        print(f"recorded {result.recorded_digest}\nreplayed {result.replayed_digest}")
        for diff in (_event_diff(result.recorded_event, result.replayed_event), *result.prompt_diffs):
            if diff:
                print(f"\n{spelled(diff)}")


def _event_diff(then: Event | None, now: Event | None) -> str:
    """The differences of the first event that differs, one field a line, without ids and times, which always differ."""
    name = then.id if then is not None else "the end of the record"
    diff = unified_diff(_fields(then), _fields(now), f"{name}, recorded", f"{name}, replayed", lineterm="")
    return "\n".join(diff)


def _fields(event: Event | None) -> list[str]:
    if event is None:
        return ["(nothing: it ended before)"]
    content = content_of(event)
    compared = ("turn", "actor", "kind", "channel", "payload", "private", "sealed", "model")
    return [f"{field}: {json_of(content[field])}" for field in compared if content.get(field) is not None]
