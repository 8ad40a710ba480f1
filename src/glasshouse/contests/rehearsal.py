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

    def __repr__(self) -> str:
        return shown(self, model=self.model, form=self.form, measures=len(self.measures))


class ListenedTo:
    """A model whose requests and answers are kept. In all else it is the model itself."""

    def __init__(self, model: Model, samples: list[Sample]) -> None:
        self._model = model
        self._samples = samples

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

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


async def rehearse(
    router: Router, plan: Plan, model: str, form: Form, on_round: Callable[[int], None] = lambda _number: None
) -> Rehearsal:
    """Let the models of a router play the first turns of a world in one form, and measure them under this name."""
    one_form = OneForm(router, form)
    world = _in_any_form(plan.world)
    played = []
    nonces = [_nonce(plan.rng_seed + number) for number in range(plan.rounds)]
    for number, nonce in enumerate(nonces):
        on_round(number + 1)
        played.append(await _round(one_form, plan._replace(world=world), plan.rng_seed + number, nonce))
    heard = [nonce if _is_said(nonce, events) else "" for nonce, events in zip(nonces, played, strict=True)]
    handles = tuple(world.scenario.cast_by_handle)
    language = world.scenario.language
    samples = tuple(one_form.samples)
    return Rehearsal(
        model, form, measures_of(Rehearsed(samples, tuple(played), handles, tuple(heard), language))
    )


async def _round(router: OneForm, plan: Plan, rng_seed: int, nonce: str) -> tuple[Event, ...]:
    turns_before = plan.turns // 2
    async with Terrarium(
        MemoryStore(), models=router, tool_servers=plan.tool_servers, pacing="lockstep"
    ) as terrarium:
        run = await terrarium.open_world(plan.world, None, rng_seed)
        await terrarium.run(run.id, turns=turns_before)
        if terrarium.run_of(run.id).status == "playing":
            await terrarium.disturb(run.id, f"Somebody left a brass {nonce} by the door.")
            await terrarium.run(run.id, turns=plan.turns - turns_before)
        paused = terrarium.run_of(run.id).paused
        if paused is not None:
            raise Refused(f"The rehearsal stopped: {paused.reason}", "Mend that, then rehearse again.")
        return tuple(await terrarium.run_events(run.id))


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
