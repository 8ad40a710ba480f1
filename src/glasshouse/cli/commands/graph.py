"""`glasshouse graph` changes the graph of a show: its creatures, channels, wires and rights, also while another process
plays it.

Always holds: every change is asked for through the inbox and answered there (ADR 0058). If another process plays the
store, that process answers. If none does, this one opens the store, answers itself, and plays nothing.
"""

from __future__ import annotations

import getpass
import inspect
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import typer

from glasshouse.assembly import StoreAddress
from glasshouse.cli.command_line import store_path
from glasshouse.cli.commands import add_command
from glasshouse.cli.conversion_bar import store_to_write
from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.options import JsonOption, StoreOption, argument, flag, option
from glasshouse.cli.program import examples_to_paste
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import StoreReader, open_reader
from glasshouse.cli.tool_servers import servers_here
from glasshouse.errors import Refused, StoreBusy, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import VISITOR
from glasshouse.events.payloads import Direction, History, RunStarted, payload_of
from glasshouse.manifests.loading import load_creature
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.world_folders import creature_files_in
from glasshouse.runtime.clock import SystemClock
from glasshouse.runtime.inbox.requests import ask
from glasshouse.terrarium import Terrarium
from glasshouse.views.names import id_meant
from glasshouse.world.decisions import intents
from glasshouse.world.decisions.requests import Answer

wait_seconds: Final = 10.0
"""How long a command waits for the answer of the process that plays, unless --wait says otherwise."""

EXAMPLES: Final = """\b
Examples:
  glasshouse graph add moss.yaml                       a creature joins the show that is being played
  glasshouse graph connect moss wick --both            they hear each other; two graphs may become one
  glasshouse graph remove moss --dry-run               what would happen; nothing is changed"""

graph = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, epilog=examples_to_paste(EXAMPLES)
)
CHANNEL_EXAMPLES: Final = """\b
Examples:
  glasshouse graph channel add attic                   a place where nobody is yet
  glasshouse graph channel join moss attic             moss hears what is said there, and speaks there
  glasshouse graph channel rename attic loft           what was said there stays"""

channels = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=examples_to_paste(CHANNEL_EXAMPLES),
)


@graph.callback()
def change_a_graph() -> None:
    """Change the graph of a show, also while another process plays it. The answer is the change or the refusal."""


@channels.callback()
def change_a_channel() -> None:
    """Add, remove, join, leave, rename or describe a channel."""


class Names:
    """The creatures, graphs and runs of a store by the names that people give them."""

    def __init__(self, reader: StoreReader, run: str | None) -> None:
        self.terrarium = reader.terrarium
        self._run_id = None if run is None else reader.run(run).id
        self._open_runs = [run.id for run in self.terrarium.runs() if not run.is_finished]

    def creature(self, name: str) -> str:
        """The id of a creature, given by its id or handle. Those of runs that play are meant first."""
        creatures = self.terrarium.creatures()
        named = [creature for creature in creatures if name in (creature.id, creature.handle)]
        of_run = [creature for creature in named if creature.run_id == self._run_id]
        playing = [creature for creature in named if creature.run_id in self._open_runs]
        matches = of_run if self._run_id is not None else playing or named
        if not matches:
            known = [c for c in creatures if self._run_id in (None, c.run_id)]
            raise UnknownName(noun="creature", name=name, known={each.handle for each in known})
        if len(matches) > 1:
            each = ", ".join(f"{match.id} of run {match.run_id}" for match in matches)
            raise Refused(f"{name!r} could be any of {each}.", "Name its run with --run.")
        return matches[0].id

    def graph(self, name: str | None) -> str:
        """The id of a graph, given by its id or the beginning of it. By default, the only one of the run."""
        if name is not None:
            return id_meant("open graph", name, [each.id for each in self.terrarium.graphs()])
        graph_ids = self.graph_ids()
        if len(graph_ids) != 1:
            several = f"{self.run_id} plays in {len(graph_ids)} graphs: {', '.join(graph_ids) or 'none'}."
            raise Refused(several, "Name a graph with --graph.")
        return graph_ids[0]

    def graph_ids(self) -> tuple[str, ...]:
        """The graphs that the run plays in."""
        graphs = self.terrarium.graphs()
        mine = {c.id for c in self.terrarium.creatures() if c.run_id == self.run_id}
        return tuple([each.id for each in graphs if mine & {*each.creature_ids}])

    @property
    def run_id(self) -> str:
        """The run named, else the only one that is open, else the default run."""
        if self._run_id is not None or not self._open_runs:
            return self._run_id or self.terrarium.default_run_id
        if len(self._open_runs) > 1:
            raise Refused(f"Several runs are open: {', '.join(self._open_runs)}.", "Name one with --run.")
        return self._open_runs[0]

    async def manifest(self, name: str) -> Manifest:
        """A creature's file, or a creature of the world that the run plays."""
        events = await self.terrarium.run_events(self.run_id) if self._open_runs or self._run_id else ()
        begun = [payload_of(event, RunStarted) for event in events if event.kind == kinds.RUN_STARTED]
        return _manifest(name, [Path(started.recipe.path) for started in begun if started.recipe is not None])


def _manifest(name: str, worlds: list[Path]) -> Manifest:
    file = Path(name)
    if not file.suffix and not file.is_file():
        files = {each.stem: each for folder in worlds for each in creature_files_in(folder)}
        if name not in files:
            raise UnknownName(noun="file, and no creature of the world,", name=name, known=files)
        file = files[name]
    if not file.is_file():
        raise Refused(f"There is no file {file}.", "Give a creature's file, such as creatures/ada.yaml.")
    return load_creature(file)


class Edit(NamedTuple):
    """A change to ask for, and its object in words."""

    intent: intents.GraphEdit
    what: str


class Asking(NamedTuple):
    """What the options that all commands share say."""

    store: StoreAddress
    run: str | None
    wait: float
    dry_run: bool

    async def answered(self, edit_of: Callable[[Names], Awaitable[Edit]]) -> tuple[Answer, Edit, int | None]:
        """The answer, what was asked, and the process that answered if it is another one."""
        if not self.store.exists():
            raise Refused(f"There is no store at {self.store}.", "Play something, or name another --store.")
        holder = await self.store.holder()
        if holder is None:
            with suppress(StoreBusy):  # Somebody began to play it just now.
                store = store_to_write(self.store)
                async with Terrarium(store, tool_servers=servers_here()) as terrarium:
                    return *await self._asked(StoreReader(self.store, store, terrarium), edit_of), None
        async with open_reader(self.store) as reader:
            return *await self._asked(reader, edit_of), holder

    async def _asked(
        self, reader: StoreReader, edit_of: Callable[[Names], Awaitable[Edit]]
    ) -> tuple[Answer, Edit]:
        edit = await edit_of(Names(reader, self.run))
        sender = f"{_user()}, process {os.getpid()}"
        answer = await ask(
            reader.store, SystemClock(), edit.intent, sender=sender, seconds=self.wait, dry_run=self.dry_run
        )
        return answer, edit


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # A user without a name, as in some containers.
        return f"user {os.getuid()}"


def _words(name: str, past: str, edit: Edit, answer: Answer, *, dry_run: bool) -> str:
    """The answer to people."""
    change = answer.change
    would = "would " if dry_run else ""
    if not answer.has_changed:
        return f"It is so already: {name} {edit.what}. Nothing has changed."
    words = f"It would {name} {edit.what}." if dry_run else f"{past} {edit.what}."
    if isinstance(edit.intent, intents.AddCreature):
        words += f" Its id {'would be' if dry_run else 'is'} {answer.subject}."
    if change is not None and change.kind == "merge":
        words += f" {' and '.join(change.old_graph_ids)} {would or 'now '}form one graph: {change.new_graph_ids[0]}."
    if change is not None and change.kind == "split":
        parts = ", ".join(change.new_graph_ids)
        apart = ", ".join(change.affected_creatures)
        words += f" The graph {would}split{'' if dry_run else 's'} into {parts}. Moved: {apart}."
    return words + (" Nothing has changed." if dry_run else "")


_RUN = "The run that is meant. Default: those that are open."
_DRY = "Say what would change or be refused. Change nothing."
_WAIT = "How many seconds to wait for the process that plays the store."
_SHARED: Final = {
    "run": Annotated[str | None, typer.Option("--run", metavar="RUN", help=_RUN)],
    "dry_run": Annotated[bool, typer.Option("--dry-run", help=_DRY)],
    "wait": Annotated[float, typer.Option("--wait", metavar="SECONDS", min=0.0, max=3_600.0, help=_WAIT)],
    "store": StoreOption,
    "as_json": JsonOption,
}
"""The options of every command, by the name of their parameter."""
_DEFAULTS: Final = {"run": None, "dry_run": False, "wait": wait_seconds, "store": None, "as_json": False}


def edit_command(
    app: typer.Typer, name: str, past: str, short_help: str
) -> Callable[[Callable[..., Awaitable[Edit]]], None]:
    """Make a command of a function that takes `Names` and its own options, and returns the edit to ask for."""

    def add(edit_of: Callable[..., Awaitable[Edit]]) -> None:
        def command(**given: Any) -> None:
            as_json = given.pop("as_json")
            store = store_path(given.pop("store"))
            asking = Asking(store, given.pop("run"), given.pop("wait"), given.pop("dry_run"))
            answer, edit, holder = run_until_interrupted(
                lambda: asking.answered(lambda names: edit_of(names, **given))
            )
            if not as_json:
                return say(_words(name, past, edit, answer, dry_run=asking.dry_run))
            change = {"subject": answer.subject, "has_changed": answer.has_changed, "dry_run": asking.dry_run}
            return print_json({**change, "answered_by": holder, "change": msgspec.to_builtins(answer.change)})

        _, *own = inspect.signature(edit_of, eval_str=True).parameters.values()
        keyword = inspect.Parameter.KEYWORD_ONLY
        shared = [
            inspect.Parameter(key, keyword, default=_DEFAULTS[key], annotation=kind)
            for key, kind in _SHARED.items()
        ]
        command.__doc__ = edit_of.__doc__
        command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
        add_command(app, name, short_help, command)

    return add


_CREATURE: Final = "A creature: its id or its handle."
_GRAPH: Final = "The graph: its id, or the beginning of it. Default: the only one of the run."
Creature = Annotated[str, typer.Argument(metavar="CREATURE", help=_CREATURE)]
Source = Annotated[str, typer.Argument(metavar="SOURCE", help=f"Who is heard. {_CREATURE}")]
Target = Annotated[str, typer.Argument(metavar="TARGET", help=f"Who hears. {_CREATURE}")]
ChannelName = Annotated[str, typer.Argument(metavar="CHANNEL", help="The name of a channel.")]
ChannelOption = Annotated[str | None, typer.Option(metavar="CHANNEL", help="The channel that is meant.")]
GraphOption = Annotated[str | None, typer.Option("--graph", metavar="GRAPH", help=_GRAPH)]


@edit_command(graph, "add", "Added", "A creature joins a graph, or begins one.")
async def _add(
    names: Names,
    creature: str = argument("FILE|NAME", "A creature's file, or the name of a creature of the run's world."),
    *,
    in_graph: GraphOption = None,
    alone: bool = flag("--alone", "In a graph of its own."),
    channel: ChannelOption = None,
    handle: str | None = option("HANDLE", "How the others call it. Default: its name."),
    privileged: bool = flag("--privileged", "It may change its graph with the group tools."),
    parent: str | None = option("CREATURE", "Whose child it is."),
) -> Edit:
    """Add a creature to the graph of a run. It joins the channel named, else the graph's only channel, else a new one
    with the graph's oldest member.

    \b
    Examples:
      glasshouse graph add moss.yaml                         to the only graph of the only open run
      glasshouse graph add moss.yaml --graph g-1a2b --channel talk
      glasshouse graph add lantern-moth --handle second      another one of the world's creatures
      glasshouse graph add moss.yaml --alone                 in a graph of its own
    """
    if alone and (in_graph or channel):
        raise Refused("--alone is without --graph and --channel.", "Leave one of them away.")
    manifest = await names.manifest(creature)
    is_alone = alone or not (in_graph or names.graph_ids())
    graph_id = None if is_alone else names.graph(in_graph)
    who = None if parent is None else names.creature(parent)
    facts = (manifest.name, manifest.as_json(), manifest.digest, handle, graph_id, privileged, who)
    where = "in a graph of its own" if graph_id is None else f"to {graph_id}"
    return Edit(intents.AddCreature(*facts, names.run_id, channel), f"{handle or manifest.name} {where}")


@edit_command(graph, "remove", "Removed", "A creature leaves for good.")
async def _remove(names: Names, creature: Creature) -> Edit:
    """Remove a creature with its edges and wires. The graph splits if only this creature connected it.

    \b
    Examples:
      glasshouse graph remove moss
      glasshouse graph remove moss~2 --run r-1a2b --dry-run
    """
    return Edit(intents.RemoveCreature(names.creature(creature)), creature)


@edit_command(graph, "start", "Started", "A stopped creature acts again.")
async def _start(names: Names, creature: Creature) -> Edit:
    """Start a stopped creature. It answers everything that waited for it in one act.

    \b
    Examples:
      glasshouse graph start moss
    """
    return Edit(intents.StartCreature(names.creature(creature)), creature)


@edit_command(graph, "stop", "Stopped", "A creature acts no more; its mail waits.")
async def _stop(names: Names, creature: Creature) -> Edit:
    """Stop a creature. Its edges and its mail stay.

    \b
    Examples:
      glasshouse graph stop moss
    """
    return Edit(intents.StopCreature(names.creature(creature)), creature)


@edit_command(graph, "grant", "Granted the right to change the graph to", "A creature may change its graph.")
async def _grant(names: Names, creature: Creature) -> Edit:
    """Give a creature the right to change its graph with the group tools. `graph revoke` takes it back.

    \b
    Examples:
      glasshouse graph grant moss
    """
    intent = intents.GrantPrivilege(names.creature(creature), by=VISITOR)
    return Edit(intent, creature)


@edit_command(
    graph,
    "revoke",
    "Took back the right to change the graph from",
    "A creature may no longer change its graph.",
)
async def _revoke(names: Names, creature: Creature) -> Edit:
    """Take back the right of a creature to change its graph. An act that is under way is refused its next change.

    \b
    Examples:
      glasshouse graph revoke moss
    """
    intent = intents.RevokePrivilege(names.creature(creature), by=VISITOR)
    return Edit(intent, creature)


@edit_command(graph, "connect", "Connected", "One creature hears another; graphs may merge.")
async def _connect(
    names: Names,
    source: Source,
    target: Target,
    *,
    channel: ChannelOption = None,
    both: bool = flag("--both", "SOURCE hears TARGET, too."),
) -> Edit:
    """Let SOURCE send and TARGET listen on a channel. If they are in two graphs, these become one.

    \b
    Examples:
      glasshouse graph connect wick sill
      glasshouse graph connect wick sill --channel crack --both
    """
    intent = intents.Connect(names.creature(source), names.creature(target), channel, both)
    return Edit(intent, f"{source} to {target}{'' if channel is None else f' on {channel}'}")


@edit_command(graph, "disconnect", "Disconnected", "One creature hears another no more; a graph may split.")
async def _disconnect(names: Names, source: Source, target: Target, *, channel: ChannelOption = None) -> Edit:
    """Remove the edges from SOURCE to TARGET, on one channel or on all. The graph splits if they were its only bridge.

    \b
    Examples:
      glasshouse graph disconnect wick sill
      glasshouse graph disconnect wick sill --channel crack
    """
    intent = intents.Disconnect(names.creature(source), names.creature(target), channel)
    return Edit(intent, f"{source} from {target}{'' if channel is None else f' on {channel}'}")


@edit_command(graph, "wire", "Wired", "Every line of one creature is handed to another.")
async def _wire(
    names: Names,
    source: Source,
    target: Target,
    *,
    when: str | None = option("CONDITION", "Only lines for which this holds."),
    prompt: str | None = option("TEXT", "What the target is asked."),
    without_content: bool = flag("--without-content", "The target learns who spoke, not what."),
) -> Edit:
    """Hand every finished line of SOURCE to TARGET, which then owes an answer. Both must be in one graph.

    \b
    Examples:
      glasshouse graph wire wick sill
      glasshouse graph wire wick sill --when "text has draught" --prompt "{handle} said {text}. Are you out?"
    """
    pair = (names.creature(source), names.creature(target))
    return Edit(intents.AddWire(*pair, not without_content, prompt, when), f"{source} to {target}")


@edit_command(graph, "unwire", "Unwired", "A wire is removed.")
async def _unwire(names: Names, source: Source, target: Target) -> Edit:
    """Remove the wire from SOURCE to TARGET. What was handed over stays owed.

    \b
    Examples:
      glasshouse graph unwire wick sill
    """
    return Edit(intents.RemoveWire(names.creature(source), names.creature(target)), f"{source} from {target}")


@edit_command(graph, "close", "Closed", "A graph whose runs are over is closed.")
async def _close(
    names: Names, which: str = argument("GRAPH", "A graph: its id, or the beginning of it.")
) -> Edit:
    """Close a graph whose runs are all over. Its session stays, can be read, and can be resumed.

    \b
    Examples:
      glasshouse graph close g-1a2b
    """
    graph_id = names.graph(which)
    return Edit(intents.CloseGraph(graph_id), graph_id)


graph.add_typer(channels, name="channel", short_help="Change a channel, and who is on it.")


@edit_command(channels, "add", "Added", "Open a channel that nobody is on yet.")
async def _channel_add(
    names: Names,
    name: ChannelName,
    *,
    in_graph: GraphOption = None,
    description: str = option("TEXT", "What it is for.", ""),
    since_joined: bool = flag("--since-joined", "Who joins later hears only what is said from then on."),
) -> Edit:
    """Open a channel in a graph. Nobody listens or sends there yet.

    \b
    Examples:
      glasshouse graph channel add attic --description "What nobody else may hear."
    """
    history: History = "since_joined" if since_joined else "full"
    intent = intents.AddChannel(names.graph(in_graph), name, description, history)
    return Edit(intent, f"the channel {name}")


@edit_command(channels, "remove", "Removed", "Close a channel with all its edges.")
async def _channel_remove(names: Names, name: ChannelName, *, in_graph: GraphOption = None) -> Edit:
    """Close a channel. The graph splits if only this channel connected some of its creatures.

    \b
    Examples:
      glasshouse graph channel remove attic --dry-run
    """
    return Edit(intents.RemoveChannel(names.graph(in_graph), name), f"the channel {name}")


_LISTEN: Final = flag("--listen", "Only to listen.")
_SEND: Final = flag("--send", "Only to send.")


@edit_command(channels, "join", "Joined", "A creature listens and sends on a channel.")
async def _channel_join(
    names: Names, creature: Creature, name: ChannelName, *, listen: bool = _LISTEN, send: bool = _SEND
) -> Edit:
    """Let a creature listen and send on a channel of its graph, or do one of the two.

    \b
    Examples:
      glasshouse graph channel join moss attic
      glasshouse graph channel join moss attic --listen
    """
    intent = intents.JoinChannel(names.creature(creature), name, _directions(listen, send))
    return Edit(intent, f"{creature} to {name}")


@edit_command(channels, "leave", "Took off", "A creature leaves a channel; the graph may split.")
async def _channel_leave(
    names: Names, creature: Creature, name: ChannelName, *, listen: bool = _LISTEN, send: bool = _SEND
) -> Edit:
    """Take a creature off a channel of its graph, in both directions or in one.

    \b
    Examples:
      glasshouse graph channel leave moss attic
      glasshouse graph channel leave moss attic --send
    """
    intent = intents.LeaveChannel(names.creature(creature), name, _directions(listen, send))
    return Edit(intent, f"{creature} from {name}")


def _directions(listen: bool, send: bool) -> tuple[Direction, ...]:
    return ("listen",) if listen and not send else ("send",) if send and not listen else ("listen", "send")


@edit_command(channels, "rename", "Renamed", "A channel gets another name.")
async def _channel_rename(
    names: Names,
    name: ChannelName,
    new_name: str = argument("NAME", "Its new name."),
    *,
    in_graph: GraphOption = None,
) -> Edit:
    """Give a channel another name. Who is on it stays on it.

    \b
    Examples:
      glasshouse graph channel rename attic loft
    """
    return Edit(
        intents.RenameChannel(names.graph(in_graph), name, new_name), f"the channel {name} to {new_name}"
    )


@edit_command(channels, "describe", "Described", "A channel gets another description.")
async def _channel_describe(
    names: Names,
    name: ChannelName,
    description: str = argument("TEXT", "What it is for."),
    *,
    in_graph: GraphOption = None,
) -> Edit:
    """Describe a channel anew.

    \b
    Examples:
      glasshouse graph channel describe attic "What nobody else may hear."
    """
    return Edit(intents.DescribeChannel(names.graph(in_graph), name, description), f"the channel {name}")


@edit_command(graph, "parent", "Set the parent of", "A creature gets another parent, or none.")
async def _parent(
    names: Names,
    creature: Creature,
    parent: str | None = typer.Argument(None, metavar="PARENT", help="Default: none."),
) -> Edit:
    """Give a creature another parent, or none.

    \b
    Examples:
      glasshouse graph parent moss wick
      glasshouse graph parent moss
    """
    who = None if parent is None else names.creature(parent)
    return Edit(intents.SetParent(names.creature(creature), who), f"{creature} to {parent or 'nobody'}")
