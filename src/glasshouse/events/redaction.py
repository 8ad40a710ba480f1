"""Redaction: removes from an event what a role may not read. Every view, stream and file applies this one rule.

Always holds: everybody reads what was said and done, and what it cost. A spectator reads no thoughts, no private parts,
and of a creature only its handle, role, title and bio. The audience reads those, too. Only a director reads what is
sealed, the texts of model calls, and the details of failures. What is redacted twice equals what is redacted once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.described_tool import RECALL
from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.events.payloads import (
    RULES_OF_DRAFTS,
    RunPaused,
    SessionRestated,
    builtins_of,
    payload_of,
)
from glasshouse.events.recalled import without_thoughts
from glasshouse.events.recorded_fields import PUBLIC_FIELDS

Role = Literal["spectator", "audience", "director"]
ROLES: tuple[Role, ...] = ("spectator", "audience", "director")

ADD_NODE: Final = "group_add_node"
"""The group tool with which a model may write a creature."""
ACT_FAILED: Final = "The act failed."
TOOL_FAILED: Final = "The tool failed."
CALL_FAILED: Final = "The call failed."
MODEL_AWAY: Final = "A model was not reached."


def check_role(role: object) -> None:
    """Refuse what is not a role."""
    if role not in ROLES:
        raise Refused(f"There is no role {role!r}.", f"Write one of {', '.join(ROLES)}.")


def redacted(event: Event, role: Role) -> Event:
    """The event as this role may read it. Its ids, times and kind always stay."""
    if role == "director" or event.model is None:
        return redacted_except_calls(event, role)
    payload, private = _readable(event, role)
    return replace(event, payload=payload, private=private, sealed=None, model=_counts_of(event.model))


def redacted_except_calls(event: Event, role: Role) -> Event:
    """The same for a reader that does not look at the model calls: it is spared to redact them. Most events hide nothing
    else, and need no copy."""
    if role == "director":
        return event
    payload, private = _readable(event, role)
    if payload is event.payload and private is event.private and event.sealed is None:
        return event
    return replace(event, payload=payload, private=private, sealed=None)


def _readable(event: Event, role: Role) -> tuple[Json, Json | None]:
    """The payload and the private part as a role other than the director may read them."""
    is_spectator = role == "spectator"
    payload = event.payload
    private = None if is_spectator else event.private
    if (hide := _FOR_ALL.get(event.kind)) is not None:
        payload = hide(event)
    if is_spectator and (hide_more := _FOR_SPECTATORS.get(event.kind)) is not None:
        payload = hide_more(payload)
    return payload, private


def _counts_of(use: ModelUse) -> ModelUse:
    """How often models were asked and what that cost, without texts, digests, errors and what was recalled. `run.started` names models."""
    return replace(use, calls=tuple(map(_count_of, use.calls)), shown=None, recalled=())


def _count_of(call: Call) -> Call:
    error = CALL_FAILED if call.error else ""
    bare = Call("", "", "", 0)
    return replace(bare, error=error, **{name: getattr(call, name) for name in _COUNTED})


_COUNTED: Final = (
    "usage",
    "usd",
    "milliseconds",
    "reached",
    "finish",
    "queued_ms",
    "load_ms",
    "first_text_ms",
)
"""The fields of a model call that everybody may read: what it cost, and how it went."""


def _restated_without_cards(event: Event) -> Json:
    """Remove what was dealt in a restated past: it stays sealed."""
    restated = payload_of(event, SessionRestated)
    carried = restated.carried
    tables = replace(carried.tables, dealt={})
    runs = {run_id: replace(run, truth={}) for run_id, run in carried.runs.items()}
    return builtins_of(replace(restated, carried=replace(carried, tables=tables, runs=runs)))


_PATH: Final = re.compile(
    r"(?P<server>local:)?(?:/|~[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\\\\).*?(?P<file>[^/\\]*)", re.DOTALL
)
"""The path of a models.yaml or of a model's file, as a run records it. Names of models may have slashes, too."""


def without_folder(models: str) -> str:
    """The models that a run was begun with, without the folder of the file that names or holds them."""
    path = _PATH.fullmatch(models)
    return models if path is None else f"{path['server'] or ''}{path['file']}"


def _start_without_decks(event: Event) -> Json:
    """Remove where the world and the models were on the author's disk, how its tool servers are reached, and the cards that it lists:
    they would reveal what may have been dealt."""
    started = dict(event.payload)
    if isinstance(models := started.get("models"), str) and models:
        started["models"] = without_folder(models)
    if isinstance(recipe := started.get("recipe"), dict):
        started["recipe"] = {**recipe, "path": ""}
    if isinstance(scenario := started.get("scenario"), dict):
        kept = {name: part for name, part in scenario.items() if name != "tool_servers"}
        if isinstance(deals := kept.get("deal"), dict):
            kept["deal"] = {key: _without_cards(deal) for key, deal in deals.items()}
        started["scenario"] = kept
    return started


def _without_cards(deal: object) -> object:
    if not isinstance(deal, dict) or isinstance(deal.get("from"), str):
        return deal
    return {name: part for name, part in deal.items() if name != "from"}


def _failure_without_details(event: Event) -> Json:
    """Keep that an act failed, and which rule refused its draft. Its reason may quote a reply, a path or a traceback."""
    kept = {name: value for name, value in event.payload.items() if name == "attempts"}
    for name, value in event.payload.items():
        if name == "rule" and isinstance(value, str) and value in RULES_OF_DRAFTS:
            return {"reason": f"The draft was refused: {RULES_OF_DRAFTS[value]}.", **kept, name: value}
    return {"reason": ACT_FAILED, **kept}


def _answer_without_details(event: Event) -> Json:
    """Keep that a tool failed. The text of its exception may name files. The engine's own tools answer in plain words."""
    answer = event.payload
    if answer.get("is_ok") or answer.get("is_engine"):
        return answer
    return {name: value for name, value in answer.items() if name != "result"} | {"text": TOOL_FAILED}


def _pause_without_details(event: Event) -> Json:
    """Keep that a model was out of reach. The text of its failure may name servers and files."""
    paused = payload_of(event, RunPaused)
    return builtins_of(replace(paused, reason=MODEL_AWAY, backend="")) if paused.is_outage else event.payload


def _public_part(manifest: object) -> object:
    if not isinstance(manifest, dict):
        return manifest
    return {name: value for name, value in manifest.items() if name in PUBLIC_FIELDS}


def _birth_with_bio(born: Json) -> Json:
    if "granted" in born:
        born = {name: part for name, part in born.items() if name != "granted"}
    born = _with_bios(born, "may_spawn")
    return {**born, "manifest": _public_part(born["manifest"])} if "manifest" in born else born


def _change_without_description(changed: Json) -> Json:
    """Keep which tool changed. What its server says of it is for those who decide about it."""
    tool = changed.get("tool")
    kept = {**tool, "description": "", "parameters": {}} if isinstance(tool, dict) else tool
    return {**changed, "tool": kept}


def _with_bios(payload: Json, field: str) -> Json:
    manifests = payload.get(field)
    if not isinstance(manifests, dict):
        return payload
    return {**payload, field: {name: _public_part(part) for name, part in manifests.items()}}


def _fork_with_bios(forked: Json) -> Json:
    """Keep whose persona a branch changed, but not the persona."""
    change = forked.get("change")
    if not isinstance(change, dict):
        return forked
    kept = dict(change)
    if isinstance(added := change.get("add"), list):
        kept["add"] = list(map(_public_part, added))
    if isinstance(personas := change.get("personas"), dict):
        kept["personas"] = dict.fromkeys(personas, "")
    return {**forked, "change": kept}


def _call_without_persona(called: Json) -> Json:
    """Remove what a model writes into the manifest of a creature that it adds. Other tools' arguments are public."""
    arguments = called.get("arguments")
    if called.get("tool") != ADD_NODE or not isinstance(arguments, dict):
        return called
    kept = {name: value for name, value in arguments.items() if name not in ("persona", "wants")}
    return {**called, "arguments": kept}


def _answer_without_thoughts(answer: Json) -> Json:
    """Hide what a creature once thought from the answer of its memory. Other tools' answers are public."""
    return without_thoughts(answer) if answer.get("tool") == RECALL else answer


_FOR_ALL: Final[dict[str, Callable[[Event], Json]]] = {
    kinds.SESSION_RESTATED: _restated_without_cards,
    kinds.RUN_STARTED: _start_without_decks,
    kinds.AGENT_FAILED: _failure_without_details,
    kinds.TOOL_RETURNED: _answer_without_details,
    kinds.RUN_PAUSED: _pause_without_details,
}
"""What only a director reads of a payload is removed by these."""

_FOR_SPECTATORS: Final[dict[str, Callable[[Json], Json]]] = {
    **dict.fromkeys(kinds.INNER, lambda _payload: {}),
    kinds.AGENT_PASSED: lambda _payload: {"reason": ""},
    kinds.CREATURE_STARTED: _birth_with_bio,
    kinds.RUN_STARTED: lambda started: _with_bios(started, "spawnable"),
    kinds.SESSION_FORKED: _fork_with_bios,
    kinds.TOOL_CALLED: _call_without_persona,
    kinds.TOOL_RETURNED: _answer_without_thoughts,
    kinds.EDIT_PROPOSED: _call_without_persona,
    kinds.TOOL_CHANGED: _change_without_description,
}
"""What a spectator does not read either is removed by these."""
