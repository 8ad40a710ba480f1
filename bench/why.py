"""What it costs to ask why something was said, and who knew of it, on a long ledger. CPU time."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import process_time

from bench.acts import ENDLESS
from bench.creatures import LINE, store_file
from bench.result import Result, judged, middle
from glasshouse import Draft, Manifest, ModelRouter, SqliteStore, Terrarium
from glasshouse.model_values import Tokens
from glasshouse.models import Completion, Prompt
from glasshouse.runtime import event_loop

pasts = (1_000, 10_000, 100_000)
fill_events = 5_000
acts_in_a_chain = 12
asked_times = 20


def run() -> list[Result]:
    """All figures about looking back."""
    spent: dict[str, list[float]] = {"why": [], "who_knew": []}
    with store_file() as path:
        written = 0
        for past in pasts:
            for question, seconds in event_loop.run(_grow_and_ask(path, past - written)).items():
                spent[question].append(seconds)
            written = past
    results = []
    for question, of_each in spent.items():
        table = ", ".join(f"{past:,}: {s * 1e3:.2f} ms" for past, s in zip(pasts, of_each, strict=True))
        results.append(judged(f"{question} at 100k events", of_each[-1] * 1e3, "ms", "≤", 20, table))
        results.append(judged(f"{question} does not grow", of_each[-1] / of_each[0], "× at 1k", "≤", 2))
    return results


class SaysTheNext:
    """A model that says what its creature may say, each time with other words."""

    def __init__(self) -> None:
        self._lines = 0

    async def complete(self, prompt: Prompt) -> Completion:
        """A line of the first kind that the schema allows."""
        self._lines += 1
        kind = (prompt.schema or {})["anyOf"][0]["properties"]["kind"]["const"]
        reply = {"kind": kind, "thought": "It goes on.", "text": f"{LINE} {kind} {self._lines}"}
        return Completion(json.dumps(reply), "the next", Tokens(300, 30), usd=0.0)


async def _grow_and_ask(path: Path, more: int) -> dict[str, float]:
    """Lengthen the past of a row of creatures where each answers the one before, then ask about the last of them."""
    models = ModelRouter(SaysTheNext())
    async with Terrarium(SqliteStore(path), models=models, governor=ENDLESS) as terrarium:
        if not terrarium.creatures():
            await _settle(terrarium)
        for _ in range(max(1, more // fill_events)):
            drafts = [_note(n) for n in range(min(more, fill_events))]
            await terrarium.append_all("scribe", drafts)
        await terrarium.disturb(terrarium.default_run_id, "A kettle sings in the north house.")
        said = [act for _ in range(acts_in_a_chain) if (act := await terrarium.step_one()) is not None]
        return {
            "why": await _cpu(terrarium.why, said[-1].id),
            "who_knew": await _cpu(terrarium.who_knew, said[-1].id),
        }


async def _settle(terrarium: Terrarium) -> None:
    """A row of creatures on one channel, a judge at its end, and one who fills the ledger."""
    heard = "user.injected"
    for number in range(1, acts_in_a_chain + 1):
        said = f"row.step_{number}"
        await _add(terrarium, _in_row(number, heard, said))
        heard = said
    await _add(terrarium, Manifest(name="scribe", may_emit=("note.kept",), subscribes_to=()))


def _in_row(position: int, heard: str, said: str) -> Manifest:
    return Manifest(
        name=f"row-{position}",
        role="judge" if position == acts_in_a_chain else "worker",
        persona="Answers whoever comes before.",
        subscribes_to=(heard,),
        may_emit=(said,),
    )


async def _add(terrarium: Terrarium, manifest: Manifest) -> None:
    creature = await terrarium.add_creature(manifest)
    if creature.id != "row-1":
        await terrarium.connect("row-1", creature.id, channel="talk", both=True)


def _note(n: int) -> Draft:
    return Draft(kind="note.kept", channel="talk", payload={"text": f"{LINE} {n}"})


async def _cpu(ask: Callable[[str], Awaitable[object]], event_id: str) -> float:
    """What asking costs, the median of several times."""
    spent = []
    for _ in range(asked_times):
        start = process_time()
        await ask(event_id)
        spent.append(process_time() - start)
    return middle(spent)
