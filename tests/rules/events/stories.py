"""A short story with everything in it that a digest must see through."""

from __future__ import annotations

from glasshouse.events import kinds
from glasshouse.events.event import Draft, Event
from glasshouse.world.decisions.intents import Say
from tests.rules.worlds_by_hand import HandWorld


def told_in(world: HandWorld, run_id: str) -> list[Event]:
    """A story with births, talk, a wire, a merge, a split, a privilege and a removal."""
    already_told = len(world.ledger)
    echo = world.add("echo", run_id=run_id, emits=[kinds.AGENT_SPOKE, kinds.AGENT_REFLECTED])
    moss = world.add("moss", run_id=run_id, parent=echo)
    fern = world.add("fern", run_id=run_id)
    world.connect(echo, moss, "stage", both=True)
    heard = world.say(echo, "Who is there?", channel="stage")
    world.say(moss, "Only moss.", channel="stage", caused_by=heard.id)
    world.wire(echo, moss)
    world.grant(echo)
    world.connect(moss, fern)
    drafts = Draft(kind=kinds.AGENT_REFLECTED, payload={"rests_on": [heard.id]}, private={"mood": "still"})
    world.do(Say(echo, (drafts,), heard.id))
    world.disconnect(echo, moss)
    world.remove(moss)
    return world.ledger[already_told:]


def a_story(run_id: str = "r-00000000000000aa") -> list[Event]:
    return told_in(HandWorld(), run_id)
