"""Models for tests: one that gives scripted replies, and one that counts calls.

Always holds: neither thinks, waits or reaches anything outside.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.reprs import repr_of
from glasshouse.runtime.ports import Model
from glasshouse.turns.moment.prompt import Completion, Prompt


class _KeepsPrompts:
    """A model that keeps every prompt it was given."""

    __repr__ = repr_of("calls")

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.prompts)


class ScriptedModel(_KeepsPrompts):
    """Answers with the lines it was given, in order, then with the last one for ever; counts how often it was asked."""

    name: Final = "scripted"
    is_free: Final = True

    def __init__(self, *answers: str | Completion | BaseException) -> None:
        if not answers:
            raise Refused("A scripted model needs something to say.", "Give it at least one answer.")
        for answer in answers:
            if not isinstance(answer, str | Completion | BaseException):
                raise Refused(
                    f"A scripted model cannot say {answer!r}.", "Give its answers one by one, each a text."
                )
        self._answers = answers
        super().__init__()

    async def complete(self, prompt: Prompt) -> Completion:
        """The next answer; one that is an error is raised."""
        answer = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append(prompt)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Completion):
            return replace(answer)
        return Completion(answer, self.name, len(prompt.user) // 4, len(answer) // 4, usd=0.0)


class CountingModel(_KeepsPrompts):
    """Hands every prompt on to another model, and keeps it; without another model nobody may ask it anything."""

    def __init__(self, model: Model | None = None) -> None:
        self._model = model
        self.name: Final = str(getattr(model, "name", "counting"))
        self.is_free: Final = bool(getattr(model, "is_free", True))
        super().__init__()

    async def complete(self, prompt: Prompt) -> Completion:
        """What the other model says to this."""
        self.prompts.append(prompt)
        if self._model is None:
            raise Refused("This was to ask no model, and asked one.", "Give CountingModel a model to ask.")
        return await self._model.complete(prompt)
