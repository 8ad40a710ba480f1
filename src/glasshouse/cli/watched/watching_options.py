"""The options of all commands that play or serve, for watching them from outside: telemetry and logs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, Final

import typer


class LogStyle(StrEnum):
    """How log lines are written."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """From where on lines are logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_TELEMETRY: Final = "Send traces and metrics, as the OTEL_ variables say. Default: $GLASSHOUSE_TELEMETRY."
_LOG: Final = "Write logs to standard error, one line each. Default: only warnings."
_LEVEL: Final = "Log from this level on: debug has a line for every event. Default: info."

_OPTIONS: Final = {
    "telemetry": Annotated[bool | None, typer.Option("--telemetry/--no-telemetry", help=_TELEMETRY)],
    "log": Annotated[LogStyle | None, typer.Option("--log", help=_LOG)],
    "log_level": Annotated[LogLevel | None, typer.Option("--log-level", help=_LEVEL)],
}


def watched(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options `--telemetry`, `--log` and `--log-level`, which take effect before it begins."""
    signature = inspect.signature(command, eval_str=True)

    @wraps(command)
    def watched_command(
        *given: Any, telemetry: bool | None, log: LogStyle | None, log_level: LogLevel | None, **options: Any
    ) -> None:
        _begin_to_log(log, log_level)
        _begin_to_send(telemetry)
        command(*given, **options)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    parameters = [*signature.parameters.values(), *added]
    watched_command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return watched_command


def _begin_to_log(style: LogStyle | None, level: LogLevel | None) -> None:
    if style is not None or level is not None:
        from glasshouse.cli.watched.logs import log_to_stderr

        log_to_stderr(style or LogStyle.TEXT, level or LogLevel.INFO)


def _begin_to_send(is_wanted: bool | None) -> None:
    from glasshouse.cli.command_line import checked_settings

    if checked_settings().telemetry if is_wanted is None else is_wanted:
        from glasshouse.cli.watched.telemetry import send_telemetry

        send_telemetry()
