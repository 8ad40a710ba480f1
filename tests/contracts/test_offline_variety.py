"""The troupe does not repeat itself: over a long play no line comes twice, and hardly a sentence's bones do."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from glasshouse import play
from glasshouse.manifests import load_world
from glasshouse.manifests.solo import solo_world
from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.model import answer
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.vocabulary import is_a
from glasshouse.turns.moment.character import Character, Voice
from glasshouse.turns.prompts.context import prompt_for
from tests.contracts.offline_stage import OfflineStage
from tests.simulation.seeds import rig_seeds

TENS = rig_seeds(1, plays=14)
"""The plays in tens: ten in every run of the tests, and a hundred and forty new ones in `make soak`."""

reused_share_max = 0.10
words_of_a_speech_min = 5
lines_before_silence_min = 12
"""Nobody comes or goes, and nothing happens: four who want something have so much to settle."""
lines_again_max = 1
"""Nobody sees further back than twelve lines."""
lines_seen_min = 5
"""Every creature's window holds as many, also right after its older half was dropped."""


def skeleton(line: str) -> str:
    """A line with everything masked but its small words."""
    words = re.findall(r"[\w'-]+|[.,?!:]", line.lower())
    masked = [word if not word[0].isalpha() or is_a(word, "stop") else "_" for word in words]
    return re.sub(r"(_ )+_", "_", " ".join(masked))


def a_play(seed: int) -> list[str]:
    stage = OfflineStage(seed=seed)
    stage.observes("Dusk in the wood. A kettle that remembers the sea drops from the canopy.")
    return stage.play(40)


@pytest.mark.parametrize("tens", TENS)
def test_no_line_is_said_twice_and_few_skeletons_are(tens: int) -> None:
    for seed in range(tens * 10, tens * 10 + 10):
        lines = a_play(seed)
        skeletons = [skeleton(line) for line in lines]

        # What was asked is settled at last, and then nobody goes on for the sake of going on.
        assert lines_before_silence_min <= len(lines) <= 160
        # A few words may be said as often as they are true.
        speeches = [line for line in lines if len(line.split()) >= words_of_a_speech_min]
        assert len(speeches) - len(set(speeches)) <= lines_again_max
        assert 1 - len(set(skeletons)) / len(skeletons) <= reused_share_max


def test_lines_keep_to_the_words_allowed_and_break_no_vow() -> None:
    stage = OfflineStage(
        cast=tuple(
            Character(
                name=f"speaker-{words}",
                temper="merry",
                voice=Voice(say_words_max=words, never=("exclaim", "ask a question", 'say "kettle"')),
            )
            for words in (3, 7, 12, 20, 40)
        )
    )
    stage.observes("A kettle that remembers the sea drops from the canopy!")
    stage.says("speaker-20", "Have you seen my little kettle, and the umbrella?")

    for stage.seed in range(60):
        for creature in stage.cast:
            # Who spoke last has only the goal to say again, and passes.
            text = stage.reply(creature.name).get("text", "")
            assert bool(text) == (creature.name != "speaker-20")
            assert len(text.split()) <= creature.voice.say_words_max
            assert not {"!", "?"} & set(text)
            assert "kettle" not in text.lower()


def test_a_voice_is_heard_in_what_is_said_and_its_examples_are_not() -> None:
    stage = OfflineStage()
    stage.observes("Dusk in the wood.")
    stage.says("hollow", "Somebody has painted the wheelbarrow blue.")
    examples = [example for creature in stage.cast for example in creature.voice.examples]

    lines = []
    for stage.seed in range(100):
        lines.append(stage.reply("apron")["text"])

    assert any(line.startswith("Bless it,") for line in lines)
    assert not any(example in line for example in examples for line in lines)


def test_tempers_choose_other_acts() -> None:
    stage = OfflineStage()
    stage.says("hollow", "Somebody has painted the wheelbarrow blue.")

    moods: dict[str, set[str]] = {"apron": set(), "tin-tragedian": set()}
    for stage.seed in range(200):
        for name, moods_seen in moods.items():
            moods_seen.add(stage.reply(name)["mood"])

    assert moods["apron"] != moods["tin-tragedian"]
    assert {"gentle", "tender"} & moods["apron"]
    assert {"grand", "radiant"} & moods["tin-tragedian"]


def test_every_line_is_whole() -> None:
    lines = [line for seed in range(5) for line in a_play(seed)]

    assert [
        line for line in lines if re.search(r"[{}<>_]|\s\s|\s[,.?!]|,,|\band and\b|\ba [aeiou]", line)
    ] == []
    assert all(line[0].isupper() or line.startswith('"') for line in lines)
    assert all(line[-1] in ".?!" for line in lines)


def test_prose_is_answered_in_prose() -> None:
    stage = OfflineStage(cast=(Character(name="stub", temper="shy"),))
    stage.observes("A lantern whispers.")

    text = answer(prompt_for(replace(stage.moment("stub"), form="prose")))

    kind, thought, said, mood = text.split("\n")
    assert (kind, mood[:6]) == ("KIND: agent.spoke", "MOOD: ")
    assert thought.startswith("THINK: ")
    assert said.startswith("SAY: ")
    assert "lantern" in said


def test_the_troupe_never_calls_itself_a_model() -> None:
    names = [
        "asides.txt",
        "games.txt",
        "thoughts.txt",
        "stock.txt",
        *(f"grammar/{move}.txt" for move in shelf.names_in("grammar")),
    ]
    texts = " ".join(line.lower() for name in names for line in shelf.entries(name))

    assert not re.search(r"language model|\bai\b|\bassistant\b|\bprompt\b|\btoken", texts)


def test_what_is_not_json_cannot_be_told_apart_from_silence() -> None:
    stage = OfflineStage()

    reply = json.loads(answer(stage.prompt("apron")))

    assert set(reply) == {"kind", "thought", "mood", "text"}
    assert reply["text"]


@pytest.mark.parametrize("rng_seed", [0, 2, 3])
def test_in_a_game_no_turn_of_phrase_comes_twice_in_what_can_be_seen_and_hardly_one_in_a_play(
    rng_seed: int,
) -> None:
    alone = solo_world(load_world("mystery-roots"), acts=24, turns=20)
    lines = [line.text for line in play(alone, rng_seed=rng_seed).lines]

    for heading in ("because of two", "objection end"):
        phrases = [
            max(re.split(r"<\w+>", template), key=len).strip(" .,:")
            for template in shelf.sections("games.txt")[heading]
        ]
        for start in range(len(lines)):
            said = " ".join(lines[start : start + lines_seen_min])
            assert [phrase for phrase in phrases if said.count(phrase) > 1] == []
        # The troupe sees no more than its window. Over the whole play, too, it hardly ever says a phrase again.
        counts = [" ".join(lines).count(phrase) for phrase in phrases]
        assert sum(counts) >= 4
        assert sum(counts) - len([count for count in counts if count]) <= 1


@pytest.mark.parametrize(
    ("text", "is_none"),
    [
        ("Between them lies one worn step.", "lies"),
        ("It weighed a great deal.", "great deal"),
        ("The lodger rings the bell.", "rings"),
    ],
)
def test_what_is_done_is_not_taken_for_a_thing(text: str, is_none: str) -> None:
    assert is_none not in [noun.phrase for noun in nouns_in(text) if not noun.is_word]


def test_one_who_is_alone_goes_on_from_what_it_said_in_its_other_parts() -> None:
    alone = solo_world(load_world("mystery-roots"), acts=12, turns=8)

    played = play(alone)

    said = [line for line in played.lines if line.who == "solo"]
    assert [line.kind for line in said] == ["clue.found", "hypothesis.formed", "objection.raised"] * 4
    for clue, formed, raised in zip(said[::3], said[1::3], said[2::3], strict=True):
        assert formed.fields["suspect"] in " ".join(line.text for line in said)
        assert set(formed.fields["cites"]) <= {line.id for line in said[::3]}
        assert raised.fields["against"] == formed.id
        assert clue.text


def test_a_leader_dismisses_in_other_words_each_time() -> None:
    played = play("far-end-of-the-attic", rng_seed=3)

    said = " ".join(line.text for line in played.lines if line.who == "brigadier")
    references = re.findall(r'Reference[^"]*("[^"]+")', said)
    assert len(references) >= 2
    assert len(set(references)) == len(references)
