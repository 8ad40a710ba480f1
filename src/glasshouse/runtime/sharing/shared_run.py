"""`SharedRun`: a run as one HTML file that is opened from disk, shows every moment, and asks nobody for anything.

Always holds: the file is made from the records of one role, so what that role may not read is nowhere in it. Every text
of a creature stands in packed records, which no browser takes for markup. The same events give the same bytes.
"""

from __future__ import annotations

import re
import shlex
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import payload_of
from glasshouse.events.recorded_fields import scenario_fields_of
from glasshouse.events.redaction import Role, redacted
from glasshouse.runtime.sharing import page_files
from glasshouse.views.page import cut
from glasshouse.views.page_fold import PageFold
from glasshouse.views.shared_file import SharedFile

format_version: Final = 1
file_bytes_max: Final = 25_000_000
"""A run whose page would be larger is refused; a part of it can be shared."""
course_chars_max: Final = 60
"""The name of a branch is cut here."""
description_chars_max: Final = 200
"""What other programs show of a link to the file."""
name_chars_max: Final = 60
"""The name of the file is cut here."""
kept_lines_max: Final = 200
"""How many lines that judges cited are marked."""
_ENTRY: Final = "page/share/main"
_GZIP: Final = 31
"""What zlib calls a gzip stream. It has no time in it, so that the same run gives the same bytes."""
_NOT_IN_A_NAME: Final = re.compile(r"[^a-z0-9]+")

_encode: Final = msgspec.json.Encoder().encode


class Branch(NamedTuple):
    """A branch that was made from a run."""

    id: str
    name: str
    at: str
    """The last event that it shares with the run."""
    events: int
    """How many events it has of its own."""


class SharedRun:
    """A run on its way into a file. Give it every event of the run's story, in order, then ask for the file.

    The file is for spectators; with `has_minds` it is for the audience, with thoughts and moods. It holds the events
    from number `first` to number `last`.
    """

    def __init__(
        self,
        run_id: str,
        *,
        has_minds: bool,
        first: int = 1,
        last: int | None = None,
        file_bytes_max: int = file_bytes_max,
    ) -> None:
        if first < 1 or (last is not None and last < first):
            raise Refused(
                f"There is nothing from event {first} to event {last}.", "Give two numbers in order, from 1."
            )
        role: Role = "audience" if has_minds else "spectator"
        self._run_id = run_id
        self._fold = PageFold(role)
        self._first = first
        self._last = last
        self._file_bytes_max = file_bytes_max
        self._start = b""
        self._timeline = b""
        self._packed_count = 0
        self._gzip = zlib.compressobj(9, wbits=_GZIP)
        self._chunks: list[bytes] = []
        self._bytes_count = 0
        self._numbers: dict[str, int] = {}
        """Event -> its number: links, causes and branches name events."""
        self._cited: dict[str, None] = {}
        self._decided_in = ""
        self._world = ""
        self._models: dict[str, None] = {}
        self._times: list[str] = []

    def take(self, event: Event) -> None:
        """Take in the next event."""
        fold = self._fold
        number = fold.view["k"] + 1
        if number == self._first:
            self._start = _encode(fold.view)
            self._write(b'{"records":[')
        record = fold.fold(event)
        self._numbers[event.id] = number
        self._note(event)
        if number < self._first or (self._last is not None and number > self._last):
            return
        self._write((b"," if self._packed_count else b"") + _encode(record))
        self._packed_count += 1
        if number == self._last:
            self._timeline = self._timeline_now()
        if self._bytes_count * 4 // 3 > self._file_bytes_max:
            raise self._too_large()

    def _note(self, event: Event) -> None:
        """Note what the playbill tells beside the view."""
        if event.run_id != self._run_id:
            return
        if event.kind == kinds.JUDGE_VERDICT:
            self._decided_in = event.id
            cites = redacted(event, self._fold.role).payload.get("cites")
            for cited in cites if isinstance(cites, list) else ():
                if isinstance(cited, str) and len(self._cited) < kept_lines_max:
                    self._cited[cited] = None
        self._times = [*self._times[:1], event.created_at.isoformat()]
        if event.kind == kinds.RUN_STARTED:
            started = payload_of(event, payloads.RunStarted)
            self._world = scenario_fields_of(started.scenario).name
            self._models.update(dict.fromkeys(entry.model for entry in started.cast if entry.model))

    def _write(self, data: bytes) -> None:
        chunk = self._gzip.compress(data)
        self._bytes_count += len(chunk)
        self._chunks.append(chunk)

    def _timeline_now(self) -> bytes:
        timeline = self._fold.behind.timeline
        view = self._fold.view
        return _encode(
            {
                "events": view["k"],
                "width": timeline.width,
                "bins": timeline.bins,
                "marks": timeline.marks,
                "lanes": view["lanes"],
            }
        )

    def _too_large(self) -> Refused:
        last = self._first + self._packed_count - 1
        return Refused(
            f"The file would be larger than {self._file_bytes_max // 1_000_000} MB at event {last:,}.",
            f"Share a part of the run, such as its events from {self._first:,} to {self._first + (last - self._first) // 2:,}.",
        )

    @property
    def _file_name(self) -> str:
        for name in (str(self._run.get("title", "")), self._world):
            if words := _NOT_IN_A_NAME.sub("-", name.lower()).strip("-")[:name_chars_max].strip("-"):
                return f"{words}.html"
        return "run.html"

    @property
    def _run(self) -> Json:
        run: Json = self._fold.view["runs"].get(self._run_id, {})
        return run

    def file(self, branches: Sequence[Branch] = (), verified_digest: str | None = None) -> SharedFile:
        """The file. It says that the run replays to a digest only if that was verified."""
        if not self._packed_count:
            events = self._fold.view["k"]
            raise Refused(
                f"This story has {events:,} events, and none from {self._first:,} on.",
                "Give numbers up to that.",
            )
        about = self._about(branches, verified_digest)
        parts = {"start": self._start, "timeline": self._timeline or self._timeline_now()}
        fields = [f'"{name}":'.encode() + part for name, part in parts.items()]
        fields += [f'"{name}":'.encode() + _encode(value) for name, value in about.items()]
        self._write(b"]," + b",".join(fields) + b"}")
        packed = b64encode(b"".join([*self._chunks, self._gzip.flush()])).decode()
        words = {
            "title": escape(str(self._run.get("title") or "A run")),
            "description": escape(cut(str(self._run.get("goal", "")), description_chars_max)),
            "record": packed,
        }
        text = _template()
        for name, value in words.items():  # What is escaped holds no placeholder.
            text = text.replace(f"<!-- {name} -->", value)
        made = text.encode()
        if len(made) > self._file_bytes_max:
            raise self._too_large()
        return SharedFile(self._file_name, made, self._packed_count)

    def _about(self, branches: Sequence[Branch], verified_digest: str | None) -> Json:
        run = self._run
        numbers = self._numbers
        began, ended = (*self._times, "", "")[:2]
        return {
            "format": format_version,
            "role": self._fold.role,
            "run_id": self._run_id,
            "run": run,
            "first": self._first,
            "events": self._fold.view["k"],
            "world": self._world,
            "models": list(self._models),
            "began": began,
            "ended": ended or began,
            "decided_at": numbers.get(self._decided_in),
            "kept": [numbers[cited] for cited in self._cited if cited in numbers],
            "digest": verified_digest,
            "command": self._command(),
            "file_name": self._file_name,
            "branches": [
                {**branch._asdict(), "k": numbers[branch.at]} for branch in branches if branch.at in numbers
            ],
        }

    def _command(self) -> str | None:
        """The command that plays it again; none for a branch, which has a past that they have not, and none for a world
        that was edited before the start, which no file has."""
        run = self._run
        seed = str(run.get("seed", ""))
        if (
            not self._world
            or "branch_of" in run
            or "is_edited" in run
            or not (seed + self._world).isprintable()
        ):
            return None
        words = ["glasshouse", "play", self._world, *(["--seed", seed] if seed else [])]
        return shlex.join([*words, "--rng-seed", str(run.get("rng_seed", 0))])


def course_of(change: payloads.BranchChange | None) -> str:
    """What a branch tries, in a few words. Of a change that a reader may not see, that there is one."""
    if change is None:
        return "played again"
    if change.disturb is not None:
        return f"what if: {cut(change.disturb, course_chars_max)}"
    if change.replace is not None:
        return f"what if it was: {cut(change.replace, course_chars_max)}"
    if change.drop:
        return "what if it was never said"
    courses = [
        *[f"{manifest.get('name')} is there" for manifest in change.add],
        *[f"{handle} is gone" for handle in change.remove],
        *[f"{handle} is somebody else" for handle in change.personas],
        *[f"{handle} has another model" for handle in change.profiles],
        *[f"{edge.listener} hears {edge.sender}" for edge in change.connect],
        *[f"{edge.listener} does not hear {edge.sender}" for edge in change.disconnect],
    ]
    return cut(f"what if {courses[0]}" if courses else "with other limits", course_chars_max)


@cache
def _template() -> str:
    """The file without a run in it. Made once: the files of an installed package do not change."""
    if not page_files.has_vendor():
        raise Refused("The page's third-party files are missing.", "Run make setup.")
    needed = page_files.modules_of(_ENTRY)
    mapped = page_files.import_map({name: _data_of(path, "text/javascript") for name, path in needed.items()})
    style = "\n".join(map(_with_fonts, _needed_styles(needed)))
    theme = (page_files.STATIC / "theme_first.js").read_text(encoding="utf-8")
    entry = f'import "{_ENTRY}";'
    policy = {
        "default-src": "'none'",
        "script-src": f"{' '.join(map(page_files.hash_of, (theme, mapped, entry)))} data:",
        "style-src": page_files.hash_of(style),
        "font-src": "data:",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    values = {
        "policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "theme": theme,
        "import map": mapped,
        "styles": style,
        "entry": entry,
        "licences": _licences(),
    }
    text = (page_files.STATIC / "share.html").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"<!-- {name} -->", value)
    return text


def _needed_styles(needed: Iterable[str]) -> list[Path]:
    """The style sheets that everything builds on, and those of the parts of the page that are needed."""
    parts = {*page_files.FIRST_STYLES, *[name.split("/")[1] for name in needed if name.startswith("page/")]}
    root = page_files.STATIC / "page"
    return [path for path in page_files.styles() if Path(path.relative_to(root).parts[0]).stem in parts]


def _with_fonts(style: Path) -> str:
    """A style sheet with the fonts that it names inside of it."""
    return page_files.with_addresses(style, lambda font: _data_of(font, "font/woff2"))


def _data_of(path: Path, media_type: str) -> str:
    return f"data:{media_type};base64,{b64encode(path.read_bytes()).decode()}"


def _licences() -> str:
    """The licences of the third-party parts that the file carries."""
    paths = sorted((page_files.VENDOR / "licences").glob("*.txt"))
    return escape("\n\n".join(f"{path.stem}\n\n{path.read_text(encoding='utf-8')}" for path in paths))
