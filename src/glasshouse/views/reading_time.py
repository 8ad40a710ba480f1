"""How long a reader needs: for a line, and for the lines of a run one after another.

The page replays the past at the same pace: `store.js` has a twin of `seconds_to_read`.

Always holds: nothing here reads a clock. Every time comes from the caller, in seconds of any clock that only goes forward.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from glasshouse.events import kinds
from glasshouse.events.event import Event, text_of
from glasshouse.events.payloads import copied_from
from glasshouse.views.scenes import Scene, scene_of, scenes_known_max

words_per_minute: Final = 240
line_found_milliseconds: Final = 700
"""How long a reader takes to see who speaks, before the first word."""
line_milliseconds_min: Final = 1_600
"""A reader gets at least this time for a line."""
line_milliseconds_max: Final = 17_000
"""A reader gets at most this time for a line: enough for 65 words, which is as long as lines of creatures are."""
glance_milliseconds: Final = 800
"""A reader gets this time for what is taken in at a glance, such as the use of a tool."""
opening_milliseconds_max: Final = 3_000
"""The scenes that open a run hold its first line at most this long, so that a line is there five seconds after the start.
They stay on the stage, where they can be read on."""
opening_rest_milliseconds_max: Final = 6_000
"""What was left of the time for the opening is added to the first line, at most this much."""

_UNREAD: Final = kinds.NO_LINES | kinds.INNER
"""Kinds that are no line to a reader, although some have a text, such as the answer of a tool."""


def seconds_to_read(text: str) -> float:
    """How long an average reader needs for a text."""
    milliseconds = line_found_milliseconds + len(text.split()) * 60_000 / words_per_minute
    return min(line_milliseconds_max, max(line_milliseconds_min, milliseconds)) / 1_000


class Hold(NamedTuple):
    """A line that is being read, or is read next: its event, and from when until when."""

    event_id: str
    begins: float
    ends: float


class Reader:
    """Who reads a run, one line after another: what is still to be read, and until when.

    The scenes with which a run opens are shown side by side, one a graph, so their times are not added.
    """

    def __init__(self, *, is_opening: bool) -> None:
        """With `is_opening`, what comes before the first turn is the opening of the run."""
        self._is_opening = is_opening
        self._opening_seconds: dict[str, float] = {}
        """Graph -> how long its opening takes to read."""
        self._rest = 0.0
        """What is added to the first line."""
        self._holds: deque[Hold] = deque()
        """The lines that are not read yet: as many as acts that run side by side have written."""
        self._scenes: deque[Scene] = deque(maxlen=scenes_known_max)

    def take(self, event: Event, now: float) -> None:
        """Note the next event of the run, which was shown at this time."""
        if event.kind == kinds.TURN_STARTED:
            self._is_opening = False
        text = text_of(event)
        if not text or event.kind in _UNREAD or self._is_shown_already(event):
            return
        seconds = seconds_to_read(text)
        if self._is_opening and event.kind == kinds.WORLD_OBSERVED:
            self._open(event, seconds, now)
            return
        self._is_opening = False
        begins = max(now, self._holds[-1].ends) if self._holds else now
        self._holds.append(Hold(event.id, begins, begins + seconds + self._rest))
        self._rest = 0.0

    def hold(self, now: float) -> Hold | None:
        """The line that is being read at this time; none if everything was read."""
        while self._holds and self._holds[0].ends <= now:
            self._holds.popleft()
        return self._holds[0] if self._holds else None

    def waiting(self, now: float) -> int:
        """How many lines are read after the one that is being read."""
        return len(self._holds) - 1 if self.hold(now) is not None else 0

    def seconds_left(self, now: float) -> float:
        """How long the reader needs for all that was taken; 0 if it was read."""
        return 0.0 if self.hold(now) is None else self._holds[-1].ends - now

    def skip(self, now: float) -> None:
        """The line that is being read was read: the next one follows at once."""
        hold = self.hold(now)
        if hold is None:
            return
        self._rest = 0.0
        earlier = hold.ends - now
        self._holds.popleft()
        moved = [Hold(each.event_id, each.begins - earlier, each.ends - earlier) for each in self._holds]
        self._holds = deque(moved)

    def _open(self, event: Event, seconds: float, now: float) -> None:
        """One more scene of the opening. In each graph scenes are read one after another, the graphs side by side."""
        began = self._holds[0].begins if self._holds else now
        times = self._opening_seconds
        times[event.graph_id] = times.get(event.graph_id, 0.0) + seconds
        longest = max(times.values())
        held = min(longest, opening_milliseconds_max / 1_000)
        self._rest = min(longest - held, opening_rest_milliseconds_max / 1_000)
        self._holds = deque([Hold(event.id, began, began + held)])

    def _is_shown_already(self, event: Event) -> bool:
        """Whether it is a copy of what was said in another graph."""
        if copied_from(event) is not None:
            return True
        scene = scene_of(event)
        if scene is None:
            return False
        if scene in self._scenes:
            return True
        self._scenes.append(scene)
        return False
