"""The troupe's skills, each chosen by the shape of the answer that is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from glasshouse.events import kinds
from glasshouse.troupe.skills.attributes import attribute_asked, attributes, thing_called, things
from glasshouse.turns.moment.character import Character, Memory, Schedule
from glasshouse.turns.moment.playbill import Competition, Playbill
from tests.contracts.offline_stage import OfflineStage, judged

ASK, TELL, NAME = "riddle.put", "riddle.met", "riddle.named"

GAME = Playbill(
    goal="Find the word.",
    kinds={
        ASK: {"text": "string"},
        TELL: {"answer": ["yes", "no", "unsure"], "text": "string"},
        NAME: {"word": "string", "text": "string"},
    },
    competition=Competition(kind="versus", teams={"seeker": ("young-seeker",), "holder": ("old-holder",)}),
)
SEEKER = Character(name="young-seeker", may_emit=(ASK, NAME), memory=Memory(window=64))
HOLDER = Character(name="old-holder", may_emit=(TELL,), temper="sly", memory=Memory(window=64))
ARBITER = Character(
    name="arbiter", role="judge", may_emit=(kinds.JUDGE_VERDICT,), schedule=Schedule(tick_every=9)
)

CASE = Playbill(
    goal="Find out who took the quince honey.",
    kinds={
        "sign.seen": {"text": "string"},
        "blame.laid": {"suspect": "string", "text": "string", "cites": "events"},
        "doubt.cast": {"text": "string", "against": "event"},
    },
    competition=judged("thread-spider", "polite-wasp"),
)
FINDER = Character(name="finder", may_emit=("sign.seen",), memory=Memory(window=24))
SPIDER = Character(name="thread-spider", may_emit=("blame.laid",), memory=Memory(window=24))
WASP = Character(name="polite-wasp", may_emit=("doubt.cast",), memory=Memory(window=24))
TOAD = Character(name="toad", role="judge", may_emit=(kinds.JUDGE_VERDICT,))


def a_game(word: str, seed: int = 0) -> OfflineStage:
    return OfflineStage((SEEKER, HOLDER, ARBITER), GAME, seed, known={"old-holder": {"word": word}})


def a_case(seed: int = 0) -> OfflineStage:
    stage = OfflineStage((FINDER, SPIDER, WASP, TOAD), CASE, seed)
    stage.observes("Somebody took the quince honey. The magpie, the mole and the lodger have a key.")
    return stage


def put(stage: OfflineStage, text: str, **fields: Any) -> Any:
    asked = stage.says("young-seeker", text, NAME if fields else ASK, **fields)
    return stage.reply("old-holder", asked)


@pytest.mark.parametrize("word", ["acorn", "owl", "violin", "window", "pine cone", "snow"])
def test_the_keeper_answers_every_question_of_the_table_truthfully(word: str) -> None:
    thing = thing_called(word)
    assert thing is not None
    stage = a_game(word)

    wrong = [
        (question, reply["answer"])
        for attribute in attributes().values()
        for question in attribute.asked
        if (reply := put(stage, question.capitalize()))["answer"] != thing.truth(attribute.name)
    ]

    assert wrong == []


def test_the_keeper_never_says_the_word() -> None:
    for seed in range(20):
        stage = a_game("fox", seed)
        texts = [put(stage, attribute.asked[0])["text"].lower() for attribute in attributes().values()]
        texts.append(put(stage, "Is it a fox?", word="fox")["text"].lower())
        assert not [text for text in texts if "fox" in text]


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Tell me, would I want it for supper, as food?", "edible"),
        ("Could something like that ever have wings?", "flies"),
        ("Am I likely to hear it making any noise?", "noise"),
        ("Would I need a spade, is it buried in soil?", "ground"),
        ("Has it anything to do with quandles?", ""),
    ],
)
def test_a_question_put_in_other_words_means_the_same(question: str, meant: str) -> None:
    assert attribute_asked(question) == meant


def test_the_keeper_is_unsure_of_a_word_outside_the_table_and_of_what_it_does_not_understand() -> None:
    assert put(a_game("zeppelin"), "Is it alive?")["answer"] == "unsure"
    assert put(a_game("owl"), "Does it vote?")["answer"] == "unsure"


@pytest.mark.parametrize("guess", ["a fox", "Fox", "foxes"])
def test_a_right_guess_is_granted_and_a_wrong_one_refused(guess: str) -> None:
    stage = a_game("fox")

    assert put(stage, "I name it.", word=guess)["answer"] == "yes"
    assert put(stage, "I name it.", word="owl")["answer"] == "no"


@pytest.mark.parametrize("word", list(things()))
def test_the_guesser_names_every_word_of_the_table_within_twenty_questions(word: str) -> None:
    stage = a_game(word, seed=len(word))
    event = None
    for _ in range(21):
        event = stage.act("young-seeker")
        assert event is not None
        stage.act("old-holder", event)
        if event.kind == NAME:
            break

    assert event is not None
    assert event.payload.get("word") == word
    questions = [event.payload["text"] for event in stage.events if event.kind == ASK]
    assert len({attribute_asked(text) for text in questions}) == len(questions)


def test_contradictory_answers_make_the_guesser_abstain() -> None:
    stage = a_game("owl")
    for question, answer_given in (
        ("Is it an animal?", "yes"),
        ("Is it alive?", "no"),
        ("Can you eat it?", "yes"),
        ("Is it made of metal?", "yes"),
    ):
        stage.says("young-seeker", question, ASK)
        stage.says("old-holder", "So it is.", TELL, answer=answer_given)

    reply = stage.reply("young-seeker")

    assert reply["kind"] == kinds.AGENT_PASSED
    assert reply["reason"]


def test_on_the_last_chance_the_guesser_names_a_word() -> None:
    stage = a_game("owl")
    stage.says("young-seeker", "Is it an animal?", ASK)
    stage.says("old-holder", "It has a mother somewhere.", TELL, answer="yes")
    stage.observes("The lamp goes out. This is the last chance to name it.")

    reply = stage.reply("young-seeker")

    thing = thing_called(reply["word"])
    assert thing is not None
    assert "animal" in thing.holds | thing.unsure


def test_a_disturbance_is_taken_up_in_games_too_and_the_question_still_counts() -> None:
    for seed in range(50):
        stage = a_game("owl", seed)
        stage.act("young-seeker")
        stage.act("old-holder", stage.events[-1])
        stage.disturb("A wet brimfold falls through the roof.")

        question = stage.act("young-seeker")
        assert question is not None
        assert "brimfold" in question.payload["text"]
        assert attribute_asked(question.payload["text"])
        assert "brimfold" in stage.reply("old-holder", question)["text"]


@pytest.mark.parametrize(("answer_given", "winner"), [("yes", "seeker"), ("no", "holder")])
def test_the_verdict_follows_the_answer_to_the_guess(answer_given: str, winner: str) -> None:
    stage = a_game("owl")
    stage.says("young-seeker", "I say it is a fox.", NAME, word="fox")
    answered = stage.says("old-holder", "Well, well.", TELL, answer=answer_given)

    verdict = stage.act("arbiter", answered)

    assert verdict is not None
    assert verdict.payload["winner"] == winner
    assert set(verdict.payload["cites"]) <= {event.id for event in stage.events}
    assert verdict.payload["cites"]
    assert "fox" in verdict.payload["text"]


def test_a_game_that_is_open_is_not_judged() -> None:
    stage = a_game("owl")
    question = stage.says("young-seeker", "Is it alive?", ASK)
    stage.says("old-holder", "It is.", TELL, answer="yes")

    assert stage.reply("arbiter", question)["kind"] == kinds.AGENT_PASSED


def test_a_secret_that_nobody_named_is_the_keepers_in_the_end() -> None:
    stage = a_game("owl")
    stage.says("young-seeker", "Is it alive?", ASK)
    stage.says("old-holder", "It is.", TELL, answer="yes")

    assert stage.reply("arbiter")["winner"] == "holder"


def test_a_hypothesis_names_who_the_clues_speak_of_and_cites_them() -> None:
    for seed in range(30):
        stage = a_case(seed)
        first = stage.says("finder", "By the pond I found a feather that only the magpie sheds.", "sign.seen")
        stage.says("finder", "A burnt match lay on the step, and the lodger smokes.", "sign.seen")
        third = stage.says("finder", "Candle wax on the sill, and the magpie steals candles.", "sign.seen")

        blame = stage.act("thread-spider")

        assert blame is not None
        assert blame.payload["suspect"] == "magpie"
        assert {first.id, third.id} <= set(blame.payload["cites"])
        assert "magpie" in blame.payload["text"]


def test_without_clues_nobody_is_blamed() -> None:
    stage = OfflineStage((FINDER, SPIDER, WASP, TOAD), CASE)

    assert stage.reply("thread-spider")["kind"] == kinds.AGENT_PASSED


def test_an_objection_points_at_the_newest_claim() -> None:
    for seed in range(30):
        stage = a_case(seed)
        clue = stage.says("finder", "By the pond I found a feather of the magpie.", "sign.seen")
        old = stage.says("thread-spider", "It was the mole.", "blame.laid", suspect="mole", cites=[clue.id])
        new = stage.says(
            "thread-spider", "It was the magpie.", "blame.laid", suspect="magpie", cites=[clue.id]
        )

        doubt = stage.act("polite-wasp", new)

        assert doubt is not None
        assert doubt.payload["against"] == new.id != old.id
        assert "magpie" in doubt.payload["text"] or "feather" in doubt.payload["text"]


def ruled(*, supporting: int, rival: int) -> Any:
    stage = a_case()
    for number in range(supporting):
        stage.says("finder", f"Sign {number}: a feather of the magpie by the gate.", "sign.seen")
    for number in range(rival):
        stage.says("finder", f"Sign {number}: a ring of soil from the mole.", "sign.seen")
    clue = stage.events[1]
    claim = stage.says("thread-spider", "It was the magpie.", "blame.laid", suspect="magpie", cites=[clue.id])
    stage.says("polite-wasp", "The soil does not fit the magpie.", "doubt.cast", against=claim.id)
    verdict = stage.act("toad")
    assert verdict is not None
    return verdict.payload


def test_a_verdict_follows_the_evidence() -> None:
    assert ruled(supporting=5, rival=1)["winner"] == "thread-spider"
    assert ruled(supporting=1, rival=4)["winner"] == "polite-wasp"
    assert ruled(supporting=5, rival=1)["cites"]
    assert "magpie" in ruled(supporting=5, rival=1)["text"]


def test_a_judge_without_evidence_gives_it_to_nobody() -> None:
    stage = a_case()

    verdict = stage.reply("toad")

    assert verdict["winner"] == "nobody"
    assert verdict["cites"] == ["1"]  # A verdict rests on something, and the scene is all there is.


def test_a_debater_takes_the_side_of_its_persona() -> None:
    pro = Character(
        name="pro", wants="defends the old bridge against all comers", may_emit=(kinds.AGENT_SPOKE,)
    )
    con = Character(name="con", persona="Opposes the old bridge, and says so.", may_emit=(kinds.AGENT_SPOKE,))
    stage = OfflineStage((pro, con), Playbill(goal="Settle the matter of the bridge."))
    stage.observes("The old bridge creaks.")

    thoughts: dict[str, list[str]] = {"pro": [], "con": []}
    for stage.seed in range(60):
        for name, texts in thoughts.items():
            texts.append(stage.reply(name).get("thought", ""))

    assert (
        sum(
            "argue for" in thought or "case for" in thought or "my side" in thought
            for thought in thoughts["pro"]
        )
        > 20
    )
    assert (
        sum(
            "argue against" in thought or "case against" in thought or "costs" in thought
            for thought in thoughts["con"]
        )
        > 20
    )


def test_a_bluffer_describes_its_word_and_votes_for_the_odd_one() -> None:
    plain = tuple(Character(name=name, may_emit=("hint.dropped",)) for name in ("ash", "birch", "cedar"))
    voter = Character(name="dogwood", may_emit=("finger.pointed",))
    bill = Playbill(
        kinds={"hint.dropped": {"text": "string"}, "finger.pointed": {"vote": "creature", "text": "string"}}
    )
    known = {
        "ash": {"word": "owl"},
        "birch": {"word": "owl"},
        "cedar": {"word": "spoon"},
        "dogwood": {"word": "owl"},
    }
    odd = []
    for seed in range(40):
        stage = OfflineStage((*plain, voter), bill, seed, known=known)
        for _ in range(2):
            for creature in plain:
                event = stage.act(creature.name)
                assert event is not None
                assert known[creature.name]["word"] not in event.payload["text"]
        vote = stage.act("dogwood")
        odd.append(vote.payload["vote"] if vote is not None else "nobody")

    assert odd.count("cedar") > 30


def test_somebody_of_another_world_says_nothing_of_a_namesakes() -> None:
    keeper = Character(name="secret-keeper", persona="Keeps the keys of a bank.", may_emit=("answer.given",))
    guesser = Character(name="sprout-guesser", may_emit=("question.asked",))
    kinds_of_game: dict[str, dict[str, Any]] = {
        "question.asked": {"text": "string"},
        "answer.given": {"answer": ["yes", "no", "unsure"], "text": "string"},
    }
    said = ""
    for seed in range(8):
        stage = OfflineStage(
            (guesser, keeper), Playbill(kinds=kinds_of_game), seed, known={"secret-keeper": {"word": "owl"}}
        )
        question = stage.says("sprout-guesser", "Is it alive?", "question.asked")
        said += stage.reply("secret-keeper", question)["text"].lower()

    assert not [word for word in ("straw", "hat", "my dear", "scarecrow") if word in said]
