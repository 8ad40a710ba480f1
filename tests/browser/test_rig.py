"""The rig itself: what goes wrong inside a page is not missed."""

from __future__ import annotations

from tests.browser.looking import Looking


async def test_exceptions_and_errors_of_a_page_are_complaints(look: Looking) -> None:
    viewer = await look(
        "data:text/html,<script>console.error('a bad day'); throw Error('a worse one')</script>"
    )
    await viewer.page.evaluate("fetch('http://127.0.0.1:9/elsewhere').catch(() => {})")

    complaints = " ".join(look.complaints)
    look.complaints.clear()
    assert "a bad day" in complaints
    assert "a worse one" in complaints
    assert "asked another host: http://127.0.0.1:9/elsewhere" in complaints
