"""Models for tests: one gives scripted replies, the other counts the calls to a model.

Always holds: neither waits nor uses the network, unless the model that `CountingModel` calls does.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.model_values import Tokens
from glasshouse.reprs import repr_of
from glasshouse.runtime.capabilities import WithScript, capabilities_of
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
    """Gives the scripted answers in order, then repeats the last one; keeps every prompt."""

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
        """The next scripted answer; an answer that is an exception is raised."""
        answer = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append(prompt)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Completion):
            return replace(answer)
        return Completion(answer, self.name, Tokens(len(prompt.user) // 4, len(answer) // 4), usd=0.0)


class CountingModel(_KeepsPrompts):
    """Keeps every prompt and passes it to another model; without another model it raises `Refused`."""

    def __init__(self, model: Model | None = None) -> None:
        self._model = model
        self.name: Final = "counting" if model is None else capabilities_of(model).name
        self.is_free: Final = model is None or capabilities_of(model).is_free
        super().__init__()

    @property
    def with_script(self) -> WithScript | None:
        """The same model in a world that has a script; none if it plays from none. Its prompts are kept here."""
        scripted = None if self._model is None else capabilities_of(self._model).with_script
        if scripted is None:
            return None

        def counted(script: str) -> CountingModel:
            model = CountingModel(scripted(script))
            model.prompts = self.prompts
            return model

        return counted

    async def complete(self, prompt: Prompt) -> Completion:
        """The completion of the other model."""
        self.prompts.append(prompt)
        if self._model is None:
            raise Refused("This was to ask no model, and asked one.", "Give CountingModel a model to ask.")
        return await self._model.complete(prompt)
