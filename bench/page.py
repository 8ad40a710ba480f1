"""The page in a real browser, without a graphics card: how soon it is there, how it rewinds and how it moves.

Each figure is the median of the medians of a few rounds. Also here: what two runs at once take on a model that thinks for a while. Without a Chromium the figures of the page are
left out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from bench.creatures import line, silent, store_file
from bench.result import Result, judged, middle
from glasshouse import MemoryStore, ModelRouter, SqliteStore, Terrarium
from glasshouse.runtime import event_loop
from glasshouse.runtime.run import Run
from glasshouse.troupe.model import OfflineModel
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.browser.chromium import FLAGS, NoChromium, chromium_path
from tests.web.served import Served, blocks_of, served

events_kept, lines_a_batch = 100_000, 500
rounds, loads, seeks = 3, 5, 40
crowd, members_a_graph = 1_000, 20
frames_seconds, idle_seconds = 2, 2
turns_with_a_model = 4
milliseconds_max = 120_000
seeks_anywhere = 12
large_crowd = 2_000
first_visit_bytes_max = 300_000
LATER_FONTS = ("italic", "jetbrains-mono")
"""The fonts that come after the first picture."""

WORLD = "mystery-roots"
READY = """async (millisecondsMax) => {
  const { headView, record, head } = await import("page/store");
  const isReady = () => headView() && record(head.value) && document.querySelector("[role=log] [data-k]");
  while (!isReady()) {
    if (performance.now() > millisecondsMax) throw new Error("The page does not get ready.");
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now();
}"""
AT_REST = """async (millisecondsMax) => {
  const until = performance.now() + millisecondsMax;
  for (let before = -1; before !== framesAsked; ) {
    if (performance.now() > until) throw new Error("The page does not come to rest.");
    before = framesAsked;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return framesAsked;
}"""
SEEK = """async (k) => {
  const { seek } = await import("page/store");
  const began = performance.now();
  await seek(k);
  const applied = performance.now();
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return [applied - began, performance.now() - began];
}"""
FRAMES = """async (milliseconds) => {
  const { picture } = await import("page/graph/panel");
  picture.value.layout.warm(0.9);
  picture.value.wake();
  const times = [];
  const until = performance.now() + milliseconds;
  while (performance.now() < until) times.push(await new Promise((resolve) => requestAnimationFrame(resolve)));
  return times.slice(1).map((at, n) => at - times[n]);
}"""
COUNTED = """(() => {
  const really = requestAnimationFrame.bind(window);
  window.framesAsked = 0;
  window.requestAnimationFrame = (draw) => (window.framesAsked += 1, really(draw));
})()"""


class Ponders(OfflineModel):
    """The offline troupe, which thinks for a second."""

    answers_at_once = False  # type: ignore[misc]

    async def complete(self, prompt: Prompt) -> Completion:
        """What the troupe says, later."""
        await asyncio.sleep(1)
        return await super().complete(prompt)


def run() -> list[Result]:
    """Every figure of the page."""
    results = event_loop.run(_two_runs_against_one())
    try:
        chromium_path()
    except NoChromium as missing:
        print(f"The page is not measured. {missing}")
        return results
    parts = (_of_a_visit(), _of_a_long_story(), _of_a_crowd(), _of_a_large_crowd())
    return [*results, *[result for part in parts for result in event_loop.run(part)]]


async def _of_a_visit() -> list[Result]:
    """What comes over the wire at the first and at the second visit, with all headers."""
    async with Terrarium(MemoryStore()) as t, served(t) as page, _browser() as browser:
        run = await t.open_world(WORLD)
        await t.run(run.id, turns=12)
        context = await browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        first = await _bytes_of(await context.new_page(), f"{page.address}/?run={run.id}")
        second = await _bytes_of(await context.new_page(), f"{page.address}/?run={run.id}")
        await context.close()
    before = sum([size for path, size in first.items() if not any(name in path for name in LATER_FONTS)])
    asked = [path for path, size in second.items() if "/static/" in path and size]
    return [
        judged(
            "page: first visit until the first picture", before / 1e3, "kB", "≤", first_visit_bytes_max / 1e3
        ),
        judged("page: second visit, files that are asked for", len(asked), "files", "≤", 0),
    ]


async def _bytes_of(opened: Page, address: str) -> dict[str, float]:
    """The bytes that came for each address until the page was ready and at rest."""
    session = await opened.context.new_cdp_session(opened)
    paths = dict[str, str]()
    sizes = dict[str, float]()

    def note_request(request: dict[str, Any]) -> None:
        paths[request["requestId"]] = request["request"]["url"]

    def note_end(end: dict[str, Any]) -> None:
        sizes[paths.get(end["requestId"], "")] = end["encodedDataLength"]

    session.on("Network.requestWillBeSent", note_request)
    session.on("Network.loadingFinished", note_end)
    await session.send("Network.enable")
    await opened.goto(address)
    await _until_ready(opened)
    await opened.evaluate("document.fonts.ready.then(() => true)")
    return sizes


async def _two_runs_against_one() -> list[Result]:
    seconds = [await _played(runs) for runs in (1, 2)]
    assert seconds[0] > turns_with_a_model, "the model that ponders was not asked"
    return [judged("two runs at once on a model of 1 s against one", seconds[1] / seconds[0], "×", "≤", 1.1)]


async def _played(runs: int) -> float:
    """The seconds that so many runs take, started together over HTTP."""
    async with Terrarium(MemoryStore(), models=ModelRouter(Ponders())) as t, served(t) as page:
        limits = {"max_turns": turns_with_a_model}
        began = time.perf_counter()
        for _ in range(runs):
            body = {"world": WORLD, "speed": "fast", "limits": limits}
            (await page.client.post("/api/v1/runs", json=body)).raise_for_status()
        await asyncio.gather(*(_finished(t, run.id) for run in t.runs()))
        return time.perf_counter() - began


async def _finished(t: Terrarium, run_id: str) -> None:
    while not t.run_of(run_id).is_finished:  # noqa: ASYNC110 - a hundredth of a second is near enough
        await asyncio.sleep(0.01)


@asynccontextmanager
async def _browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield browser
        await browser.close()


@asynccontextmanager
async def _opened(browser: Browser, page: Served, run: Run, *, moves: bool = False) -> AsyncIterator[Page]:
    context = await browser.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="no-preference" if moves else "reduce"
    )
    context.set_default_timeout(milliseconds_max)
    try:
        opened = await context.new_page()
        await opened.add_init_script(COUNTED)
        await opened.goto(f"{page.address}/?run={run.id}&face=graph")
        yield opened
    finally:
        await context.close()


async def _of_a_long_story() -> list[Result]:
    with store_file() as path:
        async with Terrarium(SqliteStore(path)) as t:
            run = await _long_story(t)
        # Another process has played: the first page folds the story, and tells how far it is.
        async with Terrarium(SqliteStore(path)) as t, served(t) as page:
            progress = await _seconds_until(page, run, "progress")
            await _seconds_until(page, run, "view")
        async with Terrarium(SqliteStore(path)) as t, served(t) as page, _browser() as browser:
            opened_first = await _ready(browser, page, run)
            anywhere = await _sought_anywhere(page, run)
            ready = [middle([await _ready(browser, page, run) for _ in range(loads)]) for _ in range(rounds)]
            async with _opened(browser, page, run) as opened:
                await _until_ready(opened)
                await _sought(opened)
                figures = [await _sought(opened) for _ in range(rounds)]
    return [
        judged(f"page: how far {events_kept:,} events are, told after", progress, "s", "≤", 1),
        judged(
            f"page: first opening with {events_kept:,} events and kept views", opened_first / 1e3, "s", "≤", 3
        ),
        judged(f"page: a seek anywhere in {events_kept:,} events", anywhere * 1e3, "ms CPU", "≤", 150),
        judged(f"page: ready with {events_kept:,} events", middle(ready) / 1e3, "s", "≤", 1.5),
        judged("page: seek, applied", middle([applied for applied, _ in figures]), "ms", "≤", 20),
        judged("page: seek, painted", middle([painted for _, painted in figures]), "ms", "≤", 50),
    ]


async def _seconds_until(page: Served, run: Run, name: str) -> float:
    """The seconds until a stream says something of this name."""
    began = time.perf_counter()
    async with page.client.stream("GET", f"/api/v1/runs/{run.id}/stream") as answer:
        async for block in blocks_of(answer.aiter_lines()):
            if block.name == name:
                break
    return time.perf_counter() - began


async def _sought_anywhere(page: Served, run: Run) -> float:
    """The median CPU seconds of the server for a page of records that nobody has asked for, and the view before it."""
    dice = Random(2)
    figures = []
    for number in dice.sample(range(2, events_kept // 1_000 - 3), seeks_anywhere):
        began = time.process_time()
        await asyncio.gather(
            page.get(f"/api/v1/runs/{run.id}/diffs", after=number * 1_000, limit=1_000),
            page.get(f"/api/v1/runs/{run.id}/view", at=number * 1_000),
        )
        figures.append(time.process_time() - began)
    return middle(figures)


async def _long_story(t: Terrarium) -> Run:
    run = await t.open_world(WORLD)
    speaker = await t.add_creature(silent("speaker"), run=run.id)
    listener = await t.add_creature(silent("listener"), run=run.id)
    await t.connect(speaker.id, listener.id, channel="talk")
    for start in range(0, events_kept, lines_a_batch):
        await t.append_all(speaker.id, [line(n) for n in range(start, start + lines_a_batch)])
    return run


async def _ready(browser: Browser, page: Served, run: Run) -> float:
    async with _opened(browser, page, run) as opened:
        return await _until_ready(opened)


async def _until_ready(opened: Page) -> float:
    """Milliseconds from the beginning of the page until its newest events are painted."""
    return float(await opened.evaluate(READY, milliseconds_max))


async def _sought(opened: Page) -> tuple[float, float]:
    """Milliseconds of seeks among the newest two thousand events, to the view and to the painted page."""
    head = int(await opened.evaluate('import("page/store").then(({head}) => head.value)'))
    dice = Random(1)
    figures = [await opened.evaluate(SEEK, head - dice.randrange(1, 2_000)) for _ in range(seeks)]
    return middle([applied for applied, _ in figures]), middle([painted for _, painted in figures])


async def _of_a_crowd() -> list[Result]:
    async with Terrarium(MemoryStore()) as t:
        run = await _crowd(t)
        async with (
            served(t) as page,
            _browser() as browser,
            _opened(browser, page, run, moves=True) as opened,
        ):
            await _until_ready(opened)
            moving = [middle(await opened.evaluate(FRAMES, frames_seconds * 1e3)) for _ in range(rounds)]
            before = await opened.evaluate(AT_REST, milliseconds_max)
            await asyncio.sleep(idle_seconds)
            idle = int(await opened.evaluate("framesAsked")) - int(before)
    return [
        judged(f"page: a frame with {crowd:,} creatures, layout running", middle(moving), "ms", "≤", 40),
        judged(f"page: frames in {idle_seconds} s when nothing moves", idle, "frames", "≤", 0),
    ]


async def _of_a_large_crowd() -> list[Result]:
    async with Terrarium(MemoryStore()) as t:
        run = await _crowd(t, large_crowd)
        async with served(t) as page, _browser() as browser:
            figures = [await _seconds_of_the_page(browser, page, run) for _ in range(loads)]
    return [judged(f"page: ready with {large_crowd:,} creatures", middle(figures[1:]), "s CPU", "≤", 0.8)]


async def _seconds_of_the_page(browser: Browser, page: Served, run: Run) -> float:
    """CPU seconds of the page's own thread until it is ready. Other processes of the machine do not count."""
    async with _opened(browser, page, run) as opened:
        session = await opened.context.new_cdp_session(opened)
        await session.send("Performance.enable", {"timeDomain": "threadTicks"})
        await opened.reload()
        await _until_ready(opened)
        answer = await session.send("Performance.getMetrics")
        metrics = {metric["name"]: metric["value"] for metric in answer["metrics"]}
        return float(metrics["TaskDuration"])


async def _crowd(t: Terrarium, size: int = crowd) -> Run:
    run = await t.open_world(WORLD)
    for _ in range(size // members_a_graph):
        first = await t.add_creature(silent("first"), run=run.id)
        for _ in range(members_a_graph - 1):
            member = await t.add_creature(silent("member"), graph=first.graph_id, run=run.id)
            await t.connect(first.id, member.id, channel="talk")
    return run
