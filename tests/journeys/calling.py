"""A command by call: in this process, with the arguments, settings, folder and streams that a process of its own would have.

A process costs ten times as much as a short command. What a process would have to itself is set aside for the call and put back
after it: environment, folder, streams (the descriptors, too), signal handlers, log handlers, the settings that were read, and
the event loop of a test that runs on one. What depends on the start or the end of an interpreter, on two commands at once, on a
signal or on a terminal, is not seen by a call: `commanding.py` has other ways for that.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import Context
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import glasshouse
from glasshouse.cli import app
from glasshouse.settings import settings

MAIN = str(Path(glasshouse.__file__).with_name("__main__.py"))
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def called(
    words: Sequence[str], env: Mapping[str, str], cwd: Path | None, program: str = MAIN
) -> subprocess.CompletedProcess[str]:
    """What came of a command."""
    assert threading.current_thread() is threading.main_thread(), "run_apart() can be called in a thread"
    with TemporaryFile() as out, TemporaryFile() as complaints:
        with ExitStack() as set_aside:
            set_aside.enter_context(_own_place([program, *words], env, cwd))
            set_aside.enter_context(_own_streams(out, complaints))
            set_aside.enter_context(_own_handlers())
            code = Context().run(_exit_code)
        texts = [_read(file) for file in (out, complaints)]
    return subprocess.CompletedProcess(words, code, *texts)


def _exit_code() -> int:
    """Run the command line to its end, as the interpreter does."""
    try:
        app.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except Exception:  # The interpreter prints whatever comes so far.
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def _own_place(command: Sequence[str], env: Mapping[str, str], cwd: Path | None) -> Iterator[None]:
    """The arguments, the environment and the folder of a command, from which it also imports."""
    arguments, environment, folder = sys.argv[:], dict(os.environ), Path.cwd()
    own_folder = str(cwd or folder)
    modules = {*sys.modules}
    try:
        sys.argv[:] = command
        sys.path.insert(0, own_folder)
        _become(env)
        os.chdir(own_folder)
        settings.cache_clear()
        yield
    finally:
        sys.argv[:] = arguments
        sys.path.remove(own_folder)
        _become(environment)
        os.chdir(folder)
        settings.cache_clear()
        if cwd is not None:
            _forget_modules_in(own_folder, {*sys.modules} - modules)


def _forget_modules_in(folder: str, names: set[str]) -> None:
    """Let nobody find the modules that stand in the folder of a command."""
    for name in names:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
            del sys.modules[name]
    importlib.invalidate_caches()


def _become(env: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)


@contextmanager
def _own_streams(out: IO[bytes], complaints: IO[bytes]) -> Iterator[None]:
    """Nothing to read, and files to write to; also for the processes that a command starts."""
    streams = sys.stdin, sys.stdout, sys.stderr
    kept = [os.dup(number) for number in range(3)]
    with open(os.devnull, "rb") as nothing:
        for number, file in enumerate((nothing, out, complaints)):
            os.dup2(file.fileno(), number)
    try:
        with (
            open(0, encoding="utf-8", closefd=False) as sys.stdin,
            open(1, "w", encoding="utf-8", closefd=False) as sys.stdout,
            open(
                2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
            ) as sys.stderr,
        ):
            yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)


@contextmanager
def _own_handlers() -> Iterator[None]:
    """Signals and logs as a new process has them, and no event loop."""
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logs, ours = logging.getLogger(), logging.getLogger("glasshouse")
    log_handlers, level = logs.handlers[:], ours.level
    logs.handlers[:] = []
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)
        logs.handlers[:] = log_handlers
        ours.setLevel(level)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
