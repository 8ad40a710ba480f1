"""Stories for the tests of views: any mixture of births, lines, verdicts, disturbances, silences and runs."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, TERRARIUM, VISITOR, Event, Json
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.events.payloads import Governor
from glasshouse.model_values import Tokens
from glasshouse.views.diff import ViewDiff
from glasshouse.views.stage import StageProjection
from tests.rules.events.events_by_hand import an_event

CAST = ("ada", "bo", "judy")
RUNS = (None, "r-one", "r-two")
TEXTS = ("Hush.", "Who waters the moss?", "")

LIMITS = Governor(max_turns=12, max_total_calls=40)


def story_of(*parts: Event) -> list[Event]:
    """These events one after another, each with a place of its own."""
    return [
        an_event_at(number, kind=part.kind, actor=part.actor, payload=part.payload, **_rest(part))
        for number, part in enumerate(parts, start=1)
    ]


def _rest(part: Event) -> Json:
    return {name: getattr(part, name) for name in ("run_id", "turn", "channel", "private", "model")}


def an_event_at(number: int, **changes: object) -> Event:
    """An event at this place of the one session."""
    return an_event(id=f"s-0123456789abcdef.{number}", seq=number, lamport=number, position=number, **changes)


def birth(name: str, *, role: str = "worker", handle: str | None = None, run_id: str | None = None) -> Event:
    payload = {
        "creature": name,
        "handle": handle or name,
        "cast_key": name,
        "manifest_digest": "d",
        "manifest": {"name": name, "role": role, "model_profile": "tiny"},
    }
    return structural(kinds.CREATURE_STARTED, payload if run_id is None else {**payload, "run_id": run_id})


def structural(kind: str, payload: Json) -> Event:
    return an_event(
        kind=kind, actor=TERRARIUM, payload=payload, run_id=None, model=None, private=None, channel=None
    )


def said(
    actor: str,
    text: str,
    kind: str = kinds.AGENT_SPOKE,
    *,
    run_id: str | None = "r-one",
    model: ModelUse | None = None,
    **fields: object,
) -> Event:
    return an_event(
        actor=actor, kind=kind, payload={"text": text, **fields}, run_id=run_id, model=model, private=None
    )


def by_conductor(kind: str, *, run_id: str | None = "r-one", turn: int = 0, **payload: object) -> Event:
    return an_event(
        actor=CONDUCTOR, kind=kind, payload=payload, run_id=run_id, turn=turn, model=None, private=None
    )


def asked(*, model: str = "offline", reached: bool = True, usd: float | None = 0.0) -> ModelUse:
    """The model's side of an act with one call: 210 tokens in, 35 out."""
    call = Call(model, "d", "d", 1, "{}", None, Tokens(210, 35), usd, 1.5, reached)
    return ModelUse("fast", calls=(call,))


def run_started(run_id: str = "r-one") -> Event:
    return by_conductor(
        kinds.RUN_STARTED,
        run_id=run_id,
        scenario={"name": "moss", "title": "The Moss"},
        goal="Wake the moss.",
        seed="a lantern",
        cast=[
            {
                "creature": "ada",
                "handle": "ada",
                "cast_key": "ada",
                "profile": "strong",
                "model": "offline",
            }
        ],
        limits=msgspec.to_builtins(LIMITS),
    )


def run_finished(run_id: str = "r-one") -> Event:
    return by_conductor(
        kinds.RUN_FINISHED,
        run_id=run_id,
        reason="budget",
        axis="max_turns",
        winner="ada",
        why=None,
        turns=12,
        calls=30,
        tokens=900,
        usd=None,
    )


def _lines() -> st.SearchStrategy[Event]:
    line_kinds = (kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT, kinds.JUDGE_VERDICT, "riddle.posed")
    return st.builds(
        lambda actor, text, kind, run_id, model: said(actor, text, kind, run_id=run_id, model=model),
        st.sampled_from((*CAST, VISITOR, CONDUCTOR)),
        st.sampled_from(TEXTS),
        st.sampled_from(line_kinds),
        st.sampled_from(RUNS),
        st.sampled_from((None, asked(), asked(reached=False))),
    )


def called(actor: str, tool: str, run_id: str | None = "r-one", **arguments: object) -> Event:
    payload = {"tool": tool, "arguments": arguments, "number": 1}
    return an_event(actor=actor, kind=kinds.TOOL_CALLED, payload=payload, run_id=run_id)


def returned(
    actor: str,
    tool: str,
    text: str,
    run_id: str | None = "r-one",
    *,
    is_ok: bool = True,
    is_engine: bool = False,
) -> Event:
    payload = {"tool": tool, "number": 1, "is_ok": is_ok, "text": text, "is_engine": is_engine}
    return an_event(actor=actor, kind=kinds.TOOL_RETURNED, payload=payload, run_id=run_id)


def _tools() -> st.SearchStrategy[Event]:
    return st.builds(
        lambda name, run_id, text, is_call: (
            called(name, "almanac", run_id, day=text)
            if is_call
            else returned(name, "almanac", text, run_id, is_ok=bool(text))
        ),
        st.sampled_from(CAST),
        st.sampled_from(RUNS),
        st.sampled_from(TEXTS),
        st.booleans(),
    )


def _births() -> st.SearchStrategy[Event]:
    return st.builds(
        lambda name, handle, run_id: birth(
            name, handle=handle, role="judge" if name == "judy" else "worker", run_id=run_id
        ),
        st.sampled_from(CAST),
        st.sampled_from((None, "newcomer")),
        st.sampled_from(RUNS),
    )


def _changes_of_cast() -> st.SearchStrategy[Event]:
    return st.sampled_from(CAST).flatmap(
        lambda name: st.sampled_from(
            (
                structural(kinds.CREATURE_STOPPED, {"creature": name, "reason": "stopped"}),
                structural(kinds.CREATURE_STOPPED, {"creature": name, "reason": "removed"}),
                structural(
                    kinds.CREATURE_RENAMED, {"creature": name, "old_handle": name, "handle": f"{name}~2"}
                ),
                structural(kinds.CHANNEL_OPENED, {"channel_id": "c-1", "name": "talk"}),
            )
        )
    )


def _of_the_world() -> st.SearchStrategy[Event]:
    return st.sampled_from(RUNS[1:]).flatmap(
        lambda run_id: st.sampled_from(
            (
                run_started(run_id),
                run_finished(run_id),
                by_conductor(kinds.RUN_PAUSED, run_id=run_id, reason="circuit"),
                by_conductor(kinds.RUN_CONTINUED, run_id=run_id),
                by_conductor(kinds.TURN_STARTED, run_id=run_id, turn=3),
                by_conductor(kinds.WORLD_OBSERVED, run_id=run_id, text="Dusk.", title="One"),
                by_conductor(kinds.WORLD_OBSERVED, run_id=run_id, text="Dusk."),
                by_conductor(kinds.WORLD_OBSERVED, run_id=run_id, text="Rain."),
                said(VISITOR, "A bell rings.", kinds.USER_INJECTED, run_id=run_id),
                by_conductor(kinds.AGENT_PASSED, run_id=run_id, reason="nothing to add"),
                by_conductor(kinds.AGENT_FAILED, run_id=run_id, reason="no JSON", attempts=2),
            )
        )
    )


def stories(*, events_max: int = 25) -> st.SearchStrategy[list[Event]]:
    """Any story, sensible or not: views must fold them all."""
    part = st.one_of(_lines(), _tools(), _births(), _changes_of_cast(), _of_the_world())
    return st.lists(part, max_size=events_max).map(lambda parts: story_of(*parts))


def patched(stage: StageProjection, diffs: Iterable[ViewDiff]) -> StageProjection:
    """A stage after some diffs; the one given stays as it is."""
    after = stage.copy()
    for diff in diffs:
        diff.apply_to(after)
    return after
