"""What is stored beside events, and in files: one sample of each version, as its bytes were written, and its reader.

A sample is never rewritten: it stands for stores and files that people have. To add that of a new version, run

    python -m tests.rules.events.golden_beside

which writes only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from glasshouse.errors import GlasshouseError
from glasshouse.events import codec
from glasshouse.events.digest import digest_with_costs
from glasshouse.events.shown import Shown, decoded_shown, encoded_shown
from glasshouse.runtime.ledger import house_record, session_file
from glasshouse.runtime.ledger.house_record import HouseRecord, KeptRequest, lines_of
from glasshouse.world.decisions import requests
from glasshouse.world.decisions.intents import Connect
from glasshouse.world.decisions.requests import Answer, Asked, Request, encoded_request
from glasshouse.world.state.state import Segment, Standing
from glasshouse.world.state.values import Change
from tests.rules.events.events_by_hand import A_LINE, NOON, an_event
from tests.rules.events.golden_files import GRAPH, OTHER_GRAPH, OTHER_SESSION, SESSION

FOLDER = Path(__file__).with_name("golden_beside")

READERS: dict[str, Callable[[Path], object]] = {
    "event": lambda path: codec.decoded(path.read_bytes()),
    "shown": lambda path: decoded_shown(path.read_text()),
    "request": lambda path: requests.decoded_request(path.read_text()),
    "asked": lambda path: requests.decoded_asked(path.read_text()),
    "answer": lambda path: requests.decoded_answer(path.read_text()),
    "session file": session_file.read_file,
    "house record": lambda path: house_record.decoded_record(path.read_text()),
}
"""How each is read today."""

SHOWN = (
    Shown(
        discussion=(f"{SESSION}.4", f"{SESSION}.5", f"{OTHER_SESSION}.12"),
        scene=(f"{SESSION}.2",),
        remembered=(f"{OTHER_SESSION}.1",),
        disturbances=(f"{SESSION}.3",),
        answered=(f"{SESSION}.5",),
    ),
    Shown(),
)
CONNECT = Connect("moss", "echo", "stage", both=True)
RECORD = HouseRecord(
    "00112233445566aa",
    {SESSION: 2},
    [(0, 1, 1), (0, 1, 0)],
    [KeptRequest(f"{SESSION}.1", Request("api", CONNECT), f"{SESSION}.2")],
    {f"{SESSION}.1": Standing(5, 2, 3, {"moss": 2})},
    {"r-1": [OTHER_SESSION]},
)


def newest() -> dict[str, int]:
    """The version that each is written with today."""
    of_events = dict.fromkeys(("event", "shown"), codec.EVENT_VERSION)
    of_requests = dict.fromkeys(("request", "asked", "answer"), requests.request_version)
    of_files = {"session file": session_file.format_version, "house record": house_record.record_version}
    return {**of_events, **of_requests, **of_files}


def samples() -> dict[str, bytes]:
    """Each as it is written today."""
    change = Change("merge", (GRAPH, OTHER_GRAPH), (GRAPH,), ("moss",))
    return {
        "event": codec.encoded(A_LINE),
        "shown": encoded_shown(SHOWN).encode(),
        "request": encoded_request(Request("api", CONNECT, 7, "page")).encode(),
        "asked": msgspec.json.encode(Asked(CONNECT, "ada, process 7", NOON, dry_run=True)),
        "answer": msgspec.json.encode(Answer(change, "moss", has_changed=True, refusal="No.")),
        "session file": _session_file(),
        "house record": house_record.encoded_record(RECORD).encode(),
    }


def _session_file() -> bytes:
    lines = [an_event(id=f"{SESSION}.{seq}", session_id=SESSION, seq=seq, lamport=seq) for seq in (1, 2)]
    head = session_file.FileHead(session_file.format_version, SESSION, "director", False, 1)
    segment = session_file.FileSegment(Segment(SESSION, GRAPH, "root", 1), 2)
    records = [msgspec.json.encode(line) for line in lines_of(RECORD)]
    digest = session_file.record_digest()
    for line in records:
        digest.update(line)
    end = {"end": session_file.FileEnd(2, digest_with_costs(lines), digest.hexdigest())}
    before = [msgspec.json.encode(part) for part in (head, segment, *lines)]
    return b"".join([line + b"\n" for line in (*before, *records, msgspec.json.encode(end))])


def path_of(name: str, version: int) -> Path:
    """The file of one version."""
    return FOLDER / f"{name.replace(' ', '_')}@{version}.json"


def unread() -> list[str]:
    """The versions up to today's that have no sample, or whose sample is not read today."""
    wrong = []
    for name, version in newest().items():
        for earlier in range(1, version + 1):
            try:
                READERS[name](path_of(name, earlier))
            except (GlasshouseError, OSError) as failure:
                wrong.append(f"{name}@{earlier}: {failure}")
    return wrong


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, body in samples().items():
        if not path_of(name, newest()[name]).exists():
            path_of(name, newest()[name]).write_bytes(body)
