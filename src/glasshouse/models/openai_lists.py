"""The models that an OpenAI-compatible server lists, as each kind of server describes them.

Always holds: `context_served` is what the server gives the model now, never what the model was trained for.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.events.event import Json
from glasshouse.events.model_use import Price
from glasshouse.models.decoding_defaults import usual_decoding
from glasshouse.models.installed import Installed
from glasshouse.models.reply_parts import count_in, name_in
from glasshouse.models.server import BadAnswer, Server

ServerKind = Literal["llama.cpp", "lmstudio", "vllm", "openai", "openrouter", "other"]

models_listed_max: Final = 2_000
"""More models of a server are not listed."""
lmstudio_context_tokens: Final = 4_096
"""The context with which LM Studio loads a model if its user has not chosen another."""
_OWNERS: Final[dict[str, ServerKind]] = {
    "llamacpp": "llama.cpp",
    "vllm": "vllm",
    "organization_owner": "lmstudio",
}


class Listed(NamedTuple):
    """A model in a server's list."""

    model: Installed
    context_served: int | None = None
    kind: ServerKind = "other"
    """Which server this is, if the list shows it."""


async def installed_at(
    url: str, *, server: ServerKind = "other", key: str = "", key_variable: str = ""
) -> list[Installed]:
    """The models that the server at this address has."""
    root, prefix = root_and_prefix(url)
    there = Server(root, key=key, key_variable=key_variable)
    try:
        models = [listed.model for listed in await listed_by(there, prefix, server)]
        if server != "llama.cpp":
            return models
        props = await props_of(there)
        decoding = usual_decoding(props)
        return [replace(model, decoding=decoding, slots=slots_in(props)) for model in models]
    except BadAnswer as bad:
        raise there.error_of(bad, "its list of models") from None
    finally:
        await there.close_connections()


async def props_of(server: Server) -> Json:
    """What llama.cpp says of itself; empty if it does not tell. Nobody needs it in order to play."""
    try:
        return await server.read("/props")
    except (BadAnswer, ModelUnreachable, ModelFailed, ModelMisconfigured):
        return {}


def slots_in(props: Json) -> int | None:
    """How many calls llama.cpp answers at the same time, by what it says of itself."""
    return count_in(props, "total_slots") or None


async def server_at(url: str, *, key: str = "") -> tuple[ServerKind | Literal["ollama"], str]:
    """Which server answers at an address, and the address to ask it at; `other` if that cannot be told."""
    root, prefix = root_and_prefix(url)
    there = Server(root, key=key)
    try:
        kinds = {entry.kind for entry in await listed_by(there, prefix, "other")} - {"other"}
        if kinds:
            return kinds.pop(), url
        # llama.cpp speaks a little of Ollama's API, too, so it is asked second.
        is_ollama = "version" in await there.read("/api/version") and "models" in await there.read(
            "/api/tags"
        )
    except (BadAnswer, ModelUnreachable, ModelFailed, ModelMisconfigured):
        return "other", url
    finally:
        await there.close_connections()
    return ("ollama", root) if is_ollama else ("other", url)


async def listed_by(server: Server, prefix: str, kind: ServerKind) -> list[Listed]:
    """The models that a server lists. Raises `BadAnswer` if it refuses to."""
    if kind in {"lmstudio", "other"}:
        own = await server.read("/api/v0/models")
        models = [_of_lmstudio(entry) for entry in _entries(own) if "state" in entry]
        if models:
            return models
    listed = [_of_openai(entry) for entry in _entries(await server.read(f"{prefix}/models"))]
    # Older servers of llama.cpp list only the context that the model was trained for.
    if len(listed) == 1 and listed[0].kind == "llama.cpp" and listed[0].context_served is None:
        served = count_in((await server.read("/props")).get("default_generation_settings"), "n_ctx")
        return [_served(listed[0], served)]
    return listed


def _served(listed: Listed, context_tokens: int | None) -> Listed:
    """The same with the context that its server gives it."""
    model = replace(listed.model, context_tokens=context_tokens)
    return listed._replace(model=model, context_served=context_tokens)


def _entries(answer: Json) -> list[Json]:
    entries = answer.get("data")
    if not isinstance(entries, list):
        return []
    return [
        entry for entry in islice(entries, models_listed_max) if isinstance(entry, dict) and entry.get("id")
    ]


def _of_lmstudio(entry: Json) -> Listed:
    is_embedding = entry.get("type") == "embeddings"
    loaded = count_in(entry, "loaded_context_length")
    model = Installed(
        name=name_in(entry["id"]),
        quantization=name_in(entry.get("quantization")),
        context_tokens=loaded or count_in(entry, "max_context_length"),
        context_tokens_unasked=loaded or lmstudio_context_tokens,
        capabilities=frozenset({"embedding" if is_embedding else "completion"}),
    )
    return Listed(model, loaded, "lmstudio")


def _of_openai(entry: Json) -> Listed:
    meta: Json = entry["meta"] if isinstance(entry.get("meta"), dict) else {}
    parameters = count_in(meta, "n_params")
    provider = entry.get("top_provider")
    served = (
        count_in(entry, "max_model_len")
        or count_in(meta, "n_ctx")
        or count_in(provider, "context_length")
        or count_in(entry, "context_length")
    )
    model = Installed(
        name=name_in(entry["id"]),
        parameters_b=None if not parameters else parameters / 1e9,
        quantization=_quantization(name_in(meta.get("ftype"))),
        context_tokens=served,
        bytes=count_in(meta, "size"),
        price=_price(entry.get("pricing")),
    )
    return Listed(model, served, _OWNERS.get(str(entry.get("owned_by")), "other"))


def _quantization(ftype: str) -> str:
    """The short name of what llama.cpp calls `(guessed) all F32` or `Q4_K - Medium`."""
    name, _, size = ftype.removeprefix("(guessed) ").removeprefix("all ").partition(" - ")
    return f"{name}_{size[0]}" if size in {"Small", "Medium", "Large"} else name


def _price(pricing: Any) -> Price | None:
    """OpenRouter's prices, which are dollars for one token, as texts."""
    if not isinstance(pricing, dict):
        return None
    try:
        usd = {name: float(pricing[name]) * 1_000_000 for name in pricing if pricing[name] is not None}
        given = usd["prompt"]
        written = usd["completion"]
    except (KeyError, TypeError, ValueError):
        return None
    if not (0 <= given < float("inf") and 0 <= written < float("inf")):  # It lists -1 where the price varies.
        return None
    return Price(given, written, usd.get("input_cache_read"), usd.get("input_cache_write"))


def root_and_prefix(url: str) -> tuple[str, str]:
    """The address of a server, and what comes before the paths of its API."""
    root = url if url.endswith("://") else url.rstrip("/")
    if root.endswith("/v1"):
        return root.removesuffix("/v1"), "/v1"
    has_path = "/" in root.partition("://")[2] if "://" in root else "/" in root
    return root, "" if has_path else "/v1"
