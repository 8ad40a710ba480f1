"""Every kind of model keeps the contract that users test their own models with."""

import socket
from collections.abc import Iterator

import pytest

from glasshouse.models.ollama import OllamaModel
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.runtime.ports import Model
from glasshouse.testing import ModelContract
from glasshouse.troupe.model import OfflineModel
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.servers.imitating_server import ImitatingServer, imitating_server


def address_of_nobody() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


class TestOfflineModel(ModelContract):
    def model(self) -> Model:
        return OfflineModel()


class TestOpenAICompatible(ModelContract):
    served: ImitatingServer

    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        with imitating_server("vllm") as self.served:
            yield

    def model(self) -> Model:
        return OpenAICompatible(self.served.model, self.served.url)

    def unreachable_model(self) -> Model:
        return OpenAICompatible("any", f"{address_of_nobody()}/v1")


class TestOllamaModel(ModelContract):
    served: ImitatingServer

    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        with imitating_server("ollama") as self.served:
            yield

    def model(self) -> Model:
        return OllamaModel(self.served.model, self.served.url)

    def unreachable_model(self) -> Model:
        return OllamaModel("any", address_of_nobody())


class Mute:
    """A model with a fault: it says nothing."""

    name = "mute"

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion("", "mute")


def test_a_model_with_a_fault_does_not_keep_the_contract() -> None:
    class Suite(ModelContract):
        def model(self) -> Model:
            return Mute()

    with pytest.raises(AssertionError):
        Suite().test_it_answers_each_form_of_prompt_within_the_bounds()
