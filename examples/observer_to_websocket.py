"""Watch a show from any browser: an observer turns events into small diffs, and a websocket sends them.

The show never waits for its watchers. Each has an observer of its own; one that comes late is told what it missed.

    pip install glasshouse-agents websockets
    python observer_to_websocket.py                  # what a browser receives, without a server
    uvicorn observer_to_websocket:app                # the real thing, at ws://127.0.0.1:8000/stage
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from fastapi import FastAPI, WebSocket
from fastapi.testclient import TestClient

from glasshouse import Observer, StageProjection, Terrarium, ViewDiff


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with Terrarium() as t:
        await t.open_world("thousand-token-wood", rng_seed=7)
        app.state.terrarium = t
        yield


app = FastAPI(lifespan=lifespan)


@app.websocket("/stage")
async def stage(socket: WebSocket) -> None:
    """Play two turns for whoever comes, and send each change as it happens."""
    t: Terrarium = socket.app.state.terrarium
    observer = Observer(role="spectator")

    async def send(diff: ViewDiff) -> None:
        await socket.send_bytes(msgspec.json.encode(diff))

    await socket.accept()
    observer.on_diff(send)
    pump = t.observe(observer)
    await t.step(turns=2)
    await pump.aclose()
    await socket.close()


def main() -> None:
    with TestClient(app) as client:
        for _visitor in range(2):
            copy = StageProjection()  # What is on the other side: rebuilt from nothing but the diffs.
            with client.websocket_connect("/stage") as browser:
                while (message := browser.receive())["type"] == "websocket.send":
                    msgspec.json.decode(message["bytes"], type=ViewDiff).apply_to(copy)
            newest = copy.agent_notes[-1]
            print(f"{copy.counters.lines} lines, turn {copy.turn}. {newest.handle}: {newest.text}")


if __name__ == "__main__":
    main()
