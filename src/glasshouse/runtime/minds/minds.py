"""Agents: the objects that think for creatures, and `Minds`, which knows the agent of each creature.

Always holds: a creature keeps its agent through every change of the graph. A creature that was added without an agent
gets one, made from its manifest, at the latest at its first act. A creature that was added with an agent is played by
no other: if that object is not in this process, the creature waits until it is given one again (ADR 0061).
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import ClassVar, Final

import msgspec
from msgspec.structs import replace

from glasshouse.errors import Refused, UnusableReply
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.events.payloads import CopyOf, LoopSuspected
from glasshouse.events.shown import Shown
from glasshouse.manifests.manifest import Manifest
from glasshouse.model_values import Form
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion
from glasshouse.turns.moment.tools import ToolCall
from glasshouse.turns.prompts.context import repair_prompt, written_for
from glasshouse.turns.prompts.lines import numbered_lines
from glasshouse.turns.replies.copied import Copied, copied_from
from glasshouse.turns.replies.repetition import line_repeated
from glasshouse.turns.replies.reply import Passed, Problem, draft_from
from glasshouse.turns.replies.sealed_words import masked_words, sealed_facts_said, with_masked_notes
from glasshouse.world.state.state import World

attempts_max: Final = 3
"""The first answer; a second one, told what was wrong with it; a third one, asked for in a simpler form."""
SIMPLER: Final[Mapping[Form, Form]] = {"schema": "json", "json": "prose"}
CUT_OFF: Final = "The answer was cut off because it is too long: write it again in fewer words."
FILTERED: Final = "The model refused to answer."
WHAT_IT_COPIED: Final[Mapping[CopyOf, str]] = {
    "voice": "It had only said a line that is an example of its voice.",
    "prompt": "It had only said what its instructions say.",
    "scene": "It had only said what the scene says.",
    "heard": "It had only said again what was said lately.",
}
"""Why an act ended without a line, for readers of the ledger."""
SAY_IT_OTHERWISE: Final[Mapping[CopyOf, str]] = {
    "voice": "Your line repeats one of the lines in your voice: answer what was said, in new words, or pass.",
    "prompt": "Your line repeats the instructions: say what you have to say, in your own words, or pass.",
    "scene": "Your line repeats the scene, which everybody knows: say something new about it, or pass.",
}
"""What a model is told that copied something else than a line that it heard."""
visitor_seconds_max: Final = 120.0
"""A creature that a visitor plays passes after this time without a line; `act_seconds_max` in its manifest
gives another time."""
visitor_lines_waiting_max: Final = 16
"""More waiting lines are refused."""


class Agent(ABC):
    """The mind of a creature."""

    asks_before_anything: ClassVar[bool] = False
    """Whether it always asks a model first. If so, only its model calls reserve budget, and the act itself does not."""

    goes_on_from_its_talk: ClassVar[bool] = False
    """Whether an interrupted act of it continues from the recorded tool answers. If not, the act starts over, and calls
    that it repeats are answered from the record."""

    keeps_its_own_time: ClassVar[bool] = False
    """Whether it ends its acts in time by itself. If so, `act_seconds_max` does not end them."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @abstractmethod
    async def act(self, moment: Moment) -> Draft | None:
        """Read the moment of this act and return one draft, or none to pass."""


class ManifestAgent(Agent):
    """The mind that a manifest describes."""

    asks_before_anything = True
    goes_on_from_its_talk = True

    async def act(self, moment: Moment) -> Draft | None:
        """Ask the model, carry out the tools it asks for, and turn its reply into a draft.

        An answer that cannot be used is asked for again: repaired, then from the start in a simpler form (ADR 0074).
        """
        prompt, shown = written_for(moment)
        attempt = 1
        kept = None
        has_objected = False
        while True:
            answer = await moment.ask(prompt, shown)
            is_last = attempt == attempts_max or (attempt > 1 and moment.form not in SIMPLER)
            reply = _reply(answer, moment, shown, is_last=is_last)
            if isinstance(reply, Draft):
                draft, objection = _without_faults(reply, moment, shown)
                if not objection or has_objected or is_last:
                    return draft
                prompt = repair_prompt(prompt, answer.text, objection)
                has_objected = True
                attempt += 1
            elif isinstance(reply, Passed):
                passed = Draft(
                    kind=kinds.AGENT_PASSED, payload={"reason": reply.reason}, private=reply.private
                )
                return kept or passed
            elif isinstance(reply, Problem):
                kept = kept or _kept_of(answer, moment, shown)
                if is_last:
                    if kept is None:
                        raise UnusableReply(reply.text)
                    return kept
                if attempt == 1:
                    prompt = repair_prompt(prompt, answer.text, reply.text)
                else:
                    moment = replace(moment, form=SIMPLER[moment.form])
                    prompt, shown = written_for(moment)
                attempt += 1
            else:
                assert moment.carry is not None, "a tool is asked for only where one was offered"
                await moment.carry(reply)
                moment = moment.look_again()
                prompt, shown = written_for(moment)
                attempt = 1
                kept = None


def _reply(
    answer: Completion, moment: Moment, shown: Shown, *, is_last: bool
) -> Draft | Passed | ToolCall | Problem:
    """What a model answered. Prose that was cut off is asked for again; a JSON object that was cut off cannot be read."""
    if answer.finish == "filtered":
        return Passed(FILTERED)  # A refusal of the model is no failure.
    reply = draft_from(answer.text, moment, shown, reasoning=answer.reasoning, is_last=is_last)
    if answer.finish == "length" and (isinstance(reply, Problem) or (moment.form == "prose" and not is_last)):
        return Problem(CUT_OFF)  # Shorter, it may be whole.
    return with_masked_notes(reply, moment) if moment.known and not isinstance(reply, Problem) else reply


def _without_faults(draft: Draft, moment: Moment, shown: Shown) -> tuple[Draft, str]:
    """What an act ends in with this draft, and what its model is told once if the draft had a fault."""
    facts = sealed_facts_said(draft, moment) if moment.known else {}
    if facts:
        words = ", ".join([f'"{word}"' for word in facts.values()])
        return masked_words(
            draft, moment, facts
        ), f"You alone know {words}: say it without that word, or pass."
    repeated = line_repeated(draft, moment)
    copied = copied_from(draft, moment) if repeated is None else Copied("heard", repeated)
    if copied is None:
        return draft, ""  # There is no fault.
    objection = SAY_IT_OTHERWISE.get(copied.of) or _line_named(copied.event_id, moment, shown)
    if draft.kind == kinds.JUDGE_VERDICT:
        return draft, objection  # A contest ends with whom it names, whatever words the judge has for it.
    loop = LoopSuspected(WHAT_IT_COPIED[copied.of], copied.event_id, copied.of if repeated is None else None)
    skipped = Draft(kind=kinds.LOOP_SUSPECTED, payload=msgspec.to_builtins(loop), private=draft.private)
    return skipped, objection


def _line_named(event_id: str, moment: Moment, shown: Shown) -> str:
    """What a model is told that repeated an earlier line: which one, by the number that its prompt shows."""
    lines = numbered_lines(moment)
    index = lines.index_of(event_id)
    assert index is not None, "only lines that the creature can see are compared"
    by_number = (*shown.discussion, *shown.remembered, *shown.disturbances, *shown.answered)
    which = f"[{lines.ref(index)}], which" if event_id in by_number else "a line that"
    who = "you said" if lines.reading(index).actor == moment.creature_id else "was said"
    return f"Your line repeats {which} {who} a moment ago: say something new, or pass."


def _kept_of(answer: Completion, moment: Moment, shown: Shown) -> Draft | None:
    """The draft that can be kept of an answer with a problem, if any: a verdict with an unknown winner still has its
    text."""
    kept = draft_from(answer.text, moment, shown, reasoning=answer.reasoning, is_last=True)
    return with_masked_notes(kept, moment) if isinstance(kept, Draft) else None


class VisitorAgent(Agent):
    """Says the lines it is given, one per act. Lines that come early wait. It passes if no line comes in time."""

    keeps_its_own_time = True

    def __init__(self, seconds_max: float = visitor_seconds_max) -> None:
        self._seconds_max = seconds_max
        self._lines: deque[str] = deque()
        self._arrived = asyncio.Event()

    def say(self, text: str) -> None:
        """Give it the next line to say."""
        if not text.strip():
            raise Refused("The visitor said nothing.", "Write a sentence.")
        if len(self._lines) >= visitor_lines_waiting_max:
            raise Refused(
                f"{visitor_lines_waiting_max} lines wait already.", "Let the creature have its turn first."
            )
        self._lines.append(text)
        self._arrived.set()

    def go_away(self) -> None:
        """Stop waiting for lines: say those that wait, and then pass at once."""
        self._seconds_max = 0.0

    async def act(self, moment: Moment) -> Draft | None:
        """Say the next line. Pass if none arrives in time, and instead of a reflection: visitors think for themselves."""
        if moment.is_reflection:
            return None
        while not self._lines:
            self._arrived.clear()
            try:
                await asyncio.wait_for(self._arrived.wait(), self._seconds_max)
            except TimeoutError:
                return Draft(kind=kinds.AGENT_PASSED, payload={"reason": "The visitor said nothing in time."})
        kind = moment.character.may_emit[0] if moment.character.may_emit else kinds.AGENT_SPOKE
        return Draft(kind=kind, payload={"text": self._lines.popleft()})


ENGINES_OWN: Final[frozenset[type]] = frozenset({ManifestAgent, VisitorAgent})
"""The agents in which no code of a program runs."""

AgentFor = Callable[[Manifest], Agent]
"""Makes the agent of a creature that was added without one."""


class Minds:
    """The agents of a house, and the manifests they are made from."""

    def __init__(
        self, world: Callable[[], World], agent_for: AgentFor, by_handle: Mapping[str, Agent] | None
    ) -> None:
        """`by_handle` has agents for creatures that code plays. If it is None, as in a replay, nobody waits:
        `agent_for` makes their agents too."""
        self._world = world
        self._agent_for = agent_for
        self._by_handle = by_handle
        self._agents: dict[str, Agent] = {}
        self._manifests_cache: dict[str, Manifest] = {}

    def of(self, creature_id: str) -> Agent:
        """The agent of a creature: the one it was given, or one made now."""
        agent = self._agents.get(creature_id) or self.known(creature_id)
        if agent is None:
            creature = self._world().creatures[creature_id]
            if self.waits(creature_id):
                reason = f"{creature.handle} waits for its agent, a {creature.played_by_code}."
                raise Refused(reason, "Give it one: t.attach(creature, agent).")
            agent = self._agents[creature_id] = self._agent_for(self.manifest(creature.manifest_digest))
        return agent

    def agent_called(self, handle: str) -> Agent | None:
        """The agent for creatures of this handle, if there is one."""
        return (self._by_handle or {}).get(handle)

    def known(self, creature_id: str) -> Agent | None:
        """The agent of a creature, if it has one already."""
        agent = self._agents.get(creature_id)
        if agent is None:
            creature = self._world().creatures.get(creature_id)
            if creature is not None and creature.played_by_code:
                agent = self.agent_called(creature.handle)
                self.give(creature_id, agent)
        return agent

    def waits(self, creature_id: str) -> bool:
        """Whether code plays a creature and its object is not in this process."""
        creature = self._world().creatures.get(creature_id)
        if creature is None or not creature.played_by_code or self._by_handle is None:
            return False  # The engine can make its agent.
        return self.known(creature_id) is None

    def give(self, creature_id: str, agent: Agent | None) -> None:
        """Set the agent of a creature. With None, one is made when the creature first acts."""
        if agent is not None:
            self._agents[creature_id] = agent

    def forget(self, creature_id: str) -> None:
        """Drop the agent of a removed creature."""
        self._agents.pop(creature_id, None)

    def let_go(self, creature_ids: Iterable[str]) -> None:
        """Drop the agents of these creatures that hold nothing and are made again when they are asked for."""
        for creature_id in creature_ids:
            if type(self._agents.get(creature_id)) is ManifestAgent:
                del self._agents[creature_id]

    def manifest(self, digest: str) -> Manifest:
        """The manifest with this digest, of a creature that lives or lived in this house."""
        manifest = self._manifests_cache.get(digest)
        if manifest is None:
            manifest = Manifest.model_validate(self._world().manifests[digest].manifest)
            self._manifests_cache[digest] = manifest
        return manifest

    def remember(self, manifest: Manifest) -> None:
        """Cache a manifest, so that it is not parsed from the ledger again."""
        self._manifests_cache.setdefault(manifest.digest, manifest)

    def check(self, manifest: Manifest) -> None:
        """Refuse a manifest whose `played_by` cannot play here."""
        if manifest.played_by is not None:
            self._agent_for(manifest)


def agent_played_by(
    played_by: str | None, is_code_allowed: Callable[[], bool], visitor_seconds: float | None = None
) -> Agent:
    """The agent that a manifest's `played_by` names. A visitor's seat waits `visitor_seconds` for a line."""
    if played_by is None:
        return ManifestAgent()
    if played_by == "visitor":
        return VisitorAgent(visitor_seconds or visitor_seconds_max)
    if not is_code_allowed():
        raise Refused(
            f"played_by: {played_by} would run Python code, which is not allowed here.",
            "Set GLASSHOUSE_ALLOW_WORLD_CODE=1 if you trust this world.",
        )
    return _made(played_by)


def _made(played_by: str) -> Agent:
    module_name, _, class_name = played_by.partition(":")
    try:
        made = getattr(import_module(module_name), class_name)()
    except (ImportError, AttributeError, TypeError, SyntaxError) as missing:
        raise Refused(
            f"played_by: {played_by} cannot be loaded: {missing}.", "Write it as package.module:Class."
        ) from missing
    if not isinstance(made, Agent):
        raise Refused(f"played_by: {played_by} is no Agent.", "Derive the class from glasshouse.Agent.")
    return made
