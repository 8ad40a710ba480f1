"""The page's server as a part of another app, which knows nothing of its beginning and its end."""

from __future__ import annotations

from fastapi import FastAPI

from glasshouse import MemoryStore, Terrarium
from glasshouse.web.access import Access
from glasshouse.web.app import app
from tests.web.served import blocks_of, served

SECRET = "a secret of more than sixteen characters"


async def test_under_another_app_it_reads_directs_and_streams() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("thousand-token-wood")
        outer, access = FastAPI(), Access(SECRET)
        outer.mount("/some/show", app(t, access))
        async with served(t, page=outer) as page:
            base = "/some/show/api/v1"
            assert (await page.client.get("/some/show/healthz")).status_code == 200
            assert (await page.client.get(f"{base}/runs")).status_code == 401
            entered = await page.client.post(f"{base}/session", json={"token": access.token_for("director")})
            assert entered.status_code == 204
            assert "path=/some/show;" in entered.headers["set-cookie"].lower()
            async with page.client.stream("GET", f"{base}/runs/{run.id}/stream") as stream:
                blocks = blocks_of(stream.aiter_lines())
                assert (await anext(blocks)).name == "view"
                here = {"origin": str(page.client.base_url).rstrip("/")}
                stepped = await page.client.post(f"{base}/runs/{run.id}/step", json={}, headers=here)
                assert stepped.json()["turns"] == 1
                assert (await anext(blocks)).data["k"] > 0
