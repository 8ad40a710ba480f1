"""llama.cpp as a program of its own, in two processes: one watches over the other, which loads the model and answers.

    python -P llama_program.py watch      # what a house starts; it starts `serve`
    python -P llama_program.py serve

Both read one line of JSON first, so that neither the path of the model nor the key stands in the list of processes. Both end
as soon as their standard input does, which is when whoever started them is gone, however that came about (ADR 0123). There
are two because llama.cpp keeps the interpreter to itself while it loads a model, for minutes perhaps: meanwhile nothing else
of that process could notice the end of its input.

Always holds: it is imported by nobody, and needs only the standard library and xllamacpp. On standard output come lines of
JSON: `{"address": ...}` when it answers, `{"ended": code, "words": ...}` when it has ended by itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any, BinaryIO

last_words_bytes_max = 16_384
"""So much of the end of what llama.cpp wrote to standard error is kept, and passed on if it ends."""
leave_seconds_max = 5.0
"""How long the process that was killed is waited for. The system ends it also if nobody waits."""
last_words_seconds_max = 5.0
"""How long llama.cpp may take to write why it cannot load its model."""
END_OF_WORDS = b"exiting due to model loading error"
"""The last that llama.cpp writes then."""
FAILED = b'{"failed": true}\n'
"""What the process that answers says to the other one, if it cannot load its model."""
more_likely_killed = b"500"
"""If memory runs out, Linux then ends the process with the model before the one that plays."""


def watch() -> None:
    """Start the process that answers, pass on what it says, and end it as soon as standard input ends."""
    settings = sys.stdin.buffer.readline()
    if not settings:
        return  # Whoever started this was gone before it said anything.
    worker = subprocess.Popen(  # noqa: S603 (this very file)
        [sys.executable, "-P", __file__, "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stderr is not None
    threading.Thread(target=_end_with_input, args=[worker], daemon=True).start()
    words = bytearray()
    hearing = threading.Thread(target=_hear, args=[worker.stderr, words], daemon=True)
    hearing.start()
    with suppress(OSError):  # It has ended already, which is told below.
        worker.stdin.write(settings)
        worker.stdin.flush()
    has_failed = False
    for line in worker.stdout:
        if line == FAILED:
            has_failed = True
            _wait_for_last_words(words)
            worker.kill()
        else:
            _say(sys.stdout.buffer, line)
    code = worker.wait()
    hearing.join(leave_seconds_max)
    ended = {"ended": 1 if has_failed else code, "words": bytes(words).decode(errors="replace")}
    _say(sys.stdout.buffer, json.dumps(ended).encode() + b"\n")
    os._exit(0)


def _end_with_input(worker: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        while os.read(0, 4_096):
            pass
    worker.kill()
    with suppress(subprocess.TimeoutExpired):
        worker.wait(leave_seconds_max)
    os._exit(0)


def _hear(errors: BinaryIO, words: bytearray) -> None:
    while said := os.read(errors.fileno(), 65_536):
        words += said
        del words[:-last_words_bytes_max]


def _wait_for_last_words(words: bytearray) -> None:
    """Wait until llama.cpp has written why it cannot load its model: a thread of its own does that, a little later."""
    deadline = time.monotonic() + last_words_seconds_max
    while END_OF_WORDS not in words and time.monotonic() < deadline:
        time.sleep(0.005)


def _say(to: BinaryIO, line: bytes) -> None:
    with suppress(OSError):  # Nobody listens any more: then standard input has ended, too.
        to.write(line)
        to.flush()


def serve() -> None:
    """Load the model, say where it answers, and answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever llama.cpp prints is not taken for an answer.
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    with suppress(OSError), open("/proc/self/oom_score_adj", "wb") as score:
        score.write(more_likely_killed)

    import xllamacpp  # type: ignore[import-untyped]

    wanted = xllamacpp.CommonParams()
    wanted.model.path = settings["path"]
    wanted.model_alias = {settings["name"]}
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0  # One that is free, by the system's choice.
    wanted.api_keys = [settings["key"]]
    wanted.cors_origins = "http://127.0.0.1"
    wanted.ui = False
    wanted.n_parallel = 1
    wanted.n_ctx = settings["context_tokens"]
    wanted.fit_params = False  # Whoever started this has measured the memory.
    wanted.cache_ram_mib = settings["prompts_mebibytes"]
    wanted.cpuparams.n_threads = settings["threads"]
    wanted.cpuparams_batch.n_threads = settings["threads"]
    wanted.warmup = False  # The first prompt warms it up as well.
    wanted.verbosity = 1  # Errors only.
    try:
        server = xllamacpp.Server(wanted)
    except RuntimeError:
        # If this process ended now, the thread that writes what went wrong might end before it has written.
        _say(answers, FAILED)
        sys.stdin.buffer.read()
        os._exit(1)
    _say(answers, json.dumps({"address": server.listening_address}).encode() + b"\n")
    sys.stdin.buffer.read()
    # Without the destructors of llama.cpp, which wait for requests under way.
    os._exit(0)


if __name__ == "__main__":
    {"watch": watch, "serve": serve}[sys.argv[1]]()
