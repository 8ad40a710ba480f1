"""`app`: the page's server over an open terrarium, to be served by itself or mounted into another program.

Always holds: a refusal is answered in words with the status that fits it, never with a traceback.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from glasshouse.errors import BudgetExceeded, GlasshouseError, Refused, StoreError, UnknownName
from glasshouse.terrarium import Terrarium, stories_of
from glasshouse.web import reading
from glasshouse.web.feeds import Feeds


def app(terrarium: Terrarium) -> FastAPI:
    """The server of a terrarium that is open as long as the server runs."""
    stories = stories_of(terrarium)
    feeds = Feeds(terrarium, stories)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        feeds.open()
        yield
        await feeds.close()

    served = FastAPI(
        title="Glasshouse",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    served.state.reading = reading.Reading(terrarium, stories, feeds)
    served.include_router(reading.router)
    served.add_exception_handler(GlasshouseError, _refused)

    @served.get("/healthz")
    def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"state": "fine"}

    return served


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
