"""What a play says in a pipe while a model takes its time."""

from glasshouse.cli.live.live_play import said_in_a_pipe, slow_said_seconds
from glasshouse.runtime.run import Thinking


def reading_for(seconds: float) -> list[Thinking]:
    return [Thinking("ada", "ada", "r-1", "m", seconds, prompt_percent=40)]


def test_who_takes_long_is_said_after_a_while_and_again_after_as_long() -> None:
    said = 0.0
    texts = []
    for seconds in range(1, int(3 * slow_said_seconds) + 1):
        words, said = said_in_a_pipe(reading_for(seconds), said)
        texts += [words] if words else []

    assert len(texts) == 3
    assert texts[0].startswith("ada reads its prompt, 40 %, 30 s")


def test_whoever_thinks_next_is_said_after_as_long_as_the_first() -> None:
    _, said = said_in_a_pipe(reading_for(slow_said_seconds), 0.0)

    words, said = said_in_a_pipe(reading_for(2.0), said)
    again, _ = said_in_a_pipe(reading_for(2.0 + slow_said_seconds), said)

    assert (words, bool(again)) == ("", True)


def test_nothing_is_said_while_nobody_thinks() -> None:
    assert said_in_a_pipe([], 90.0) == ("", 0.0)
