"""A real Chromium: one for all tests, with a context of its own for everybody who looks on.

Always holds: a test fails if anything went wrong inside a page that it opened (an exception, an error on the console but those
it names) and if a page asked any other host for anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.browser.chromium import FLAGS, chromium_path
from tests.browser.looking import Looking


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker("browser")
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def look(browser: Browser) -> AsyncIterator[Looking]:
    """Opens pages. What went wrong inside of them is told when the test ends."""
    looking = Looking(browser)
    yield looking
    await looking.close()
    assert looking.complaints == []
