"""How Glasshouse was installed here: its distribution, its version, and the command that adds an extra.

The distribution is called `glasshouse-agents`, because `glasshouse` on the package index is another project's. Always holds:
no command that is shown installs anything under that other name.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from glasshouse.errors import Refused

DISTRIBUTION: Final = "glasshouse-agents"


def installed_version() -> str:
    """The version of the distribution."""
    return distribution(DISTRIBUTION).version


def missing_extra(reason: str, extra: str) -> Refused:
    """The refusal of what needs an extra that is not installed."""
    return Refused(reason, f"Install it with: {command_for_extra(extra)}")


class Installation(NamedTuple):
    """How and where this distribution was installed."""

    origin: Mapping[str, Any] = {}
    """Where it came from; empty: from an index."""
    installer: str = ""
    """The program that installed it."""
    python: str = "python"
    """The interpreter that it is installed for."""
    is_pipx: bool = False
    is_uv_tool: bool = False
    is_active: bool = False
    """Whether `pip` and `uv pip` in the shell mean the environment of this interpreter."""
    folder: str = ""
    """The folder in which the command will be pasted."""


def this_installation() -> Installation:
    """The one that this program runs from."""
    origin, installer = _origin_and_installer()
    pip = shutil.which("pip")
    is_own_pip = pip is not None and os.path.dirname(pip) == os.path.dirname(sys.executable)
    return Installation(
        origin,
        installer,
        sys.executable,
        _has("pipx_metadata.json"),
        _has("uv-receipt.toml"),
        os.environ.get("VIRTUAL_ENV") == sys.prefix if installer == "uv" else is_own_pip,
        os.getcwd(),
    )


def command_for_extra(extra: str, installation: Installation | None = None) -> str:
    """The command that adds an extra to this installation, by the tool that made it. A pure function, if one is given."""
    here = installation or this_installation()
    checkout = _checkout(here.origin)
    if checkout is not None:
        is_here = str(checkout) == here.folder
        return f'{_install(here, is_here=is_here)} -e "{"." if is_here else checkout}[{extra}]"'
    wanted = f"{DISTRIBUTION}[{extra}]"
    # What came from an address comes from there again: the index may have another version, or none.
    source = f'"{wanted} @ {here.origin["url"]}"' if here.origin.get("url") else f'"{wanted}"'
    if here.is_pipx:
        return f"pipx install --force {source}"
    if here.is_uv_tool:
        return f"uv tool install --force {source}"
    return f"{_install(here)} {source}"


def _origin_and_installer() -> tuple[dict[str, Any], str]:
    """Where the distribution came from, empty if from an index, and the program that installed it."""
    try:
        here = distribution(DISTRIBUTION)
    except PackageNotFoundError:  # The package lies on the path without having been installed.
        return {}, ""
    return _origin(here), (here.read_text("INSTALLER") or "").strip()


def _origin(here: Distribution) -> dict[str, Any]:
    try:
        origin = msgspec.json.decode(here.read_text("direct_url.json") or "{}", type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
    vcs = origin.get("vcs_info")
    if isinstance(vcs, dict) and vcs.get("vcs"):
        revision = f"@{vcs['requested_revision']}" if vcs.get("requested_revision") else ""
        origin["url"] = f"{vcs['vcs']}+{origin.get('url', '')}{revision}"
    return origin


def _checkout(origin: Mapping[str, Any]) -> Path | None:
    """The folder that is installed in place, if one is."""
    folder = origin.get("dir_info")
    if not isinstance(folder, dict) or not folder.get("editable"):
        return None
    return Path(unquote(urlsplit(str(origin.get("url", ""))).path))


def _install(here: Installation, *, is_here: bool = False) -> str:
    """The beginning of a command that installs into the environment of this interpreter, also if the shell has another one active."""
    python = os.path.relpath(here.python, here.folder) if is_here else here.python
    if here.installer == "uv":
        return f"uv pip install{'' if here.is_active else f' --python {shlex.quote(python)}'}"
    return f"{'pip' if here.is_active else f'{shlex.quote(python)} -m pip'} install"


def _has(name: str) -> bool:
    """Whether the environment has the file by which its maker keeps track of it."""
    return os.path.isfile(os.path.join(sys.prefix, name))
