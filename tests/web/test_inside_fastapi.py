"""The FastAPI sample of the how-to plays worlds, called as an ASGI app, and says in words what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pages import fences, page_text

PAGE = "docs/how-to/use-it-inside-your-program.md"


async def answer_of(app: Any, path: str) -> tuple[int, dict[str, Any]]:
    """The status and the body of a POST to an ASGI app."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    address, _, query = path.partition("?")
    scope = {"type": "http", "method": "POST", "path": address, "query_string": query.encode(), "headers": []}
    await app(scope | {"http_version": "1.1", "raw_path": address.encode(), "scheme": "http"}, receive, send)
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent))


async def test_the_sample_plays_a_world_and_names_the_help_of_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (sample,) = [fence.text for fence in fences(page_text(PAGE)) if "FastAPI(lifespan" in fence.text]
    module: dict[str, Any] = {"__name__": "sample"}
    exec(sample, module)
    app = module["app"]

    async with app.router.lifespan_context(app):
        played = await answer_of(app, "/plays/mystery-roots?turns=2")
        refused = await answer_of(app, "/plays/mystery-rots")

    assert played[0] == 200
    assert played[1]["turns"] == 2
    assert refused[0] == 404
    assert refused[1]["detail"]["help"] == "docs/how-to/troubleshooting.md#unknownname"
    assert (tmp_path / "show.glasshouse").exists()
