"""The composition root: the only file that names adapters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import Refused, check_has, check_type
from glasshouse.manifests.manifest import Manifest
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.minds.code_beside import is_world_code_allowed
from glasshouse.runtime.minds.minds import Agent, agent_played_by
from glasshouse.runtime.ports import Approver, Clock, Router
from glasshouse.runtime.ports import Toolbox as AnyToolbox
from glasshouse.runtime.store_port import Store
from glasshouse.stores.memory import MemoryStore
from glasshouse.stores.sqlite import SqliteStore
from glasshouse.stores.store_address import StoreAddress
from glasshouse.tools.documents.document_tools import DocumentTools
from glasshouse.tools.function import tool
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.tools.mcp.server_tools import ServerTools
from glasshouse.tools.recall import RecallTool
from glasshouse.tools.toolbox import JoinedTools, Toolbox

if TYPE_CHECKING:
    from glasshouse.models.installed import PARAMETERS_B, in_words, why_not_chosen
    from glasshouse.models.known_servers import hosted_model
    from glasshouse.models.local.llama_child import Loading
    from glasshouse.models.named_models import Choice, NamedModels, missing_models, pull_model
    from glasshouse.models.price_proposals import PROVIDER_IDS, ProposedPrice, has_price_list, proposed_price
    from glasshouse.stores.copying import copy_store
    from glasshouse.stores.postgres.postgres_store import PostgresStore
    from glasshouse.tools.mcp.tool_server import ToolServer

__all__ = [
    "PARAMETERS_B", "PROVIDER_IDS", "Choice", "Loading", "MemoryStore", "ModelRouter", "NamedModels", "PostgresStore", "ProposedPrice", "ServerTools", "SqliteStore", "StoreAddress", "ToolServer", "Toolbox", "copy_store", "has_price_list", "hosted_model", "in_words", "missing_models", "proposed_price", "pull_model", "tool",
    "why_not_chosen",
]  # fmt: skip
"""The adapters that other modules take from here."""


def __getattr__(name: str) -> Any:
    """Models by name, tool servers and PostgreSQL are imported when they are asked for: a play offline needs none of them."""
    if name not in __all__:
        raise AttributeError(f"{__name__} has no name {name!r}.")
    if name == "copy_store":
        from glasshouse.stores.copying import copy_store

        return copy_store
    if name == "PostgresStore":
        from glasshouse.stores.postgres.postgres_store import PostgresStore

        return PostgresStore
    if name == "ToolServer":
        from glasshouse.tools.mcp.tool_server import ToolServer

        return ToolServer
    from glasshouse.models import known_servers, named_models, price_proposals

    for module in (named_models, known_servers, price_proposals):
        if hasattr(module, name):
            return getattr(module, name)
    raise AssertionError(f"No module of models has {name}.")


def store_meant(given: Store | str | Path | None) -> Store:
    """The given store, the one at a path or an address, or a store in memory for None."""
    if given is None:
        return MemoryStore()
    if isinstance(given, str | Path):
        return StoreAddress(given).to_write()
    check_has("Terrarium(store)", given, "commit", "a path or a store", 'Write Terrarium("show.glasshouse").')
    return given


def router_meant(given: Router | str | Path | None) -> Router:
    """The given router, the models that a text names, or the offline troupe for every profile."""
    if given is None or given == "offline":
        return ModelRouter()
    if isinstance(given, str | Path):
        return models_named(given)
    advice = 'Write models="ollama", or ModelRouter(model).'
    check_has("Terrarium(models=...)", given, "route", "a text or a ModelRouter", advice)
    return given


def models_named(
    wanted: str | Path,
    *,
    pins: Mapping[str, str] | None = None,
    env_file: str | Path | None = None,
    noted: set[str] | None = None,
) -> NamedModels:
    """The models that a text names: a server such as `ollama`, `ollama:MODEL`, an address, `local:FILE.gguf`, or the path of a
    models.yaml.

    `pins` lets other models play some handles or teams. Keys come from the environment, or else from `env_file`.
    The names of the variables that were asked for and have a value are added to `noted`.
    """
    from glasshouse.models.named_models import NamedModels
    from glasshouse.settings import value_of  # Imported here, so that settings are read only if needed.

    file = None if env_file is None else Path(env_file)
    if file is not None and not file.is_file():
        raise Refused(f"There is no file {file}.", "Name a file with lines such as OPENAI_API_KEY=...")

    def value(variable: str) -> str:
        text = value_of(variable, env_file=file)
        if text and noted is not None:
            noted.add(variable)
        return text

    return NamedModels(str(wanted), value, pins=pins)


def troupe_digest() -> str:
    """A digest of everything that the offline troupe plays from: its scripts, its grammar and its words."""
    from glasshouse.troupe.data_files import digest_of_all

    return digest_of_all()


def usual_tools(
    tools: AnyToolbox | None = None, approver: Approver | None = None, servers: ServerTools | None = None
) -> AnyToolbox:
    """The tools of a terrarium: those given, or the built-in ones; plus those of servers, the tools that search documents and
    memory, and the group tools for privileged creatures."""
    if tools is not None:
        check_has("Terrarium(tools=...)", tools, "names", "a Toolbox", "Write Toolbox(function).")
    own = tools or Toolbox()
    return JoinedTools(
        own, DocumentTools(), RecallTool(), GroupTools(approver), *(() if servers is None else (servers,))
    )


def servers_in(path: str | Path) -> tuple[ToolServer, ...]:
    """The tool servers of a tools.yaml. Their commands run in its folder."""
    from glasshouse.manifests.tools_file import load_tools_file
    from glasshouse.tools.mcp.tool_server import ToolServer

    file = load_tools_file(Path(path))
    folder = str(Path(path).resolve().parent)
    return tuple(
        [
            ToolServer(
                name,
                plan.command,
                plan.url or "",
                folder if plan.command else None,
                plan.variables,
                plan.headers,
                plan.seconds_max,
            )
            for name, plan in file.servers.items()
        ]
    )


def server_tools(given: Collection[ToolServer], approver: Approver | None, clock: Clock) -> ServerTools:
    """The tools of these servers, and of those that worlds declare."""
    advice = 'Write tool_servers=[ToolServer("weather", command=["python", "weather.py"])].'
    check_type("Terrarium(tool_servers=...)", given, Collection, "several ToolServers", advice)
    for server in given:
        from glasshouse.tools.mcp.tool_server import ToolServer

        check_type("Terrarium(tool_servers=[...])", server, ToolServer, "ToolServers", advice)
    return ServerTools(given, _value_of, clock, approver)


def _value_of(variable: str) -> str:
    from glasshouse.settings import value_of  # Imported here, so that settings are read only if needed.

    return value_of(variable)


def usual_agent(manifest: Manifest) -> Agent:
    """The agent that a manifest's `played_by` names."""
    return agent_played_by(manifest.played_by, is_world_code_allowed, manifest.act_seconds_max)
