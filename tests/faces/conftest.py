"""Every face of the page, looked at with care: `make faces` runs these, `make test` does not."""

from __future__ import annotations

import pytest

from tests.browser.conftest import browser, look

__all__ = ["browser", "look"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "faces" in item.path.parts:
            item.add_marker("faces")
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
