"""Rehearsals: a model plays the beginning of a world in each form, several times, and is measured.

Always holds: a rehearsal plays in memory and leaves nothing in a store. Round `r` of every model and form has the same
chance, and in its middle a visitor says the same made-up word. A model's calls go through the engine as in any run:
limited, retried and repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from glasshouse.assembly import MemoryStore, ToolServer
from glasshouse.contests.measures import Measure, Rehearsed, Sample, measures_of
from glasshouse.errors import Refused
from glasshouse.events.event import Event, text_of
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.model_values import Form
from glasshouse.reprs import shown
from glasshouse.runtime.capabilities import WithScript, capabilities_of
from glasshouse.runtime.ports import Model, Route, Router
from glasshouse.terrarium import Terrarium
from glasshouse.turns.moment.prompt import Completion, Prompt

turns_usual: Final = 6
FORMS: Final[tuple[Form, ...]] = ("schema", "json", "prose")

_STARTS: Final = ("quan", "brim", "snor", "vel", "drub", "plim", "gral", "twem", "frub", "skel")
_ENDS: Final = ("dle", "fold", "rel", "wick", "bin", "pet", "ton", "gle", "mock", "fin")


class Plan(NamedTuple):
    """What every model rehearses."""

    world: LoadedWorld
    rounds: int
    turns: int = turns_usual
    rng_seed: int = 0
    tool_servers: Collection[ToolServer] = ()

    def __repr__(self) -> str:
        return shown(self, world=self.world.scenario.name, rounds=self.rounds, turns=self.turns)


class Rehearsal(NamedTuple):
    """How one model did in one form."""

    model: str
    form: Form
    measures: dict[str, Measure]
    rounds: int = 0
    """How many rounds were begun. Fewer than planned: the time was over."""

    def __repr__(self) -> str:
        return shown(self, model=self.model, form=self.form, measures=len(self.measures))


class ListenedTo:
    """A model whose requests and answers are kept. In all else it is the model itself."""

    def __init__(self, model: Model, samples: list[Sample]) -> None:
        self._model = model
        self._samples = samples

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def with_script(self) -> WithScript | None:
        """The same model in a world that has a script; none if it plays from none. It is listened to as before."""
        scripted = capabilities_of(self._model).with_script
        return None if scripted is None else lambda script: ListenedTo(scripted(script), self._samples)

    async def complete(self, prompt: Prompt, **how: Any) -> Completion:
        """The answer of the model."""
        try:
            completion = await self._model.complete(prompt, **how)
        except BaseException:
            self._samples.append(Sample(prompt))
            raise
        self._samples.append(Sample(prompt, completion))
        return completion


class OneForm:
    """A router that asks for replies in one form, and keeps what was asked and answered."""

    def __init__(self, router: Router, form: Form) -> None:
        self._router = router
        self._form: Form = form
        self.samples: list[Sample] = []
        self._routes: dict[str, Route] = {}

    def route(self, profile: str, model: str | None = None) -> Route:  # noqa: ARG002 (nobody is bound to another model)
        """The route of a profile, in the form."""
        if profile not in self._routes:
            route = self._router.route(profile)
            heard = ListenedTo(route.model, self.samples)
            self._routes[profile] = route._replace(model=heard, form=self._form, fallbacks=())
        return self._routes[profile]


class FormRehearsal:
    """One model that rehearses in one form, round by round."""

    def __init__(self, router: Router, plan: Plan, model: str, form: Form) -> None:
        self.model = model
        self.form: Form = form
        self._plan = plan._replace(world=_in_any_form(plan.world))
        self._router = OneForm(router, form)
        self._played: list[tuple[Event, ...]] = []
        self._nonces: list[str] = []

    @property
    def rounds(self) -> int:
        """How many rounds were begun until now."""
        return len(self._played)

    @property
    def calls(self) -> int:
        """How many calls were answered or failed until now."""
        return len(self._router.samples)

    async def play_round(self, may_go_on: Callable[[], bool] = lambda: True) -> None:
        """Play the next round. Before each act it asks whether it may go on; if not, the round ends there. What was played counts,
        also if the round is cancelled or fails."""
        number = self._plan.rng_seed + len(self._played)
        nonce = _nonce(number)
        events: list[Event] = []
        is_whole = False
        try:
            await _round(self._router, self._plan, number, nonce, may_go_on, events)
            is_whole = may_go_on()
        finally:
            if events:
                self._played.append(tuple(events))
                # Whoever had no time to answer the visitor does not count.
                self._nonces.append(nonce if is_whole and _is_said(nonce, events) else "")

    def result(self) -> Rehearsal:
        """What is measured of the rounds until now."""
        scenario = self._plan.world.scenario
        rehearsed = Rehearsed(
            tuple(self._router.samples),
            tuple(self._played),
            tuple(scenario.cast_by_handle),
            tuple(self._nonces),
            scenario.language,
        )
        return Rehearsal(self.model, self.form, measures_of(rehearsed), len(self._played))


async def rehearse(
    router: Router, plan: Plan, model: str, form: Form, on_round: Callable[[int], None] = lambda _number: None
) -> Rehearsal:
    """Let the models of a router play the first turns of a world in one form, and measure them under this name."""
    rehearsal = FormRehearsal(router, plan, model, form)
    for number in range(1, plan.rounds + 1):
        on_round(number)
        await rehearsal.play_round()
    return rehearsal.result()


async def _round(
    router: OneForm,
    plan: Plan,
    rng_seed: int,
    nonce: str,
    may_go_on: Callable[[], bool],
    events: list[Event],
) -> None:
    """Play one round. However it ends, `events` gets what was played of it."""

    async def gate(_graph_id: str) -> bool:
        return may_go_on()

    turns_before = plan.turns // 2
    async with Terrarium(
        MemoryStore(), models=router, tool_servers=plan.tool_servers, pacing="lockstep"
    ) as terrarium:
        run = await terrarium.open_world(plan.world, None, rng_seed)
        try:
            await terrarium.run(run.id, turns=turns_before, before_act=gate)
            if terrarium.run_of(run.id).status == "playing" and may_go_on():
                await terrarium.disturb(run.id, f"Somebody left a brass {nonce} by the door.")
                await terrarium.run(run.id, turns=plan.turns - turns_before, before_act=gate)
        finally:
            events += await terrarium.run_events(run.id)
        paused = terrarium.run_of(run.id).paused
        if paused is not None:
            raise Refused(f"The rehearsal stopped: {paused.reason}", "Mend that, then rehearse again.")


def _in_any_form(world: LoadedWorld) -> LoadedWorld:
    """The world with creatures that reply in whatever form they are asked for."""
    manifests = world.manifests.items()
    copies = {name: manifest.model_copy(update={"reply": "auto"}) for name, manifest in manifests}
    return replace(world, manifests=copies)


def _nonce(number: int) -> str:
    """A made-up word, so that whoever says it has heard it."""
    return _STARTS[number % len(_STARTS)] + _ENDS[(number * 7 + number // len(_STARTS)) % len(_ENDS)]


def _is_said(nonce: str, events: Sequence[Event]) -> bool:
    """Whether the visitor came to say it: not if the run was over before."""
    return any(nonce in text_of(event) for event in events if event.model is None)
