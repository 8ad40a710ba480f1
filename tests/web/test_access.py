"""Who may read what: tokens, cookies, names of the server, and other sites."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import scrypt, sha256

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.events.redaction import ROLES, Role
from glasshouse.web.access import COOKIE, Access, lower_of
from tests.web.served import served

SECRET = "a secret of more than sixteen characters"
RUNS = "/api/v1/runs"


async def test_without_a_secret_this_machine_directs_and_nobody_else_is_answered() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        assert (await page.client.get(RUNS)).status_code == 200
        stranger = await page.client.get(RUNS, headers={"host": "rebound.example:80"})
        assert stranger.status_code == 421
        assert "rebound.example" in stranger.json()["message"]


async def test_a_token_grants_its_role_and_no_higher_one() -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts")
        await t.run(run.id, turns=3)
        path = f"/api/v1/runs/{run.id}/view"
        async with served(t, access) as page:
            assert (await page.client.get(path)).status_code == 401
            assert (await page.client.get(path, headers={"authorization": "Bearer no"})).status_code == 401
            for granted in ROLES:
                bearer = {"authorization": f"Bearer {access.token_for(granted)}"}
                for wanted in ROLES:
                    answer = await page.client.get(path, params={"role": wanted}, headers=bearer)
                    assert answer.json()["role"] == ROLES[min(ROLES.index(granted), ROLES.index(wanted))]
                assert (await page.client.get(path, headers=bearer)).json()["role"] == granted


async def test_a_link_is_exchanged_for_a_cookie_that_no_script_reads() -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, served(t, access) as page:
        wrong = await page.client.post("/api/v1/session", json={"token": "no"})
        assert wrong.status_code == 401
        answer = await page.client.post("/api/v1/session", json={"token": access.token_for("audience")})
        assert answer.status_code == 204
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"{COOKIE}=")
        assert "httponly" in cookie.lower()
        assert "samesite=strict" in cookie.lower()
        assert (await page.client.get(RUNS)).status_code == 200


async def test_a_command_with_a_cookie_says_where_it_comes_from() -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, served(t, access) as page:
        run = await t.open_world("twenty-sprouts")
        cookie = f"{COOKIE}={access.token_for('director')}"
        here = str(page.client.base_url).rstrip("/")

        async def status(**headers: str) -> int:
            asked = {"cookie": cookie, **headers}
            body = {"labels": ["keep"]}
            return (await page.client.post(f"{RUNS}/{run.id}/labels", json=body, headers=asked)).status_code

        assert await status(origin=here) == 200
        assert await status() == 403
        assert await status(origin="https://elsewhere.example") == 403
        assert await status(authorization="Basic eDp5") == 403
        bearer = {"authorization": f"Bearer {access.token_for('director')}"}
        assert await status(**bearer) == 200


async def test_no_answer_is_guessed_at_included_elsewhere_or_kept() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("twenty-sprouts")
        for path, kept in (
            ("/api/v1/runs", "no-store"),
            (f"{RUNS}/{run.id}/view", "no-store"),
            ("/api/v1/nothing", "no-store"),
            (f"{RUNS}/{run.id}/diffs", "private, no-cache"),
        ):
            answer = await page.client.get(path)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert answer.headers.get_list("cache-control") == [kept], path


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "application/json", "origin": "https://elsewhere.example"}, 403),
        ({"content-type": "application/json", "origin": "null"}, 403),
    ],
)
async def test_a_command_from_another_site_is_refused(headers: dict[str, str], status: int) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        answer = await page.client.post("/api/v1/session", content='{"token": ""}', headers=headers)
        assert answer.status_code == status


def test_each_guess_of_a_secret_costs_a_derivation_and_old_tokens_grant_nothing() -> None:
    access = Access(SECRET)
    key = scrypt(
        SECRET.encode(), salt=b"glasshouse links, second kind", n=2**16, r=8, p=1, maxmem=2**28, dklen=32
    )
    for role in ROLES:
        expected = hmac.new(key, f"glasshouse {role}".encode(), sha256).digest()
        assert urlsafe_b64decode(access.token_for(role) + "=") == expected
        quick = hmac.new(SECRET.encode(), f"glasshouse {role}".encode(), sha256).digest()
        assert access.role_of_token(urlsafe_b64encode(quick).decode().rstrip("=")) is None


def test_tokens_differ_by_role_and_secret_and_a_short_secret_is_refused() -> None:
    tokens = {Access(secret).token_for(role) for secret in (SECRET, f"{SECRET}!") for role in ROLES}
    assert len(tokens) == 2 * len(ROLES)
    with pytest.raises(ValueError, match="at least 16 characters"):
        Access("short")


@pytest.mark.parametrize(
    ("granted", "wanted", "role"),
    [
        ("director", None, "director"),
        ("spectator", "director", "spectator"),
        ("director", "audience", "audience"),
    ],
)
def test_a_role_is_never_raised(granted: Role, wanted: Role | None, role: Role) -> None:
    assert lower_of(granted, wanted) == role
