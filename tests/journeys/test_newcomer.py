"""A newcomer with a new clone, an empty home and little on the path: README's commands, then the tutorial, in a shell."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.journeys.tutorial_reader import ReaderWithAShell, scripted_model
from tests.pages import ROOT
from tests.servers.imitating_server import imitating_server
from tests.servers.imitations import ServedModel
from tools.tutorial import chapters, steps_of

install_seconds_max = 1800
"""How long a command may take that installs something: the network may be slow, and only one that hangs is given up."""
SETTINGS_OF_THE_NETWORK = (
    "PIP_",
    "npm_config_",
    "NPM_CONFIG_",
    "SSL_",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""What a machine says about how packages come to it: a newcomer has it from whoever set the machine up."""
PRINTED = re.compile(r"^(\.venv/bin/glasshouse .*)$", re.MULTILINE)


def variables_of_newcomer(home: Path) -> dict[str, str]:
    """Everything that the shell of somebody new knows."""
    network = {name: value for name, value in os.environ.items() if name.startswith(SETTINGS_OF_THE_NETWORK)}
    return {**network, "HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def in_a_shell(command: str, folder: Path, variables: dict[str, str]) -> str:
    result = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=install_seconds_max,
        check=False,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.mark.soak
def test_a_newcomer_follows_readme_and_the_tutorial_in_a_new_clone(tmp_path: Path) -> None:
    clone, home, folder = tmp_path / "clone", tmp_path / "home", tmp_path / "pier"
    home.mkdir()
    folder.mkdir()
    variables = variables_of_newcomer(home)
    in_a_shell(f"git clone -q {ROOT} {clone}", tmp_path, variables)

    in_a_shell("make play", clone, variables)
    assert "Glasshouse" in page_served(["make", "serve", "PORT=0"], clone, variables)
    readme = (clone / "README.md").read_text(encoding="utf-8")
    commands = PRINTED.findall(readme)
    assert len(commands) >= 4
    with (
        imitating_server("ollama") as ollama,
        imitating_server("openai", models=[ServedModel("gpt-5-mini")]) as openai,
    ):
        servers = {"OLLAMA_HOST": ollama.url, "OPENAI_BASE_URL": openai.url, "OPENAI_API_KEY": "sk-anything"}
        for command in commands:
            in_a_shell(command, clone, variables | servers)

    reader = ReaderWithAShell(folder, home, f"{clone}/.venv/bin:/usr/bin:/bin")
    with scripted_model() as address:
        reader.variables["OLLAMA_HOST"] = address
        for chapter in chapters():
            for step in steps_of(chapter):
                reader.take(step)
    assert "Glasshouse" in page_served(
        ["glasshouse", "serve", "--port", "0", "--no-open"], folder, variables | reader.variables
    )
    assert (folder / "the-last-post.html").is_file()


def page_served(command: list[str], folder: Path, variables: dict[str, str]) -> str:
    """The page of a server that this command starts; it is ended as by Ctrl-C."""
    server = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        assert server.stdout is not None
        printed = []
        for line in iter(server.stdout.readline, ""):
            printed.append(line)
            if address := re.search(r"http://127\.0\.0\.1:\d+\S*", line):
                with urlopen(address[0]) as answer:
                    return str(answer.read().decode())
        raise AssertionError("".join(printed))
    finally:
        os.killpg(server.pid, signal.SIGINT)
        server.wait(timeout=install_seconds_max)
        assert server.stdout is not None
        server.stdout.close()
