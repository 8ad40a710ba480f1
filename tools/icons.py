"""Write the icons of the installed page from its mark: `PYTHONPATH=. python tools/icons.py`.

Systems want icons as pictures of certain sizes. Each is the mark, `static/icons/mark.svg`, on the page's ground, drawn by the
browser of the tests. A maskable one may be cut to any shape, so its mark stays within the middle that is always kept.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, async_playwright

from glasshouse.runtime.sharing.page_files import STATIC
from tests.browser.chromium import FLAGS, chromium_path

FOLDER: Final = STATIC / "icons"
MARK: Final = FOLDER / "mark.svg"
GROUND: Final = "#EFF3F2"
"""The page's ground in the light theme, as `theme.css` has it."""
ICONS: Final = {"mark-192.png": (192, 0.8), "mark-512.png": (512, 0.8), "maskable-512.png": (512, 0.6)}
"""The file -> its width in pixels, and the share of it that the mark takes. A maskable icon keeps a circle of 0.8 of its width."""


async def draw(browser: Browser, path: Path, pixels: int, share: float) -> None:
    """Draw the mark in the middle of a square, and keep it as a picture."""
    page = await browser.new_page(viewport={"width": pixels, "height": pixels})
    style = f"margin:0;height:100vh;display:grid;place-items:center;background:{GROUND}"
    mark = MARK.read_text(encoding="utf-8").replace(
        'width="28" height="28"', f'width="{pixels * share}" height="{pixels * share}"'
    )
    await page.set_content(f'<body style="{style}">{mark}</body>')
    await page.screenshot(path=path)
    await page.close()


async def main() -> None:
    """Write every icon."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        for name, (pixels, share) in ICONS.items():
            await draw(browser, FOLDER / name, pixels, share)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
