"""The product under test: plays one recorded act again with a real model. The only module of the bench that touches it.

Theory of operation. The store of a recorded play is opened as it was right before the act, with an overlay that keeps
what is new in memory. The act is what is due there, so the product plays it as in any run: it writes the prompt, asks,
reads the reply, carries out tools, and asks again if it has to. Between the product and the model stands `Listening`,
which keeps every prompt and reply, and gives each sampling seed other chances.

Always holds: nothing is written to the recorded store. It needs only what the product has had since the stores were
recorded; what later versions have besides is looked for, not assumed.
"""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

import glasshouse
from bench.prompts.ruler import Texts, heard_lines_max, own_lines_max
from glasshouse import Terrarium
from glasshouse.assembly import NamedModels, SqliteStore, models_named
from glasshouse.errors import GlasshouseError
from glasshouse.events.event import Draft, Event
from glasshouse.runtime.call_time import CallBounds
from glasshouse.runtime.ledger.folds import load_folded
from glasshouse.runtime.minds.minds import ManifestAgent
from glasshouse.runtime.ports import Model, Route, Router
from glasshouse.runtime.replay.overlay import OverlayStore
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt

call_seconds_max: Final = 900.0
"""How long a call may take here: a slow machine should not cut what is measured."""
act_seconds_max: Final = 3_600.0
events_page: Final = 512
bundled_worlds: Final = Path(glasshouse.__file__).parent / "worlds"
WORLDS_MARK: Final = "@worlds@"
"""Stands in a recorded store for the folder of the bundled worlds, in which a world may have code."""
ProductError = GlasshouseError
"""What the product raises in words for people."""
_REFS: Final = ("event", "events")
"""The types of fields that cite lines, in the recorded worlds."""


class Heard(NamedTuple):
    """One request to the model and its answer; no answer: it failed, and `failure` says why."""

    prompt: Prompt
    completion: Completion | None = None
    failure: str = ""


class PlayedAct(NamedTuple):
    """An act that was played again."""

    moment: Moment
    heard: tuple[Heard, ...]
    events: tuple[Event, ...]
    """What it wrote, the end of the act last; empty if nothing was written."""

    @property
    def end(self) -> Event | None:
        """The event that ended the act."""
        mine = [
            event for event in self.events if event.actor == self.moment.creature_id and event.ends_its_act
        ]
        return mine[-1] if mine else None

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were called."""
        return [str(event.payload.get("tool", "")) for event in self.events if event.kind == "tool.called"]


class Listening:
    """A model whose requests and answers are kept, and whose seeds depend on the sampling seed. Else the model itself."""

    def __init__(self, model: Model, seed: int, heard: list[Heard]) -> None:
        self._model = model
        self._seed = seed
        self._heard = heard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def complete(self, prompt: Prompt, **how: Any) -> Completion:
        """The answer of the model."""
        prompt = replace(prompt, seed=(prompt.seed + 1_000_003 * (self._seed - 1)) % (1 << 31))
        try:
            completion = await self._model.complete(prompt, **how)
        except BaseException as wrong:
            self._heard.append(Heard(prompt, failure=str(wrong) or type(wrong).__name__))
            raise
        self._heard.append(Heard(prompt, completion))
        return completion


class ListeningRouter:
    """A router over `Listening` models. No call is cut before `call_seconds_max`."""

    def __init__(self, router: Router, seed: int, heard: list[Heard]) -> None:
        self._router = router
        self._seed = seed
        self._heard = heard

    def route(self, profile: str, name: str | None = None, /) -> Route:
        """The route of a profile."""
        route = self._router.route(profile) if name is None else self._router.route(profile, name)
        server = getattr(route.model, "_server", None)
        bounds = CallBounds(call_seconds_max, call_seconds_max, call_seconds_max)
        if server is not None:
            server.bounds = bounds
        model = Listening(route.model, self._seed, self._heard)
        return route._replace(
            model=model,
            call_seconds_max=call_seconds_max,
            first_token_seconds_max=call_seconds_max,
            token_seconds_max=call_seconds_max,
        )


class WatchedAgent(ManifestAgent):
    """The usual mind of a creature. It shows the moment of its act."""

    def __init__(self, moments: list[Moment]) -> None:
        self._moments = moments

    async def act(self, moment: Moment) -> Draft | None:
        """As usual."""
        self._moments.append(moment)
        return await super().act(moment)


@asynccontextmanager
async def opened_models(spec: str) -> AsyncIterator[NamedModels]:
    """The models that a text names, as `--models` takes it."""
    models = models_named(spec)
    await models.open()
    try:
        yield models
    finally:
        await models.close()


@asynccontextmanager
async def opened_store(packed: Path) -> AsyncIterator[Store]:
    """A recorded store, unpacked into a folder of its own while it is needed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / packed.stem
        _unpack(packed, path)
        store = SqliteStore(path)
        await store.open("bench")
        try:
            yield store
        finally:
            await store.close()


def _unpack(packed: Path, path: Path) -> None:
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    connection = sqlite3.connect(path)
    for column in ("payload", "rest"):
        connection.execute(
            f"UPDATE events SET {column} = replace({column}, ?, ?)", (WORLDS_MARK, str(bundled_worlds))
        )
    connection.commit()
    connection.close()


async def events_in(store: Store) -> list[Event]:
    """All events of a store."""
    events: list[Event] = []
    while page := await store.read_after(len(events), events_page):
        events += page
    return events


def position_before(events: list[Event], act: str) -> int:
    """The position right before the first change of the act that this event ended."""
    end = next((event for event in events if event.id == act), None)
    if end is None:
        raise LookupError(f"There is no event {act} in the store: was it recorded again?")
    changes = [event.change or 0 for event in events if event.id in (end.id, *end.tools)]
    return min(changes) - 1


async def played_act(store: Store, act: str, router: Router, seed: int = 1) -> PlayedAct:
    """Play the act again that ended in the event `act`, with these models."""
    events = await events_in(store)
    recorded = next(event for event in events if event.id == act)
    cut = position_before(events, act)
    folded = await load_folded(store, cut)
    overlay = OverlayStore(store, cut, folded.world.sessions)
    moments: list[Moment] = []
    heard: list[Heard] = []
    async with Terrarium(
        overlay,
        models=ListeningRouter(router, seed, heard),
        pacing="lockstep",
        act_seconds_max=act_seconds_max,
        agent_for=lambda _manifest: WatchedAgent(moments),
    ) as terrarium:
        await terrarium.step_one(recorded.graph_id if recorded.graph_id in folded.world.graphs else None)
        written = await overlay.read_after(cut, events_page)
    moment = next((seen for seen in moments if seen.creature_id == recorded.actor), None)
    if moment is None or moment.cause.id != recorded.caused_by:
        raise LookupError(f"The act that is due before {act} is another: was the store recorded again?")
    return PlayedAct(moment, tuple(heard), tuple(written))


def texts_of(played: PlayedAct) -> Texts:
    """What the lines of an act may be copied from, but for the texts of the prompt."""
    moment = played.moment
    character = moment.character
    lines = [event for event in moment.recent_events if _text_of(event)]
    by_world = [event for event in lines if event.actor == "conductor"]
    mine = [event for event in lines if event.actor == moment.creature_id]
    others = [event for event in lines if event not in by_world and event not in mine]
    persona = (character.persona, character.wants, character.temper, *character.voice.never)
    return Texts(
        voice=tuple(character.voice.examples),
        persona=(*persona, moment.playbill.goal),
        scene=tuple(_text_of(event) for event in by_world),
        own=tuple(_text_of(event) for event in mine[-own_lines_max:]),
        heard=tuple(_text_of(event) for event in others[-heard_lines_max:]),
    )


def about(played: PlayedAct) -> dict[str, Any]:
    """What a reader has to know to judge the line of an act."""
    moment = played.moment
    character = moment.character
    names = moment.handles
    lines = [event for event in moment.recent_events if _text_of(event)]
    cause = _text_of(moment.cause)
    return {
        "handle": moment.handle,
        "role": str(character.role),
        "persona": character.persona,
        "wants": character.wants,
        "temper": character.temper,
        "goal": moment.playbill.goal,
        "is_tick": moment.is_tick,
        "answers": f"{names.get(moment.cause.actor, moment.cause.actor)}: {cause}" if cause else "",
        "asked": moment.handed.asked or "" if moment.handed else "",
        "lately": [f"{names.get(line.actor, line.actor)}: {_text_of(line)}" for line in lines[-4:]],
        "words_max": character.voice.say_words_max,
        "may_repeat": bool(getattr(character.voice, "may_repeat", False)),
        "has_tools": bool(moment.tools),
    }


def ref_fields_of(played: PlayedAct) -> tuple[str, ...]:
    """The fields that cite lines, of all kinds of the world and of verdicts."""
    declared: Mapping[str, Mapping[str, Any]] = getattr(played.moment.playbill, "kinds", {})
    named = [name for fields in declared.values() for name, sort in fields.items() if sort in _REFS]
    return tuple(dict.fromkeys(["cites", *named]))


def thought_of(event: Event) -> str:
    """The private thought that is kept with a line."""
    private = event.private if isinstance(event.private, Mapping) else {}
    return str(private.get("thought", ""))


class _Silent:
    """A model that answers nothing: only its prompt is wanted."""

    name = "nobody"
    is_free = True
    answers_at_once = True

    async def complete(self, prompt: Prompt) -> Completion:
        """A pass, so that the act ends at once."""
        return Completion('{"kind":"agent.passed","reason":"Only the prompt is wanted."}', "nobody")


class SilentRouter:
    """A router for prompts that nobody answers."""

    def route(self, _profile: str, _name: str | None = None, /) -> Route:
        """The same for every profile."""
        return Route(_Silent(), "nobody", 8_192, 384)


def _text_of(event: Event) -> str:
    text = None
    with suppress(AttributeError):
        text = event.payload.get("text")
    return text if isinstance(text, str) else ""
