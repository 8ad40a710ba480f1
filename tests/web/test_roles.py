"""What each role gets from each route, by bytes: no answer holds what its reader may not read.

A route without an entry in `ROUTES` fails the test: whoever adds one says here how it is asked.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from glasshouse import MemoryStore, ModelRouter, Terrarium
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.redaction import ROLES, Role
from glasshouse.models import OpenAICompatible
from glasshouse.web.access import Access
from tests.web.served import Served, served

SECRET = "a secret of more than sixteen characters"
KEY = "sk-a-key-that-nobody-may-read"
secret_chars_min = 16
"""A shorter text may stand somewhere by chance."""


class Asked(NamedTuple):
    """How a route is asked, and who may."""

    queries: tuple[str, ...] = ("",)
    body: dict[str, Any] | None = None
    roles: tuple[Role, ...] = ROLES
    is_harmless: bool = True
    """Whether the test may also ask it in a role that may: it does not change the run."""
    status: int = 200
    """How a role that may ask is answered."""


DIRECTOR: Final[tuple[Role, ...]] = ("director",)
RUN: Final = "/api/v1/runs/{run_id}"

ROUTES: Final[dict[str, Asked]] = {
    f"GET {RUN}/view": Asked(("", "at=0", "at=20")),
    f"GET {RUN}/diffs": Asked(("", "limit=30", "after=10&limit=5")),
    f"GET {RUN}/timeline": Asked(),
    f"GET {RUN}/curtain": Asked(status=409),  # These runs go on: test_curtain.py reads those that ended.
    f"GET {RUN}/stream": Asked(),
    f"GET {RUN}/events": Asked(
        ("limit=1000", "order=newest&limit=1000", "format=csv", "format=jsonl", "text=the", "show=world")
    ),
    f"GET {RUN}/events/{{event_id}}": Asked(),
    f"GET {RUN}/events/{{event_id}}/number": Asked(),
    f"GET {RUN}/events/{{event_id}}/why": Asked(),
    f"GET {RUN}/events/{{event_id}}/who-knew": Asked(("", "at={event_id}")),
    f"GET {RUN}/events/{{event_id}}/prompt": Asked(roles=DIRECTOR),
    f"GET {RUN}/lineage": Asked(),
    f"GET {RUN}/share.html": Asked(("", "minds=true")),
    "GET /api/v1/runs": Asked(("", "format=csv", "search=the")),
    "GET /api/v1/archive": Asked(("", "format=csv")),
    "GET /api/v1/leaderboard": Asked(("", "by=model", "format=csv")),
    "GET /api/v1/worlds": Asked(),
    "GET /api/v1/worlds/{world}/sheet": Asked(roles=DIRECTOR),
    "POST /api/v1/worlds/{world}/check": Asked(body={"edits": {"judge": ""}}, roles=DIRECTOR),
    "GET /api/v1/worlds/{world}/texts": Asked(roles=DIRECTOR),
    "POST /api/v1/worlds/{world}/texts/check": Asked(body={"texts": {}}, roles=DIRECTOR, status=409),
    "POST /api/v1/worlds/{world}/texts/save": Asked(
        body={"texts": {}, "digest": "none"}, roles=DIRECTOR, is_harmless=False
    ),
    "POST /api/v1/worlds/{world}/rehearse": Asked(body={"texts": {}}, roles=DIRECTOR, status=409),
    "POST /api/v1/worlds/{world}/perform": Asked(body={"texts": {}}, roles=DIRECTOR, is_harmless=False),
    # No rehearsal is kept here: test_studio.py reads what one was asked.
    "GET /api/v1/rehearsals/{rehearsal}/events/{event_id}/prompt": Asked(roles=DIRECTOR, status=404),
    "GET /api/v1/models": Asked(),
    "GET /api/v1/me": Asked(),
    "GET /healthz": Asked(),
    "POST /api/v1/session": Asked(body={"token": "no"}, is_harmless=False),
    "POST /api/v1/imports": Asked(("name=a.glass",), body={}, roles=DIRECTOR, is_harmless=False),
    "POST /api/v1/estimate": Asked(body={"world": "twenty-sprouts"}, roles=DIRECTOR),
    "POST /api/v1/approvals": Asked(
        body={"creature": "{creature}", "is_approved": False}, roles=DIRECTOR, is_harmless=False
    ),
    "POST /api/v1/edits": Asked(
        body={"what": "stop_creature", "creature": "{creature}", "dry_run": True}, roles=DIRECTOR
    ),
    f"POST {RUN}/labels": Asked(body={"labels": ["keep"]}, roles=DIRECTOR),
    f"POST {RUN}/disturb": Asked(body={"text": "A quandle."}, roles=DIRECTOR),
    **{
        f"POST {path}": Asked(body=body, roles=DIRECTOR, is_harmless=False)
        for path, body in (
            ("/api/v1/runs", {"world": "twenty-sprouts"}),
            ("/api/v1/worlds", {"name": "mine", "world": "twenty-sprouts"}),
            (f"{RUN}/play", {}),
            (f"{RUN}/pause", {}),
            (f"{RUN}/step", {}),
            (f"{RUN}/next", {}),
            (f"{RUN}/finish", {}),
            (f"{RUN}/resume", {}),
            (f"{RUN}/branch", {"at": "{event_id}"}),
            (f"{RUN}/limits", {"max_turns": 30}),
        )
    },
}
WRONG: Final = (
    "GET /api/v1/runs/r-nobody/view",
    f"GET {RUN}/view?at=99999",
    f"GET {RUN}/view?at=x",
    f"GET {RUN}/events?cursor=x",
    f"GET {RUN}/events/nothing",
    f"GET {RUN}/events/{{event_id}}x/why",
    "GET /api/v1/nothing",
    "POST /healthz",
    "POST /api/v1/edits",
)


class Secrets(NamedTuple):
    """What must not be read: by spectators; by them and the audience; by anybody."""

    minds: frozenset[str]
    sealed: frozenset[str]
    always: frozenset[str]

    def hidden_from(self, role: Role) -> frozenset[str]:
        hidden = {"spectator": self.minds | self.sealed, "audience": self.sealed, "director": frozenset()}
        return self.always | hidden[role]

    def found_in(self, text: str, role: Role) -> list[str]:
        return [secret for secret in self.hidden_from(role) if secret in text or _as_json(secret) in text]


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _texts(part: Any) -> list[str]:
    if isinstance(part, dict):
        return [text for value in part.values() for text in _texts(value)]
    if isinstance(part, list | tuple):
        return [text for value in part for text in _texts(value)]
    return [part] if isinstance(part, str) else []


async def secrets_of(t: Terrarium, events: list[Event], access: Access) -> Secrets:
    minds, sealed = list[str](), list[str]()
    lines = [event for event in events if event.kind not in kinds.NO_LINES | kinds.MINDS]
    said = " ".join(text for line in lines for text in _texts(line.payload))
    for event in events:
        minds += _texts(event.private)
        if event.kind in kinds.MINDS:
            minds += _texts(event.payload)
        if event.kind == kinds.CREATURE_STARTED:
            manifest = event.payload.get("manifest") or {}
            minds += [manifest.get(name, "") for name in ("persona", "wants")]
        for call in event.calls:
            prompts = [await t.prompt(call.system), await t.prompt(call.user)]
            assert None not in prompts
            sealed += [str(prompt)[-200:] for prompt in prompts]
            sealed += [call.completion, call.reasoning or "", call.system, call.user]
        if event.kind == kinds.RUN_STARTED:
            sealed.append(event.payload["recipe"]["path"])
    cards = {text for event in events for text in _texts((event.sealed or {}).get("facts"))}
    return Secrets(
        minds=frozenset(text for text in minds if len(text) >= secret_chars_min and text not in said),
        sealed=frozenset(text for text in sealed if len(text) >= secret_chars_min)
        | {f'"{card}"' for card in cards if card not in said},
        always=frozenset({SECRET, KEY, access.token_for("director"), access.token_for("audience")}),
    )


class Played(NamedTuple):
    terrarium: Terrarium
    page: Served
    access: Access
    secrets: Secrets
    events: dict[str, list[Event]]
    """Run -> its events."""

    async def ask(self, role: Role, call: str, body: dict[str, Any] | None = None) -> Any:
        method, _, path = call.partition(" ")
        bearer = {"authorization": f"Bearer {self.access.token_for(role)}"}
        return await self.page.client.request(method, path, json=body, headers=bearer)

    def check(self, role: Role, call: str, text: str, headers: Any = "") -> None:
        leaked = self.secrets.found_in(f"{headers} {_unpacked(text)}", role)
        assert not leaked, f"{role} reads {leaked[0][:80]!r} in {call}"


def _unpacked(text: str) -> str:
    """A text with what a shared file holds packed."""
    packed = re.findall(r"H4sI[A-Za-z0-9+/]+=*", text)
    pieces = [b64decode(piece + "=" * (-len(piece) % 4)) for piece in packed]
    return " ".join([text, *[gzip.decompress(piece).decode() for piece in pieces]])


@asynccontextmanager
async def played() -> AsyncIterator[Played]:
    """Runs with thoughts, cards, tools and prompts, served with tokens."""
    access = Access(SECRET)
    hosted = OpenAICompatible("hosted-model", "http://127.0.0.1:9/v1", key=KEY)
    async with Terrarium(MemoryStore(), models=ModelRouter(named={"hosted": hosted})) as t:
        for world in ("twenty-sprouts", "almanac-oak"):
            run = await t.open_world(world)
            await t.run(run.id, turns=4)
        events = {run.id: list(await t.run_events(run.id)) for run in t.runs()}
        everything = [event for some in events.values() for event in some]
        assert {kinds.TOOL_CALLED, kinds.TOOL_RETURNED} <= {event.kind for event in everything}
        secrets = await secrets_of(t, everything, access)
        assert min(len(secrets.minds), len(secrets.sealed)) > 20
        assert any(secret.startswith('"') for secret in secrets.sealed), "a card was dealt"
        async with served(t, access) as page:
            yield Played(t, page, access, secrets, events)


async def test_no_answer_holds_what_its_reader_may_not_read() -> None:
    async with played() as show:
        routes = (await show.ask("director", "GET /api/openapi.json")).json()["paths"]
        known = {f"{method.upper()} {path}" for path, methods in routes.items() for method in methods}
        assert known == set(ROUTES), "every route has its entry in ROUTES, and every entry its route"
        for role in ROLES:
            for run_id, events in show.events.items():
                for route, asked in ROUTES.items():
                    await check_route(show, role, route, asked, run_id, events)


async def check_route(
    show: Played, role: Role, route: str, asked: Asked, run_id: str, events: list[Event]
) -> None:
    if route.endswith("/stream"):
        return  # It does not end: tested below.
    if "{run_id}" not in route and run_id != next(iter(show.events)):
        return
    asked_about = [
        event for event in events if event.calls or event.sealed or event.kind == kinds.RUN_STARTED
    ][:6]
    for event in asked_about if "{event_id}" in route else asked_about[:1]:
        names = {
            "{run_id}": run_id,
            "{event_id}": event.id,
            "{creature}": events_creature(events),
            "{world}": "twenty-sprouts",
        }
        for query in asked.queries:
            # A lower role that asks for a higher one gets its own.
            wanted = [query, f"{query}&role=director".lstrip("&")] if role != "director" else [query]
            for query_now in wanted if route.startswith("GET") else [query]:
                may, is_command = role in asked.roles, not route.startswith("GET")
                if may and is_command and not asked.is_harmless:
                    continue
                call = _filled(f"{route}?{query_now}" if query_now else route, names)
                body = None if asked.body is None else json.loads(_filled(json.dumps(asked.body), names))
                answer = await show.ask(role, call, body)
                assert (answer.status_code == asked.status) is may, (
                    f"{role} {call}: {answer.status_code} {answer.text}"
                )
                show.check(role, call, answer.text, answer.headers)


def events_creature(events: list[Event]) -> str:
    return str(next(event.payload["creature"] for event in events if event.kind == kinds.CREATURE_STARTED))


def _filled(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize("role", ROLES)
async def test_no_stream_sends_what_its_reader_may_not_read(role: Role) -> None:
    async with played() as show:
        run_id = next(iter(show.events))
        bearer = {"authorization": f"Bearer {show.access.token_for(role)}"}
        path = f"/api/v1/runs/{run_id}/stream?role=director"
        async with show.page.client.stream("GET", path, headers=bearer) as answer:
            pieces = answer.aiter_text()
            text = await anext(pieces)
            await show.terrarium.run(run_id, turns=2)
            last = await show.terrarium.disturb(run_id, "The last line of this test.")
            while last.id not in text:
                text += await anext(pieces)
        newer = list(await show.terrarium.run_events(run_id))
        secrets = await secrets_of(show.terrarium, newer, show.access)
        assert len(secrets.minds) > 0
        leaked = secrets.found_in(text, role)
        assert not leaked, f"{role} reads {leaked[0][:80]!r}"
        assert (f'"role":"{role}"' in text) is True


async def test_no_refusal_tells_what_its_reader_may_not_read(tmp_path: Path) -> None:
    async with played() as show:
        run_id, events = next(iter(show.events.items()))
        names = {"{run_id}": run_id, "{event_id}": events[-1].id, "{world}": "twenty-sprouts"}
        for role in ROLES:
            for wrong in WRONG:
                call = _filled(wrong, names)
                answer = await show.ask(role, call, {} if call.startswith("POST") else None)
                assert 400 <= answer.status_code < 500, f"{call}: {answer.status_code}"
                assert set(answer.json()) == {"error", "message", "help"}, call
                show.check(role, call, answer.text, answer.headers)
        sent = await show.page.client.post("/api/v1/session", json={"token": [SECRET]})
        assert (sent.status_code, SECRET in sent.text) == (422, False)
