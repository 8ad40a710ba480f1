"""Support for tests of reflections: a model that reflects where its prompt asks for that, and what must hold of a ledger."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable

from glasshouse import Event, kinds
from glasshouse.model_values import Tokens
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for


def asks_for_reflection(prompt: Prompt) -> bool:
    """Whether a prompt allows nothing but a reflection and silence."""
    branches = [] if prompt.schema is None else prompt.schema["anyOf"]
    said = [branch["properties"]["kind"]["const"] for branch in branches]
    return said == [kinds.AGENT_REFLECTED, kinds.AGENT_PASSED]


def reflection(prompt: Prompt, text: str) -> str:
    """A reply that reflects, and rests on the newest line that the prompt shows."""
    assert prompt.schema is not None
    refs = prompt.schema["anyOf"][0]["properties"]["rests_on"]["items"]["enum"]
    reply = {
        "kind": kinds.AGENT_REFLECTED,
        "thought": "",
        "text": text,
        "mood": "calm",
        "rests_on": refs[-1:],
    }
    return json.dumps(reply)


class ReflectingModel:
    """Says something new in each answer, and reflects where its prompt asks for that. The same prompt, the same answer."""

    name = "reflecting"
    is_free = True

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        seed = int(prompt.digest, 16) % 10_000_000
        text = " ".join(word_for(6 * seed + at) for at in range(6))
        reply = (
            reflection(prompt, text)
            if asks_for_reflection(prompt)
            else json.dumps({"kind": "agent.spoke", "thought": "", "text": text, "mood": "calm"})
        )
        return Completion(reply, self.name, Tokens(20, 10), usd=0.0)


def is_own_line(event: Event) -> bool:
    """Whether an event counts for the cadence of its actor."""
    return event.kind not in kinds.NO_LINES and event.kind not in kinds.INNER


def cadences(events: Iterable[Event]) -> dict[str, int]:
    """Creature id -> its cadence, for all that ever lived and reflect by one."""
    started = [event.payload for event in events if event.kind == kinds.CREATURE_STARTED]
    memory = {payload["creature"]: (payload["manifest"] or {}).get("memory", {}) for payload in started}
    return {name: given["reflect_every"] for name, given in memory.items() if "reflect_every" in given}


def lines_that_owe(events: Iterable[Event], every: dict[str, int]) -> list[tuple[str, str]]:
    """Creature and line, for each reflection that these events make a creature owe: counted anew, without the agenda."""
    counts: Counter[str] = Counter()
    owing = []
    for event in events:
        if event.actor in every and is_own_line(event):
            counts[event.actor] += 1
            if counts[event.actor] % every[event.actor] == 0:
                owing.append((event.actor, event.id))
    return owing


def reflection_acts(events: Iterable[Event]) -> dict[tuple[str, str], list[str]]:
    """Creature and own line -> the kinds of the events that ended an act for it."""
    events = list(events)
    own = {event.id: event.actor for event in events if is_own_line(event)}
    ends: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for event in events:
        cause = event.caused_by
        if cause is not None and own.get(cause) == event.actor and event.ends_its_act:
            ends[event.actor, cause].append(event.kind)
    return ends
