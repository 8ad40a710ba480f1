"""`app`: the page's server over an open terrarium, to be served by itself or mounted into another program.

Always holds: a refusal is answered in words with the status that fits it, never with a traceback.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, Field

from glasshouse.events.redaction import Role
from glasshouse.runtime.inbox.guest import Guest
from glasshouse.terrarium import Terrarium, guest_of, stories_of
from glasshouse.web import (
    approvals,
    archive,
    causes,
    commands,
    editing,
    events,
    importing,
    reading,
    rehearsals,
    sharing,
    starting,
    studio,
)
from glasshouse.web.access import COOKIE, Access, AccessMiddleware, Denied
from glasshouse.web.driving import Drivers
from glasshouse.web.feeds import Feeds
from glasshouse.web.limits import LimitsMiddleware
from glasshouse.web.openapi import describe
from glasshouse.web.page_answers import add_page
from glasshouse.web.refusals import COMMANDS, EVERY, add_refusals
from glasshouse.web.signals import Signals

_PARTS: Final = (
    reading,
    events,
    archive,
    starting,
    editing,
    studio,
    causes,
    commands,
    importing,
    sharing,
    approvals,
)
"""What has routes."""
token_chars_max: Final = 256
"""A longer token is refused."""


class TokenGiven(BaseModel):
    """The token of a link."""

    token: str = Field(max_length=token_chars_max)


class Me(BaseModel):
    """Who asks."""

    role: Role
    has_token: bool
    is_guest: bool = False
    holder: str | None = None


def app(
    terrarium: Terrarium, access: Access | None = None, *, root_path: str = "", saves_worlds: bool = False
) -> FastAPI:
    """The server of a terrarium that is open as long as the server runs. Without an access of its own it answers this
    machine alone. `root_path` is where a proxy shows it to browsers. With `saves_worlds`, directors at this machine may write
    new worlds to `./worlds`.

    It may be mounted into another app. Starlette does not run the lifespan of a mounted app: enter
    `served.router.lifespan_context(served)` in the lifespan of the other one, so that acts in flight may end.
    """
    stories = stories_of(terrarium)
    drivers = Drivers(terrarium)
    feeds = Feeds(terrarium, stories, Signals(terrarium, drivers))
    drivers.alone_seconds = feeds.alone_seconds

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        guest = guest_of(terrarium)
        following = None if guest is None else asyncio.create_task(guest.follow_until_cancelled())
        yield
        if following is not None:
            following.cancel()
        feeds.end()
        await drivers.close()
        await feeds.close()

    served = FastAPI(
        title="Glasshouse",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=EVERY,
    )
    served.state.reading = reading.Reading(terrarium, stories, feeds)
    served.state.directing = commands.Directing(terrarium, stories, drivers)
    served.state.runs = archive.Runs(terrarium, stories, drivers)
    served.state.approvals = approvals.Approvals(feeds.alone_seconds)
    if terrarium.approver is None:  # A program's own approver keeps its place.
        terrarium.approver = served.state.approvals.ask
    served.state.estimates = starting.Estimates()
    served.state.rehearsals = rehearsals.Rehearsals()
    served.state.packing = asyncio.Lock()
    served.state.saves_worlds = saves_worlds
    for part in _PARTS:
        served.include_router(part.router)
    access = access or Access()
    served.add_middleware(LimitsMiddleware)
    # Outermost: what is refused there counts for nobody.
    served.add_middleware(AccessMiddleware, access=access, root_path=root_path)
    add_refusals(served)

    _add_access(served, access, guest_of(terrarium))
    add_page(served)
    describe(served)
    return served


def _add_access(served: FastAPI, access: Access, guest: Guest | None) -> None:
    @served.post("/api/v1/session", status_code=204, responses=COMMANDS)
    def enter(request: Request, given: TokenGiven) -> Response:
        """Exchange a token for a cookie that no script can read."""
        if access.role_of_token(given.token) is None:
            raise Denied(401, "This token grants nothing here. Ask for a new link.")
        answer = Response(status_code=204)
        path = request.scope.get("root_path") or "/"
        answer.set_cookie(COOKIE, given.token, httponly=True, samesite="strict", path=path)
        return answer

    @served.get("/api/v1/me")
    async def me(request: Request) -> Me:
        """Who asks: the role that the request has."""
        holder = None if guest is None else await guest.owner() or None
        return Me(
            role=request.state.role, has_token=access.has_secret, is_guest=guest is not None, holder=holder
        )

    @served.get("/healthz")
    def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"state": "fine"}
