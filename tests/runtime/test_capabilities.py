"""What a model and a router can do: a value with defaults, read in one place."""

import re
from math import inf
from pathlib import Path

import glasshouse
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.capabilities import (
    ModelCapabilities,
    RouterCapabilities,
    capabilities_of,
    capabilities_of_router,
    close_model,
)
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment.prompt import Completion, Prompt


class Bare:
    """A model with nothing but `complete`."""

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion(prompt.user, "bare")


class Rich(Bare):
    """A model that declares everything."""

    name, is_free, backend, max_parallel, answers_at_once = "rich", True, "http://127.0.0.1:1", 2, True
    streams, load_seconds_max, form = True, 3.0, "json"


class OnlyRoutes:
    """A router with nothing but `route`."""

    def route(self, profile: str, model: str | None = None, /) -> Route:
        return Route(Bare(), f"{profile}/{model}", 1_000, 100)


def test_a_model_that_declares_nothing_has_the_defaults() -> None:
    assert capabilities_of(Bare()) == ModelCapabilities("Bare", False, "", inf, False, False, 0.0, "schema")


def test_a_model_declares_by_attributes_and_may_change_them_when_it_learns() -> None:
    model = Rich()
    assert capabilities_of(model) == ("rich", True, "http://127.0.0.1:1", 2, True, True, 3.0, "json", None)

    model.form = "prose"

    assert capabilities_of(model).form == "prose"


async def test_a_router_that_only_routes_is_opened_and_closed_and_knows_no_name() -> None:
    can = capabilities_of_router(OnlyRoutes())

    await can.open()
    await can.close()
    await close_model(Bare())

    assert can == RouterCapabilities()
    assert (can.pacing, can.recorded, can.pin_of, can.names()) == ("lockstep", "", None, [])


def test_a_router_over_a_server_is_paced_freely_and_names_its_models() -> None:
    can = capabilities_of_router(ModelRouter(Rich(), named={"other": ScriptedModel("-")}))

    assert can.pacing == "free"
    assert "other" in can.names()


def test_no_other_module_looks_for_what_a_model_or_a_router_can_do() -> None:
    names = {*ModelCapabilities._fields, *RouterCapabilities._fields} - {"name"}
    looks = re.compile(rf"getattr\([^()]+, \"({'|'.join(names)})\"")
    sources = Path(glasshouse.__file__).parent.rglob("*.py")

    modules_that_look = {path.name for path in sources if looks.search(path.read_text("utf-8"))}

    assert modules_that_look == {"capabilities.py"}
