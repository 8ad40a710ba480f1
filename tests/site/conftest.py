"""The built docs, as files and in a real Chromium. `make docs` builds them before these tests run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from inspect import iscoroutinefunction

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.browser.chromium import FLAGS, chromium_path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "site" in item.path.parts:
            item.add_marker("site")
        if "site" in item.path.parts and iscoroutinefunction(getattr(item, "function", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield browser
        await browser.close()
