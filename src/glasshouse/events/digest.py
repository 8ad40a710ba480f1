"""The digest of a run: one hash over all its events. Equal stories have equal digests, on every machine and store.

Always holds: the hash covers each event's header and a digest of its body, so a body can be erased later without
changing the rest. Ids are replaced by numbers in the order of their first appearance: two plays of one seed have
different run, session and graph ids, but the same digest. Wall times, latencies, positions and the numbers of births
are left out (ADR 0030, ADR 0096), and so is what depends on the other calls that a server got: attempts that reached no
model, how many tokens of a prompt its cache had, and the price, which follows from that (ADR 0154).

The story of a branch is the past of its parent and what came after. Events at its start that only restate that past
are left out, and each incarnation has the number of the creature that it continues. So an unchanged branch has the
digest of its parent (ADR 0031).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import RESERVED_ACTORS, Event, Json, session_and_seq
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.events.payloads import CREATURE_FIELDS, SessionForked, SessionRestated, WireAdded, payload_of
from glasshouse.model_values import Tokens

_OF_ONE_HOUSE = frozenset({"recipe", "models", "frees_at", "born", "is_apart"})
_TELL_OF_A_HOUSE = {kinds.RUN_STARTED, kinds.RUN_PAUSED, kinds.CREATURE_STARTED, kinds.CHANNEL_OPENED}
_NAMES_CREATURES = kinds.ENGINE | {kinds.RUN_STARTED}
_SEALED = "sealed"
_GENERATED_ID = re.compile(r"[cgsw]-[0-9a-f]{16}(\.[0-9]+)?")


def digest_of(events: Iterable[Event], *, skews: Mapping[str, int] | None = None) -> str:
    """The digest of these events in this order, as hexadecimal text.

    `skews` gives, for each session that began as a branch, how far its lamport times are ahead of the story's.
    """
    return _text_of(Digest(skews), events)


def digest_with_costs(events: Iterable[Event]) -> str:
    """The digest of these events with what each call cost and each attempt that reached no model: it tells whether a file was
    changed, not whether two stories are the same."""
    return _text_of(Digest(with_costs=True), events)


def _text_of(digest: Digest, events: Iterable[Event]) -> str:
    for event in events:
        digest.add(event)
    return digest.text()


class Digest:
    """Computes a digest, one event after another."""

    def __init__(self, skews: Mapping[str, int] | None = None, *, with_costs: bool = False) -> None:
        self._story = blake2b(digest_size=32)
        self._with_costs = with_costs
        self._names = _Names()
        self._skews = dict(skews or {})
        self._restated: dict[str, int] = {}

    def add(self, event: Event) -> bytes | None:
        """Add the next event and return the bytes that it adds. An event that only restates a past adds nothing; only
        the names in it are used."""
        if event.kind == kinds.SESSION_FORKED and "restated" in event.payload:
            forked = payload_of(event, SessionForked)
            self._restated[event.session_id] = forked.restated
            self._skews[event.session_id] = forked.skew
            self._names.go_on_from(event.session_id, forked)
            if forked.change is None:
                return None
        elif event.seq <= self._restated.get(event.session_id, 0):
            self._names.learn(event)
            return None
        skew = self._skews.get(event.session_id, 0)
        header = _header(event, self._names, skew, with_costs=self._with_costs)
        entry = canonical_json(header) + b"\n"
        self._story.update(entry)
        return entry

    def text(self) -> str:
        """The digest so far, as hexadecimal text."""
        return self._story.hexdigest()


def _header(event: Event, names: _Names, skew: int, *, with_costs: bool) -> Json:
    model = _model_with_costs(event.model) if with_costs else _model_part(event.model)
    parts = {
        "payload": _payload_part(event, with_costs=with_costs),
        "private": event.private,
        "sealed": event.sealed,
        "model": model,
    }
    body = {
        field: None if part is None else names.in_value(part, _SEALED if field == "sealed" else event.kind)
        for field, part in parts.items()
    }
    return {
        "id": names.of(event.id),
        "run_id": names.of_run(event.run_id),
        "session_id": names.of(event.session_id),
        "graph_id": names.of(event.graph_id),
        "lamport": event.lamport - skew,
        "turn": event.turn,
        "actor": names.of_creature(event.actor),
        "kind": event.kind,
        "channel_id": names.of(event.channel_id),
        "channel": event.channel,
        "caused_by": names.of(event.caused_by),
        "schema_version": event.schema_version,
        "body": blake2b(canonical_json(body), digest_size=16).hexdigest(),
    }


def _payload_part(event: Event, *, with_costs: bool) -> Json:
    payload = event.payload
    if event.kind in _TELL_OF_A_HOUSE:
        return {key: value for key, value in payload.items() if key not in _OF_ONE_HOUSE}
    if event.kind == kinds.RUN_FINISHED and not with_costs:
        return {key: value for key, value in payload.items() if key != "usd"}
    return payload


def _model_part(model: ModelUse | None) -> Json | None:
    """The model calls that belong to the story: those that reached a model, without latencies and without what they cost."""
    if model is None:
        return None
    return _use_part(model, [_call_part(call) for call in model.calls if call.reached])


def _model_with_costs(model: ModelUse | None) -> Json | None:
    """All model calls, without latencies."""
    return None if model is None else _use_part(model, [_call_with_costs(call) for call in model.calls])


def _use_part(model: ModelUse, calls: Sequence[Json]) -> Json:
    part: Json = {"profile": model.profile, "as_of": model.as_of, "calls": calls}
    if model.is_untrusted:
        part["is_untrusted"] = True
    if model.recalled:
        part["recalled"] = list(model.recalled)
    if model.prompting != 1:  # As it was before there was a number.
        part["prompting"] = model.prompting
    return part


_CALL_DEFAULTS: Final = {
    name: getattr(Call("", "", "", 0), name) for name in ("error", "form", "schema", "finish", "decoding")
}
"""What a call has further that belongs to the story. Left out, so that they may differ: times, the id of the response, what
served it, and who named the price."""


def _asked_part(call: Call) -> Json:
    return {"model": call.model, "system": call.system, "user": call.user, "seed": call.seed}


def _answer_part(call: Call, tokens: Tokens) -> Json:
    further = {
        name: getattr(call, name)
        for name, default in _CALL_DEFAULTS.items()
        if getattr(call, name) != default
    }
    usage = msgspec.to_builtins(tokens)
    return {"completion": call.completion, "reasoning": call.reasoning, "usage": usage, **further}


def _call_part(call: Call) -> Json:
    """A call with the tokens of its prompt in one number, whichever of them the server's cache had."""
    tokens = replace(call.usage, input_uncached=call.usage.input, cache_read=0, cache_write=0)
    return {**_asked_part(call), **_answer_part(call, tokens)}


def _call_with_costs(call: Call) -> Json:
    if not call.reached:
        return {**_asked_part(call), "reached": False, "error": call.error}
    return {**_asked_part(call), **_answer_part(call, call.usage), "usd": call.usd}


class _Names:
    """Replaces ids by numbers in the order of first appearance: `s-90ab….3` becomes, say, `#4.3`.

    Text that starts with `#` gets one more `#`, so that it cannot be mistaken for such a number.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}
        self._meant: dict[str, str] = {}
        """New id -> first id of everything restated; ids of creatures and runs are prefixed with their noun. In a past
        imported from another store an id may mean something else, so the first id is looked up once, when the past is
        restated."""
        self._restating: dict[str, dict[str, str]] = {}
        self._sessions: dict[str, tuple[str, int]] = {}
        """Branch session -> the session that it continues, and what to add to its seqs to get seqs of that session."""

    def go_on_from(self, session_id: str, forked: SessionForked) -> None:
        if len(forked.parents) == 1:
            self._sessions[session_id] = (forked.parents[0], forked.upto[0] - forked.restated)

    def learn(self, event: Event) -> None:
        if event.kind == kinds.OUTPUT_WIRE_ADDED:
            wire = payload_of(event, WireAdded)
            if wire.incarnation_of is not None:
                self._meant[wire.edge_id] = self._meant.get(wire.incarnation_of, wire.incarnation_of)
        elif event.kind == kinds.SESSION_RESTATED:
            restated = payload_of(event, SessionRestated)
            names = {"creature ": restated.creatures, "run ": restated.runs, "": restated.places}
            if names != self._restating:  # All graphs that are restated together carry the same names.
                self._restating = names
                pairs = [(noun + old, noun + new) for noun in names for old, new in names[noun].items()]
                self._meant.update([(new, self._meant.get(old, old)) for old, new in pairs])

    def of(self, generated: str | None) -> str | None:
        if generated is None:
            return None
        owner, seq = session_and_seq(generated)
        while owner in self._sessions:
            owner, further = self._sessions[owner]
            seq += further if seq else 0
        return f"{self._number(owner)}.{seq}" if seq else self._number(owner)

    def of_run(self, run_id: str | None) -> str | None:
        return None if run_id is None else self._number(f"run {run_id}")

    def of_creature(self, name: str) -> str:
        return name if name in RESERVED_ACTORS else self._number(f"creature {name}")

    def _number(self, name: str) -> str:
        return self._numbers.setdefault(self._meant.get(name, name), f"#{len(self._numbers)}")

    def in_value(self, value: Any, kind: str, field: str = "") -> Any:
        if isinstance(value, str):
            return self._in_text(value, kind, field)
        if isinstance(value, dict):
            return {key: self.in_value(part, kind, key) for key, part in sorted(value.items())}
        if isinstance(value, list):
            return [self.in_value(part, kind, field) for part in value]
        return value

    def _in_text(self, text: str, kind: str, field: str) -> str | None:
        if field == "run_id" or (kind == kinds.TURN_STARTED and field == "full"):
            return self.of_run(text)
        if (kind in _NAMES_CREATURES and field in CREATURE_FIELDS) or (kind == _SEALED and field == "to"):
            return self.of_creature(text)
        if kind == kinds.CREATURE_STARTED and field == "incarnation_of":
            return self.of_creature(text)
        if _GENERATED_ID.fullmatch(text):
            return self.of(text)
        return f"#{text}" if text.startswith("#") else text
