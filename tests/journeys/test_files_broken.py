"""Files that were cut, changed, shuffled or made up: refused in words that name the file and the line; nothing is kept."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

import gzip
import json
import random
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from glasshouse import Manifest, Refused, SqliteStore, Terrarium
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ledger import session_file
from tests.journeys.session_files import Line, a_play, lines_of, rewrite, seal


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Terrarium]:
    async with Terrarium(SqliteStore(tmp_path / "there.glasshouse")) as terrarium:
        yield terrarium


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A sound file, to be broken: the same bytes every time."""
    async with Terrarium(clock=HandMovedClock(), ids=SeededIds(1)) as here:
        return await here.export(await a_play(here), tmp_path / "play.jsonl", role="director")


async def refused(terrarium: Terrarium, path: Path) -> str:
    """What is said of a file that is not taken in, after a look that nothing of it was."""
    with pytest.raises(Refused) as raised:
        await terrarium.import_file(path)
    assert raised.value.instead
    assert await nothing_was_taken_in(terrarium)
    return str(raised.value)


async def nothing_was_taken_in(terrarium: Terrarium) -> bool:
    """A new creature is the first thing that this terrarium ever heard of."""
    ada = await terrarium.add_creature(Manifest(name="zoe"))
    first = await terrarium.event(f"{ada.session_id}.1")
    return first.position == 1 and len(terrarium.lineage(ada.session_id).ancestors) == 0


# Cut short


async def test_a_missing_file_is_refused(there: Terrarium, tmp_path: Path) -> None:
    assert "There is no file" in await refused(there, tmp_path / "nowhere.glass")


async def test_a_folder_is_refused(there: Terrarium, tmp_path: Path) -> None:
    assert "cannot be read" in await refused(there, tmp_path)


@pytest.mark.parametrize("bad_path", ["", "a\0b", "\ud800.glass", "n" * 300])
async def test_what_cannot_name_a_file_is_not_read_either(there: Terrarium, bad_path: str) -> None:
    with pytest.raises(Refused, match=r"Check the path|cannot be read"):
        await there.import_file(bad_path)


@pytest.mark.parametrize("kept_lines", [1, 2, 5, 12, -1])
async def test_a_file_that_lacks_lines_at_its_end_says_it_was_cut(
    there: Terrarium, path: Path, kept_lines: int
) -> None:
    lines = path.read_text().splitlines(keepends=True)[:kept_lines]
    path.write_text("".join(lines))

    words = await refused(there, path)

    assert path.name in words
    assert str(len(lines)) in words or str(len(lines) + 1) in words


async def test_a_line_cut_in_the_middle_is_named(there: Terrarium, path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:9]) + lines[9][: len(lines[9]) // 2])

    assert f"{path}:10:" in await refused(there, path)


async def test_an_empty_file_is_refused_at_its_first_line(there: Terrarium, path: Path) -> None:
    path.write_bytes(b"")

    assert f"{path}:1:" in await refused(there, path)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
async def test_a_packed_file_cut_anywhere_is_refused(there: Terrarium, path: Path, kept: float) -> None:
    packed = gzip.compress(path.read_bytes())
    path.write_bytes(packed[: int(len(packed) * kept)])

    assert path.name in await refused(there, path)


@pytest.mark.parametrize("seed", range(12))
async def test_a_packed_file_with_one_wrong_byte_is_refused(there: Terrarium, path: Path, seed: int) -> None:
    path.write_bytes(with_one_wrong_byte(path.read_bytes(), random.Random(seed)))

    assert path.name in await refused(there, path)


def with_one_wrong_byte(content: bytes, rng: random.Random) -> bytes:
    """Packed, with a byte changed that matters: some only point at another copy of the same words."""
    packed = gzip.compress(content, mtime=0)
    while True:
        wrong = bytearray(packed)
        wrong[rng.randrange(12, len(packed) - 8)] ^= 0x40
        if not unpacks_to(content, bytes(wrong)):
            return bytes(wrong)


def unpacks_to(content: bytes, packed: bytes) -> bool:
    try:
        return gzip.decompress(packed) == content
    except (OSError, EOFError, zlib.error):
        return False


# Changed


def edit_a_text(lines: list[Line]) -> None:
    next(line for line in lines if line.get("payload", {}).get("text") == "hello")["payload"]["text"] = (
        "goodbye"
    )


def drop_an_event(lines: list[Line]) -> None:
    del lines[8]


def double_an_event(lines: list[Line]) -> None:
    lines.insert(8, lines[8])


def swap_two_events(lines: list[Line]) -> None:
    lines[9], lines[8] = lines[8], lines[9]


def forge_an_actor(lines: list[Line]) -> None:
    next(line for line in lines if line.get("actor") == "ada")["actor"] = "bo"


@pytest.mark.parametrize(
    "change", [edit_a_text, drop_an_event, double_an_event, swap_two_events, forge_an_actor]
)
async def test_a_changed_file_is_refused(
    there: Terrarium, path: Path, change: Callable[[list[Line]], None]
) -> None:
    lines = lines_of(path)
    change(lines)
    rewrite(path, lines)

    words = await refused(there, path)

    assert path.name in words
    assert "export it again" in words.lower()


async def test_a_file_of_a_newer_format_asks_for_an_upgrade(there: Terrarium, path: Path) -> None:
    head, *rest = lines_of(path)
    rewrite(path, [head | {"glass": 3}, *rest])

    words = await refused(there, path)

    assert "format 3" in words
    assert "Upgrade Glasshouse" in words


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00\xff\xfe" * 200,
        b"my shopping list\n",
        b"[]\n",
        b'{"glass": 1}\n',
        b'{"glass": "one", "session": 3}\n',
        b'{"glass":1,"session":"s","role":"owner","is_redacted":false,"segments":0}\n',
        b"\x1f\x8bnot really packed",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=["bytes", "text", "list", "fields", "types", "role", "unpacked", "nested lists", "nested objects"],
)
async def test_garbage_is_refused_at_its_first_line(there: Terrarium, path: Path, garbage: bytes) -> None:
    path.write_bytes(garbage)

    words = await refused(there, path)

    assert path.name in words


async def test_an_event_nested_too_deep_is_refused_at_its_line(there: Terrarium, path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    deep = '{"a":' * 50_000 + "1" + "}" * 50_000
    lines[8] = lines[8].replace('"payload":{', '"payload":{"deep":' + deep + ",", 1)
    path.write_text("".join(lines))

    assert f"{path}:9:" in await refused(there, path)


@pytest.mark.parametrize("line_index", [1, 8])
async def test_a_line_that_is_no_json_is_named(there: Terrarium, path: Path, line_index: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    lines[line_index] = "oops\n"
    path.write_text("".join(lines))

    assert f"{path}:{line_index + 1}:" in await refused(there, path)


# Made up, with a last line that fits


def lose_a_parent(lines: list[Line]) -> None:
    """Take the first segment away that another grows from."""
    gone = lines[1]["segment"]["id"]
    lines[0]["segments"] -= 1
    lines[:] = [
        line for line in lines if line.get("session_id") != gone and line.get("segment", {}).get("id") != gone
    ]


def claim_another_session(lines: list[Line]) -> None:
    lines[0]["session"] = "s-0000000000000000"


def break_an_attachment(lines: list[Line]) -> None:
    attached = [line for line in lines if line.get("kind") == "session.attached"]
    attached[-1]["payload"] = {"session": 7, "creatures": "everybody"}


def name_an_event_wrongly(lines: list[Line]) -> None:
    spoken = next(line for line in lines if line.get("kind") == "agent.spoke")
    spoken["id"] = f"{spoken['session_id']}.999"


def bend_the_time(lines: list[Line]) -> None:
    next(line for line in lines if line.get("kind") == "agent.spoke")["lamport"] += 1_000


def see_more_of_a_parent_than_there_is(lines: list[Line]) -> None:
    parents = [part["segment"]["parents"] for part in lines if part.get("segment", {}).get("parents")]
    parents[-1][0]["upto"] += 50


def say_a_segment_twice(lines: list[Line]) -> None:
    lines[0]["segments"] += 1
    lines.insert(2, lines[1])


def parts_of(lines: list[Line]) -> list[Line]:
    return [line for line in lines if "segment" in line]


def count_from(field: str, number: int) -> Callable[[list[Line]], None]:
    """A lie about a number of the last segment, which has a parent; its events keep in step with it."""

    def lie(lines: list[Line]) -> None:
        segment = parts_of(lines)[-1]["segment"]
        segment[field] = number
        for line in lines:
            if line.get("session_id") == segment["id"]:
                line["lamport"] = segment["base"] + line["seq"]

    return lie


def claim_more_events_than_any_machine_holds(lines: list[Line]) -> None:
    parts_of(lines)[-1]["upto"] = 2**61


def claim_more_events_than_can_be_counted(lines: list[Line]) -> None:
    parts_of(lines)[-1]["upto"] = 2**70


def see_less_than_nothing_of_a_parent(lines: list[Line]) -> None:
    parts_of(lines)[-1]["segment"]["parents"][0]["upto"] = -(2**70)


def begin_before_the_parents_end(lines: list[Line]) -> None:
    count_from("base", parts_of(lines)[-1]["segment"]["base"] - 1)(lines)


def name_a_parent_twice(lines: list[Line]) -> None:
    parts_of(lines)[-1]["segment"]["parents"] *= 2


def name_a_change_that_begins_later(lines: list[Line]) -> None:
    lines[-3]["change"] = lines[-2]["id"]


def name_a_change_by_an_event_inside_it(lines: list[Line]) -> None:
    inside = next(line for line in lines if "change" in line)
    lines[-2]["change"] = inside["id"]


def name_a_change_that_is_no_text(lines: list[Line]) -> None:
    lines[-2]["change"] = 7


@pytest.mark.parametrize(
    "lie",
    [
        count_from("ordinal", -1),
        count_from("ordinal", 2**62),
        count_from("ordinal", 2**70),
        count_from("base", -1),
        count_from("base", 2**62),
        count_from("base", 2**70),
        claim_more_events_than_any_machine_holds,
        claim_more_events_than_can_be_counted,
        see_less_than_nothing_of_a_parent,
        begin_before_the_parents_end,
        name_a_parent_twice,
        name_a_change_that_begins_later,
        name_a_change_by_an_event_inside_it,
        name_a_change_that_is_no_text,
        lose_a_parent,
        claim_another_session,
        break_an_attachment,
        name_an_event_wrongly,
        bend_the_time,
        see_more_of_a_parent_than_there_is,
        say_a_segment_twice,
    ],
)
async def test_a_made_up_file_is_refused_and_nothing_of_it_is_kept(
    there: Terrarium, path: Path, lie: Callable[[list[Line]], Any]
) -> None:
    lines = lines_of(path)
    lie(lines)
    seal(path, lines)

    assert path.name in await refused(there, path)


# Files that unpack to more than anybody wants


async def test_a_small_file_that_unpacks_to_very_much_is_refused_before_it_is_unpacked_whole(
    there: Terrarium, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps(line).encode() + b"\n" for line in lines_of(path)]
    spoken = next(line for line in lines if b"agent.spoke" in line)
    head, bomb = b"".join(lines[: lines.index(spoken)]), gzip.compress(spoken * 4_000)
    path.write_bytes(gzip.compress(head) + bomb * 500)
    unpacked = 0

    class Counted(gzip.GzipFile):
        def readline(self, size: int | None = -1) -> bytes:
            nonlocal unpacked
            line = super().readline(size)
            unpacked += len(line)
            return line

    monkeypatch.setattr(gzip, "GzipFile", Counted)
    monkeypatch.setattr(session_file, "import_bytes_max", 1_000_000)

    assert "holds more than 1,000,000 bytes unpacked" in await refused(there, path)
    assert path.stat().st_size < 5_000_000 < 500 * 4_000 * len(spoken)
    assert unpacked < 1_000_000 + len(spoken) + 1


# Many segments


def a_chain(path: Path, segments: int) -> Path:
    """A sound file of so many segments, each grown from the one before, each with one event."""
    names = [f"s-{n:016x}" for n in range(segments)]
    head = {"glass": 1, "session": names[-1], "role": "director", "is_redacted": False, "segments": segments}
    parts: list[Line] = []
    events: list[Line] = []
    for n, name in enumerate(names):
        parents = [{"session_id": names[n - 1], "upto": 1}] if n else []
        segment = {"id": name, "graph_id": "g", "ordinal": n, "base": n, "parents": parents}
        origin = {"origin": "fork", "at": f"{names[n - 1]}.1"} if n else {"origin": "root"}
        parts.append({"segment": segment | origin, "upto": 1})
        envelope = {
            "id": f"{name}.1",
            "session_id": name,
            "graph_id": "g",
            "seq": 1,
            "lamport": n + 1,
            "turn": 0,
        }
        body = {"actor": "ada", "kind": "agent.spoke", "payload": {"text": f"{n}"}}
        events.append(envelope | body | {"created_at": "2026-01-01T00:00:00Z"})
    seal(path, [head, *parts, *events, {"end": {}}])
    return path


def steps_of_reading(path: Path) -> int:
    """How many steps of the interpreter it takes to read and check a file, counted in the module of files alone."""
    steps = 0

    def trace(frame: FrameType, event: str, _arg: object) -> Any:
        nonlocal steps
        if frame.f_code.co_filename != session_file.__file__:
            return None
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        session_file.read_file(path)
    finally:
        sys.settrace(before)
    return steps


def test_twice_the_segments_take_about_twice_the_steps(tmp_path: Path) -> None:
    few = steps_of_reading(a_chain(tmp_path / "few.jsonl", 150))
    many = steps_of_reading(a_chain(tmp_path / "many.jsonl", 300))

    assert few > 150
    assert many < 2.2 * few


async def test_a_file_of_thousands_of_segments_is_taken_in(there: Terrarium, tmp_path: Path) -> None:
    session = await there.import_file(a_chain(tmp_path / "chain.jsonl", 3_000))

    events = await there.events(session.id)
    assert [event.payload["text"] for event in events] == [f"{n}" for n in range(3_000)]
