"""How to install a model server fits the system: each hint uses what the machine has."""

import platform
import re
import shutil
from pathlib import Path

import pytest

from glasshouse.manifests.models_file import ServerName
from glasshouse.models.install_hints import INSTALLERS, Machine, how_to_install, this_machine
from glasshouse.models.known_servers import how_to_start


def linux(*programs: str, family: str = "debian ubuntu", is_root: bool = False) -> Machine:
    return Machine("Linux", frozenset(family.split()), frozenset(programs), is_root)


MAC = Machine("Darwin", programs=frozenset({"brew", "curl"}))
BARE_MAC = Machine("Darwin", programs=frozenset({"curl"}))
WINDOWS = Machine("Windows", programs=frozenset({"winget", "curl"}))
BARE_WINDOWS = Machine("Windows")
UBUNTU = linux("apt-get", "curl", "sudo", "wget")
MINIMAL_DEBIAN = linux("apt-get", family="debian", is_root=True)
ARCH = linux("pacman", "sudo", "curl", family="arch")
FEDORA = linux("curl", "sudo", family="fedora")
BARE_LINUX = linux(family="")
RELEASES = "get a build for this system from github.com/ggml-org/llama.cpp/releases, put it on the PATH"
SCRIPT = "https://ollama.com/install.sh"


@pytest.mark.parametrize(
    ("server", "machine", "hint"),
    [
        ("ollama", MAC, "install it with `brew install ollama`"),
        ("ollama", BARE_MAC, "install it from ollama.com/download"),
        ("ollama", WINDOWS, "install it with `winget install Ollama.Ollama`"),
        ("ollama", BARE_WINDOWS, "install it from ollama.com/download"),
        ("ollama", UBUNTU, f"install it with `curl -fsSL {SCRIPT} | sh`"),
        ("ollama", linux("wget"), f"install it with `wget -qO- {SCRIPT} | sh`"),
        ("ollama", MINIMAL_DEBIAN, f"install it with `apt-get install -y curl && curl -fsSL {SCRIPT} | sh`"),
        ("ollama", linux("apt-get"), "install it from ollama.com/download"),
        ("ollama", ARCH, "install it with `sudo pacman -S ollama`"),
        ("ollama", FEDORA, f"install it with `curl -fsSL {SCRIPT} | sh`"),
        ("ollama", BARE_LINUX, "install it from ollama.com/download"),
        ("llama.cpp", MAC, "install it with `brew install llama.cpp`"),
        ("llama.cpp", BARE_MAC, RELEASES),
        ("llama.cpp", WINDOWS, "install it with `winget install llama.cpp`"),
        ("llama.cpp", BARE_WINDOWS, RELEASES),
        ("llama.cpp", UBUNTU, RELEASES),
        ("llama.cpp", linux("brew"), "install it with `brew install llama.cpp`"),
        ("lmstudio", MAC, "install it with `brew install --cask lm-studio`"),
        ("lmstudio", WINDOWS, "install it with `winget install ElementLabs.LMStudio`"),
        ("lmstudio", linux("brew"), "install it from lmstudio.ai"),
        ("vllm", MAC, "it runs on Linux only: start it on such a machine, or use Ollama or llama.cpp here"),
        ("vllm", linux("uv", "pipx"), "install it with `uv tool install vllm`"),
        ("vllm", linux("pipx"), "install it with `pipx install vllm`"),
        ("vllm", UBUNTU, "install it with `sudo apt-get install -y pipx && pipx install vllm`"),
        (
            "vllm",
            FEDORA,
            "install it with `python3 -m venv ~/vllm && ~/vllm/bin/pip install vllm`, put ~/vllm/bin on the PATH",
        ),
        ("openai", MAC, ""),
    ],
)
def test_each_system_has_its_own_way(server: ServerName, machine: Machine, hint: str) -> None:
    assert how_to_install(server, machine) == hint


def test_no_command_begins_with_a_program_that_the_machine_lacks() -> None:
    servers: tuple[ServerName, ...] = ("ollama", "llama.cpp", "lmstudio", "vllm")
    machines = (MAC, BARE_MAC, WINDOWS, BARE_WINDOWS, UBUNTU, MINIMAL_DEBIAN, ARCH, FEDORA, BARE_LINUX)

    for machine in machines:
        for server in servers:
            for command in re.findall("`([^`]+)`", how_to_install(server, machine)):
                first = command.split()[0]
                assert first in machine.programs or first not in INSTALLERS, (command, machine)


def test_who_asks_in_vain_reads_how_to_install_and_how_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)

    assert how_to_start("ollama", "http://127.0.0.1:11434", UBUNTU) == (
        f"install it with `curl -fsSL {SCRIPT} | sh`; unless it runs then, start it with `ollama serve`"
    )
    assert how_to_start("vllm", "http://127.0.0.1:8000/v1", WINDOWS).startswith("it runs on Linux only")
    assert "vllm serve" not in how_to_start("vllm", "http://127.0.0.1:8000/v1", WINDOWS)


def test_this_machine_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brew").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        platform, "freedesktop_os_release", lambda: {"ID": "mint", "ID_LIKE": "ubuntu debian"}
    )
    mint = this_machine()

    def missing() -> dict[str, str]:
        raise FileNotFoundError

    monkeypatch.setattr(platform, "freedesktop_os_release", missing)

    assert (mint.system, mint.programs) == (platform.system(), frozenset({"brew"}))
    assert mint.family == {"mint", "ubuntu", "debian"}
    assert this_machine().family == frozenset()
