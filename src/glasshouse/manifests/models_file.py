"""`ModelsFile`: models.yaml as data. It says which model plays each size, on which server, and what it costs.

Always holds: an unknown field is an error, and problems have file, line and field, as in a world's files. The file names
variables that hold keys, never a key: text that looks like a key is refused, and no message quotes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from glasshouse.errors import BadWorld
from glasshouse.manifests.fields import Items, Strict, Text, number_max
from glasshouse.manifests.manifest import Profile as Size
from glasshouse.manifests.problem import At, Complaint, Problem, in_order, unknown
from glasshouse.manifests.validation import valid_part_of
from glasshouse.manifests.yaml_source import Node, source_at
from glasshouse.reprs import repr_of

ServerName = Literal[
    "ollama", "llama.cpp", "lmstudio", "local", "vllm", "openai", "openrouter", "anthropic", "gemini", "mistral", "offline", "other"
]  # fmt: skip
SERVERS: Final[tuple[ServerName, ...]] = get_args(ServerName)
SIZES: Final[tuple[Size, ...]] = get_args(Size)
MODELS_FILE: Final = "models.yaml"
names_max: Final = 64
"""A models.yaml with more backends, profiles or pins of a kind is refused."""
context_tokens_min: Final = 1_024
"""A profile with less context is refused."""

_KEY = re.compile(
    r"\b(sk|pk|rk|gsk|xai|hf|pplx|ghp)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+\S{8,}"
    r"|(?<![\w/.-])(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{32,}(?![\w/.-])"
)
"""Text that looks like a key: with the prefix of a known service, or long and without a word in it."""


def _variable(name: str) -> str:
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,63}", name):
        raise ValueError("this is no name of a variable. Write one such as OPENAI_API_KEY.")
    return name


def checked_url(text: str) -> str:
    """An address without a trailing slash. Raises ValueError, without quoting it, if it is none or has a password."""
    no_address = "this is no address. Write one such as http://127.0.0.1:8080/v1."
    try:
        url = urlsplit(text)
        _ = url.port  # Read, because a port that is no number is noticed only then.
    except ValueError as wrong:
        raise ValueError(no_address) from wrong
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise ValueError(no_address)
    if url.username or url.password:
        raise ValueError("an address must not hold a password. Name a variable in key_variable.")
    return text.rstrip("/")


Variable = Annotated[str, AfterValidator(_variable)]
Url = Annotated[str, AfterValidator(checked_url)]
Usd = Annotated[float, Field(ge=0, le=number_max, allow_inf_nan=False)]


class Backend(Strict):
    """A server that answers."""

    server: ServerName | None = None
    """What kind of server it is. Left out: the name of this backend is that of its server."""
    url: Url | None = None
    """Its address. Left out: where such a server usually listens."""
    key_variable: Variable | None = None
    """The variable of the environment, or of --env-file, that holds the key. Left out: the usual one of the server."""
    max_parallel: int | None = Field(default=None, ge=1, le=256)
    """How many calls it is sent at the same time. Left out: as many as it has slots, if it says so."""


class Decoding(Strict):
    """How the server samples. What is left out is the server's own default."""

    temperature: Usd | None = None
    """How much chance there is in the choice of words."""
    top_p: Usd | None = None
    """Only the likeliest words that together have this probability."""
    top_k: int | None = Field(default=None, ge=0, le=number_max)
    """Only this many of the likeliest words."""
    min_p: Usd | None = None
    """Only words with at least this share of the likeliest one's probability."""
    repeat_penalty: Usd | None = None
    """How much words that were used are avoided."""
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    """How much words that were used at all are avoided."""
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    """How much words are avoided for each time that they were used."""
    dry_multiplier: Usd | None = None
    """How much llama.cpp avoids to repeat a run of words (DRY); 0: not at all."""
    dry_allowed_length: int | None = Field(default=None, ge=0, le=number_max)
    """Runs of up to this many tokens may be repeated."""
    dry_penalty_last_n: int | None = Field(default=None, ge=-1, le=number_max)
    """Among how many of the last tokens, those of the prompt included, it looks for repeated runs; -1: all."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    """How long a hosted model that thinks does so."""


class UsdPerMillion(Strict):
    """Dollars for a million tokens."""

    input: Usd
    """For the tokens of prompts."""
    output: Usd
    """For the tokens of replies."""
    cache_read: Usd | None = None
    """For tokens of prompts that the server had in its cache. Left out: as `input`."""
    cache_write: Usd | None = None
    """For tokens of prompts that the server puts into its cache. Left out: as `input`."""


class CallLimits(Strict):
    """What one call may take."""

    reasoning_tokens: int = Field(default=0, ge=0, le=number_max)
    """How many tokens it may think before it replies."""
    call_seconds: float | None = Field(default=None, gt=0, le=number_max, allow_inf_nan=False)
    """How long one call may take in all. Left out: an hour, or 120 seconds if its server cannot send answers in pieces."""
    first_token_seconds: float = Field(default=240.0, gt=0, le=number_max, allow_inf_nan=False)
    """How long one call may show no progress before its first token."""
    token_seconds: float = Field(default=120.0, gt=0, le=number_max, allow_inf_nan=False)
    """How long one call may show no progress after that."""


class ModelProfile(Strict):
    """One model: where it is, how it is asked, what it costs."""

    __repr__ = repr_of("backend", "model", "context_tokens")

    backend: Text
    """A name under `backends`, or a server's name."""
    model: Text
    """The model, as its server calls it; with the server `local`, the path of a GGUF file, as seen from this file."""
    context_tokens: int = Field(ge=context_tokens_min, le=number_max)
    """How many tokens a prompt and its reply may have together."""
    reply_tokens: int | None = Field(default=None, ge=16, le=number_max)
    """How many tokens a reply may have. Left out: as its size has."""
    form: Literal["auto", "schema", "json", "prose"] = "auto"
    """How it is asked to reply, unless a creature says otherwise."""
    decoding: Decoding | None = None
    """How the server samples. Left out: as the server does by itself, and on llama.cpp with DRY. {}: as the server does."""
    price: UsdPerMillion | None = None
    """Dollars for a million tokens. Left out: nothing if it runs on this machine, otherwise unknown."""
    limits: CallLimits = CallLimits()
    """What one call may take."""
    fallbacks: Items[Text] = ()
    """The profiles to ask, in order, if this one cannot answer. Left out: none."""


class Pins(Strict):
    """Which creatures are played by another model than that of their size. The narrowest pin holds."""

    run: Text | None = None
    """The profile that plays every size."""
    teams: dict[str, Text] = Field(default={}, max_length=names_max)
    """Team -> profile."""
    creatures: dict[str, Text] = Field(default={}, max_length=names_max)
    """Handle -> profile."""

    def of(self, handle: str, teams: Mapping[str, tuple[str, ...]]) -> str | None:
        """The profile that a creature is pinned to, by itself or with its team."""
        team = next((self.teams[name] for name in self.teams if handle in teams.get(name, ())), None)
        return self.creatures.get(handle) or team


class ModelsFile(Strict):
    """Backends, profiles and pins."""

    backends: dict[str, Backend] = Field(default={}, max_length=names_max)
    """The servers, by names of your choice."""
    profiles: dict[str, ModelProfile] = Field(min_length=1, max_length=names_max)
    """The models. tiny, fast, balanced and strong are the sizes that creatures ask for; pins, fallbacks, --model and
    tournaments may name any other."""
    pins: Pins = Pins()
    """Who is played by another model than that of its size."""

    def backend_of(self, profile: ModelProfile) -> tuple[ServerName, Backend]:
        """The kind of server that a profile's model is on, and what the file says about it."""
        backend = self.backends.get(profile.backend, Backend())
        return backend.server or _server_named(profile.backend) or "other", backend


def _server_named(name: str) -> ServerName | None:
    return next((server for server in SERVERS if server == name), None)


def load_models_file(path: Path) -> ModelsFile:
    """The models file at a path, or `BadWorld` with every problem it has."""
    source = source_at(path)
    if source.root is not None and (secrets := [*secrets_in(source.root)]):
        raise BadWorld(
            in_order(map(source.problem, secrets))
        )  # Alone, since other problems might quote a key.
    file, complaints, damaged, rest = valid_part_of(source, ModelsFile)
    problems: list[Problem] = [*source.problems, *map(source.problem, complaints)]
    if file is not None:
        sound = (complaint for complaint in _complaints_about(file) if str(complaint.at[0]) not in damaged)
        problems += map(rest.problem, sound)
    if problems or file is None:
        raise BadWorld(in_order(problems))
    return file


def secrets_in(node: Node, at: At = ()) -> Iterator[Complaint]:
    """A complaint about each text that looks like a key. None quotes it."""
    if isinstance(node.scalar, str) and _KEY.search(node.scalar):
        text = "this looks like a key itself. Put the key into a variable of the environment or of --env-file, and"
        yield Complaint(at[:1], f"{text} write the variable's name here, such as OPENAI_API_KEY.")
    for name, child in node.children.items():
        if isinstance(name, str) and _KEY.search(name):
            yield Complaint(at, "the name of a field in here looks like a key. Remove it.")
        else:
            yield from secrets_in(child, (*at, name))


def _complaints_about(file: ModelsFile) -> Iterator[Complaint]:
    for name, backend in file.backends.items():
        if backend.server is None and _server_named(name) is None:
            text = f"this field is missing, because no server is called {name!r}. Write one of {', '.join(SERVERS)}."
            yield Complaint(("backends", name, "server"), text)
        elif (backend.server or name) == "local" and (backend.url or backend.key_variable):
            field = "url" if backend.url else "key_variable"
            text = "a model in a file has no address and no key. Remove this field."
            yield Complaint(("backends", name, field), text)
        elif (backend.server or name) == "other" and backend.url is None:
            yield Complaint(("backends", name, "url"), "this field is missing. Write the server's address.")
    if not file.pins.run and not any(size in file.profiles for size in SIZES):
        text = f"none of these is a size. Bind one of {', '.join(SIZES)}, or name a profile in pins.run."
        yield Complaint(("profiles",), text)
    contexts: dict[tuple[str, str], tuple[str, int]] = {}
    for name, profile in file.profiles.items():
        at = ("profiles", name)
        if profile.backend not in file.backends and _server_named(profile.backend) is None:
            known = [*file.backends, *SERVERS]
            yield Complaint((*at, "backend"), unknown("backend or server", profile.backend, known))
        elif profile.backend == "other" and "other" not in file.backends:
            text = "write this backend under `backends`, with its url."
            yield Complaint((*at, "backend"), text)
        for index, other in enumerate(profile.fallbacks):
            known = [known for known in file.profiles if known != name]
            if other not in known:
                yield Complaint((*at, "fallbacks", index), unknown("other profile", other, known))
        first, tokens = contexts.setdefault((profile.backend, profile.model), (name, profile.context_tokens))
        if tokens != profile.context_tokens:
            text = f"profile {first} gives the same model {tokens:,} tokens. Give both the same, because servers load a"
            yield Complaint((*at, "context_tokens"), f"{text} model anew for each length.")
    yield from _unknown_pins(file)


def _unknown_pins(file: ModelsFile) -> Iterator[Complaint]:
    pins = file.pins
    pinned: list[tuple[At, str]] = [
        (("pins", "teams", name), profile) for name, profile in pins.teams.items()
    ]
    pinned += [(("pins", "creatures", name), profile) for name, profile in pins.creatures.items()]
    pinned += [] if pins.run is None else [(("pins", "run"), pins.run)]
    for at, profile in pinned:
        if profile not in file.profiles:
            yield Complaint(at, unknown("profile", profile, file.profiles))
