"""Support for tests of the governor: governors with a single limit, and models that take time and cost money."""

from typing import Any

from glasshouse import Governor, ModelRouter
from glasshouse.model_values import Tokens
from glasshouse.models import Completion, Price, Prompt, Route
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.clock import HandMovedClock

NO_LIMIT: dict[str, Any] = {
    "max_turns": None,
    "max_calls_per_turn": None,
    "on_turn_limit": "finish",
    "max_total_calls": None,
    "max_total_tokens": None,
    "max_total_usd": None,
    "hourly_budget_usd": None,
    "max_wall_minutes": None,
}


def only(**limit: float) -> Governor:
    """A governor with this one limit and no other."""
    return Governor(**{**NO_LIMIT, **limit})


class Paced(ScriptedModel):
    """A model whose every answer takes some time of the clock, and costs the same tokens and money."""

    def __init__(
        self, clock: HandMovedClock, *, seconds: float = 0.0, tokens: int = 100, usd: float = 0.0
    ) -> None:
        super().__init__("-")
        self.clock, self.seconds = clock, seconds
        self.answer = Completion("-", "paced", Tokens(tokens // 2, tokens - tokens // 2), usd=usd)

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        self.clock.move(self.seconds)
        return self.answer


def priced(model: Any, usd_a_million: float | None = 10.0) -> ModelRouter:
    price = None if usd_a_million is None else Price(usd_a_million, usd_a_million)
    route = Route(model, "paced", 8_192, 384, price)
    return ModelRouter(dict.fromkeys(("tiny", "fast", "balanced", "strong"), route))
