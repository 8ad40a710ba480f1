"""Servers of models: where each usually listens, which variable holds its key, and how it is started.

Pure, except that it looks whether a server's program is installed. Always holds: no address here or in a ledger has a
password in it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from glasshouse.errors import Refused, UnknownName
from glasshouse.manifests.models_file import ServerName, checked_url
from glasshouse.models.install_hints import Machine, how_to_install, this_machine

OFFLINE: Final = "offline"
LOCAL: Final = "local"
GGUF: Final = ".gguf"


class KnownServer(NamedTuple):
    """One kind of server."""

    title: str
    url: str
    key_variable: str = ""
    """The variable that usually holds its key; empty if it needs none."""
    url_variable: str = ""
    """The variable in which people usually put another address of it."""
    usual_model: str = ""
    """For a hosted server: the model that plays if only the server is named. Empty: the rule of `installed` chooses."""
    program: str = ""
    """The program that starts it on this machine."""
    start: str = ""
    """How it is started: a command between backticks, and what its words in capitals stand for."""


_LLAMA_CPP = "`llama-server --jinja -m FILE`, where FILE is a model in a .gguf file"
_VLLM = "`vllm serve MODEL`, where MODEL is a folder or a name on Hugging Face"

KNOWN_SERVERS: Final[dict[ServerName, KnownServer]] = {
    "ollama": KnownServer("Ollama", "http://127.0.0.1:11434", "", "OLLAMA_HOST", "", "ollama", "`ollama serve`"),
    "llama.cpp": KnownServer("llama.cpp", "http://127.0.0.1:8080/v1", "", "", "", "llama-server", _LLAMA_CPP),
    "lmstudio": KnownServer("LM Studio", "http://127.0.0.1:1234/v1", "", "", "", "lms", "`lms server start`"),
    "local": KnownServer("llama.cpp from a file", ""),
    "vllm": KnownServer("vLLM", "http://127.0.0.1:8000/v1", "", "", "", "vllm", _VLLM),
    "openai": KnownServer("OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5-mini"),
    "openrouter": KnownServer("OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "anthropic": KnownServer("Anthropic", "", "ANTHROPIC_API_KEY", "", "claude-haiku-4-5"),
    "gemini": KnownServer("Gemini", "", "GEMINI_API_KEY", "", "gemini-2.5-flash"),
    "mistral": KnownServer("Mistral", "", "MISTRAL_API_KEY", "", "mistral-small-latest"),
    "offline": KnownServer("the offline troupe", ""),
    "other": KnownServer("the server", ""),
}  # fmt: skip
PROVIDERS: Final = frozenset({"anthropic", "gemini", "mistral"})
"""Servers that are asked by way of the extra `[providers]`."""


class Wanted(NamedTuple):
    """A server, its address and a model of it. Empty: its usual address, and the model that the rule chooses."""

    server: ServerName
    url: str = ""
    model: str = ""


def wanted_of(text: str) -> Wanted | Path:
    """What `--models TEXT` means: a server, a model of a server, an address, or the path of a models.yaml or of
    a model's file."""
    name, _, model = text.partition(":")
    for server in KNOWN_SERVERS:
        if server == name and server != "other":
            return Wanted(server, "", model)
    if name in {"http", "https"}:
        address, _, model = text.partition("#")
        return Wanted("other", _checked(address), model)
    if text.lower().endswith(GGUF):
        return Wanted(LOCAL, "", text)
    if text.endswith((".yaml", ".yml")) or Path(text).is_file():
        if not Path(text).is_file():
            raise Refused(f"There is no file {text}.", "Write one, or name a server such as ollama.")
        return Path(text)
    raise UnknownName(
        noun="server", name=text, known=[*[name for name in KNOWN_SERVERS if name != "other"], "models.yaml"]
    )


def hosted_model(text: str) -> tuple[ServerName, str]:
    """The hosted server and the model that a text such as `openai:gpt-5-mini` names; the server's usual one if it names none."""
    meant = wanted_of(text)
    known = None if isinstance(meant, Path) else KNOWN_SERVERS[meant.server]
    if isinstance(meant, Path) or known is None or not known.key_variable:
        names = ", ".join(name for name, server in KNOWN_SERVERS.items() if server.key_variable)
        raise Refused(f"{text} is no model of a hosted server.", f"Write SERVER:MODEL, with one of {names}.")
    if not (meant.model or known.usual_model):
        raise Refused(f"{known.title} has no usual model.", f"Write {meant.server}:MODEL.")
    return meant.server, meant.model or known.usual_model


def _checked(address: str) -> str:
    try:
        return checked_url(address)
    except ValueError as wrong:
        raise Refused("The address of the models is wrong:", str(wrong)) from wrong


def usual_url(server: ServerName, variable: Callable[[str], str]) -> str:
    """Where a server usually is. Its own variable may say so as a host, a host and a port, or an address."""
    known = KNOWN_SERVERS[server]
    text = variable(known.url_variable) if known.url_variable else ""
    if not text:
        return known.url
    if "://" in text:
        return _checked(text)
    host, _, port = text.rpartition(":") if re.search(r":\d+$", text) else (text, "", "")
    is_everywhere = host in {"", "0.0.0.0"}  # noqa: S104 (a server that listens everywhere is asked at home)
    return _checked(f"http://{'127.0.0.1' if is_everywhere else host}:{port or urlsplit(known.url).port}")


def is_own(url: str) -> bool:
    """Whether a server is on this machine or in its network, so that its models cost nothing."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return bool(host) and (
            "." not in host or host.endswith((".local", ".lan", ".internal", ".localhost"))
        )


def how_to_start(server: ServerName, url: str, machine: Machine | None = None) -> str:
    """What to do if nobody answers, as the second half of a sentence; on this machine, if no other is given."""
    known = KNOWN_SERVERS[server]
    if not known.program or not is_own(url):
        return "check the address and the network"
    if urlsplit(url).hostname not in {"127.0.0.1", "localhost", "::1"}:
        return f"start it there with {known.start}"
    if shutil.which(known.program) is not None:
        return f"start it with {known.start}"
    machine = machine or this_machine()
    if server == "vllm" and machine.system != "Linux":
        return how_to_install(server, machine)
    return f"{how_to_install(server, machine)}; unless it runs then, start it with {known.start}"
