"""The stage: what rebuilding it over a long story costs; and the page's view: its records, and seeking. CPU time."""

from __future__ import annotations

import gc
import random
from datetime import UTC, datetime
from time import process_time

import msgspec

from bench.creatures import LINE
from bench.result import Result, judged, middle, percentile
from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, TERRARIUM, Event, Json
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.model_values import Tokens
from glasshouse.runtime.ledger.observer import Observer
from glasshouse.runtime.past.stories import view_events_between
from glasshouse.views.page_fold import PageFold
from glasshouse.views.page_state import PageSnapshot
from glasshouse.views.stage import rebuild_stage

story_events = 100_000
cast_creatures = 8
turn_events = 9
scene_events = 50
rebuilds_repeated = 5
seeks_repeated = 400
observed_events = 20_000


def run() -> list[Result]:
    """All figures about the stage."""
    story = [_event(n) for n in range(1, story_events + 1)]
    gc.collect()
    return [_rebuilding(story), _observing(story), *_paging(story), _seeking(story)]


def _rebuilding(story: list[Event]) -> Result:
    seconds = []
    for _ in range(rebuilds_repeated):
        begun = process_time()
        rebuild_stage(story, run_id="r-bench")
        seconds.append(process_time() - begun)
    return judged(f"stage: rebuild over {story_events:,} events", middle(seconds), "s CPU", "≤", 0.4)


def _seeking(story: list[Event]) -> Result:
    """As the page's server does it: from the kept view before the event, by the events between."""
    fold, kept = PageFold("audience"), list[bytes]()
    for number, event in enumerate(story):
        if number % view_events_between == 0:
            kept.append(msgspec.msgpack.encode(fold.snapshot()))
        fold.fold(event)
    dice, milliseconds = random.Random(1), []
    for _ in range(seeks_repeated):
        position = dice.randrange(story_events)
        begun = process_time()
        nearest = position // view_events_between
        fold = PageFold("audience", msgspec.msgpack.decode(kept[nearest], type=PageSnapshot))
        for event in story[nearest * view_events_between : position]:
            fold.fold(event)
        milliseconds.append((process_time() - begun) * 1_000)
    name = f"page: seek to any of {story_events:,} events"
    return judged(name, percentile(milliseconds, 0.95), "ms CPU p95", "≤", 20)


def _observing(story: list[Event]) -> Result:
    observer = Observer(role="director")
    begun = process_time()
    for event in story[:observed_events]:
        observer.consume(event)
    each = (process_time() - begun) / observed_events * 1_000_000
    return judged("stage: an observer's diff", each, "µs CPU an event", "≤", 20)


def _paging(story: list[Event]) -> list[Result]:
    fold = PageFold("audience")
    begun = process_time()
    records = [fold.fold(event) for event in story]
    seconds = process_time() - begun
    size = sum(len(msgspec.json.encode(record)) for record in records) / len(records)
    return [
        judged(f"page: fold {story_events:,} events", seconds, "s CPU", "≤", 2),
        judged("page: a record", size, "bytes on average", "≤", 450),
    ]


def _event(n: int) -> Event:
    if n <= cast_creatures:
        role = "judge" if n == cast_creatures else "worker"
        birth = {
            "creature": f"creature-{n}",
            "handle": f"handle-{n}",
            "cast_key": "x",
            "manifest_digest": "d",
        }
        return _written(n, TERRARIUM, kinds.CREATURE_STARTED, {**birth, "manifest": {"role": role}})
    if n % turn_events == 0:
        return _written(n, CONDUCTOR, kinds.TURN_STARTED, {"turn": n // turn_events})
    if n % scene_events == 0:
        return _written(n, CONDUCTOR, kinds.WORLD_OBSERVED, {"text": f"The lamp was moved {n} times."})
    speaker = f"creature-{n % cast_creatures + 1}"
    return _written(n, speaker, kinds.AGENT_SPOKE, {"text": LINE, "n": n}, model=_asked(n))


def _written(n: int, actor: str, kind: str, payload: Json, model: ModelUse | None = None) -> Event:
    return Event(
        id=f"s-bench.{n}",
        session_id="s-bench",
        graph_id="g-bench",
        seq=n,
        lamport=n,
        turn=n // turn_events,
        actor=actor,
        kind=kind,
        payload=payload,
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
        run_id=None if actor == TERRARIUM else "r-bench",
        private={"thought": "The kettle knows."} if model else None,
        model=model,
    )


def _asked(n: int) -> ModelUse:
    call = Call("offline", f"s{n}", f"u{n}", n, "{}", usage=Tokens(210, 35), usd=0.0)
    return ModelUse("fast", f"s-bench.{n - 1}", (call,))
