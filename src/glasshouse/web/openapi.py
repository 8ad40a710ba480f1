"""The API as OpenAPI describes it: every route with a sentence, every name in an address with its meaning."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from fastapi import FastAPI

from glasshouse.events.event import Event
from glasshouse.views.curtain import Curtain
from glasshouse.views.page import Record
from glasshouse.views.who_knew import WhoKnew
from glasshouse.views.why import Why

_NAMES: Final = {
    "run_id": "The id of a run, as lists show it.",
    "event_id": "The id of an event, such as s-1a2b.20.",
    "limit": "How many at most.",
    "offset": "How many to leave out at the beginning.",
}
"""What is meant by names that many routes have."""


_REFUSAL: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
_STRUCTS: Final = (Curtain, Event, Record, WhoKnew, Why)
"""Values that are answered as they are."""


def answered(struct: type, *, many: bool = False) -> dict[int | str, dict[str, Any]]:
    """That a route answers with such a value, for its documentation."""
    schema: dict[str, Any] = {"$ref": f"#/components/schemas/{struct.__name__}"}
    if many:
        schema = {"type": "array", "items": schema}
    return {200: {"content": {"application/json": {"schema": schema}}}}


def describe(served: FastAPI) -> None:
    """Have an app describe itself: the summary of a route is the first sentence of what it says about itself."""
    plain = served.openapi

    def described() -> dict[str, Any]:
        if served.openapi_schema is None:
            schema = plain()
            for methods in schema["paths"].values():
                for route in methods.values():
                    _describe_route(route)
            _, parts = msgspec.json.schema_components(_STRUCTS, ref_template="#/components/schemas/{name}")
            assert not parts.keys() & schema["components"]["schemas"].keys(), "two values of one name"
            schema["components"]["schemas"].update(parts)
        return served.openapi_schema or plain()

    served.openapi = described  # type: ignore[method-assign]


def _describe_route(route: dict[str, Any]) -> None:
    sentence, end, rest = route.get("description", "").partition(". ")
    route["summary"] = " ".join(f"{sentence}{end.strip()}".split())
    if rest:
        route["description"] = " ".join(route["description"].split())
    else:
        route.pop("description", None)
    for status, answer in route["responses"].items():
        if status >= "4":  # A refusal is JSON, whatever the route answers otherwise.
            answer["content"] = _REFUSAL
    for parameter in route.get("parameters", ()):
        if parameter["name"] in _NAMES:
            parameter.setdefault("description", _NAMES[parameter["name"]])
