"""`Scenario`: one world as data.

Always holds: an unknown field is an error; a scenario is a value. It is sound by itself; whether the names in it name
anybody is for `checking` to say. `as_json` leaves nothing to be guessed: handles, channels and rights are all there.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    model_validator,
)

from glasshouse.events import kinds as core
from glasshouse.events.event import Json
from glasshouse.manifests.fields import (
    ChannelName,
    ChannelNames,
    Count,
    CreatureName,
    CreatureNames,
    FieldName,
    Handle,
    Handles,
    Kind,
    Language,
    Listed,
    Strict,
    TeamName,
    Text,
    Texts,
    WorldName,
    list_items_max,
    number_max,
)
from glasshouse.manifests.problem import likely

STAGE = "stage"
REPORTS = "reports"
"""The channel on which those who speak nowhere else can still report to their root."""
FIELD_TYPES = ("string", "number", "boolean", "strings", "event", "events", "creature")
FIELDS_OF_EVERY_REPLY = frozenset({"kind", "thought", "mood"})


def _deck_source(given: Any) -> str | tuple[JsonValue, ...]:
    if isinstance(given, str) and given:
        return given
    if isinstance(given, list | tuple) and given:
        return tuple(given)
    raise ValueError("write the name of a file beside the scenario, or a list of what may be dealt.")


def _field_type(given: Any) -> str | tuple[str, ...]:
    if isinstance(given, str):
        if given not in FIELD_TYPES:
            raise ValueError(f"no type of field is called {given!r}. {likely(given, FIELD_TYPES)}")
        return given
    if isinstance(given, list | tuple) and given and all(isinstance(word, str) for word in given):
        return tuple(given)
    raise ValueError(f"write one of {', '.join(FIELD_TYPES)}, or a list of the words it may be.")


def _plain(value: str | tuple[Any, ...]) -> Any:
    return list(value) if isinstance(value, tuple) else value


AsPlain = PlainSerializer(_plain, return_type=Any)

DeckSource = Annotated[
    str | tuple[JsonValue, ...],
    PlainValidator(_deck_source, json_schema_input_type=str | list[JsonValue]),
    AsPlain,
]
TypeName = Literal["string", "number", "boolean", "strings", "event", "events", "creature"]
FieldType = Annotated[
    str | tuple[str, ...], PlainValidator(_field_type, json_schema_input_type=TypeName | list[str]), AsPlain
]


class ChannelPlan(Strict):
    """A channel that is open from the beginning."""

    description: Text = Field(default="", description="What is said there.")
    history: Literal["full", "since_joined"] = Field(
        default="full", description="Whether who comes later sees what was said before."
    )


class EntryChannels(Strict):
    """Where one of the cast listens and sends. A direction left out: nowhere."""

    listen: ChannelNames = Field(default=(), description="Channels it hears.")
    send: ChannelNames = Field(
        default=(), description="Channels it speaks on; the first is where it speaks by default."
    )


class WirePlan(Strict):
    """An output wire: what its owner says is handed to another of the same cast."""

    to: Handle = Field(description="The handle of who gets it.")
    with_content: bool = Field(default=True, description="Whether the words go along, or only the news.")
    prompt: Text | None = Field(default=None, description="What the one who gets it is asked.")
    when: Text | None = Field(
        default=None, description="The condition on which a line goes over it. Left out: every line does."
    )


def _wire(given: Any) -> Any:
    return {"to": given} if isinstance(given, str) else given


def _channel(given: Any) -> Any:
    return {"description": given} if isinstance(given, str) else given


def _one_or_more(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


DealtTo = Annotated[Handles, BeforeValidator(_one_or_more, json_schema_input_type=str | list[str])]


def _entry(given: Any) -> Any:
    return {"use": given} if isinstance(given, str) else given


Wires = Annotated[
    tuple[Annotated[WirePlan, BeforeValidator(_wire, json_schema_input_type=str | WirePlan)], ...],
    Field(max_length=list_items_max),
    Listed,
]
Channels = dict[
    ChannelName, Annotated[ChannelPlan, BeforeValidator(_channel, json_schema_input_type=str | ChannelPlan)]
]


class CastEntry(Strict):
    """One of the cast: a creature by the name of its file, and how it stands in this world."""

    use: CreatureName = Field(description="The creature: creatures/NAME.yaml.")
    handle: Handle | None = Field(default=None, description="What it is called here. Left out: as its file.")
    privileged: bool = Field(default=False, description="Whether it may change its graph.")
    channels: EntryChannels | None = Field(
        default=None, description="Where it listens and sends. Left out: on every channel."
    )
    wires: Wires = Field(default=(), description="To whom its lines are handed: handles, or mappings.")

    @property
    def name(self) -> str:
        """What it is called in this world."""
        return self.handle or self.use


Cast = Annotated[
    tuple[Annotated[CastEntry, BeforeValidator(_entry, json_schema_input_type=str | CastEntry)], ...],
    Field(max_length=list_items_max),
    Listed,
]


class Troupe(Strict):
    """One cast among several, with channels of its own."""

    cast: Cast = Field(min_length=1, description="Who plays in it.")
    channels: Channels | None = Field(
        default=None, description="Its channels. Left out: those of the scenario, or `stage` alone."
    )
    opening: Text = Field(
        default="", description="Its own first scene, with {seed} in it or not. Left out: the scenario's."
    )
    root: Handle | None = Field(
        default=None,
        description="The handle of this cast's own root. Left out: the scenario's, if it is of this cast.",
    )


class Deal(Strict):
    """Something true that code deals to one of the cast, or to several, and to nobody else."""

    model_config = ConfigDict(populate_by_name=True)

    to: DealtTo = Field(min_length=1, description="The handle of who gets it; or a list: all get the same.")
    source: DeckSource = Field(alias="from", description="A file beside the scenario, or a list.")
    odd_one: bool = Field(
        default=False,
        description="Whether one of them gets something else: each card is a pair, the second of it for the odd one.",
    )

    @model_validator(mode="after")
    def _is_fair(self) -> Deal:  # noqa: N804 (after validation it is handed the instance)
        if len({*self.to}) < len(self.to):
            raise ValueError("somebody is in 'to' twice. Name everybody once.")
        if self.odd_one and len(self.to) < 2:
            raise ValueError("'odd_one' needs somebody to be unlike. List two handles or more under 'to'.")
        return self


class GovernorPlan(Strict):
    """How much a run may spend."""

    max_turns: Count = Field(default=100, description="Turns of the graph's clock.")
    max_calls_per_turn: Count = Field(default=8, description="Model calls in one turn.")
    max_total_calls: Count = Field(default=500, description="Model calls in the whole run.")
    max_total_tokens: int | None = Field(default=None, ge=1, description="Tokens in the whole run.")
    hourly_budget_usd: float | None = Field(default=None, ge=0, description="US dollars in any hour.")
    max_wall_minutes: float | None = Field(default=None, gt=0, description="Minutes from start to end.")
    on_turn_limit: Literal["finish", "defer"] = Field(
        default="finish",
        description="What a full turn does: end the run, or leave the rest to the next turn.",
    )


class PolicyPlan(Strict):
    """What privileged creatures may do to their graph."""

    population_max: Count | None = Field(
        default=None, description="How many creatures of the run may live at once. Left out: no bound."
    )
    edits_per_turn_max: int | None = Field(
        default=None,
        ge=0,
        le=number_max,
        description="How many changes its tools may make in one turn of a graph. Left out: no bound.",
    )
    protected: Handles = Field(default=(), description="Handles of those that nobody may take away or stop.")
    untrusted_edits: Literal["ask", "refuse", "allow"] = Field(
        default="ask",
        description="What happens to a change that a visitor's or a tool's words may have led to.",
    )
    hidden: bool = Field(
        default=False,
        description="Whether creatures of other graphs are kept from finding the graphs of this run.",
    )


class CompetitionPlan(Strict):
    """Who plays for what, and who says who won."""

    kind: Literal["none", "judged", "versus"] = Field(default="none", description="How it is played.")
    teams: dict[TeamName, Annotated[Handles, Field(min_length=1)]] = Field(
        default_factory=dict, description="Each team and the handles of its members."
    )
    contestants: Handles = Field(default=(), description="Handles that a judge may name, without teams.")
    referee: Text | None = Field(
        default=None, description="A built-in referee, or file.py:function beside the scenario."
    )


class BeatPlan(Strict):
    """A turn of fortune: what the world shows when a run reaches a turn."""

    turn: Count = Field(description="The turn.")
    text: Text = Field(min_length=1, description="What is shown.")
    title: Text = Field(default="", description="A name for this movement of the play.")
    at: Handle | None = Field(
        default=None, description="Shown only in the graph where this one is. Left out: in every graph."
    )


class EndsWhenPlan(Strict):
    """What ends a run by itself: so many events of a kind, or the referee's word."""

    kind: Kind | None = Field(default=None, description="The kind of event.")
    count: Count = Field(default=1, description="How many of them.")
    referee: bool = Field(default=False, description="Whether the competition's referee ends it.")

    @model_validator(mode="after")
    def _one_of_two(self) -> EndsWhenPlan:  # noqa: N804 (after validation it is handed the instance)
        if (self.kind is None) != self.referee:
            raise ValueError("write either a kind (and a count), or 'referee: true'.")
        return self


Fields = Annotated[dict[FieldName, FieldType], Field(max_length=list_items_max)]


class Scenario(Strict):
    """One world: who plays, where, for what, and when it ends."""

    name: WorldName = Field(description="The world's name, as the command line takes it.")
    title: Text = Field(default="", description="The world's name for people.")
    goal: Text = Field(default="", description="What everybody on stage is told to be after.")
    seeds: Texts = Field(default=(), description="What a play may begin from; the first is the default.")
    opening: Text = Field(default="", description="The first scene. {seed} stands for the seed.")
    cast: Cast = Field(default=(), description="Who plays: creatures by name, or mappings.")
    root: Handle | None = Field(
        default=None,
        description="The handle of the one that is privileged, hears all, and answers the visitor.",
    )
    channels: Channels | None = Field(default=None, description="Open channels. Left out: `stage` alone.")
    spawnable: CreatureNames = Field(default=(), description="Creatures that may be born during the play.")
    kinds: dict[Kind, Fields] = Field(
        default_factory=dict,
        description="This world's own kinds of events, each with its fields and their types.",
    )
    deal: dict[FieldName, Deal] = Field(
        default_factory=dict, description="What code deals in secret, and to whom."
    )
    governor: GovernorPlan = Field(
        default=GovernorPlan(), description="Limits of a run: turns, calls, money, time."
    )
    policy: PolicyPlan = Field(default=PolicyPlan(), description="What the privileged may do.")
    competition: CompetitionPlan = Field(default=CompetitionPlan(), description="Who plays for what.")
    beats: Annotated[tuple[BeatPlan, ...], Field(max_length=list_items_max), Listed] = Field(
        default=(), description="Turns of fortune."
    )
    disturbances: Texts = Field(default=(), description="Suggestions for a visitor who wants to disturb.")
    ends_when: EndsWhenPlan | None = Field(default=None, description="What ends a run by itself.")
    language: Language = Field(default="en", description="The language that is spoken.")
    troupes: dict[WorldName, Troupe] = Field(
        default_factory=dict, description="Several casts, each a graph of its own, in place of `cast`."
    )

    @model_validator(mode="after")
    def _has_one_kind_of_cast(self) -> Scenario:  # noqa: N804 (after validation it is handed the instance)
        if self.cast and self.troupes:
            raise ValueError("there is a cast and there are troupes. Keep one of the two.")
        if not self.cast and not self.troupes:
            raise ValueError("nobody plays. List creatures under 'cast'.")
        return self

    @property
    def stages(self) -> dict[str, Troupe]:
        """Every graph the world opens with, by name: handles, channels and rights filled in."""
        troupes = self.troupes or {
            self.name: Troupe(cast=self.cast, channels=self.channels, opening=self.opening, root=self.root)
        }
        return {name: self._filled(troupe) for name, troupe in troupes.items()}

    def opening_text(self, seed: str) -> str:
        """The first scene, from a seed."""
        return self.opening.format(seed=seed)

    def as_json(self) -> Json:
        """The scenario as a plain object in which every value is filled in."""
        plain: Json = self.model_dump(mode="json", by_alias=True)
        stages = {name: troupe.model_dump(mode="json") for name, troupe in self.stages.items()}
        return {**plain, "troupes": stages} if self.troupes else {**plain, **stages[self.name]}

    def _filled(self, troupe: Troupe) -> Troupe:
        cast, root = troupe.cast, troupe.root
        if root is None and any(entry.name == self.root for entry in cast):
            root = self.root
        if root is not None and all(entry.name != root for entry in cast):
            cast = (*cast, CastEntry(use=root))
        channels = dict(troupe.channels or self.channels or {STAGE: ChannelPlan()})
        names = tuple(channels)
        filled = tuple(_entry_filled(entry, names) for entry in cast)
        if root is not None:
            filled = _rooted(filled, root, channels)
        return Troupe(cast=filled, channels=channels, opening=troupe.opening or self.opening, root=root)


def _entry_filled(entry: CastEntry, names: tuple[str, ...]) -> CastEntry:
    return CastEntry(
        use=entry.use,
        handle=entry.name,
        privileged=entry.privileged,
        channels=entry.channels or EntryChannels(listen=names, send=names),
        wires=entry.wires,
    )


def _rooted(
    cast: tuple[CastEntry, ...], root: str, channels: dict[str, ChannelPlan]
) -> tuple[CastEntry, ...]:
    """A cast whose root is privileged and listens everywhere, and in which everybody can report to it.

    Whoever sends nowhere gets to send on a channel for reports, which is opened if it is not there.
    """
    silent = {entry.name for entry in cast if entry.name != root and not _sends(entry)}
    if silent:
        channels.setdefault(REPORTS, ChannelPlan(description="what is reported to the root"))
    everywhere = tuple(channels)
    return tuple(_entry_rooted(entry, everywhere, root, silent) for entry in cast)


def _entry_rooted(entry: CastEntry, everywhere: tuple[str, ...], root: str, silent: set[str]) -> CastEntry:
    joined = entry.channels or EntryChannels()
    if entry.name == root:
        hearing = EntryChannels(listen=everywhere, send=joined.send)
        return entry.model_copy(update={"privileged": True, "channels": hearing})
    if entry.name in silent:
        reporting = EntryChannels(listen=joined.listen, send=(REPORTS,))
        return entry.model_copy(update={"channels": reporting})
    return entry


def _sends(entry: CastEntry) -> bool:
    return entry.channels is not None and bool(entry.channels.send)


CORE_KINDS = frozenset(
    value for name, value in vars(core).items() if name.isupper() and isinstance(value, str)
)
"""Every kind the engine knows by name."""
