"""`LlamaChild`: llama.cpp as a child process with one model, shared by all runs, terrariums and event loops of this process.

A child has a life, and this is its table:

| state | start | its address comes | it ends | the last user leaves |
|---|---|---|---|---|
| `stopped` | `loading` | | | |
| `loading` | wait for it | `up` | `ended` | `stopped` |
| `up` | | | `ended` | `stopped` |
| `ended` | `loading` | | | `stopped` |

Whoever only asks starts it if it is `stopped`, and is refused if it has `ended`: a model that dies in a run is not started
again before somebody continues the run, since it may die of the same prompt (ADR 0123).

Always holds: the child sees the end of its standard input when this process is gone, also after kill -9. Only this process
holds the other end: it is not inherited by programs, and processes that are forked close it. The child is in a session of its
own, so Ctrl-C does not reach it. Its key is new at each start and is shown nowhere.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from glasshouse.errors import ModelMisconfigured, ModelUnreachable
from glasshouse.models.local.found_files import ModelFile, digest_of
from glasshouse.models.local.memory import Room
from glasshouse.reprs import shown

load_seconds_max: Final = 600.0
"""A model that is not loaded by then is given up: a large one takes a minute from a slow disk."""
progress_seconds: Final = 0.2
"""How often whoever waits is told how far it is."""
poll_seconds: Final = 0.02
"""How often whoever waits looks whether something has come of it."""
notice_seconds_max: Final = 1.0
"""How long after a broken call its process may take to be seen to have ended."""
leave_seconds_max: Final = 10.0
"""How long a child may take to end once its standard input has. Then it is killed."""
line_bytes_max: Final = 1024 * 1024
"""A longer line of the child ends its reading."""
words_chars_max: Final = 300
"""A message quotes so much of what the child said last."""

_PROGRAM: Final = Path(__file__).with_name("llama_program.py")
_LOG_LINE: Final = re.compile(r"^[\d.]+ E (?:\w+ +)?\S+: +")
"""How llama.cpp begins the line of an error: time, letter, part and function."""

_TELLING: Final = "error loading model: "
"""What stands before the words that say why a file cannot be loaded."""

State = Literal["stopped", "loading", "up", "ended"]


class Loading(NamedTuple):
    """How far a model is loaded."""

    name: str
    step: Literal["reading", "loading", "over"]
    """The file is read for its digest, or llama.cpp loads it, or what was begun is over, well or not."""
    bytes_done: int
    bytes_total: int
    seconds: float


OnLoading = Callable[[Loading], None]


class Telling:
    """Tells whoever wants to know how far a step is, not too often, and when it is over."""

    def __init__(
        self, file: ModelFile, step: Literal["reading", "loading"], on_loading: OnLoading | None
    ) -> None:
        self._file = file
        self._step: Literal["reading", "loading"] = step
        self._on_loading = on_loading
        self._told_at: float | None = None

    def tell(self, done: int, began: float) -> float:
        """Tell how many bytes are done of what began then; returns for how many seconds it goes on."""
        seconds = time.monotonic() - began
        is_due = self._told_at is None or seconds - self._told_at >= progress_seconds
        if self._on_loading is not None and is_due:
            self._on_loading(Loading(self._file.name, self._step, done, self._file.bytes, seconds))
            self._told_at = seconds
        return seconds

    def __enter__(self) -> None:
        """The step begins."""

    def __exit__(self, *_error: object) -> None:
        """The step is over."""
        if self._on_loading is not None and self._told_at is not None:
            total = self._file.bytes
            self._on_loading(Loading(self._file.name, "over", total, total, self._told_at))


class Address(NamedTuple):
    """Where a child answers, and the key that it wants."""

    url: str
    key: str

    def __repr__(self) -> str:
        return shown(self, url=self.url)


class _Life:
    """One start of a child: its process, and what came of it."""

    def __init__(self, process: subprocess.Popen[bytes], key: str) -> None:
        self.process = process
        self.key = key
        self.began = time.monotonic()
        self.address: Future[Address] = Future()
        self.ended: Future[str] = Future()
        """Why it ended, as the second half of a sentence."""
        self.is_borrowed = False
        """Whether another process has started it, from which this one was forked."""


class LlamaChild:
    """llama.cpp with one model. Whoever uses it says so with `join`, and leaves with `leave`."""

    def __init__(self, file: ModelFile, room: Room) -> None:
        self.file = file
        self.room = room
        self._life: _Life | None = None
        self._users = 0

    def __repr__(self) -> str:
        return shown(self, name=self.file.name, state=self.state)

    @property
    def state(self) -> State:
        """Where it is in its life."""
        if self._life is None:
            return "stopped"
        if self._life.ended.done():
            return "ended"
        return "up" if self._life.address.done() else "loading"

    @property
    def process_id(self) -> int | None:
        """The number of its process, if it runs."""
        return None if self._life is None or self._life.ended.done() else self._life.process.pid

    async def started(self, on_loading: OnLoading | None = None) -> Address:
        """Start it unless it runs, and wait until it answers. Raises `ModelMisconfigured` if that fails."""
        if self.file.has_changed() and self.state in {"stopped", "ended"}:
            reason = f"The file of {self.file.name} was changed or removed since it was looked at."
            raise ModelMisconfigured(reason, "Start again, so that it is looked at anew.", self.file.name)
        with _lock:
            if self._life is None or self._life.ended.done():
                self._life = _begun(self)
            life = self._life
        return await self._until_up(life, on_loading)

    async def address(self) -> Address:
        """Where it answers; it is started if it never was. Raises `ModelUnreachable` if it has ended."""
        life = self._life
        if life is None:
            return await self.started()
        if life.ended.done():
            raise self.has_ended_error(life.ended.result())
        return await self._until_up(life, None)

    def has_ended_error(self, why: str) -> ModelUnreachable:
        """What is raised for a call to a child that has ended."""
        reason = f"llama.cpp with {self.file.name} {why}. Continuing the run starts it again."
        return ModelUnreachable(reason, self.file.name)

    async def why_ended(self, address: Address) -> str:
        """Why the child that answered here has ended; empty if it has not. It is asked after a call broke off, which is
        noticed a moment earlier than the end of the process."""
        life = self._life
        if life is None or life.key != address.key:
            return "was stopped"
        if life.is_borrowed and not life.ended.done():
            life.ended.set_result("is gone with the process that started it")
        for _ in range(int(notice_seconds_max / poll_seconds)):
            if life.ended.done():
                return life.ended.result()
            await asyncio.sleep(poll_seconds)
        return ""

    async def _until_up(self, life: _Life, on_loading: OnLoading | None) -> Address:
        telling = Telling(self.file, "loading", on_loading)
        with telling:
            while not life.address.done():
                seconds = telling.tell(self.file.bytes, life.began)
                if seconds > load_seconds_max:
                    threading.Thread(target=_ended, args=[life], daemon=True).start()
                    raise self._not_loaded(f"did not load it within {load_seconds_max:g} seconds")
                await asyncio.sleep(poll_seconds)
        try:
            return life.address.result()
        except _EndedEarly as early:
            raise self._not_loaded(str(early)) from None

    def _not_loaded(self, why: str) -> ModelMisconfigured:
        reason = f"llama.cpp was started with {self.file.name} and {why}."
        return ModelMisconfigured(reason, "Download the file again, or take another model.", self.file.name)

    # Users

    def join(self) -> None:
        """Use it from now on."""
        with _lock:
            self._users += 1
            _children.setdefault(_key_of(self.file, self.room.context_tokens), self)

    async def leave(self) -> None:
        """Use it no more. The last one who leaves ends it."""
        with _lock:
            self._users -= 1
            if self._users:
                return
            _children.pop(_key_of(self.file, self.room.context_tokens), None)
            life = self._life
            self._life = None
        if life is not None:
            await asyncio.to_thread(_ended, life)


class _EndedEarly(Exception):
    """The child ended before it answered."""


_children: dict[Any, LlamaChild] = {}
_lives: list[_Life] = []
"""Every child of this process that may still run."""
_lock = threading.RLock()
"""Held while a child is started, so that no process is forked which would hold its standard input."""
_has_hooks = False


def child_of(file: ModelFile, room: Callable[[], Room], context_tokens: int | None) -> LlamaChild:
    """The child that has this model with this context: the one that other users have, or a new one. `room` says what a new
    one gets."""
    with _lock:
        for child in _children.values():
            if child.file.stamps == file.stamps and context_tokens in {None, child.room.context_tokens}:
                return child
        child = LlamaChild(file, room())
        _children[_key_of(file, child.room.context_tokens)] = child
        return child


def _key_of(file: ModelFile, context_tokens: int) -> Any:
    return file.stamps, context_tokens


def _begun(child: LlamaChild) -> _Life:
    """Start the process. It is told by its standard input what to do, which other users cannot read."""
    _add_hooks()
    key = secrets.token_urlsafe(32)
    process = subprocess.Popen(  # noqa: S603 (our own program)
        [sys.executable, "-P", str(_PROGRAM), "watch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        **_APART,
    )
    life = _Life(process, key)
    _lives.append(life)
    settings = {
        "path": str(child.file.parts[0]),
        "name": child.file.name,
        "key": key,
        "context_tokens": child.room.context_tokens,
        "prompts_mebibytes": child.room.prompts_bytes // 1024**2,
        "threads": threads_of_model(),
    }
    assert process.stdin is not None
    with suppress(OSError):  # It has ended already, which is noticed below.
        process.stdin.write(json.dumps(settings).encode() + b"\n")
    threading.Thread(
        target=_listen, args=[life, child.file], name=f"hear of {child.file.name}", daemon=True
    ).start()
    return life


_APART: Final[dict[str, Any]] = (
    {"creationflags": 0x00000200 | 0x08000000}  # A process group of its own, and no window.
    if sys.platform == "win32"
    else {"start_new_session": True}
)


def threads_of_model() -> int:
    """As many as this process may use, but one: the house and the page want to go on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)) - 1)
    return max(1, (os.cpu_count() or 2) - 1)


def _listen(life: _Life, file: ModelFile) -> None:
    """Hear from a child until it ends."""
    why = "ended"
    for line in _lines(life.process):
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if "address" in said:
            life.address.set_result(Address(said["address"], life.key))
        elif "ended" in said:
            why = reason_of_end(said["ended"], said["words"], file)
    _wait(life.process)
    with _lock, suppress(ValueError):
        _lives.remove(life)
    if not life.address.done():
        life.address.set_exception(_EndedEarly(why))
    life.ended.set_result(why)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    rest = b""
    with process.stdout, suppress(OSError, ValueError):
        while (chunk := process.stdout.read(65_536)) and len(rest) < line_bytes_max:
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines


def reason_of_end(code: int, words: str, file: ModelFile) -> str:
    """Why a process ended, as the second half of a sentence, from its exit code and what it said last."""
    if code < 0:
        with suppress(ValueError):
            how = f"was ended by {signal.Signals(-code).name}"
            return f"{how}, perhaps because memory ran out" if -code == 9 else how
    said = last_words(words)
    for part in file.parts:  # The path is nobody's business but the director's.
        said = said.replace(str(part), part.name)
    return f'ended with code {code}. Its last words: "{said}"' if said else f"ended with code {code}"


def last_words(text: str) -> str:
    """The line that says most about why llama.cpp gave up: the first error while loading, else the last line."""
    lines = [_LOG_LINE.sub("", line).strip() for line in text.splitlines()]
    telling = [line.partition(_TELLING)[2] for line in lines if _TELLING in line]
    words = (telling or [line for line in lines if line][-1:] or [""])[0]
    return words if len(words) <= words_chars_max else f"{words[: words_chars_max - 3]}..."


def _ended(life: _Life) -> None:
    """End a child and wait for it."""
    _let_go(life)
    try:
        life.ended.result(leave_seconds_max)
    except FutureTimeoutError:
        life.process.kill()
        life.ended.result(leave_seconds_max)


def _let_go(life: _Life) -> None:
    """Close our end of its standard input, upon which it ends."""
    if life.process.stdin is not None:
        with suppress(OSError):
            life.process.stdin.close()


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(leave_seconds_max)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


# Processes that are forked, and the end of this one


def _add_hooks() -> None:
    """From the first start on: a fork waits for a start, a forked process lets go of all children, and the end of the
    program ends them."""
    global _has_hooks  # noqa: PLW0603 (hooks cannot be removed, so they are added once)
    if _has_hooks:
        return
    _has_hooks = True
    atexit.register(_end_all)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork)


def _after_fork() -> None:
    """In a forked process: it may ask the children of its parent, but does not hold them."""
    global _lock  # noqa: PLW0603 (another thread of the parent may have held it)
    _lock = threading.RLock()
    for life in _lives:
        _let_go(life)
        life.is_borrowed = True
    _lives.clear()


def _end_all() -> None:
    for life in [*_lives]:
        _let_go(life)
    for life in [*_lives]:
        with suppress(FutureTimeoutError):
            life.ended.result(leave_seconds_max)


# The digest


_digests: dict[Any, str] = {}
"""The digests that were read, by the state of their files. It can be dropped."""


def digest_known(file: ModelFile) -> str:
    """The digest of a model's file, if it was read or stands in its name; empty otherwise."""
    return file.known_sha256 or _digests.get(file.stamps, "")


async def read_digest(file: ModelFile, on_loading: OnLoading | None = None) -> None:
    """Read a model's file for its digest, once for each state of the file. `on_loading` is told how far it is."""
    if digest_known(file):
        return
    began = time.monotonic()
    done = 0
    is_wanted = True

    def note(count: int) -> bool:
        nonlocal done
        done = count
        return is_wanted

    telling = Telling(file, "reading", on_loading)
    reading = asyncio.ensure_future(asyncio.to_thread(digest_of, file, note))
    try:
        with telling:
            while not reading.done():
                telling.tell(done, began)
                await asyncio.wait([reading], timeout=progress_seconds)
    finally:
        is_wanted = False
    _digests[file.stamps] = reading.result()
