"""`app`: the page's server over an open terrarium, to be served by itself or mounted into another program.

Always holds: a refusal is answered in words with the status that fits it, never with a traceback.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from glasshouse.errors import BudgetExceeded, GlasshouseError, Refused, StoreError, UnknownName
from glasshouse.terrarium import Terrarium, stories_of
from glasshouse.web import causes, commands, reading, starting
from glasshouse.web.access import COOKIE, Access, AccessMiddleware, Denied
from glasshouse.web.driving import Drivers
from glasshouse.web.feeds import Feeds

token_chars_max: Final = 256


class TokenGiven(BaseModel):
    """The token of a link."""

    token: str = Field(max_length=token_chars_max)


def app(terrarium: Terrarium, access: Access | None = None) -> FastAPI:
    """The server of a terrarium that is open as long as the server runs. Without an access of its own it answers this
    machine alone."""
    stories = stories_of(terrarium)
    drivers = Drivers(terrarium)
    feeds = Feeds(terrarium, stories, drivers.note)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        feeds.open()
        yield
        await drivers.close()
        await feeds.close()

    served = FastAPI(
        title="Glasshouse",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    served.state.reading = reading.Reading(terrarium, stories, feeds)
    served.state.directing = commands.Directing(terrarium, stories, drivers)
    served.state.estimates = starting.Estimates()
    served.include_router(reading.router)
    served.include_router(starting.router)
    served.include_router(causes.router)
    served.include_router(commands.router)
    access = access or Access()
    served.add_middleware(AccessMiddleware, access=access)
    served.add_exception_handler(GlasshouseError, _refused)
    served.add_exception_handler(Denied, _denied)

    @served.post("/api/v1/session", status_code=204)
    def enter(given: TokenGiven) -> Response:
        """Exchange a token for a cookie that no script can read."""
        if access.role_of_token(given.token) is None:
            raise HTTPException(401, "This token grants nothing here. Ask for a new link.")
        answer = Response(status_code=204)
        answer.set_cookie(COOKIE, given.token, httponly=True, samesite="strict", path="/")
        return answer

    @served.get("/healthz")
    def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"state": "fine"}

    return served


async def _denied(_request: Request, denied: Exception) -> JSONResponse:
    assert isinstance(denied, Denied)
    return JSONResponse({"error": "Denied", "message": str(denied)}, status_code=denied.status)


async def _refused(_request: Request, wrong: Exception) -> JSONResponse:
    status = 500
    for error, known in _STATUS:
        if isinstance(wrong, error):
            status = known
            break
    told = {"error": type(wrong).__name__, "message": str(wrong)}
    return JSONResponse(told, status_code=status)


_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (UnknownName, 404),
    (Refused, 409),
    (BudgetExceeded, 409),
    (StoreError, 503),
)
