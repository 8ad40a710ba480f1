"""The ruler of the bench of moments: what it calls a copy, a loop, a placeholder, and a citation of shown lines."""

import json

import pytest

from bench.prompts import ruler
from bench.prompts.ruler import Texts

VOICE = "I have never been wrong. I have been unwelcome."


@pytest.mark.parametrize(
    ("line", "is_copy"),
    [
        (VOICE, True),
        ("i have never been wrong, and the mice know", True),
        ("The mice know well that I was never once wrong about a page", False),
        ("I have never", False),
    ],
)
def test_half_of_a_copys_words_stand_in_runs_that_one_text_has(line: str, is_copy: bool) -> None:
    assert ruler.is_copy(line, VOICE) is is_copy


def test_words_in_runs_are_counted_once() -> None:
    assert ruler.share_in_runs(["a", "b", "c", "d", "x", "b", "c"], ["a", "b", "c", "d"]) == (4, 7)
    assert ruler.share_in_runs([], ["a", "b", "c"]) == (0, 0)


def test_a_line_is_measured_against_everything_that_its_prompt_held() -> None:
    system = 'HOW TO ANSWER\n{"kind":"agent.spoke","text":"<what you say to it aloud, in new words>","date":"<the date>"}'
    user = 'WHAT YOU ANSWER NOW\n[3] bo (cast, agent.spoke): "Where is the lantern tonight?"\nAnswer this line now, with something new.'
    texts = Texts(voice=(VOICE,), heard=("Where is the lantern tonight?",))
    texts = texts._replace(prompt=ruler.prompt_texts(system, user))

    def measured(text: str, **fields: object) -> dict[str, object]:
        raw = json.dumps({"kind": "agent.spoke", "text": text, **fields})
        about = {"system": system, "user": user, "words_max": 9, "ref_fields": ["cites"]}
        return ruler.measures_of(raw, text, texts, **about)  # type: ignore[arg-type]

    assert measured(VOICE)["recited"]
    assert measured("Where is the lantern tonight, bo?")["echoed"]
    assert measured("Answer this line now, with something new, I say.")["prompt_text"]
    assert measured("It hangs in the mill.", date="The date")["placeholder"] == ["date"]
    assert measured("So it is, so it is, he said. " * 3)["loop"]
    assert measured("It hangs in the mill.", cites=["3"])["cites"] == "valid"
    assert measured("It hangs in the mill.", cites=["12"])["cites"] == "invalid"
    assert measured("...")["empty"]
    assert ruler.is_clean(measured("It hangs in the mill."))


def test_what_a_citing_line_quotes_is_free_if_it_has_words_of_its_own() -> None:
    assert "lantern" not in ruler.own_words(
        'He asked "where is the lantern" and nobody moved at all.', cites=True
    )
    assert "lantern" in ruler.own_words('"Where is the lantern?" Quite.', cites=True)
