"""The sentence about a missing extra fits how Glasshouse was installed."""

import json
import sys
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from glasshouse import installation
from glasshouse.installation import (
    DISTRIBUTION,
    Installation,
    command_for_extra,
    installed_version,
    missing_extra,
)
from tests.pages import ROOT

Install = Callable[..., Path]


def become_active(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the shell find the programs of an environment, as after its activation."""
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "pip").touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / "python"))
    monkeypatch.setenv("PATH", str(environment / "bin"))
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs Glasshouse as a tool would: with its name, where it came from, and the files of its environment."""

    def install(by: str = "pip", origin: dict[str, Any] | None = None, *files: str) -> Path:
        info = tmp_path / "lib" / f"{DISTRIBUTION.replace('-', '_')}-7.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {DISTRIBUTION}\nVersion: 7\n")
        (info / "INSTALLER").write_text(f"{by}\n")
        if origin is not None:
            (info / "direct_url.json").write_text(json.dumps(origin))
        for file in files:
            (tmp_path / file).touch()
        monkeypatch.setattr(installation, "distribution", lambda name: metadata.Distribution.at(info))
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        become_active(tmp_path, monkeypatch)
        return tmp_path

    return install


def test_pip_installs_the_extra(installed: Install) -> None:
    installed()

    assert command_for_extra("mcp") == 'pip install "glasshouse-agents[mcp]"'


def test_pipx_installs_the_whole_again(installed: Install) -> None:
    installed("pip", None, "pipx_metadata.json")

    assert command_for_extra("mcp") == 'pipx install --force "glasshouse-agents[mcp]"'


def test_a_tool_of_uv_is_installed_by_uv_again(installed: Install) -> None:
    installed("uv", None, "uv-receipt.toml")

    assert command_for_extra("providers") == 'uv tool install --force "glasshouse-agents[providers]"'


def test_an_environment_of_uv_has_no_pip(installed: Install) -> None:
    installed("uv")

    assert command_for_extra("mcp") == 'uv pip install "glasshouse-agents[mcp]"'


def test_what_came_from_an_address_comes_from_there_again(installed: Install) -> None:
    installed(
        "pip",
        {"url": "https://example.invalid/g.git", "vcs_info": {"vcs": "git", "requested_revision": "main"}},
    )

    assert (
        command_for_extra("mcp")
        == 'pip install "glasshouse-agents[mcp] @ git+https://example.invalid/g.git@main"'
    )


@pytest.mark.parametrize("is_here", [True, False])
def test_a_checkout_is_installed_in_place_again(
    installed: Install, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_here: bool
) -> None:
    checkout = tmp_path / "my glasshouse"
    checkout.mkdir()
    origin = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    installed("pip", origin)
    monkeypatch.setattr(sys, "prefix", str(checkout / ".venv"))
    monkeypatch.setattr(sys, "executable", str(checkout / ".venv/bin/python"))
    monkeypatch.chdir(checkout if is_here else tmp_path)

    command = command_for_extra("mcp")

    assert command == (
        '.venv/bin/python -m pip install -e ".[mcp]"'
        if is_here
        else f"'{checkout}/.venv/bin/python' -m pip install -e \"{checkout}[mcp]\""
    )


def test_a_package_that_was_never_installed_says_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", missing)
    become_active(tmp_path, monkeypatch)

    assert str(missing_extra("It needs the extra `mcp`.", "mcp")) == (
        'It needs the extra `mcp`. Install it with: pip install "glasshouse-agents[mcp]"'
    )


OTHER = Installation(python="/opt/my env/bin/python")


@pytest.mark.parametrize(
    ("installation", "command"),
    [
        (OTHER, "'/opt/my env/bin/python' -m pip install \"glasshouse-agents[prices]\""),
        (OTHER._replace(is_active=True), 'pip install "glasshouse-agents[prices]"'),
        (
            OTHER._replace(installer="uv"),
            "uv pip install --python '/opt/my env/bin/python' \"glasshouse-agents[prices]\"",
        ),
        (OTHER._replace(installer="uv", is_active=True), 'uv pip install "glasshouse-agents[prices]"'),
        (OTHER._replace(is_pipx=True), 'pipx install --force "glasshouse-agents[prices]"'),
        (OTHER._replace(is_uv_tool=True), 'uv tool install --force "glasshouse-agents[prices]"'),
        (
            Installation(
                {"url": "file:///home/me/glasshouse", "dir_info": {"editable": True}},
                "uv",
                "/home/me/glasshouse/.venv/bin/python",
                folder="/home/me/glasshouse",
            ),
            'uv pip install --python .venv/bin/python -e ".[prices]"',
        ),
    ],
)
def test_the_command_goes_to_the_environment_that_plays_whichever_is_active(
    installation: Installation, command: str
) -> None:
    assert command_for_extra("prices", installation) == command


def test_the_distribution_has_the_name_that_is_shown() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert (project["name"], project["version"]) == (DISTRIBUTION, installed_version())
