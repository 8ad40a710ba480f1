"""The checks of `glasshouse doctor`: each finding is in order, a warning or broken, and says what to do.

Always holds: a finding is reported as soon as it is known. What asks somebody else is said before it is tried, with its bound, and all
of it together is bounded, too.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal, NamedTuple

from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from glasshouse.assembly import Choice, NamedModels, StoreAddress, ToolServer
from glasshouse.cli.command_line import CommandLine, checked_settings, store_path
from glasshouse.cli.drawing.screen import GAP, Screen, counted, longest_word, one_line
from glasshouse.cli.live.progress_lines import ProgressLines
from glasshouse.cli.model_choice import OFFLINE, ModelChoice, about, remarks_on
from glasshouse.cli.program import commands_to_paste, program_called
from glasshouse.cli.store_reader import StoreReader, in_words, read_store
from glasshouse.cli.tool_servers import listed_by, servers_here, tool_names
from glasshouse.errors import GlasshouseError, Refused
from glasshouse.events.described_tool import DescribedTool
from glasshouse.events.model_use import FREE
from glasshouse.installation import DISTRIBUTION
from glasshouse.manifests.loading import problems_in
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.manifests.yaml_source import shown_path
from glasshouse.runtime import event_loop
from glasshouse.runtime.ports import Probe, ProbeCheck, ProbeStep, Route
from glasshouse.runtime.sharing.page_files import has_vendor
from glasshouse.settings import Settings
from glasshouse.turns.moment.prompt import PROFILES

PACKAGES: Final = (DISTRIBUTION, "msgspec", "pydantic", "pydantic-settings", "PyYAML", "rich", "typer")
screen_columns_min: Final = 60
"""`doctor` warns of a narrower terminal."""
STYLES: Final = {"ok": "green", "warning": "yellow", "broken": "bold red"}


state_columns: Final = max(map(len, STYLES))
what_columns: Final = len("packages")
"""How wide the states and the subjects of checks are: none is longer."""
server_seconds_max: Final = 60.0
"""How long a server may take to list its models, or to say what it is. Each of the questions behind it has 15 seconds."""
tool_server_seconds_max: Final = 60.0
"""How long a tool server may take until its tools are listed; its connection ends by then (`tools/mcp/connection.py`)."""
doctor_minutes_max: Final = 4.0
"""How long `doctor` asks servers at most, unless somebody says otherwise."""


class Finding(NamedTuple):
    """The result of one check."""

    what: str
    state: Literal["ok", "warning", "broken"]
    told: str
    todo: str = ""


class Waiting:
    """What `doctor` waits for, said before it waits, and how long it may still wait in all."""

    def __init__(self, progress: ProgressLines, minutes: float) -> None:
        self._progress = progress
        self._minutes = minutes
        self._ends = time.monotonic() + minutes * 60
        self._what = ""
        self._begun = 0.0
        self._seconds_max = 0.0

    @property
    def seconds_left(self) -> float:
        """How long it may still wait; 0: no more."""
        return max(0.0, self._ends - time.monotonic())

    @property
    def over(self) -> str:
        """What is said of whatever was left out because the time was over."""
        return f"The {self._minutes:g} minutes are over. For more: --max-minutes"

    def begin(self, what: str, seconds_max: float) -> None:
        """Say what is tried now."""
        self._what = what
        self._begun = time.monotonic()
        self._seconds_max = min(seconds_max, self.seconds_left)
        self._progress.tell(self._words())

    def end(self) -> None:
        """Make room for what was found."""
        self._progress.clear()

    @asynccontextmanager
    async def on(self, what: str, seconds_max: float = server_seconds_max) -> AsyncIterator[None]:
        """Say what is tried, and go on saying it until it ends. Raises `TimeoutError` if it takes too long."""
        self._what = what
        self._begun = time.monotonic()
        self._seconds_max = min(seconds_max, self.seconds_left)
        async with asyncio.timeout(self._seconds_max), self._progress.watching(self._words):
            yield

    def _words(self) -> str:
        waited = time.monotonic() - self._begun
        so_far = f"{waited:.0f} of " if waited >= 1 else ""
        return f"{self._what}: {so_far}at most {self._seconds_max:.0f} seconds."


Report = Callable[[Finding], None]
"""Is given each finding as soon as it is known."""


def examine(store: str | None, choice: ModelChoice, report: Report, waiting: Waiting) -> None:
    """Make all checks, in the order in which a play needs them."""
    first = [_python(), _packages(), _page(), *_settings()]
    for finding in first:
        report(finding)
    servers: tuple[ToolServer, ...] = ()
    if all(finding.state != "broken" for finding in first):
        report(_store(store_path(store)))
        _models(choice, report, waiting)
        servers = _servers(report, waiting)
    for finding in (*_terminal(), *_worlds(tool_names(servers))):
        report(finding)


def draw(finding: Finding) -> None:
    """Draw a finding for people. Columns have a fixed width, because nobody knows yet what comes next."""
    screen = Screen()
    state = finding.state
    text = Text(one_line(f"{finding.told} {finding.todo}".strip()))
    beside = state_columns + what_columns + 2 * GAP
    if screen.is_terminal and screen.width - beside < longest_word(text.plain):
        screen.draw(
            Text.assemble((state, STYLES[state]), " " * GAP, finding.what), Padding(text, (0, 0, 0, GAP))
        )
        return
    columns = (
        Column(no_wrap=True, width=state_columns),
        Column(no_wrap=True, width=what_columns),
        Column(ratio=1, overflow="fold"),
    )
    grid = Table.grid(*columns, padding=(0, GAP, 0, 0))
    grid.add_row(Text(state, style=STYLES[state]), Text(finding.what), text)
    screen.draw(grid)


def _python() -> Finding:
    here = f"{platform.python_implementation()} {platform.python_version()}, {platform.system()}."
    return Finding("python", "ok", here)


def _packages() -> Finding:
    try:
        versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    except PackageNotFoundError as missing:
        return Finding("packages", "broken", f"{missing.name} is not installed.", "Install Glasshouse again.")
    return Finding("packages", "ok", f"SQLite {sqlite3.sqlite_version}, {versions}.")


def _page() -> Finding:
    if has_vendor():
        return Finding("page", "ok", "The third-party files of the page are here.")
    missing = "The third-party files of the page are missing, so `serve` and `export --html` show nothing."
    return Finding(
        "page", "warning", missing, "In a checkout, run make setup; otherwise install Glasshouse again."
    )


def _settings() -> Iterator[Finding]:
    try:
        values = checked_settings().model_dump()
        values["store"] = StoreAddress(values["store"])  # As text, it has no password.
    except GlasshouseError as wrong:
        yield Finding("settings", "broken", str(wrong))
        return
    known = sorted(f"GLASSHOUSE_{name.upper()}" for name in Settings.model_fields)
    for name in sorted(os.environ):
        if name.upper().startswith("GLASSHOUSE_") and name.upper() not in known:
            text = f"{name} is set, and no setting is called that."
            yield Finding("settings", "warning", text, f"There is {', '.join(known)}.")
    yield Finding("settings", "ok", f"{', '.join(f'{name}={value}' for name, value in values.items())}.")


def _store(address: StoreAddress) -> Finding:
    path = address.path
    if path is not None and not os.path.lexists(path):
        folder = path.absolute().parent
        todo = "Make it, or choose another --store."
        if not folder.is_dir():
            return Finding("store", "broken", f"{folder} is not a folder.", todo)
        if not os.access(folder, os.W_OK):
            return Finding("store", "broken", f"{folder} cannot be written.", "Choose another --store.")
        return Finding("store", "ok", f"{path}: none yet; the first play makes it.")

    async def counts(reader: StoreReader) -> tuple[int, int, int | None]:
        return len(reader.terrarium.runs()), await reader.store.position(), await address.holder()

    try:
        runs, events, holder = read_store(address, counts)
    except GlasshouseError as wrong:
        return Finding("store", "broken", str(wrong))
    by = "nobody plays it now" if holder is None else f"{in_words(holder)} plays it now"
    return Finding("store", "ok", f"{address}: {counted(runs, 'run')}, {events:,} events; {by}.")


def _models(choice: ModelChoice, report: Report, waiting: Waiting) -> None:
    try:
        event_loop.run(_look_at(choice.named(), report, waiting, asks_priced=choice.is_agreed))
    except GlasshouseError as wrong:
        report(Finding("models", "broken", commands_to_paste(str(wrong))))


async def _look_at(models: NamedModels, report: Report, waiting: Waiting, *, asks_priced: bool) -> None:
    """What the servers of the models really do. A model that costs something is asked only if that is agreed to."""
    try:
        if models.wanted != OFFLINE and not await _is_opened(models, report, waiting):
            return
        reported: set[str] = set()
        for choice in models.choices():
            key = choice.problem or (choice.size if choice.endpoint.server == OFFLINE else choice.model)
            if key not in reported:
                reported.add(key)
                await _report_choice(models, choice, report, waiting, asks_priced=asks_priced)
        for remark in remarks_on(models):
            report(Finding("models", "warning", remark))
    finally:
        await models.close()


async def _is_opened(models: NamedModels, report: Report, waiting: Waiting) -> bool:
    try:
        with suppress(GlasshouseError):  # What is wrong stands in the choices.
            async with waiting.on(f"Looking for the models of {models.wanted}"):
                await models.open()
    except TimeoutError:
        problem = f"The models of {models.wanted} were not listed in time."
        report(Finding("models", "broken", problem, "Look whether its server is busy, and try again."))
        return False
    return True


async def _report_choice(
    models: NamedModels, choice: Choice, report: Report, waiting: Waiting, *, asks_priced: bool
) -> None:
    if choice.problem:
        report(Finding("models", "broken", commands_to_paste(choice.problem)))
    elif choice.endpoint.server == OFFLINE:
        if models.wanted != OFFLINE:
            report(Finding("models", "ok", f"{choice.size}: offline."))
        elif choice.size == PROFILES[0]:
            report(Finding("models", "ok", "The offline troupe plays every size."))
    elif choice.route is not None:
        try:
            await _ask(choice, choice.route, report, waiting, asks_priced=asks_priced)
        except TimeoutError:
            report(Finding("models", "warning", f"{choice.model} was not asked to the end. {waiting.over}"))


async def _ask(choice: Choice, route: Route, report: Report, waiting: Waiting, *, asks_priced: bool) -> None:
    """First what the server says, at once; then what the model does, check by check."""
    is_asked = asks_priced or route.price == FREE
    probe: Callable[..., Awaitable[Probe]] = getattr(route.model, "probe")  # noqa: B009 (every backend has it)
    async with waiting.on(f"Asking the server of {choice.model} about itself"):
        quick = await probe()
    if quick.problem:
        report(Finding("models", "broken", quick.problem, quick.advice))
        return
    report(Finding("models", "ok", f"{choice.model} answers{about(choice)}."))
    for check in quick.checks:
        report(_checked(choice.model, check))
    if not is_asked:
        text = f"{choice.model} was not asked anything, because it costs something."
        report(Finding("models", "ok", text, "To ask it: --yes"))
        _report_context(choice.model, quick, route, report)
        return

    def on_probe(news: ProbeStep | ProbeCheck) -> None:
        if isinstance(news, ProbeCheck):
            report(_checked(choice.model, news))
        else:
            waiting.begin(f"Asking {choice.model} for {news.what}", news.seconds_max)

    async with waiting.on(f"Asking {choice.model} a few things", waiting.seconds_left):
        deep = await probe(deep=True, on_probe=on_probe)
    _report_context(choice.model, deep, route, report)


def _report_context(model: str, probe: Probe, route: Route, report: Report) -> None:
    if probe.context_tokens is not None and probe.context_tokens < route.context_tokens_max:
        less = f"{model} gets a context of {probe.context_tokens:,} tokens, and {route.context_tokens_max:,} are planned."
        report(Finding("models", "warning", less, "Start its server with more, or lower context_tokens."))


def _checked(model: str, check: ProbeCheck) -> Finding:
    answer = {True: "yes", False: "no", None: "unknown"}[check.is_good]
    state: Literal["ok", "warning"] = "warning" if check.is_good is False else "ok"
    return Finding("models", state, f"{model} {check.what}: {answer}.", check.advice)


def _servers(report: Report, waiting: Waiting) -> tuple[ToolServer, ...]:
    """The tool servers of a tools.yaml, if there is one. Each is started or asked, one after the other."""
    try:
        servers = servers_here()
        for server in servers:
            if waiting.seconds_left <= 0:
                report(Finding("tools", "warning", f"{server.name} was not asked. {waiting.over}"))
                continue
            waiting.begin(f"Asking {server.name} for its tools", tool_server_seconds_max)
            ((_, tools),) = listed_by([server])
            waiting.end()
            report(_server(server.name, tools))
    except GlasshouseError as wrong:
        report(Finding("tools", "broken", str(wrong)))
        return ()
    return servers


def _server(name: str, tools: Mapping[str, DescribedTool | Refused] | Refused) -> Finding:
    if isinstance(tools, Refused):
        return Finding("tools", "broken", str(tools))
    usable = [tool for tool in tools.values() if isinstance(tool, DescribedTool)]
    text = f"{name} offers {counted(len(usable), 'tool')}."
    refused = len(tools) - len(usable)
    if not refused:
        return Finding("tools", "ok", text)
    todo = f"Look: {CommandLine(program_called()).call('tools')}"
    return Finding("tools", "warning", f"{text} {refused} cannot be used.", todo)


def _terminal() -> Iterator[Finding]:
    screen = Screen()
    encoding = sys.stdout.encoding or ""
    if encoding.lower().replace("-", "") not in {"utf8", "utf8sig"}:
        text = f"The output is written as {sys.stdout.encoding}."
        yield Finding("terminal", "warning", text, "Set PYTHONIOENCODING=utf-8.")
    if not screen.is_terminal:
        yield Finding("terminal", "ok", "None: the output goes into a pipe or a file, plain and at once.")
        return
    if screen.width < screen_columns_min:
        yield Finding("terminal", "warning", f"It is {screen.width} columns wide.", "Make it wider.")
    colours = None if screen.no_color else screen.color_system
    yield Finding("terminal", "ok", f"{screen.width} columns, {colours or 'no'} colours.")


def _worlds(names: frozenset[str]) -> Iterator[Finding]:
    call = CommandLine(program_called()).call  # The store may be broken, and these commands need none.
    worlds = found_worlds()
    sound = []
    if not worlds:
        yield Finding("worlds", "warning", "There is none.", f"Make one: {call('new', 'world', 'NAME')}")
    for world in worlds:
        problems = len(problems_in(world.path, tools=names))
        if not problems:
            sound.append(world.name)
            continue
        todo = f"Look: {call('check', shown_path(Path(world.path)))}"
        yield Finding("worlds", "broken", f"{world.name} has {counted(problems, 'problem')}.", todo)
    if sound:
        yield Finding("worlds", "ok", f"{', '.join(sound)}.")
