"""The checks of `glasshouse doctor`: each finding is in order, a warning or broken, and says what to do."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple

from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from glasshouse.assembly import Choice, NamedModels, ToolServer
from glasshouse.cli.command_line import CommandLine, checked_settings, store_path
from glasshouse.cli.drawing.screen import GAP, Screen, counted, longest_word, one_line
from glasshouse.cli.model_choice import OFFLINE, ModelChoice, about, remarks_on
from glasshouse.cli.program import program_called
from glasshouse.cli.store_reader import StoreReader, holder_of, in_words, read_store
from glasshouse.cli.tool_servers import listed_by, servers_here, tool_names
from glasshouse.errors import GlasshouseError, Refused
from glasshouse.events.described_tool import DescribedTool
from glasshouse.events.model_use import FREE
from glasshouse.installation import DISTRIBUTION
from glasshouse.manifests.loading import problems_in
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.manifests.yaml_source import shown_path
from glasshouse.runtime import event_loop
from glasshouse.runtime.ports import Probe, Route
from glasshouse.runtime.sharing.page_files import has_vendor
from glasshouse.settings import Settings

PACKAGES: Final = (DISTRIBUTION, "msgspec", "pydantic", "pydantic-settings", "PyYAML", "rich", "typer")
screen_columns_min: Final = 60
"""`doctor` warns of a narrower terminal."""
STYLES: Final = {"ok": "green", "warning": "yellow", "broken": "bold red"}


class Finding(NamedTuple):
    """The result of one check."""

    what: str
    state: Literal["ok", "warning", "broken"]
    told: str
    todo: str = ""


def findings(store: Path | None, choice: ModelChoice) -> list[Finding]:
    """The results of all checks, in the order in which a play needs them."""
    first = [_python(), _packages(), _page(), *_settings()]
    if all(finding.state != "broken" for finding in first):
        first += [_store(store_path(store)), *_models(choice)]
        servers, listed = _servers()
        first += listed
    else:
        servers = ()
    return [*first, *_terminal(), *_worlds(tool_names(servers))]


def draw(listed: list[Finding]) -> None:
    """Draw the findings for people."""
    screen = Screen()
    rows = [
        (Text(state, style=STYLES[state]), Text(what), Text(one_line(f"{text} {todo}".strip())))
        for what, state, text, todo in listed
    ]
    beside = sum(max(row[index].cell_len for row in rows) + GAP for index in (0, 1))
    if screen.is_terminal and screen.width - beside < max(longest_word(text.plain) for *_, text in rows):
        for state, what, text in rows:
            screen.draw(Text.assemble(state, " " * GAP, what), Padding(text, (0, 0, 0, GAP)))
        return
    columns = (Column(no_wrap=True), Column(no_wrap=True), Column(ratio=1, overflow="fold"))
    grid = Table.grid(*columns, padding=(0, GAP, 0, 0))
    for row in rows:
        grid.add_row(*row)
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
    except GlasshouseError as wrong:
        yield Finding("settings", "broken", str(wrong))
        return
    known = sorted(f"GLASSHOUSE_{name.upper()}" for name in Settings.model_fields)
    for name in sorted(os.environ):
        if name.upper().startswith("GLASSHOUSE_") and name.upper() not in known:
            text = f"{name} is set, and no setting is called that."
            yield Finding("settings", "warning", text, f"There is {', '.join(known)}.")
    yield Finding("settings", "ok", f"{', '.join(f'{name}={value}' for name, value in values.items())}.")


def _store(path: Path) -> Finding:
    if not os.path.lexists(path):
        folder = path.absolute().parent
        todo = "Make it, or choose another --store."
        if not folder.is_dir():
            return Finding("store", "broken", f"{folder} is not a folder.", todo)
        if not os.access(folder, os.W_OK):
            return Finding("store", "broken", f"{folder} cannot be written.", "Choose another --store.")
        return Finding("store", "ok", f"{path}: none yet; the first play makes it.")

    async def counts(reader: StoreReader) -> tuple[int, int]:
        return len(reader.terrarium.runs()), await reader.store.position()

    try:
        runs, events = read_store(path, counts)
    except GlasshouseError as wrong:
        return Finding("store", "broken", str(wrong))
    holder = holder_of(path)
    by = "nobody plays it now" if holder is None else f"{in_words(holder)} plays it now"
    return Finding("store", "ok", f"{path}: {counted(runs, 'run')}, {events:,} events; {by}.")


def _models(choice: ModelChoice) -> list[Finding]:
    try:
        return event_loop.run(_looked_at(choice.named(), asks_priced=choice.is_agreed))
    except GlasshouseError as wrong:
        return [Finding("models", "broken", str(wrong))]


async def _looked_at(models: NamedModels, *, asks_priced: bool) -> list[Finding]:
    """What the servers of the models really do. A model that costs something is asked only if that is agreed to."""
    with suppress(GlasshouseError):  # What is wrong stands in the choices.
        await models.open()
    findings: dict[str, list[Finding]] = {}
    for choice in models.choices():
        if choice.problem:
            findings.setdefault(choice.problem, [Finding("models", "broken", choice.problem)])
        elif choice.endpoint.server == OFFLINE:
            text = (
                "The offline troupe plays every size."
                if models.wanted == OFFLINE
                else f"{choice.size}: offline."
            )
            findings.setdefault(text, [Finding("models", "ok", text)])
        elif choice.model not in findings and choice.route is not None:
            findings[choice.model] = await _asked(choice, choice.route, asks_priced=asks_priced)
    await models.close()
    remarks = [Finding("models", "warning", remark) for remark in remarks_on(models)]
    return [*chain.from_iterable(findings.values()), *remarks]


async def _asked(choice: Choice, route: Route, *, asks_priced: bool) -> list[Finding]:
    is_asked = asks_priced or route.price == FREE
    probe: Probe = await getattr(route.model, "probe")(deep=is_asked)  # noqa: B009 (every backend has it)
    if probe.problem:
        return [Finding("models", "broken", probe.problem, probe.advice)]
    listed = [Finding("models", "ok", f"{choice.model} answers{about(choice)}.")]
    if probe.context_tokens is not None and probe.context_tokens < route.context_tokens_max:
        less = f"{choice.model} gets a context of {probe.context_tokens:,} tokens, and {route.context_tokens_max:,} are planned."
        listed.append(
            Finding("models", "warning", less, "Start its server with more, or lower context_tokens.")
        )
    for check in probe.checks:
        answer = {True: "yes", False: "no", None: "unknown"}[check.is_good]
        state: Literal["ok", "warning"] = "warning" if check.is_good is False else "ok"
        listed.append(Finding("models", state, f"{choice.model} {check.what}: {answer}.", check.advice))
    if not is_asked:
        text = f"{choice.model} was not asked anything, because it costs something."
        listed.append(Finding("models", "ok", text, "To ask it: --yes"))
    return listed


def _servers() -> tuple[tuple[ToolServer, ...], list[Finding]]:
    """The tool servers of a tools.yaml, if there is one. Each is started or asked."""
    try:
        servers = servers_here()
        return servers, [_server(server.name, tools) for server, tools in listed_by(servers)]
    except GlasshouseError as wrong:
        return (), [Finding("tools", "broken", str(wrong))]


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
