"""`Minds`: which Python object thinks for each creature.

Always holds: a creature keeps its object through every change of the graph. A creature without one gets one, made
from its manifest, at its first act.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from glasshouse.errors import Refused
from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.minds.manifest_agent import ManifestAgent
from glasshouse.runtime.minds.visitor import VisitorAgent
from glasshouse.world.state.state import World

AgentFor = Callable[[Manifest], Agent]
"""Makes the mind of a creature that was given none."""


class Minds:
    """The agents of a house, and the manifests they are made from."""

    def __init__(self, world: Callable[[], World], agent_for: AgentFor) -> None:
        self._world = world
        self._agent_for = agent_for
        self._agents: dict[str, Agent] = {}
        self._manifests_cache: dict[str, Manifest] = {}

    def of(self, creature_id: str) -> Agent:
        """Who thinks for a creature: the object it was given, or one made now."""
        agent = self._agents.get(creature_id)
        if agent is None:
            manifest = self.manifest(self._world().creatures[creature_id].manifest_digest)
            agent = self._agents[creature_id] = self._agent_for(manifest)
        return agent

    def known(self, creature_id: str) -> Agent | None:
        """The object that thinks for a creature, if there is one already."""
        return self._agents.get(creature_id)

    def give(self, creature_id: str, agent: Agent | None) -> None:
        """Let this object think for a creature; none: one that is made when it first acts."""
        if agent is not None:
            self._agents[creature_id] = agent

    def forget(self, creature_id: str) -> None:
        """Let go of the object of a creature that is gone."""
        self._agents.pop(creature_id, None)

    def manifest(self, digest: str) -> Manifest:
        """The manifest of this digest, which a creature of this house has or had."""
        manifest = self._manifests_cache.get(digest)
        if manifest is None:
            manifest = Manifest.model_validate(self._world().manifests[digest].manifest)
            self._manifests_cache[digest] = manifest
        return manifest

    def remember(self, manifest: Manifest) -> None:
        """Keep a manifest that need not be read from the ledger again."""
        self._manifests_cache.setdefault(manifest.digest, manifest)

    def check(self, manifest: Manifest) -> None:
        """Refuse a manifest whose `played_by` cannot play here."""
        if manifest.played_by is not None:
            self._agent_for(manifest)


def agent_played_by(played_by: str | None, is_code_allowed: Callable[[], bool]) -> Agent:
    """The mind that a manifest's `played_by` names."""
    if played_by is None:
        return ManifestAgent()
    if played_by == "visitor":
        return VisitorAgent()
    if not is_code_allowed():
        raise Refused(
            f"played_by: {played_by} would run Python code, which is not allowed here.",
            "Set GLASSHOUSE_ALLOW_PYTHON_CREATURES=1 if you trust this world.",
        )
    return _made(played_by)


def _made(played_by: str) -> Agent:
    module_name, _, class_name = played_by.partition(":")
    try:
        made = getattr(import_module(module_name), class_name)()
    except (ImportError, AttributeError, TypeError, SyntaxError) as missing:
        raise Refused(
            f"played_by: {played_by} cannot be loaded: {missing}.", "Write it as package.module:Class."
        ) from missing
    if not isinstance(made, Agent):
        raise Refused(f"played_by: {played_by} is no Agent.", "Derive the class from glasshouse.Agent.")
    return made
