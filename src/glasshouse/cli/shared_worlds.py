"""Packing, adding and removing worlds on the command line: what is shown, what is asked, and what is said of it.

Always holds: nothing is installed that was not shown first, and nothing that runs without a yes to that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final, NamedTuple

from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.drawing.screen import Screen, counted, one_line, print_json
from glasshouse.cli.file_errors import writing
from glasshouse.cli.model_choice import agrees, is_asked
from glasshouse.cli.program import PROGRAM, program_called
from glasshouse.cli.prose import say
from glasshouse.cli.world_path import check_world
from glasshouse.errors import Refused
from glasshouse.manifests.loading import load_world, problems_in, warnings_in
from glasshouse.manifests.problem import Problem
from glasshouse.manifests.world_folders import find_world, is_bundled
from glasshouse.manifests.yaml_source import shown_path
from glasshouse.packs.archive import PACK_ENDING, packed
from glasshouse.packs.contents import Contents
from glasshouse.packs.installed import install, installed_world, remove
from glasshouse.packs.origin import Origin, origin_of
from glasshouse.packs.packing import left_out_shown_max, named_in_pack, packed_world, staged
from glasshouse.packs.sources import Offered, files_of_pack, offered_from

names_in_line_max: Final = 12
"""How many creatures or documents of a world a line names. Code and commands are all named."""


class Agreement(NamedTuple):
    """What the options of the command agree to."""

    is_given: bool
    to_code: bool
    to_older: bool


def write_pack(world: str, file: Path | None, *, as_json: bool) -> None:
    """Write a world into one file, and say what is in it."""
    check_world(world)
    made = packed_world(load_world(find_world(world).absolute()))
    content = packed(made.name, made.files)
    target = file or Path(f"{made.name}{PACK_ENDING}")
    with writing(target):
        _write_whole(target, content)
    digest = sha256(content).hexdigest()
    if is_bundled(made.name):
        say(f"glasshouse: {_of_bundled_name(made.name)}", file=sys.stderr)
    if as_json:
        facts = {"path": str(target), "world": made.name, "version": made.world.scenario.version or None}
        print_json(
            {
                **facts,
                "files": len(made.files),
                "bytes": len(content),
                "sha256": digest,
                "left_out": [*made.left_out],
            }
        )
        return
    screen = Screen()
    screen.draw(f"{target}: {made.name}, {counted(len(made.files), 'file')}, {len(content):,} bytes.")
    screen.draw(f"sha256 {digest}", *_left_out(made.left_out))
    if not is_bundled(made.name):
        screen.draw(f"Whoever gets it: {CommandLine(PROGRAM).call('worlds', 'add', target.name)}")


def _of_bundled_name(name: str) -> str:
    return f"a world called {name!r} comes with Glasshouse, so nobody can add this one. Give it another name, and pack it again."


def add_world(source: str, revision: str, world: str, agreement: Agreement, *, as_json: bool) -> None:
    """Show what a world brings, ask, and install it."""
    offered = offered_from(source, revision, world)
    if is_bundled(offered.name):
        raise Refused(
            f"A world called {offered.name!r} comes with Glasshouse.", "Ask its author for another name."
        )
    there = installed_world(offered.name)
    before = None if there is None else origin_of(there)
    if not as_json:
        Screen().draw(*_lines(offered))
    if before is not None and before.sha256 == offered.origin.sha256:
        _say_installed(offered, there or Path(), as_json=as_json, change="none")
        return
    _check_version(offered, before, agreement)
    _check_agreed(offered, before, agreement, as_json=as_json)
    path = install(offered.name, offered.files, offered.origin)
    _say_installed(offered, path, as_json=as_json, change="new" if before is None else "replaced")


def remove_world(name: str, *, is_agreed: bool, as_json: bool) -> None:
    """Remove an installed world, after asking."""
    if installed_world(name) is not None and not is_agreed:
        if as_json or not is_asked():
            raise Refused(f"{name} would be removed.", "Agree with --yes.")
        if not agrees(f"Remove {name}?"):
            raise Refused("Nothing was removed.")
    remove(name)
    if as_json:
        print_json({"removed": name})
    else:
        Screen().draw(f"{name} is removed. Runs of it stay.")


def problems_of_pack(file: Path, tools: frozenset[str]) -> tuple[list[Problem], list[Problem]]:
    """What is wrong with a packed world, and what it is warned of. Files are named as the pack names them."""
    name, files = files_of_pack(file)
    with staged(name, files) as folder:
        problems = named_in_pack(folder, problems_in(folder, tools=tools))
        return problems, named_in_pack(folder, warnings_in(folder, tools=tools))


def contents_of_pack(file: Path) -> list[str]:
    """What a sound packed world brings."""
    return _lines(offered_from(str(file)))


def contents_in_words(contents: Contents) -> Iterator[str]:
    """What a world brings, a line for each sort."""
    yield f"  {counted(len(contents.creatures), 'creature')}: {_named(contents.creatures)}"
    if contents.tools:
        yield f"  tools: {_named(contents.tools)}"
    if contents.documents:
        yield f"  {counted(len(contents.documents), 'document')}: {_named(contents.documents)}"
    if contents.scripts:
        yield f"  script of the offline troupe: {_named(contents.scripts)}"
    for code in contents.code:
        yield f"  code: {one_line(code)}"
    for command in contents.commands:
        yield f"  tool server: {one_line(command)}"


def _lines(offered: Offered) -> list[str]:
    version = f" {offered.origin.version}" if offered.origin.version else ""
    title = f" ({one_line(offered.title)})" if offered.title else ""
    size = f"{counted(len(offered.files), 'file')}, {offered.bytes:,} bytes"
    lines = [f"{offered.name}{version}{title}, {size}, from {one_line(offered.origin.shown)}"]
    lines += contents_in_words(offered.contents)
    if offered.contents.has_code:
        lines.append(
            "It brings code. It runs only where GLASSHOUSE_ALLOW_WORLD_CODE=1 is set: read it first."
        )
    return [*lines, *_left_out(offered.left_out)]


def _named(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(one_line, names[:names_in_line_max]))
    return f"{shown} and {len(names) - names_in_line_max} more" if len(names) > names_in_line_max else shown


def _left_out(paths: tuple[str, ...]) -> list[str]:
    """A line about files that are not part of the world."""
    if not paths:
        return []
    more = f" and {len(paths) - left_out_shown_max} more" if len(paths) > left_out_shown_max else ""
    return [
        f"Left out, since the world does not name them: {', '.join(map(one_line, paths[:left_out_shown_max]))}{more}"
    ]


def _check_version(offered: Offered, before: Origin | None, agreement: Agreement) -> None:
    if before is None or agreement.to_older or _numbers(offered.origin) >= _numbers(before):
        return
    raise Refused(
        f"{offered.name} {before.version} is installed, and this is {offered.origin.version or 'without a version'}.",
        "To install the older one: --force",
    )


def _numbers(origin: Origin) -> tuple[int, ...]:
    """A version as numbers that can be compared: 1.2 is 1.2.0. None is older than any."""
    numbers = [int(part) for part in origin.version.split(".") if part.isdigit()]
    while numbers and numbers[-1] == 0 and len(numbers) > 1:
        numbers.pop()
    return tuple(numbers)


def _check_agreed(offered: Offered, before: Origin | None, agreement: Agreement, *, as_json: bool) -> None:
    """Ask whether to install it. Refused without a yes."""
    if agreement.is_given and (agreement.to_code or not offered.contents.has_code):
        return
    has_code = offered.contents.has_code
    if as_json or not is_asked():
        what = "It brings code or commands." if has_code else "Nothing is installed without a yes."
        raise Refused(what, f"Agree with {'--allow-code' if has_code else '--yes'}.")
    if not agrees(_question(offered, before)):
        raise Refused("Nothing was installed.")


def _question(offered: Offered, before: Origin | None) -> str:
    code = ", with its code" if offered.contents.has_code else ""
    if before is None:
        return f"Install {offered.name}{code}?"
    old = f"version {before.version}" if before.version else f"the one from {one_line(before.shown)}"
    same = (
        ", which has the same version" if before.version and before.version == offered.origin.version else ""
    )
    return f"Install {offered.name}{code}, in place of {old}{same}?"


def _say_installed(offered: Offered, path: Path, *, as_json: bool, change: str) -> None:
    hidden = find_world(offered.name).absolute() != path.absolute()
    if as_json:
        about: dict[str, Any] = {"world": offered.name, "change": change, "path": str(path)}
        print_json({**about, **offered.origin._asdict(), **offered.contents._asdict(), "is_hidden": hidden})
        return
    screen = Screen()
    screen.draw(f"{offered.name} is installed{' already' if change == 'none' else ''}: {shown_path(path)}")
    if hidden:
        screen.draw(f"The world {offered.name} in ./worlds hides it here.")
    screen.draw(f"Play it: {CommandLine(program_called()).call('play', offered.name)}")


def _write_whole(target: Path, content: bytes) -> None:
    """Write a file in one step, also over an older one."""
    with NamedTemporaryFile(dir=target.absolute().parent, prefix=".packing-", delete=False) as file:
        file.write(content)
    try:
        os.chmod(file.name, 0o644)
        os.replace(file.name, target)
    except OSError:
        os.unlink(file.name)
        raise
