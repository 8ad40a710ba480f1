"""Plays on model servers: a terrarium whose creatures all ask one server, and the record of what came of it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from glasshouse import ModelRouter, Terrarium, verify
from glasshouse.events import Call, Event
from glasshouse.events.model_use import Price
from glasshouse.model_values import Form
from glasshouse.models.ollama import OllamaModel
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.runtime.ports import OnText, Route
from glasshouse.turns.moment.prompt import PROFILES
from tests.servers import faults
from tests.servers.imitating_server import ImitatingServer
from tests.servers.imitations import Personality
from tests.servers.llama_server import Counted, LlamaServer

ServerModel = OpenAICompatible | OllamaModel

BUSY = [faults.status(429, retry_after="0"), faults.status(503, retry_after="0")]
"""Faults that reach no model and may be tried again at once."""
BROKEN = [*faults.BROKEN_ANSWERS, faults.status(500), faults.status(502)]
"""Faults after which nobody knows what the model has done."""


class Record(NamedTuple):
    """What the ledger says of a run."""

    events: Sequence[Event]
    digest: str

    @property
    def calls(self) -> list[Call]:
        return [call for event in self.events for call in event.calls]

    @property
    def reported(self) -> list[Call]:
        """The calls whose usage the server told."""
        return [call for call in self.calls if call.reached and not call.usage.is_estimated]

    @property
    def estimated(self) -> list[Call]:
        """The calls that were sent and cost what was reserved for them."""
        return [call for call in self.calls if call.usage.is_estimated]

    @property
    def counted(self) -> Counted:
        """The sums of what the server told."""
        usages = [call.usage for call in self.reported]
        return Counted(
            sum(usage.input_uncached for usage in usages),
            sum(usage.cache_read for usage in usages),
            sum(usage.output for usage in usages),
        )

    @property
    def acts(self) -> list[Event]:
        """How acts ended."""
        return [event for event in self.events if event.calls]

    @property
    def texts(self) -> list[str]:
        return [str(event.payload["text"]) for event in self.acts if "text" in event.payload]


async def record_of(terrarium: Terrarium, run_id: str) -> Record:
    """The record of a run, after it was played again from the ledger alone, to the same digest."""
    verification = await verify(terrarium, run_id)
    assert verification.is_same, (verification, verification.prompt_diffs)
    return Record(await terrarium.run_events(run_id), await terrarium.digest(run_id))


@asynccontextmanager
async def terrarium_on(
    model: ServerModel,
    *,
    form: Form | None = None,
    price: Price | None = None,
    store: Path | None = None,
    hear: OnText | None = None,
    **bounds: Any,
) -> AsyncIterator[Terrarium]:
    """A terrarium in which one model plays every size. Somebody may hear the texts as they come. `bounds` are those of its route."""
    is_local = price is None
    route = Route(model, "small", 8_192, 256, price=price, form=form or "auto", is_local=is_local, **bounds)
    async with Terrarium(store, models=ModelRouter(dict.fromkeys(PROFILES, route))) as terrarium:
        if hear is not None:
            terrarium._parts.model_access.listener = lambda _call: hear
        try:
            yield terrarium
        finally:
            await model.close()


def on_llama(server: LlamaServer) -> ServerModel:
    return OpenAICompatible("random", server.url, server="llama.cpp")


def on_imitation(
    server: ImitatingServer, personality: Personality, *, call_seconds_max: float | None = None
) -> ServerModel:
    if personality == "ollama":
        return OllamaModel(server.model, server.url, context_tokens=8_192, call_seconds_max=call_seconds_max)
    kind = "llama.cpp" if personality == "llamacpp" else personality
    return OpenAICompatible(
        server.model, server.url, server=kind, key="sk-test", call_seconds_max=call_seconds_max
    )


async def play_on(terrarium: Terrarium, run_id: str, *, turns: int) -> int:
    """Play some turns, and continue after every pause, as a patient person does. Returns how many pauses there were."""
    pauses = 0
    for _ in range(turns):
        await terrarium.run(run_id, turns=1)
        if terrarium.run_of(run_id).paused:
            pauses += 1
            await terrarium.continue_run(run_id)
    return pauses


def assert_sums_agree(record: Record, server: ImitatingServer) -> None:
    usages = [call.usage for call in record.reported]
    assert sum(usage.input for usage in usages) == server.usage.input
    assert sum(usage.output for usage in usages) == server.usage.output
    assert len(record.calls) == len(server.calls)
