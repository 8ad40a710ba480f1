"""Writes docs/reference/http.md from the OpenAPI: `python -m tests.web.http_page`. A test holds the page to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from glasshouse import MemoryStore, Terrarium
from glasshouse.events.redaction import ROLES
from glasshouse.web.app import app
from tests.web.test_roles import ROUTES

PAGE: Final = Path(__file__).resolve().parents[2] / "docs/reference/http.md"

HEAD: Final = """# The HTTP API

`glasshouse serve` answers at `http://127.0.0.1:8420`, and the page itself uses nothing else. [Use the API](../how-to/use-the-api.md) shows
how. The same as OpenAPI: `/api/openapi.json`. This page is written from it: `python -m tests.web.http_page`.

- Without a token this machine alone is answered, as the director. Otherwise send `Authorization: Bearer TOKEN`; what each
  [role](events.md#roles) may read is decided by the server. `role=` asks for a lower one.
- A command is a `POST` with a JSON body. It returns once its events are durable; what it did comes down the stream.
- A run is `playing` while it is played here. A run that has not finished and is not played is `paused`, whether its ledger has a
  `run.paused` or not: pause and step of a page hold a run and write nothing. Beside another process that plays the store, the
  state is what the ledger says.
- `k` is the number of an event in a story, counted from 1. A story is a run with its past, and every run that shares a graph with it.
- A price or cost that nobody knows is `null`, never 0.
- A refusal has the body `{"error": NAME, "message": REASON, "help": PAGE}`; `help` names a section of the docs, if there is one. What is open at once and what is sent is [limited](limits.md).
"""

REFUSALS: Final = "## Refusals\n\n| status | when |\n|---|---|\n"


def written() -> str:
    """The page."""
    schema = app(Terrarium(MemoryStore())).openapi()
    reads, commands, refusals = list[str](), list[str](), dict[str, str]()
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            name = f"{method.upper()} {path}"
            (commands if method == "post" else reads).append(_row(name, route))
            refusals |= {
                status: answer["description"]
                for status, answer in route["responses"].items()
                if status >= "4"
            }
    table = "| route | roles | what it does | asked with | answers |\n|---|---|---|---|---|\n"
    parts = [
        HEAD,
        f"## Reading\n\n{table}{''.join(sorted(reads))}",
        f"## Commands\n\n{table}{''.join(sorted(commands))}",
        f"{REFUSALS}{''.join(f'| {status} | {when} |{chr(10)}' for status, when in sorted(refusals.items()))}",
        _values(schema),
    ]
    return "\n".join(parts)


def _row(name: str, route: dict[str, Any]) -> str:
    roles = "all" if ROUTES[name].roles == ROLES else ", ".join(ROUTES[name].roles)
    asked = [
        f"`{parameter['name']}`: {_sentence(parameter['description'])}"
        for parameter in route.get("parameters", ())
        if parameter["in"] == "query" and parameter["name"] != "role"
    ]
    if (body := route.get("requestBody")) is not None:
        asked += [
            _type(content["schema"]) if kind == "application/json" else f"`{kind}`"
            for kind, content in body["content"].items()
        ]
    good = next(answer for status, answer in route["responses"].items() if status < "3")
    answers = [
        _type(content["schema"]) if kind == "application/json" else f"`{kind}`"
        for kind, content in good.get("content", {}).items()
    ]
    text = _cell(route.get("description") or route["summary"])
    return f"| `{name}` | {roles} | {text} | {'; '.join(map(_cell, asked))} | {' or '.join(answers) or 'nothing'} |\n"


def _values(schema: dict[str, Any]) -> str:
    lines = [
        "## Values",
        "",
        "`?` marks what may be left out or null.",
        "",
        "| value | what it is | fields |",
        "|---|---|---|",
    ]
    for name, model in sorted(schema["components"]["schemas"].items()):
        required = model.get("required", ())
        fields = [
            f"`{field}{'' if field in required and not _may_be_null(part) else '?'}` {_type(part)}"
            + (f" ({_sentence(part['description'])})" if part.get("description") else "")
            for field, part in model.get("properties", {}).items()
        ]
        lines.append(
            f"| `{name}` | {_cell(model.get('description', ''))} | {', '.join(map(_cell, fields))} |"
        )
    return "\n".join(lines) + "\n"


def _may_be_null(part: dict[str, Any]) -> bool:
    return any(choice.get("type") == "null" for choice in part.get("anyOf", ()))


def _type(part: dict[str, Any]) -> str:
    if "$ref" in part:
        return f"`{part['$ref'].rpartition('/')[2]}`"
    if "enum" in part or "const" in part:
        return " or ".join(f"`{word}`" for word in part.get("enum", [part.get("const")]))
    if "anyOf" in part:
        return " or ".join(
            dict.fromkeys(_type(choice) for choice in part["anyOf"] if choice.get("type") != "null")
        )
    match part.get("type"):
        case "array":
            return f"list of {_type(part.get('items', {}))}"
        case "object":
            values = part.get("additionalProperties")
            return f"map to {_type(values)}" if isinstance(values, dict) and values else "object"
        case "string":
            return "time" if part.get("format") == "date-time" else "text"
        case kind:
            return {"integer": "number", "number": "number", "boolean": "yes or no"}.get(
                str(kind), "anything"
            )


def _sentence(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
