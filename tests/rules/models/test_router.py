"""Profiles that are not bound to a model are played by the nearest one that is."""

import pytest

from glasshouse.errors import Refused, UnknownName
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.models.router import ModelRouter, size_played
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.ports import Route
from glasshouse.terrarium import Terrarium


@pytest.mark.parametrize(
    ("bound", "played"),
    [
        ({"fast"}, ["fast", "fast", "fast", "fast"]),
        ({"tiny", "strong"}, ["tiny", "tiny", "tiny", "strong"]),
        ({"balanced"}, ["balanced", "balanced", "balanced", "balanced"]),
        ({"fast", "strong"}, ["fast", "fast", "fast", "strong"]),
    ],
)
def test_an_unbound_size_falls_to_the_nearest_below_then_above(bound: set[str], played: list[str]) -> None:
    assert [size_played(size, bound) for size in ("tiny", "fast", "balanced", "strong")] == played


def test_a_router_lets_the_nearest_model_play() -> None:
    model = ScriptedModel("Hello.")
    router = ModelRouter({"fast": model})

    assert router.route("strong").model is model
    with pytest.raises(UnknownName):
        router.route("huge")
    with pytest.raises(Refused, match="Bind one of tiny, fast, balanced, strong"):
        ModelRouter({}).route("fast")


def test_models_behind_servers_are_paced_freely_unless_somebody_says_otherwise() -> None:
    server = OpenAICompatible("m", "http://127.0.0.1:9")
    route = Route(server, "m", 8_192, 384)

    routers = [ModelRouter(server), ModelRouter({"fast": route}), ModelRouter(named={"m": server})]
    assert [router.pacing for router in routers] == ["free"] * 3
    assert [ModelRouter().pacing, ModelRouter(ScriptedModel("Hello.")).pacing] == ["lockstep"] * 2
    assert Terrarium(models=ModelRouter(server))._stage._pacing == "free"
    assert Terrarium(models=ModelRouter(server), pacing="lockstep")._stage._pacing == "lockstep"
