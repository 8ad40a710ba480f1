"""`Scenario`: one world as data.

Always holds: an unknown field is an error; a scenario is immutable and valid by itself. `checks` checks that the names
in it exist. `as_json` fills everything in: handles, channels and rights.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, JsonValue, PlainSerializer, PlainValidator, model_validator

from glasshouse.events import kinds as core
from glasshouse.events.event import Json
from glasshouse.events.payloads import Governor, settled
from glasshouse.manifests import fields
from glasshouse.manifests.fields import Count, Handle, Handles, Items, Kind, Strict, Text, Texts
from glasshouse.manifests.models_file import Url, Variable
from glasshouse.manifests.problem import unknown
from glasshouse.reprs import repr_of

STAGE = "stage"
REPORTS = "reports"
"""The channel on which creatures that send nowhere else report to their root."""
TypeName = Literal["string", "number", "boolean", "strings", "event", "events", "some_events", "creature"]
FIELD_TYPES = get_args(TypeName)
FIELDS_OF_EVERY_REPLY = frozenset({"kind", "thought", "mood"})


def _deck_source(given: Any) -> str | tuple[JsonValue, ...]:
    if isinstance(given, str | list | tuple) and given:
        return given if isinstance(given, str) else tuple(given)
    raise ValueError("write the name of a file beside the scenario, or a list of cards.")


def _field_type(given: Any) -> str | tuple[str, ...]:
    if isinstance(given, str):
        if given not in FIELD_TYPES:
            raise ValueError(unknown("type of field", given, FIELD_TYPES))
        return given
    if isinstance(given, list | tuple) and given and all(isinstance(word, str) for word in given):
        return tuple(given)
    raise ValueError(f"write one of {', '.join(FIELD_TYPES)}, or a list of words.")


_DECK = PlainValidator(_deck_source, json_schema_input_type=str | list[JsonValue])
_TYPE = PlainValidator(_field_type, json_schema_input_type=TypeName | list[str])
_AS_PLAIN = PlainSerializer(lambda value: list(value) if isinstance(value, tuple) else value, return_type=Any)
DeckSource = Annotated[str | tuple[JsonValue, ...], _DECK, _AS_PLAIN]
FieldType = Annotated[str | tuple[str, ...], _TYPE, _AS_PLAIN]


class ChannelPlan(Strict):
    """A channel that is open from the start."""

    description: Text = ""
    """What is said there."""
    history: Literal["full", "since_joined"] = "full"
    """Whether newcomers see what was said before."""


class EntryChannels(Strict):
    """Where a cast entry listens and sends. A direction that is left out means no channel."""

    listen: Items[fields.ChannelName] = ()
    """Channels it hears."""
    send: Items[fields.ChannelName] = ()
    """Channels it speaks on; the first is where it speaks by default."""


class WirePlan(Strict):
    """An output wire: its owner's lines are handed to another creature of the same cast."""

    to: Handle
    """The handle of the target."""
    with_content: bool = True
    """Whether the target gets the words."""
    prompt: Text | None = None
    """A question to the target."""
    when: Text | None = None
    """The condition for a line to be handed over. Left out: every line is."""


def _one_or_several(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


DealtTo = Annotated[Handles, BeforeValidator(_one_or_several, json_schema_input_type=str | list[str])]


def _text_as(field: str, model: Any) -> BeforeValidator:
    """Take a text alone as a mapping with this one field."""
    return BeforeValidator(
        lambda given: {field: given} if isinstance(given, str) else given, json_schema_input_type=str | model
    )


Wires = Items[Annotated[WirePlan, _text_as("to", WirePlan)]]
Channels = dict[fields.ChannelName, Annotated[ChannelPlan, _text_as("description", ChannelPlan)]]


class CastEntry(Strict):
    """A cast entry: a creature by the name of its file, with its place in this world."""

    use: fields.CreatureName
    """The creature: creatures/NAME.yaml."""
    handle: Handle | None = None
    """Its handle. Left out: the name of its file."""
    was: Handle | None = Field(default=None, exclude_if=lambda handle: handle is None)
    """The handle that it had before it was renamed. A resumed session gives it that creature's past."""
    privileged: bool = False
    """Whether it may change its graph."""
    channels: EntryChannels | None = None
    """Where it listens and sends. Left out: on every channel."""
    wires: Wires = ()
    """Who gets its lines: handles, or mappings."""

    @property
    def name(self) -> str:
        """Its handle."""
        return self.handle or self.use


Cast = Items[Annotated[CastEntry, _text_as("use", CastEntry)]]


class Troupe(Strict):
    """One cast among several, with its own channels."""

    cast: Cast = Field(min_length=1)
    """Its members."""
    channels: Channels | None = None
    """Its channels. Left out: those of the scenario, or `stage` alone."""
    opening: Text = ""
    """Its own first scene; may contain {seed}. Left out: the scenario's."""
    root: Handle | None = None
    """The handle of this cast's own root. Left out: the scenario's, if it is in this cast."""

    @property
    def handles(self) -> list[str]:
        """The handles of its members, in their order."""
        return [entry.name for entry in self.cast]


class Deal(Strict, populate_by_name=True):
    """A fact that code deals to one or several creatures of the cast, and to nobody else."""

    to: DealtTo = Field(min_length=1)
    """Who gets it: a handle, or a list of handles that all get the same."""
    source: DeckSource = Field(alias="from")
    """A file beside the scenario, or a list."""
    odd_one: bool = False
    """Whether one of them gets a different card: each card is a pair, the second for the odd one."""
    may_say: bool | Annotated[Items[Kind], Field(min_length=1)] = False
    """Whether they may say it aloud, or the kinds of line in which they may. Any other line that says a dealt word or two is
    asked for again, then masked."""

    @model_validator(mode="after")
    def _is_fair(self) -> Deal:  # noqa: N804 (after validation it is handed the instance)
        if len({*self.to}) < len(self.to):
            raise ValueError("a handle is in 'to' twice. Name each once.")
        if self.odd_one and len(self.to) < 2:
            raise ValueError("'odd_one' needs at least two handles. List them under 'to'.")
        return self


class GovernorPlan(Strict):
    """How much a run may spend."""

    max_turns: Count = 100
    """Turns of the graph's clock."""
    max_calls_per_turn: Count | None = None
    """Model calls in one turn. Left out: 16, or four for each creature of the cast if that is more."""
    max_total_calls: Count = 500
    """Model calls in the whole run."""
    max_total_tokens: int | None = Field(default=None, ge=1)
    """Tokens in the whole run."""
    max_total_usd: float | None = Field(default=None, ge=0, exclude_if=lambda usd: usd is None)
    """US dollars in the whole run."""
    hourly_budget_usd: float | None = Field(default=None, ge=0)
    """US dollars in any hour."""
    max_wall_minutes: float | None = Field(default=None, gt=0)
    """Minutes from start to end."""
    on_turn_limit: Literal["finish", "defer"] = Field(default="defer", exclude_if="defer".__eq__)
    """What a full turn does: end the run, or leave what is owed to the next turn."""
    on_budget: Literal["finish", "pause"] = Field(default="finish", exclude_if="finish".__eq__)
    """What a limit does that is reached: end the run, or pause it."""

    def limits(self, creatures: int) -> Governor:
        """The limits of a run with this many creatures in its cast."""
        return settled(Governor(**self.model_dump(exclude_none=True)), creatures)


class ToolServerPlan(Strict):
    """A tool server of a world: the command that starts it, or its address."""

    command: Texts = ()
    """The command that starts it, word by word. It runs in the world's folder, if world code is allowed."""
    url: Url | None = None
    """Its address."""
    variables: Items[Variable] = ()
    """Environment variables that its command could use. A world gets none by naming it."""

    @model_validator(mode="after")
    def _one_of_two(self) -> ToolServerPlan:  # noqa: N804 (after validation it is handed the instance)
        if bool(self.command) == bool(self.url):
            raise ValueError("write either a command or a url.")
        return self


class PolicyPlan(Strict):
    """What creatures may do with tools: to their graph, and by tools of servers."""

    population_max: Count | None = None
    """How many creatures of the run may live at once. Left out: no limit."""
    edits_per_turn_max: int | None = Field(default=None, ge=0, le=fields.number_max)
    """How many changes the run's tools may make in one turn of a graph. Left out: no limit."""
    protected: Handles = ()
    """Handles of creatures that no tool may remove or stop."""
    untrusted_edits: Literal["ask", "refuse", "allow"] = "ask"
    """What happens to a change that a visitor's or a tool's words may have led to."""
    untrusted_joins: Literal["ask", "refuse", "allow"] | None = Field(
        default=None, exclude_if=lambda rule: rule is None
    )
    """The same for a join of two graphs that hold only creatures of this run. Left out: as untrusted_edits."""
    other_runs: Literal["ask", "refuse", "allow"] = Field(default="ask", exclude_if="ask".__eq__)
    """Whether creatures of this run may join creatures of other runs, and those may join them."""
    untrusted_tools: Literal["ask", "refuse", "allow"] = Field(default="ask", exclude_if="ask".__eq__)
    """What happens to a call of a server's tool that is not marked as read-only."""
    spawn: Literal["listed", "written"] = Field(default="listed", exclude_if="listed".__eq__)
    """Which creatures may be born: those of spawnable, or also those that a privileged creature's model writes."""
    hidden: bool = False
    """Whether creatures of other graphs cannot find the graphs of this run."""


class CompetitionPlan(Strict):
    """The teams or contestants, and who decides who won."""

    kind: Literal["none", "judged", "versus"] = "none"
    """How it is played."""
    teams: dict[fields.TeamName, Annotated[Handles, Field(min_length=1)]] = Field(default_factory=dict)
    """Each team and the handles of its members."""
    contestants: Handles = ()
    """Handles that a judge may name, without teams."""
    referee: Text | None = None
    """A built-in referee, or file.py:function beside the scenario."""


class BeatPlan(Strict):
    """A scene that the world shows when a run reaches a turn."""

    turn: Count
    """The turn."""
    text: Text = Field(min_length=1)
    """What is shown."""
    title: Text = ""
    """The title of the movement that begins."""
    at: Handle | None = None
    """Show it only in the graph of this creature. Left out: in every graph."""


class EndsWhenPlan(Strict):
    """What ends a run: a number of events of a kind, or the referee's ruling."""

    kind: Kind | None = None
    """The kind of event."""
    count: Count = 1
    """How many of them."""
    referee: bool = False
    """Whether the competition's referee ends it."""

    @model_validator(mode="after")
    def _one_of_two(self) -> EndsWhenPlan:  # noqa: N804 (after validation it is handed the instance)
        if (self.kind is None) != self.referee:
            raise ValueError("write either a kind (and a count), or 'referee: true'.")
        return self


class CardPlan(Strict):
    """How a world is shown to whoever chooses one. It is no part of a run: neither its digest nor its ledger has it."""

    about: fields.Bio = ""
    """What it is about, in one sentence. Left out: the first sentence of its goal."""
    shows: fields.Title = ""
    """What it shows off, in a few words. Left out: told from its cast, its competition and its troupes."""
    minutes: Count | None = None
    """How long an offline play takes to read, about. Left out: told from its limits and its cast."""


Fields = Annotated[dict[fields.FieldName, FieldType], Field(max_length=fields.list_items_max)]


class Scenario(Strict):
    """One world: who plays, where, for what, and when it ends."""

    __repr__ = repr_of("name", "title", "goal")

    name: fields.WorldName
    """The world's name on the command line."""
    title: Text = ""
    """The world's title."""
    version: fields.Version = Field(default="", exclude_if=operator.not_)
    """Its version, for whoever shares it: numbers with dots, in quotation marks, such as "1.2"."""
    goal: Text = ""
    """The goal of everybody; part of every prompt."""
    seeds: Texts = ()
    """Texts that a play can start from; the first is the default."""
    opening: Text = ""
    """The first scene. {seed} stands for the seed."""
    cast: Cast = ()
    """Who plays: creatures by name, or mappings."""
    root: Handle | None = None
    """The handle of the root: privileged, hears every channel, answers the visitor."""
    channels: Channels | None = None
    """Open channels. Left out: `stage` alone."""
    spawnable: Items[fields.CreatureName] = ()
    """Creatures that may be added during the play."""
    kinds: dict[Kind, Fields] = Field(default_factory=dict)
    """This world's own kinds of events, with their fields and types."""
    deal: dict[fields.FieldName, Deal] = Field(default_factory=dict)
    """What code deals in secret, and to whom."""
    governor: GovernorPlan = GovernorPlan()
    """Limits of a run: turns, calls, money, time."""
    policy: PolicyPlan = PolicyPlan()
    """What creatures may do with tools."""
    tool_servers: dict[fields.ServerName, ToolServerPlan] = Field(
        default_factory=dict, exclude_if=operator.not_
    )
    """Servers whose tools the creatures of this world may be granted, as `server/tool`."""
    documents: Texts = Field(default=(), exclude_if=operator.not_)
    """Files beside the scenario that creatures with the tool look_up search, as paths or patterns such as notes/*.md."""
    competition: CompetitionPlan = CompetitionPlan()
    """Teams or contestants, and who decides who won."""
    beats: Items[BeatPlan] = ()
    """Scenes that the world shows at given turns."""
    disturbances: Texts = ()
    """Suggestions for a visitor who wants to disturb."""
    ends_when: EndsWhenPlan | None = None
    """What ends a run."""
    language: fields.Language = "en"
    """The language that creatures must speak."""
    troupes: dict[fields.WorldName, Troupe] = Field(default_factory=dict)
    """Several casts, each with its own channels, instead of `cast`."""
    card: CardPlan = Field(default=CardPlan(), exclude=True)
    """How it is shown to whoever chooses a world."""

    @model_validator(mode="after")
    def _has_one_kind_of_cast(self) -> Scenario:  # noqa: N804 (after validation it is handed the instance)
        if self.cast and self.troupes:
            raise ValueError("there are both a cast and troupes. Keep one of the two.")
        if not self.cast and not self.troupes:
            raise ValueError("nobody plays. List creatures under 'cast'.")
        return self

    @property
    def casts(self) -> dict[str, Troupe]:
        """Every cast as written, by name."""
        return self.troupes or {
            self.name: Troupe(cast=self.cast, channels=self.channels, opening=self.opening, root=self.root)
        }

    @property
    def stages(self) -> dict[str, Troupe]:
        """Every cast that the world opens with, by name, with handles, channels and rights filled in."""
        return {name: self._filled(troupe) for name, troupe in self.casts.items()}

    @property
    def cast_by_handle(self) -> dict[str, str]:
        """The creature's name by handle, roots included."""
        return {entry.name: entry.use for stage in self.stages.values() for entry in stage.cast}

    @property
    def creatures(self) -> int:
        """How many creatures its casts have."""
        return sum(len(stage.cast) for stage in self.stages.values())

    @property
    def limits(self) -> Governor:
        """The limits of its runs, unless the caller gives others."""
        return self.governor.limits(self.creatures)

    def as_json(self) -> Json:
        """The scenario as a plain object with every value filled in."""
        plain: Json = self.model_dump(mode="json", by_alias=True)
        stages = {name: troupe.model_dump(mode="json") for name, troupe in self.stages.items()}
        return {**plain, "troupes": stages} if self.troupes else {**plain, **stages[self.name]}

    def _filled(self, troupe: Troupe) -> Troupe:
        """The same cast with its root: privileged, listening everywhere, and with everybody able to report to it.

        A creature that sends nowhere may send on a channel for reports, which is opened if it does not exist.
        """
        root = troupe.root or (self.root if self.root in troupe.handles else None)
        cast = [*troupe.cast, *([CastEntry(use=root)] if root and root not in troupe.handles else ())]
        channels = dict(troupe.channels or self.channels or {STAGE: ChannelPlan()})
        everywhere = EntryChannels(listen=tuple(channels), send=tuple(channels))
        joined = {entry.name: entry.channels or everywhere for entry in cast}
        if root is not None:
            silent = [handle for handle, on in joined.items() if handle != root and not on.send]
            if silent:
                channels.setdefault(REPORTS, ChannelPlan(description="what is reported to the root"))
            for handle in silent:
                joined[handle] = EntryChannels(listen=joined[handle].listen, send=(REPORTS,))
            joined[root] = EntryChannels(listen=tuple(channels), send=joined[root].send)

        def filled(entry: CastEntry) -> CastEntry:
            is_privileged = entry.privileged or entry.name == root
            settled = {"handle": entry.name, "channels": joined[entry.name], "privileged": is_privileged}
            return entry.model_copy(update=settled)

        opening = troupe.opening or self.opening
        return Troupe(cast=tuple(map(filled, cast)), channels=channels, opening=opening, root=root)


CORE_KINDS = core.CORE
"""Every kind that the engine knows by name."""
