"""The command line. Its modules are imported only after Ctrl-C was provided for, because that takes most of a second.

Always holds: until then, nothing is imported that Python has not loaded at its start. `_signal` is `signal` without its
enums, whose import takes as long as the start of Python.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # What `typing` has, without the time that its import takes.
if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    import _signal as signal


def main() -> None:
    """Run the command line."""
    open_closed_streams()
    # Left alone if a program has its own handler, or if a shell started this in the background, where Ctrl-C is ignored.
    # SIG_DFL was set by the script `glasshouse`: Python itself never leaves it.
    if signal.getsignal(signal.SIGINT) in {signal.default_int_handler, signal.SIG_DFL}:
        signal.signal(signal.SIGINT, leave_quietly)
    from glasshouse.cli import app

    app.main()


def open_closed_streams() -> None:
    """Read nothing from, and write to nowhere, as each standard stream that was closed (`>&-`). Else the next file that is
    opened would have its descriptor, which event loops do not take, and programs that are started would write into it."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, descriptor)
            if nowhere != descriptor:
                os.close(nowhere)
            else:
                os.set_inheritable(descriptor, True)
        if getattr(sys, name) is None:
            mode = "w" if descriptor else "r"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (it stays open)


def leave_quietly(_number: int, _frame: FrameType | None) -> None:
    """End at once, as after an interrupt. Used while nothing has begun, so that nothing has to be closed."""
    os._exit(130)


def begin_command() -> None:
    """From here on, Ctrl-C is a `KeyboardInterrupt`, because a command has something to close."""
    if signal.getsignal(signal.SIGINT) is leave_quietly:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def begin_to_end() -> None:
    """Ignore Ctrl-C while the interpreter ends: the command is done."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
