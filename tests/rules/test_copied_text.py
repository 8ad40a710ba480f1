"""Copied text in replies: voices, lines, prompts and placeholders."""

import json

from msgspec.structs import replace

from glasshouse.contests.copied_text import has_placeholder
from glasshouse.contests.measures import Rehearsed, Sample, measures_of
from glasshouse.models import Prompt
from glasshouse.turns.moment.prompt import text_digest
from tests.rules.test_rehearsal_measures import event

SYSTEM = 'HOW TO ANSWER\n{"kind":"agent.spoke","text":"<what you say aloud, in new words>","suspect":"some suspect"}'
USER = "WHAT YOU ANSWER NOW\nYou are ada. Answer this line now, with something that nobody has said yet."
VOICE = "I hang nobody on a smell."


def test_a_placeholder_is_known_by_its_brackets_or_by_some_and_its_field() -> None:
    assert has_placeholder({"text": "Yes.", "suspect": "Some Suspect"}, SYSTEM)
    assert has_placeholder({"text": "what you say aloud, in new words"}, SYSTEM)
    assert not has_placeholder({"text": "Some suspect it was the mole.", "suspect": "mole"}, SYSTEM)


def said(text: str, **fields: str) -> str:
    return json.dumps({"kind": "agent.spoke", "text": text, **fields})


def test_each_reply_is_measured_also_if_another_line_took_its_place() -> None:
    manifest = {"name": "ada", "voice": {"examples": [VOICE]}}
    began = {
        "creature": "ada",
        "handle": "ada",
        "cast_key": "ada",
        "manifest_digest": "m",
        "manifest": manifest,
    }
    scene = "Five in the morning, and the bell is gone."
    heard = "Whoever did it had a key to the gate."
    replies = [
        said(VOICE),
        said(heard),
        said("Five in the morning, and the bell is gone, I see."),
        said("Answer this line now, with something that nobody has said yet."),
        said("The mole has earth on his spectacles.", suspect="some suspect"),
    ]
    answered = event("ada", "agent.spoke", {"text": "The mole."}, replies)
    use = answered.model
    assert use is not None
    calls = tuple([replace(call, system=text_digest(SYSTEM), user=text_digest(USER)) for call in use.calls])
    played = (
        event("terrarium", "creature.started", began),
        event("conductor", "world.observed", {"text": scene}),
        event("bo", "agent.spoke", {"text": heard}),
        replace(answered, model=replace(use, calls=calls)),
    )

    measures = measures_of(Rehearsed((Sample(Prompt(SYSTEM, USER)),), (played,), ("ada", "bo"), ("",)))

    shares = {name: measures[name].value for name in ("recited", "echoed", "prompt text", "placeholder")}
    assert shares == {"recited": 0.2, "echoed": 0.2, "prompt text": 0.4, "placeholder": 0.2}
    assert measures["recited"].n == 5
