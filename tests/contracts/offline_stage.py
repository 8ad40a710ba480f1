"""A small stage for the offline troupe: prompts by the one context builder, answers read back as events.

No conductor, no ledger: everybody hears everything, in the order of the cast, so that what is proved here is the
troupe's alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, VISITOR, Event, Json
from glasshouse.events.shown import Shown
from glasshouse.troupe.model import answer
from glasshouse.turns.moment.character import Character, Memory, Voice
from glasshouse.turns.moment.moment import NOTHING_SHOWN, Around, Moment, Neighbour, Recent
from glasshouse.turns.moment.playbill import Competition, Playbill
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.prompts.context import prompt_for
from glasshouse.turns.prompts.lines import event_ids_by_ref
from tests.rules.events.events_by_hand import an_event
from tests.rules.turns.moments_by_hand import never_spending

SESSION = "s-00112233445566bb"

GARDEN = (
    Character(
        name="apron",
        persona="An old gardener with soil in every pocket.",
        wants="to see one small thing grow",
        cares_about=("small seeds", "the old gate", "damp soil"),
        temper="patient and gentle",
        voice=Voice(
            examples=(
                "Bless it, there is room in my apron.",
                "A seed is a letter to the spring. Plant it shallow.",
            )
        ),
    ),
    Character(
        name="tin-tragedian",
        persona="An actor four inches tall.",
        wants="to play everything he is given",
        cares_about=("applause", "a paper moustache"),
        temper="vain and theatrical",
        voice=Voice(
            examples=("Lights! I was born for the staircase.", "Tonight I die in a thimble."),
            say_words_max=36,
        ),
    ),
    Character(
        name="hollow",
        persona="What is left of a voice in a tree.",
        cares_about=("last words", "footsteps"),
        temper="mischievous and quick",
        voice=Voice(examples=("Say it again, but smaller.",), say_words_max=24),
        memory=Memory(window=6),
    ),
    Character(
        name="grey-snail",
        persona="Has seen every play in the wood from below.",
        cares_about=("nouns", "entrances"),
        temper="dry and strict",
        voice=Voice(
            examples=("The moon was late, and it showed.",), never=("use an exclamation mark", "laugh")
        ),
    ),
)


@dataclass
class OfflineStage:
    """A cast, what was said so far, and whose turn it is."""

    cast: tuple[Character, ...] = GARDEN
    playbill: Playbill = field(
        default_factory=lambda: Playbill(goal="Grow one evening's play out of one seed.")
    )
    seed: int = 0
    known: dict[str, Json] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def happens(self, actor: str, kind: str, **payload: Any) -> Event:
        seq = len(self.events) + 1
        event = an_event(
            id=f"{SESSION}.{seq}",
            session_id=SESSION,
            seq=seq,
            lamport=seq,
            turn=seq,
            actor=actor,
            kind=kind,
            payload=payload,
            private=None,
            sealed=None,
            model=None,
            caused_by=None,
        )
        self.events.append(event)
        return event

    def observes(self, text: str) -> Event:
        return self.happens(CONDUCTOR, kinds.WORLD_OBSERVED, text=text)

    def disturb(self, text: str) -> Event:
        return self.happens(VISITOR, kinds.USER_INJECTED, text=text)

    def says(self, name: str, text: str, kind: str = kinds.AGENT_SPOKE, **fields: Any) -> Event:
        return self.happens(name, kind, text=text, **fields)

    def moment(self, name: str, cause: Event | None = None, *, without: str = "") -> Moment:
        character = next(creature for creature in self.cast if creature.name == name)
        seen = tuple(
            event for event in self.events if not without or without not in event.payload.get("text", "")
        )
        others = tuple(
            Neighbour(creature.name, creature.role, ("stage",))
            for creature in self.cast
            if creature.name != name
        )
        tick = an_event(
            kind=kinds.TURN_STARTED, actor=CONDUCTOR, payload={"turn": 1}, private=None, sealed=None
        )
        return Moment(
            run_id="r-1",
            turn=len(self.events),
            cause=cause or tick,
            creature_id=name,
            handle=name,
            character=character,
            playbill=self.playbill,
            heard=Recent.of(seen),
            lines_before=0,
            handles={creature.name: creature.name for creature in self.cast},
            around=Around(("stage",), ("stage",), others, len(others)),
            ask=_nobody_asks,
            spending=never_spending,
            known=self.known.get(name, {}),
        )

    def prompt(self, name: str, cause: Event | None = None, *, without: str = "") -> Prompt:
        return replace(prompt_for(self.moment(name, cause, without=without)), seed=self.seed)

    def reply(self, name: str, cause: Event | None = None, *, without: str = "") -> Json:
        """What the troupe answers, with refs as it gave them."""
        reply: Json = json.loads(answer(self.prompt(name, cause, without=without)))
        return reply

    def act(self, name: str, cause: Event | None = None, *, without: str = "") -> Event | None:
        """One act: what was answered becomes an event, refs become event ids. None if it passed."""
        reply = self.reply(name, cause, without=without)
        if reply["kind"] == kinds.AGENT_PASSED:
            return None
        ids = event_ids_by_ref(self.moment(name, cause, without=without))
        payload = {
            key: _pointed(value, ids)
            for key, value in reply.items()
            if key not in {"kind", "thought", "mood"}
        }
        return self.happens(name, reply["kind"], **payload)

    def play(self, turns: int) -> list[str]:
        """Everybody once a turn; gives what was said."""
        said = []
        for _ in range(turns):
            for creature in self.cast:
                event = self.act(creature.name)
                if event is not None:
                    said.append(event.payload["text"])
        return said


def judged(*contestants: str) -> Competition:
    return Competition(kind="judged", contestants=contestants)


def _pointed(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_pointed(item, ids) for item in value]
    return ids.get(value, value) if isinstance(value, str) else value


async def _nobody_asks(_prompt: Prompt, _shown: Shown = NOTHING_SHOWN, /) -> Completion:
    raise AssertionError("the stage asks nobody")
