"""A troupe inside your web service: opened with the app, disturbed by POST, read by GET.

All requests share one terrarium. Give it a path, and what was said survives a restart.

    pip install glasshouse-agents
    python inside_fastapi.py                         # one request, without a server
    uvicorn inside_fastapi:app                       # the real thing, at http://127.0.0.1:8000/docs
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field

from glasshouse import Refused, Terrarium


class Line(BaseModel):
    text: str = Field(max_length=500)
    who: str = "visitor"


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with Terrarium() as t:
        app.state.terrarium = t
        await t.open_world("thousand-token-wood", rng_seed=3)
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/lines")
async def lines(request: Request) -> list[Line]:
    t: Terrarium = request.app.state.terrarium
    (run,) = t.runs()
    return [Line(who=line.who, text=line.text) for line in (await t.played(run.id)).lines]


@app.post("/lines")
async def say(line: Line, request: Request) -> list[Line]:
    """Say something to the troupe, let it play for a turn, and return what came of it."""
    t: Terrarium = request.app.state.terrarium
    (run,) = t.runs()
    before = await lines(request)
    try:
        await t.disturb(run.id, line.text)
    except Refused as refused:  # The show is over.
        raise HTTPException(409, str(refused)) from refused
    await t.step()
    return (await lines(request))[len(before) :]


if __name__ == "__main__":
    with TestClient(app) as client:
        for answer in client.post("/lines", json={"text": "A parcel is breathing."}).json():
            print(f"{answer['who']}: {answer['text']}")
