"""Recorded plays of a world, measured like a rehearsal: for prompts that this version no longer writes.

Always holds: only acts of the model and of the prompting number that are asked for are counted, within the first turns of
each play. No model is asked. What others said is there as well, since lines are compared with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from glasshouse.contests.measures import Rehearsed, Sample, measures_of
from glasshouse.contests.rehearsal import Plan, Rehearsal
from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import Call
from glasshouse.events.payloads import RunStarted, payload_of
from glasshouse.model_values import Form
from glasshouse.turns.moment.prompt import Completion, Prompt

plays_measured_max: Final = 64
"""Of more recorded plays, the newest are measured."""
prompting_first: Final = 1
"""The number of a run that names none."""

PromptText = Callable[[str], Awaitable[str | None]]
"""The text of a prompt by its digest, if the store keeps it."""


def prompting_now() -> int:
    """The number of the prompts that this version writes."""
    return int(getattr(payloads, "prompting_now", prompting_first))


async def measured_plays(
    plays: Sequence[Sequence[Event]], prompt_text: PromptText, plan: Plan, model: str, prompting: int
) -> Rehearsal | None:
    """What is measured of these plays, the newest last; none if the model did not act in them under this number."""
    name = plan.world.scenario.name
    shortened = [_counted(play, name, model, prompting, plan.turns) for play in plays]
    counted = [play for play in shortened if any(event.calls for event in play)][-plays_measured_max:]
    if not counted:
        return None
    calls = [call for play in counted for event in play for call in event.calls]
    samples = [await _sample(call, prompt_text) for call in calls]
    scenario = plan.world.scenario
    rehearsed = Rehearsed(
        tuple(samples),
        tuple(map(tuple, counted)),
        tuple(scenario.cast_by_handle),
        ("",) * len(counted),  # No visitor said a made-up word in them.
        scenario.language,
    )
    forms: list[Form] = [call.form for call in calls]
    return Rehearsal(model, max(set(forms), key=forms.count), measures_of(rehearsed), len(counted))


def _counted(play: Sequence[Event], world: str, model: str, prompting: int, turns: int) -> list[Event]:
    """The first turns of a play of this world, in which only the acts that count have their calls; else nothing."""
    begun = [payload_of(event, RunStarted) for event in play if event.kind == kinds.RUN_STARTED]
    if not begun or (begun[-1].scenario or {}).get("name") != world:
        return []
    number = int(getattr(begun[-1], "prompting", prompting_first))
    return [
        event if _is_of(event, model, prompting, number) else replace(event, model=None)
        for event in play
        if event.turn <= turns
    ]


def _is_of(event: Event, model: str, prompting: int, number_of_run: int) -> bool:
    """Whether the calls behind an event are of a model and a prompting number. A run that was continued by a later version
    has acts of both numbers."""
    if event.model is None or not all(call.model == model for call in event.calls):
        return False
    return int(getattr(event.model, "prompting", number_of_run)) == prompting


async def _sample(call: Call, prompt_text: PromptText) -> Sample:
    """A recorded call as a rehearsal keeps it. A store may have lost texts; then there is less to count."""
    system = await prompt_text(call.system) or ""
    user = await prompt_text(call.user) or ""
    schema = await prompt_text(call.schema) if call.schema else None
    prompt = Prompt(system, user, _read_schema(schema) if schema else None, form=call.form)
    if not call.is_answered:
        return Sample(prompt)
    completion = Completion(
        call.completion,
        call.model,
        call.usage,
        call.usd,
        milliseconds=call.milliseconds,
        finish=call.finish,
        load_ms=call.load_ms,
    )
    return Sample(prompt, completion)


_read_schema = msgspec.json.Decoder(Json).decode
