"""Feeds: what viewers get to see as it happens. One feed for each story and role, whoever looks on.

Always holds: an event is folded and encoded once for each feed, not for each viewer. A viewer that reads too slowly is
never waited for: it gets the whole view again instead of what it missed. A feed without viewers is let go.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from math import inf
from typing import Any, Final

import msgspec

from glasshouse.errors import GlasshouseError
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role
from glasshouse.runtime.ledger.subscriptions import Subscription
from glasshouse.runtime.past.stories import Stories, Story, view_events_between
from glasshouse.terrarium import Terrarium
from glasshouse.views.page_fold import PageFold
from glasshouse.web.signals import Signals, signal_seconds

blocks_kept_max: Final = 2_000
"""How many records a feed keeps for viewers that come back."""
blocks_waiting_max: Final = 500
"""How many records may wait for one viewer; then it gets the whole view instead."""
feeds_max: Final = 64
"""With more stories open, those without viewers are let go."""
heartbeat_seconds: Final = 15.0
progress_seconds: Final = 0.25
"""How long apart two viewers' words are about how far a long story is folded that no page has shown yet."""

HEARTBEAT: Final = b": still here\n\n"
_encode: Final = msgspec.json.Encoder().encode


class Viewer:
    """One open stream, and what waits to be sent on it."""

    def __init__(self) -> None:
        self._blocks: deque[bytes] = deque()
        self._signal = b""
        self._wake = asyncio.Event()
        self.is_behind = False
        self.is_closed = False

    def offer(self, block: bytes) -> None:
        """Give it a block, if it is not too far behind."""
        if len(self._blocks) >= blocks_waiting_max:
            self._blocks.clear()
            self.is_behind = True
        if not self.is_behind:
            self._blocks.append(block)
        self._wake.set()

    def signal(self, signal: bytes) -> None:
        """Tell it what goes on just now, instead of what it was not told yet."""
        self._signal = signal
        self._wake.set()

    def begin_again(self) -> None:
        """Have it get the whole view next."""
        self._blocks.clear()
        self.is_behind = True
        self._wake.set()

    def close(self) -> None:
        """End its stream."""
        self.is_closed = True
        self._wake.set()

    async def taken(self) -> tuple[bytes, bytes]:
        """What waits, in one piece, and the newest signal; nothing if nothing comes for a while."""
        if not self._blocks and not self._signal and not self.is_behind and not self.is_closed:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), heartbeat_seconds)
        self._wake.clear()
        some = b"".join(self._blocks)
        signal = self._signal
        self._blocks.clear()
        self._signal = b""
        return some, signal


class Feed:
    """A story as one role may see it, up to its last event, and everybody who looks on."""

    def __init__(self, run_id: str, role: Role) -> None:
        self.run_id = run_id
        self.role = role
        self.story: Story = Story((), {})
        self.fold = PageFold(role)
        self.viewers: set[Viewer] = set()
        self._signal = b""
        """What the viewers were told last about what goes on."""
        self._blocks: deque[tuple[int, bytes]] = deque()
        self._before = 0
        """The position of the event right before the first block that is kept."""
        self._early: list[Event] | None = []
        """What happened while the feed was being loaded; none once it is there."""
        self.loading = asyncio.Lock()
        self.come_to = 0
        """The event that it has come to while it is being loaded."""

    @property
    def is_loaded(self) -> bool:
        """Whether it stands at the end of its story."""
        return self._early is None

    async def load(self, stories: Stories) -> None:
        """Come to the end of the story as it is now. Viewers begin again."""
        async with self.loading:
            self._early = [] if self._early is None else self._early
            self.story = stories.of_run(self.run_id)
            self.fold = await stories.view_at(self.story, self.role, tell=self._note_progress)
            self._blocks.clear()
            self._before = self.fold.view["position"] or 0
            early = self._early
            self._early = None
            for event in early:
                self.take(event, stories)
        for viewer in self.viewers:
            viewer.begin_again()

    def _note_progress(self, k: int) -> None:
        self.come_to = k

    def take(self, event: Event, stories: Stories) -> None:
        """Show an event of the house to those who look on, if it is of this story."""
        if self._early is not None:
            self._early.append(event)
            return
        position = event.position or 0
        if position <= (self.fold.view["position"] or 0) or not self.story.has(event):
            return
        block = block_of(position, _encode(self.fold.fold(event)))
        self._blocks.append((position, block))
        if len(self._blocks) > blocks_kept_max:
            self._before, _ = self._blocks.popleft()
        for viewer in self.viewers:
            viewer.offer(block)
        if self.fold.view["k"] % view_events_between == 0:
            stories.keep(self.story, self.fold)

    def signal(self, signals: Signals) -> None:
        """Tell those who look on what goes on just now, if that has changed."""
        signal = signals.of(self.story)
        if signal != self._signal:
            self._signal = signal
            for viewer in self.viewers:
                viewer.signal(signal)

    def begin(self, signals: Signals, last_position: int | None) -> tuple[Viewer, bytes]:
        """A new viewer, and what it is sent first: what it missed or the whole view, and what goes on."""
        missed = None if last_position is None else self.missed(last_position)
        viewer = Viewer()
        self.viewers.add(viewer)
        return viewer, (self.whole() if missed is None else missed) + signals.of(self.story)

    def whole(self) -> bytes:
        """The whole view, as the first block of a stream."""
        return block_of(self.fold.view["position"] or 0, _encode(self.fold.view), "view")

    def missed(self, position: int) -> bytes | None:
        """What came after a position; none if that is not kept any more."""
        if position == self.fold.view["position"]:
            return b""
        kept = [block for at, block in self._blocks if at > position]
        is_known = position == self._before or any(at == position for at, _ in self._blocks)
        return b"".join(kept) if is_known else None


class Feeds:
    """Every feed that somebody looks at, fed by one subscription to the house."""

    def __init__(self, terrarium: Terrarium, stories: Stories, signals: Signals) -> None:
        self._terrarium = terrarium
        self._stories = stories
        self._signals = signals
        self._feeds: dict[tuple[str, Role], Feed] = {}
        self._is_ended = False
        self._reading: asyncio.Task[None] | None = None
        self._signalling: asyncio.Task[None] | None = None
        self._left_at: dict[str, float] = {}
        """When a director last stopped looking at each run."""
        self._reloads: set[asyncio.Task[Any]] = set()

    def end(self) -> None:
        """End every stream, also those that are just beginning."""
        self._is_ended = True
        for feed in self._feeds.values():
            for viewer in feed.viewers:
                viewer.close()

    async def close(self) -> None:
        """End every stream, and follow the house no more."""
        self.end()
        for task in (self._reading, self._signalling, *self._reloads):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def prepare(self) -> None:
        """Begin to come to the end of the newest run's story: of a long one that no page has shown, that takes seconds."""
        if runs := self._terrarium.runs():
            self._do(self._prepare(runs[-1].id))

    async def _prepare(self, run_id: str) -> None:
        with suppress(GlasshouseError):  # Whoever asks for it is told why it cannot be shown.
            await self.of(run_id, "director")

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def of(self, run_id: str, role: Role) -> Feed:
        """The feed of a run's story for a role, at the end of the story."""
        if self._reading is None:  # Not before: a mounted app learns of nothing but requests.
            self._reading = asyncio.create_task(self._read_on(self._terrarium.subscribe()), name="feeds")
        feed = self._feeds.get((run_id, role))
        if feed is None:
            self._let_go()
            feed = self._feeds[run_id, role] = Feed(run_id, role)
        if not feed.is_loaded and not feed.loading.locked():
            await feed.load(self._stories)
        async with feed.loading:
            return feed

    def _let_go(self) -> None:
        """Let go of feeds that nobody looks at, the oldest first, where there are many."""
        for key in [key for key, feed in self._feeds.items() if not feed.viewers]:
            if len(self._feeds) < feeds_max:
                return
            del self._feeds[key]

    async def stream(self, run_id: str, role: Role, last_position: int | None) -> AsyncIterator[bytes]:
        """A viewer's stream: how far the story is folded, if that takes a while; what it missed or the whole view; then
        everything as it happens."""
        loading = asyncio.create_task(self.of(run_id, role))
        self._reloads.add(loading)  # It goes on if this viewer leaves: others may wait for it.
        loading.add_done_callback(self._reloads.discard)
        while not loading.done():
            await asyncio.wait({loading}, timeout=progress_seconds)
            if not loading.done() and (known := self._feeds.get((run_id, role))) is not None:
                yield self._progress_of(known)
        feed = loading.result()
        viewer, first = feed.begin(self._signals, last_position)
        if self._signalling is None or self._signalling.done():
            self._signalling = asyncio.create_task(self._signal_on(), name="signals")
        try:
            yield first
            while not viewer.is_closed and not self._is_ended:
                some, signal = await viewer.taken()
                if viewer.is_behind and feed.is_loaded:
                    viewer.is_behind = False
                    some = feed.whole()
                yield some + signal or HEARTBEAT
        finally:
            feed.viewers.discard(viewer)
            self._note_left(feed)

    def _progress_of(self, feed: Feed) -> bytes:
        story = feed.story
        length = 0 if story.is_imported else self._stories.length(story)
        return b"event: progress\ndata: " + _encode({"k": feed.come_to, "of": length}) + b"\n\n"

    def once(self, feed: Feed, last_position: int | None) -> bytes:
        """What a viewer without a stream is sent when it asks: what it missed or the whole view, and what goes on."""
        missed = None if last_position is None else feed.missed(last_position)
        self._signals.look()
        self._note_left(feed)  # Until it asks again it is as if it had just left.
        return (feed.whole() if missed is None else missed) + self._signals.of(feed.story)

    def _note_left(self, feed: Feed) -> None:
        if feed.role == "director":
            self._left_at |= dict.fromkeys(feed.story.runs, asyncio.get_running_loop().time())

    def alone_seconds(self, run_id: str) -> float:
        """How long no director has looked on at a run's story; 0 while one does."""
        for feed in self._feeds.values():
            if feed.role == "director" and feed.viewers and run_id in feed.story.runs:
                return 0.0
        return asyncio.get_running_loop().time() - self._left_at.get(run_id, -inf)

    async def _signal_on(self) -> None:
        """Look again and again at what goes on, as long as somebody looks on."""
        while watched := [feed for feed in self._feeds.values() if feed.viewers]:
            self._signals.look()
            for feed in watched:
                feed.signal(self._signals)
            await asyncio.sleep(signal_seconds)

    async def _read_on(self, subscription: Subscription) -> None:
        async for event in subscription:
            if event.seq == 1 or event.kind == kinds.RUN_STARTED:
                self._look_again()
            for feed in self._feeds.values():
                feed.take(event, self._stories)
        self.end()  # The terrarium was closed.

    def _look_again(self) -> None:
        """A session began: stories may have grown, or have become one."""
        for feed in self._feeds.values():
            if not feed.is_loaded or feed.story.is_imported:
                continue
            story = self._stories.of_run(feed.run_id)
            if story.runs == feed.story.runs:
                feed.story = story
            else:
                self._do(feed.load(self._stories))


def block_of(position: int, data: bytes, event: str = "") -> bytes:
    """One event of a stream, as browsers read it. JSON has no line breaks."""
    name = f"event: {event}\n" if event else ""
    return f"{name}id: {position}\ndata: ".encode() + data + b"\n\n"
