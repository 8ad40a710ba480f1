"""`Placement`: the batches of a commit as the columns of one statement.

Always holds: a commit is one statement, whatever it holds, so it is written whole or not at all. A part that a commit lacks is no part of its
statement. A row stands in a statement once: of two values for one key, the one that the port says is kept.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from glasshouse.events.shown import encoded_shown
from glasshouse.runtime.store_port import Batch, SegmentWrite
from glasshouse.stores.placing import answers_kept_max
from glasshouse.stores.postgres.server import SQL
from glasshouse.world.decisions.requests import encoded_request
from glasshouse.world.state.state import Segment

_PARAMETER: Final = re.compile(r"(?<!:):(\d+)")


class Placement:
    """The rows of one commit, behind a position and a segment number."""

    def __init__(self, position: int, segments: int) -> None:
        self.before = position
        self.position = position
        self.segments = segments
        self._numbers: list[int] = []
        self._seqs: list[int] = []
        self._in_changes: list[int] = []
        self.bodies: list[bytes] = []
        self._opened: list[tuple[int, Segment, int]] = []
        self._prompts: dict[bytes, bytes] = {}
        self._shown: dict[int, bytes] = {}
        self._requests: dict[int, bytes] = {}
        self._labels: dict[bytes, bytes] = {}
        self._records: dict[bytes, bytes] = {}
        self._snapshots: dict[tuple[bytes, bytes, bytes, int], bytes] = {}
        self._done: list[int] = []
        self._answers: dict[int, bytes] = {}

    @property
    def has_events(self) -> bool:
        """Whether the commit has events."""
        return bool(self.bodies)

    @property
    def settles_inbox(self) -> bool:
        """Whether it removes lines or answers requests."""
        return bool(self._done or self._answers)

    def open(self, segment: Segment) -> int:
        """Add a segment that begins at the next position; its number."""
        self.segments += 1
        self._opened.append((self.segments, segment, self.position + 1))
        return self.segments

    def add_event(self, segment: int, seq: int, change: int, body: bytes) -> None:
        """Add an event at the next position."""
        self.position += 1
        self._numbers.append(segment)
        self._seqs.append(seq)
        self._in_changes.append(self.position - change)
        self.bodies.append(body)

    def add_events(self, write: SegmentWrite, segment: int, change: int, numbers: dict[str, int]) -> None:
        """Add the events of a write. `numbers` has the changes of an import so far."""
        for seq, body in enumerate(write.bodies, write.expected_head + 1):
            if write.changes is not None:
                change = numbers.setdefault(write.changes[seq - write.expected_head - 1], self.position + 1)
            self.add_event(segment, seq, change, body)

    def bodies_of(self, segment: int, first: int, last: int) -> list[bytes]:
        """The bodies that this commit adds to a segment, from one seq to another."""
        rows = zip(self._numbers, self._seqs, self.bodies, strict=True)
        return [body for number, seq, body in rows if number == segment and first <= seq <= last]

    def add_side(self, batch: Batch, change: int) -> None:
        """Add what stands beside the events of a batch, whose change has this number."""
        side = batch.side
        is_new = self.position >= change  # Otherwise its events were stored already.
        for digest, text in side.prompts:
            self._prompts[digest.encode()] = text.encode()
        if side.request is not None and is_new:
            self._requests[change] = encoded_request(side.request).encode()
        if side.shown and is_new:
            self._shown[self.position] = encoded_shown(side.shown).encode()
        for run_id, labels in side.labels:
            self._labels[run_id.encode()] = msgspec.json.encode(labels)
        for name, record in side.records:
            self._records[name.encode()] = record.encode()

    def add_notes(self, batch: Batch) -> None:
        """Add a snapshot, and what is settled in the inbox."""
        if batch.snapshot is not None:
            scope, name, key, at, body = batch.snapshot
            self._snapshots[scope.encode(), name.encode(), key.encode(), at or self.position] = body
        self._done += batch.inbox.done
        for number, answer in batch.inbox.answers:
            self._answers.setdefault(number, answer.encode())  # The first answer stands.

    def statement(self, number: int, epoch: int, token: bytes) -> tuple[str, list[Any]]:
        """The one statement of this commit, and its values."""
        if len(self.bodies) == 1 and not self._has_more:
            row = [number, epoch, token, self.position, self._numbers[0], self._seqs[0], self.bodies[0]]
            return SQL["commit_one_event"], row
        parts = [("commit_held", [number, epoch, token]), *self._parts()]
        values = [value for _, given in parts for value in given]
        return _joined(tuple([name for name, _ in parts]), tuple([len(given) for _, given in parts])), values

    @property
    def _has_more(self) -> bool:
        """Whether there is more than events."""
        return bool(
            self._opened
            or self._prompts
            or self._shown
            or self._requests
            or self._labels
            or self._records
            or self._snapshots
            or self._done
            or self._answers
        )

    def _parts(self) -> list[tuple[str, list[Any]]]:
        parts: list[tuple[str, list[Any]]] = []
        if self.bodies:
            parts.append(
                ("commit_events", [self.before, self._numbers, self._seqs, self._in_changes, self.bodies])
            )
        if self._opened:
            parts.append(("commit_segments", self._segment_columns()))
        for name, rows in (
            ("commit_prompts", self._prompts),
            ("commit_shown", self._shown),
            ("commit_requests", self._requests),
            ("commit_labels", self._labels),
            ("commit_records", self._records),
        ):
            if rows:
                parts.append((name, [[*rows], [*rows.values()]]))
        if self._snapshots:
            columns: list[Any] = [list(column) for column in zip(*self._snapshots, strict=True)]
            parts.append(("commit_snapshots", [*columns, [*self._snapshots.values()]]))
        if self._done:
            parts.append(("commit_done", [self._done]))
        if self._answers:
            oldest = max(self._answers) - answers_kept_max
            parts.append(("commit_answers", [[*self._answers], [*self._answers.values()], oldest]))
        return parts

    def _segment_columns(self) -> list[Any]:
        """The columns of the segments. The parents of all of them stand in one list; each names its share."""
        parents: list[bytes] = []
        uptos: list[int] = []
        firsts: list[int] = []
        lasts: list[int] = []
        for _, segment, _ in self._opened:
            firsts.append(len(parents) + 1)
            parents += [parent.session_id.encode() for parent in segment.parents]
            uptos += [parent.upto for parent in segment.parents]
            lasts.append(len(parents))
        segments = [segment for _, segment, _ in self._opened]
        return [
            [number for number, _, _ in self._opened],
            [segment.id.encode() for segment in segments],
            [segment.graph_id.encode() for segment in segments],
            [segment.origin for segment in segments],
            [segment.ordinal for segment in segments],
            [segment.base for segment in segments],
            [None if segment.at is None else segment.at.encode() for segment in segments],
            [segment.is_imported for segment in segments],
            [segment.is_redacted for segment in segments],
            [opened_at for _, _, opened_at in self._opened],
            parents,
            uptos,
            firsts,
            lasts,
        ]


@lru_cache(maxsize=512)
def _joined(names: tuple[str, ...], counts: tuple[int, ...]) -> str:
    """The parts of a commit as one statement, their parameters counted on."""
    text = ""
    before = 0
    for name, count in zip(names, counts, strict=True):
        text += " " + _PARAMETER.sub(lambda match, before=before: f"${int(match[1]) + before}", SQL[name])  # type: ignore[misc]
        before += count
    return f"{text} {SQL['commit_end']}"
