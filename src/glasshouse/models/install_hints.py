"""How to install the program of a model server on a machine, in words that fit its system.

The rules are pure: they depend on `Machine` alone. Always holds: a command that is shown uses only programs that the machine has, or
installs them first by the same command.
"""

from __future__ import annotations

import os
import platform
import shutil
from typing import Final, NamedTuple

from glasshouse.manifests.models_file import ServerName

INSTALLERS: Final = ("apt-get", "brew", "curl", "pacman", "pipx", "sudo", "uv", "wget", "winget")
"""The programs that may install something, or fetch what does."""
_DEBIAN: Final = frozenset({"debian", "ubuntu"})


class Machine(NamedTuple):
    """What is known of a machine."""

    system: str
    """`Darwin`, `Linux`, `Windows`, or what else Python calls it."""
    family: frozenset[str] = frozenset()
    """Of a Linux: its name and those of its relatives, such as `ubuntu` and `debian`."""
    programs: frozenset[str] = frozenset()
    """Those of `INSTALLERS` that it has."""
    is_root: bool = False
    """Whether the user may install for everybody without `sudo`."""


def this_machine() -> Machine:
    """The machine that this program runs on."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:  # It is not a Linux, or one without this file.
        release = {}
    family = frozenset([release.get("ID", ""), *release.get("ID_LIKE", "").split()]) - {""}
    programs = frozenset(program for program in INSTALLERS if shutil.which(program))
    return Machine(platform.system(), family, programs, hasattr(os, "geteuid") and os.geteuid() == 0)


def how_to_install(server: ServerName, machine: Machine) -> str:
    """How to install a server on this machine, as a clause: a command between backticks, else where to get it."""
    match server:
        case "ollama":
            return _ollama(machine)
        case "llama.cpp":
            return _llama_cpp(machine)
        case "lmstudio":
            return _lm_studio(machine)
        case "vllm":
            return _vllm(machine)
        case _:
            return ""


def _ollama(machine: Machine) -> str:
    script = "https://ollama.com/install.sh"
    if machine.system == "Windows":
        return _with_winget(machine, "Ollama.Ollama") or "install it from ollama.com/download"
    if "pacman" in machine.programs and (root := _as_root(machine)) is not None:
        return _by(f"{root}pacman -S ollama")
    if machine.system == "Linux" and "curl" in machine.programs:
        return _by(f"curl -fsSL {script} | sh")
    if machine.system == "Linux" and "wget" in machine.programs:
        return _by(f"wget -qO- {script} | sh")
    if _has_apt(machine) and (root := _as_root(machine)) is not None:
        return _by(f"{root}apt-get install -y curl && curl -fsSL {script} | sh")
    return _with_brew(machine, "ollama") or "install it from ollama.com/download"


def _llama_cpp(machine: Machine) -> str:
    if machine.system == "Windows":
        return _with_winget(machine, "llama.cpp") or _llama_cpp_by_hand
    return _with_brew(machine, "llama.cpp") or _llama_cpp_by_hand


_llama_cpp_by_hand: Final = (
    "get a build for this system from github.com/ggml-org/llama.cpp/releases, put it on the PATH"
)


def _lm_studio(machine: Machine) -> str:
    by_hand = "install it from lmstudio.ai"
    if machine.system == "Windows":
        return _with_winget(machine, "ElementLabs.LMStudio") or by_hand
    if machine.system == "Darwin":
        return _with_brew(machine, "--cask lm-studio") or by_hand
    return by_hand


def _vllm(machine: Machine) -> str:
    if machine.system != "Linux":
        return "it runs on Linux only: start it on such a machine, or use Ollama or llama.cpp here"
    if "uv" in machine.programs:
        return _by("uv tool install vllm")
    if "pipx" in machine.programs:
        return _by("pipx install vllm")
    if _has_apt(machine) and (root := _as_root(machine)) is not None:
        # Debian's own Python refuses packages that pip would install for everybody.
        return _by(f"{root}apt-get install -y pipx && pipx install vllm")
    return _by("python3 -m venv ~/vllm && ~/vllm/bin/pip install vllm") + ", put ~/vllm/bin on the PATH"


def _by(command: str) -> str:
    return f"install it with `{command}`"


def _with_brew(machine: Machine, package: str) -> str:
    return _by(f"brew install {package}") if "brew" in machine.programs else ""


def _with_winget(machine: Machine, package: str) -> str:
    return _by(f"winget install {package}") if "winget" in machine.programs else ""


def _has_apt(machine: Machine) -> bool:
    return "apt-get" in machine.programs and bool(machine.family & _DEBIAN)


def _as_root(machine: Machine) -> str | None:
    """What comes before a command that installs for everybody; None if the user cannot."""
    if machine.is_root:
        return ""
    return "sudo " if "sudo" in machine.programs else None
