"""Grids in one process: the same digests however they are played, cut and continued; money; what fails and what stops."""

import asyncio
import itertools
import pickle
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glasshouse import ModelRouter, Terrarium, play, verify
from glasshouse.errors import BadWorld, GridStopped, ModelUnreachable, Refused, StoreBusy
from glasshouse.events.digest import digest_of
from glasshouse.events.model_use import Price
from glasshouse.grids import Grid, Row, experiment
from glasshouse.grids.executors import Bundle
from glasshouse.grids.in_process import InProcess
from glasshouse.manifests.loading import load_world
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.model_values import Tokens
from glasshouse.runtime.ports import Route
from glasshouse.settings import settings
from glasshouse.turns.moment.prompt import Completion, Prompt, text_digest
from tests.grid_worlds import grid_file, loaded, small_world

PRICE = Price(input=10.0, output=100.0)


class Talker:
    """A model that says something new each time, as its prompt and seed decide, and counts its calls."""

    name = "talker"

    def __init__(self, prompt_tokens: int = 400) -> None:
        self.asked = 0
        self.prompt_tokens = prompt_tokens

    async def complete(self, prompt: Prompt) -> Completion:
        self.asked += 1
        await asyncio.sleep(0)
        text = f"{text_digest(prompt.user)} {prompt.seed}"
        words = " ".join(text[start : start + 5] for start in range(0, 40, 5))
        reply = f'{{"kind": "agent.spoke", "thought": "Hm.", "text": "{words}", "mood": "calm"}}'
        return Completion(reply, self.name, Tokens(self.prompt_tokens, 20))


def priced(model: Any) -> ModelRouter:
    route = Route(model, "talker", 8_192, 256, PRICE)
    return ModelRouter({"fast": route})


async def rows_of(grid: Grid) -> list[Row]:
    return [row async for row in grid.play()]


async def first_rows(grid: Grid, count: int) -> AsyncIterator[Row]:
    """Play so many cells, then leave in the middle."""
    async with aclosing(grid.play()) as rows:
        async for row in rows:
            yield row
            count -= 1
            if not count:
                return


def by_cell(rows: list[Row]) -> dict[str, str]:
    return {row.cell: row.digest for row in rows}


async def test_a_cell_is_an_ordinary_run_with_the_digest_of_a_play(tmp_path: Path) -> None:
    world = loaded(tmp_path)

    rows = await rows_of(Grid(world, rng_seeds=[3], folder=tmp_path / "grid"))

    assert [row.digest for row in rows] == [play(world, rng_seed=3).digest]
    async with Terrarium(tmp_path / "grid" / rows[0].store) as terrarium:
        assert (await verify(terrarium, rows[0].run)).is_same
        assert terrarium.run_of(rows[0].run).calls == rows[0].calls


@pytest.mark.parametrize("at_once", [1, 3, 64])
async def test_digests_do_not_depend_on_how_many_runs_are_in_flight(tmp_path: Path, at_once: int) -> None:
    world = loaded(tmp_path)
    what_ifs: list[dict[str, Any]] = [
        {"name": "as is"},
        {"name": "boo", "lines": [{"turn": 2, "text": "Boo."}, {"turn": 3, "text": "Bah."}]},
    ]

    rows = await rows_of(Grid(world, rng_seeds="0..5", what_ifs=what_ifs, at_once=at_once))

    alone = await rows_of(
        Grid(world, rng_seeds="0..5", what_ifs=what_ifs, at_once=1, folder=tmp_path / "grid")
    )
    assert by_cell(rows) == by_cell(alone)
    assert len({*by_cell(rows).values()}) > 6


EACH_WHAT_IF: list[dict[str, Any]] = [
    {"name": "as is"},
    {"name": "seed", "seed": "the moss"},
    {"name": "limits", "limits": {"max_turns": 2, "max_total_calls": 500}},
    {"name": "seats", "seats": {"ada": "offline:hasty"}},
    {"name": "lines", "lines": [{"turn": 2, "text": "Boo."}]},
    {"name": "manifests", "manifests": {"ada": {"persona": "Talks about newts."}}},
]


async def test_every_what_if_plays_the_same_after_it_travelled_to_another_process(tmp_path: Path) -> None:
    world = loaded(tmp_path)
    async with Grid(world, what_ifs=EACH_WHAT_IF) as grid:
        here = [row async for row in grid.play()]
        cells = grid.cells
    async with Grid(world, what_ifs=EACH_WHAT_IF) as grid:
        terms, bundle = pickle.loads(pickle.dumps((grid._terms, Bundle(1, cells))))
        playing = InProcess(terms, grid._models)

        there = [row async for row in playing.play(only(bundle))]

    assert by_cell(there) == by_cell(here)
    assert len({*by_cell(here).values()}) == len(EACH_WHAT_IF)


async def only(bundle: Bundle) -> AsyncIterator[Bundle]:
    yield bundle


@pytest.mark.parametrize("world", [world.name for world in found_worlds()])
async def test_a_world_that_travelled_to_another_process_opens_alike(world: str) -> None:
    here = load_world(world)
    async with Terrarium() as terrarium:
        runs = [await terrarium.open_world(each) for each in (here, pickle.loads(pickle.dumps(here)))]
        digests = [digest_of(await terrarium.run_events(run.id)) for run in runs]

    assert digests[0] == digests[1]


async def test_creatures_that_look_around_find_no_other_cell() -> None:
    # In its sixth turn somebody asks which graphs there are, and joins another one of its run by the name of a creature there.
    how: dict[str, Any] = {"what_ifs": [{"name": "short", "limits": {"max_turns": 7}}]}

    together = await rows_of(Grid("hatbox-and-cello", rng_seeds="0..2", **how))

    alone = [
        row for seed in range(3) for row in await rows_of(Grid("hatbox-and-cello", rng_seeds=[seed], **how))
    ]
    assert by_cell(together) == by_cell(alone)


async def test_lines_are_said_before_their_turns(tmp_path: Path) -> None:
    what_ifs = [{"name": "boo", "lines": [{"turn": 1, "text": "First."}, {"turn": 3, "text": "Third."}]}]
    (row,) = await rows_of(Grid(loaded(tmp_path), what_ifs=what_ifs, folder=tmp_path / "grid"))

    async with Terrarium(tmp_path / "grid" / row.store) as terrarium:
        events = await terrarium.run_events(row.run)

    said = [(event.payload["text"], event.turn) for event in events if event.kind == "user.injected"]
    assert said == [("First.", 0), ("Third.", 2)]


@pytest.mark.parametrize("cut_after", [1, 3])
async def test_a_grid_that_was_left_goes_on_and_plays_no_finished_cell_again(
    tmp_path: Path, cut_after: int
) -> None:
    world = loaded(tmp_path, turns=4)
    lines = [{"name": "boo", "lines": [{"turn": 2, "text": "Boo."}]}]
    axes: dict[str, Any] = {"rng_seeds": "0..5", "what_ifs": lines}
    whole = Talker()
    uncut = await rows_of(Grid(world, models=priced(whole), **axes))
    model = Talker()
    how: dict[str, Any] = {"models": priced(model), "folder": tmp_path / "grid", "at_once": 3, **axes}

    before = [row async for row in first_rows(Grid(world, **how), cut_after)]
    after = await rows_of(Grid(world, **how))

    assert len({row.cell for row in (*before, *after)}) == len(before) + len(after) == 6
    assert by_cell([*before, *after]) == by_cell(uncut)
    # Of the calls that were in flight, each may be paid twice: at most one for each creature of a run in flight.
    assert whole.asked <= model.asked <= whole.asked + 3 * 2


@pytest.mark.parametrize("is_opened", [False, True])
async def test_a_play_after_a_loop_that_was_left_waits_until_that_is_closed(
    tmp_path: Path, is_opened: bool
) -> None:
    grid = Grid(loaded(tmp_path), rng_seeds="0..5", folder=tmp_path / "grid", at_once=2)
    rows: list[Row] = []
    async with grid if is_opened else nullcontext():
        async for row in grid.play():
            rows.append(row)
            break

        rows += [row async for row in grid.play()]

    assert sorted(row.rng_seed for row in rows) == [0, 1, 2, 3, 4, 5]


async def test_a_second_loop_over_a_grid_that_is_being_played_is_refused(tmp_path: Path) -> None:
    grid = Grid(loaded(tmp_path), rng_seeds="0..5", folder=tmp_path / "grid", at_once=2)
    async with aclosing(grid.play()) as rows:
        first = await anext(rows)

        with pytest.raises(Refused, match="This grid is being played already"):
            await anext(grid.play())

        others = [row async for row in rows]
    assert sorted(row.rng_seed for row in [first, *others]) == [0, 1, 2, 3, 4, 5]


async def test_a_cut_cell_goes_on_with_its_script_though_its_world_lies_nowhere(tmp_path: Path) -> None:
    bundled = load_world("twenty-sprouts")
    nowhere = bundled.scenario.model_copy(update={"name": "nowhere"})
    world = replace(bundled, path=None, scenario=nowhere)
    what_ifs = [{"name": str(turns), "limits": {"max_turns": turns}} for turns in (2, 8)]
    how: dict[str, Any] = {"what_ifs": what_ifs}
    uncut = await rows_of(Grid(world, **how))
    grid = Grid(world, folder=tmp_path / "grid", at_once=2, **how)

    before = [row async for row in first_rows(grid, 1)]
    after = await rows_of(Grid(world, folder=tmp_path / "grid", **how))

    unscripted = await rows_of(Grid(replace(world, script=None), **how))
    assert by_cell([*before, *after]) == by_cell(uncut)
    assert {row.digest for row in uncut}.isdisjoint(row.digest for row in unscripted)


async def test_the_same_cells_in_an_extended_grid_are_not_played_again(tmp_path: Path) -> None:
    world = loaded(tmp_path)
    await rows_of(Grid(world, rng_seeds="0..2", folder=tmp_path / "grid"))

    added = await rows_of(Grid(world, rng_seeds="0..4", folder=tmp_path / "grid"))

    assert sorted(row.rng_seed for row in added) == [3, 4]


async def test_a_world_that_was_edited_since_is_refused_with_its_line(tmp_path: Path) -> None:
    world = small_world(tmp_path)
    file = grid_file(tmp_path)
    await rows_of(Grid(file=file, folder=tmp_path / "grid"))
    creature = world / "creatures" / "ada.yaml"
    creature.write_text(creature.read_text().replace("frogs", "newts"))

    with pytest.raises(
        BadWorld, match=r"night.yaml:2:3: worlds: this world was edited since the grid began."
    ):
        await rows_of(Grid(file=file, folder=tmp_path / "grid"))


async def test_another_process_on_the_same_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.grids.folder.lock_seconds_max", 0.0)
    world = loaded(tmp_path)

    async with Grid(world, folder=tmp_path / "grid"):
        with pytest.raises(StoreBusy, match="is being played by process"):
            await Grid(world, folder=tmp_path / "grid").open()


@pytest.mark.parametrize("max_usd", [0.05, 0.2])
async def test_what_is_recorded_never_costs_more_than_the_limit(tmp_path: Path, max_usd: float) -> None:
    world = loaded(tmp_path, turns=4)
    how: dict[str, Any] = {"rng_seeds": "0..9", "models": priced(Talker()), "folder": tmp_path / "grid"}

    with pytest.raises(GridStopped, match="leaves no room for another call") as stopped:
        await rows_of(Grid(world, max_usd=max_usd, **how))

    assert stopped.value.why == "budget"
    recorded = await recorded_usd(tmp_path / "grid")
    assert 0 < recorded <= max_usd
    async with Grid(world, **how) as grid:
        assert grid.progress.left > 0
        assert grid.progress.usd == pytest.approx(recorded)
    await rows_of(Grid(world, max_usd=50.0, **how))
    async with Grid(world, **how) as grid:
        assert (grid.progress.done, grid.progress.left) == (10, 0)


async def test_what_cut_cells_have_spent_is_told_when_a_grid_stops(tmp_path: Path) -> None:
    how: dict[str, Any] = {"rng_seeds": "0..9", "models": priced(Talker()), "folder": tmp_path / "grid"}

    async with Grid(loaded(tmp_path, turns=4), max_usd=0.05, **how) as grid:
        with pytest.raises(GridStopped):
            await rows_of(grid)
        progress = grid.progress

    assert progress.done == 0
    assert progress.usd == pytest.approx(await recorded_usd(tmp_path / "grid"))


def stores_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.glasshouse"))


async def recorded_usd(folder: Path) -> float:
    """What the stores of a folder say that all their runs cost."""
    total = 0.0
    for store in stores_in(folder):
        async with Terrarium(store) as terrarium:
            total += sum(run.usd or 0.0 for run in terrarium.runs())
    return total


async def test_an_unknown_price_under_a_limit_is_refused_before_the_first_cell(tmp_path: Path) -> None:
    model = Talker()

    with pytest.raises(
        BadWorld, match="models: nobody knows the price of talker, and a limit in dollars is set"
    ):
        await rows_of(
            Grid(loaded(tmp_path), models=ModelRouter(model), max_usd=1.0, folder=tmp_path / "grid")
        )

    assert model.asked == 0
    assert not (tmp_path / "grid").exists()


class Away(Talker):
    """A model whose server is away after some calls."""

    backend = "http://away"

    async def complete(self, prompt: Prompt) -> Completion:
        if self.asked >= 5:
            raise ModelUnreachable("http://away was not reached.")
        return await super().complete(prompt)


async def test_a_server_that_is_away_stops_the_grid_and_leaves_no_trace_in_its_runs(tmp_path: Path) -> None:
    world = loaded(tmp_path)
    uncut = await rows_of(Grid(world, rng_seeds="0..3", models=priced(Talker())))
    grid = Grid(world, rng_seeds="0..3", models=priced(Away()), folder=tmp_path / "grid")
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    grid.sleep = note
    with pytest.raises(GridStopped, match="http://away was not reached") as stopped:
        await rows_of(grid)

    assert (stopped.value.why, {2.0, 4.0, 8.0} <= {*pauses}) == ("outage", True)
    how: dict[str, Any] = {"rng_seeds": "0..3", "models": priced(Talker()), "folder": tmp_path / "grid"}
    await rows_of(Grid(world, **how))
    async with Grid(world, **how) as grid:
        assert by_cell([*grid.table()]) == by_cell(uncut)


class Busy(Talker):
    """A model whose server is too busy after some calls."""

    backend = "http://busy"

    async def complete(self, prompt: Prompt) -> Completion:
        if self.asked >= 5:
            raise ModelUnreachable("http://busy is busy.", retry_after=0.0)
        return await super().complete(prompt)


async def test_a_server_that_stays_too_busy_leaves_no_trace_in_the_runs_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.runtime.acts.asking.busy_answers_max", 2)
    world = loaded(tmp_path)
    uncut = await rows_of(Grid(world, rng_seeds="0..3", models=priced(Talker())))

    with pytest.raises(GridStopped, match="http://busy was busy 2 times in a row") as stopped:
        await rows_of(Grid(world, rng_seeds="0..3", models=priced(Busy()), folder=tmp_path / "grid"))

    assert stopped.value.why == "outage"
    how: dict[str, Any] = {"rng_seeds": "0..3", "models": priced(Talker()), "folder": tmp_path / "grid"}
    await rows_of(Grid(world, **how))
    async with Grid(world, **how) as grid:
        assert by_cell([*grid.table()]) == by_cell(uncut)


async def test_a_cell_that_fails_is_told_and_tried_again(tmp_path: Path) -> None:
    world = loaded(tmp_path)
    how: dict[str, Any] = {"rng_seeds": [1], "folder": tmp_path / "grid"}
    stuck = [{"name": "p", "limits": {"max_total_calls": 2, "on_budget": "pause"}}]

    (row,) = await rows_of(Grid(world, what_ifs=stuck, **how))

    assert not row.is_done
    assert "The run did not end: " in row.error
    (again,) = await rows_of(Grid(world, what_ifs=stuck, **how))
    assert again.error == row.error


async def test_two_names_for_the_same_cells_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadWorld, match="what_ifs: 'p' and 'q' play the same"):
        await rows_of(Grid(loaded(tmp_path), what_ifs=[{"name": "p"}, {"name": "q"}]))


async def test_an_unknown_model_is_refused_with_the_line_of_the_file(tmp_path: Path) -> None:
    small_world(tmp_path)
    file = grid_file(tmp_path, models=["ofline"])

    with pytest.raises(
        BadWorld, match=r"night.yaml:5:3: models: no server is called 'ofline'. Did you mean 'offline'"
    ):
        await rows_of(Grid(file=file))


async def test_an_unknown_model_of_a_seat_is_refused_too(tmp_path: Path) -> None:
    small_world(tmp_path)
    file = grid_file(tmp_path, what_ifs=[{"name": "p", "seats": {"ada": "offline:hasti"}}])

    with pytest.raises(BadWorld, match=r"what_ifs.seats.ada: no model is called 'offline:hasti'."):
        await rows_of(Grid(file=file))


REFEREE = "def ruling(match):\n    return None\n"


@pytest.fixture
def without_permission_for_code() -> Iterator[None]:
    """The permission that all tests have is taken away. Settings are read once, so they are read anew before and after."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GLASSHOUSE_ALLOW_WORLD_CODE")
        settings.cache_clear()
        yield
    settings.cache_clear()


@pytest.mark.usefixtures("without_permission_for_code")
@pytest.mark.parametrize(
    ("scenario", "creature"),
    [
        ("competition: {referee: 'ref.py:ruling'}\n", ""),
        ("", "played_by: nowhere:Nobody\n"),
        ("tool_servers: {bells: {command: [ring]}}\n", "tools: [bells/]\n"),
    ],
)
async def test_code_of_a_world_that_is_not_allowed_is_refused_before_the_first_cell(
    tmp_path: Path, scenario: str, creature: str
) -> None:
    world = small_world(tmp_path)
    (world / "ref.py").write_text(REFEREE)
    for file, fields in (("scenario.yaml", scenario), ("creatures/ada.yaml", creature)):
        (world / file).write_text((world / file).read_text() + fields)

    with pytest.raises(Refused, match="GLASSHOUSE_ALLOW_WORLD_CODE=1"):
        await rows_of(Grid(world, folder=tmp_path / "grid"))

    assert not (tmp_path / "grid").exists()


def test_counts_that_cannot_be_played_are_refused(tmp_path: Path) -> None:
    world = loaded(tmp_path)
    wrong: list[dict[str, Any]] = [{"at_once": 0}, {"processes": 0}, {"processes": 2}, {"max_usd": -1.0}]
    for how in wrong:
        with pytest.raises(Refused):
            Grid(world, **how)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"rng_seeds": 5}, "rng_seeds: this should be a list, not the number 5"),
        ({"rng_seeds": [True]}, "rng_seeds: this should be a whole number, not true"),
        ({"what_ifs": {"name": "x"}}, "what_ifs: this should be a list, not a mapping"),
        ({"what_ifs": ["x"]}, "what_ifs: this should be a mapping of fields, not the text 'x'"),
        ({"what_ifs": 5}, "what_ifs: this should be a list, not the number 5"),
        ({"rng_seeds": itertools.count()}, "rng_seeds: there are 100001 items. Write at most 100000"),
    ],
)
def test_axes_of_a_program_are_refused_in_words(tmp_path: Path, how: dict[str, Any], words: str) -> None:
    with pytest.raises(BadWorld, match=words):
        Grid(loaded(tmp_path), **how)


class Whole:
    """A whole number of another library, such as numpy's."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


def test_whole_numbers_of_other_libraries_are_seeds(tmp_path: Path) -> None:
    what_ifs = [{"name": "short", "limits": {"max_turns": Whole(2)}}]
    how: dict[str, Any] = {"rng_seeds": map(Whole, (4, 7)), "what_ifs": what_ifs, "repeats": Whole(2)}

    file = Grid(loaded(tmp_path), **how).read.file

    assert (file.rng_seeds, file.repeats, file.what_ifs[0].limits_given) == ((4, 7), 2, {"max_turns": 2})


def test_an_experiment_returns_a_table(tmp_path: Path) -> None:
    table = experiment(loaded(tmp_path), rng_seeds=range(3), models=["offline", "offline:hasty"])

    assert [(row.models, row.rng_seed) for row in table] == [
        (model, seed) for model in ("offline", "offline:hasty") for seed in range(3)
    ]
    assert {figure.measure for figure in table.summary()} >= {"turns", "usd", "nobody won"}
    assert "<table>" in table._repr_html_()


async def test_a_store_that_cannot_be_opened_stops_the_grid(tmp_path: Path) -> None:
    world = loaded(tmp_path)
    (tmp_path / "grid").mkdir()
    (tmp_path / "grid" / "runs-0002.glasshouse").write_text("This is no store.")

    with pytest.raises(GridStopped, match="runs-0002") as stopped:
        await rows_of(Grid(world, rng_seeds="0..24", folder=tmp_path / "grid"))

    assert stopped.value.why == "store"
    (tmp_path / "grid" / "runs-0002.glasshouse").unlink()
    async with Grid(world, rng_seeds="0..24", folder=tmp_path / "grid") as grid:
        await rows_of(grid)
        assert grid.progress.done == 25
