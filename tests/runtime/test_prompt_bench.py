"""The bench of moments: every recorded act can be asked again, and is the moment that its list says it is."""

from pathlib import Path

import pytest

from bench.prompts import blind, product, results
from bench.prompts.__main__ import main, row_of
from bench.prompts.moments import KINDS, BenchMoment, all_moments, chosen_moments
from glasshouse.models import Completion, Prompt
from glasshouse.runtime.ports import Route

MOMENTS = all_moments()


class Reciting:
    """A model that says the same to everybody: first nothing that can be read, then a line."""

    name = "reciting"
    is_free = True
    answers_at_once = True

    def __init__(self) -> None:
        self.seeds: list[int] = []

    async def complete(self, prompt: Prompt) -> Completion:
        self.seeds.append(prompt.seed)
        if len(self.seeds) == 1:
            return Completion("no object", self.name)
        return Completion(
            '{"kind":"agent.spoke","thought":"","text":"I look up every night that somebody asks about before I speak of it.","mood":""}',
            self.name,
        )

    def route(self, _profile: str, _name: str | None = None, /) -> Route:
        return Route(self, self.name, 8_192, 384)


@pytest.mark.parametrize("moment", MOMENTS, ids=[moment.id for moment in MOMENTS])
async def test_each_moment_is_asked_again_as_what_it_is(moment: BenchMoment) -> None:
    async with product.opened_store(moment.store) as store:
        played = await product.played_act(store, moment.act, product.SilentRouter())

    about = product.about(played)
    assert moment.kind in KINDS
    assert len(played.heard) == 1
    assert played.end is not None
    assert about["has_tools"] or moment.kind != "tool"
    assert (about["role"] == "narrator") is (moment.kind == "narration") or moment.kind == "disturbance"
    assert (played.moment.handed is not None) is (moment.kind == "wire")
    assert (played.moment.cause.kind == "user.injected") is (moment.kind == "disturbance")


def test_all_worlds_and_kinds_are_there_and_tools_are_called_for_often_enough() -> None:
    assert len({moment.world for moment in MOMENTS}) == 12
    assert {moment.kind for moment in MOMENTS} == {*KINDS}
    assert len([moment for moment in MOMENTS if moment.kind == "tool"]) >= 10
    assert len({moment.id for moment in MOMENTS}) == len(MOMENTS)


async def test_a_refused_reply_is_repaired_and_measured_and_seeds_differ() -> None:
    (moment,) = chosen_moments(["oak-owl-first"])
    models = [Reciting(), Reciting()]

    rows = []
    for seed, model in enumerate(models, 1):
        async with product.opened_store(moment.store) as store:
            played = await product.played_act(store, moment.act, model, seed)
        rows.append(results.measured(row_of(moment, seed, "reciting", played, 0.1)))

    assert [len(row["refused"]) for row in rows] == [1, 1]
    assert all(row["repaired"] and row["said"]["persona"] and not row["tools"] for row in rows)
    assert models[0].seeds[0] != models[1].seeds[0]
    assert "| said: persona                 | 2 of 2   |" in results.table({"reciting": rows})


async def test_a_blind_sheet_tells_no_label_and_the_key_joins_the_scores(tmp_path: Path) -> None:
    (moment,) = chosen_moments(["oak-owl-first"])
    async with product.opened_store(moment.store) as store:
        played = await product.played_act(store, moment.act, Reciting())
    row = row_of(moment, 1, "reciting", played, 0.1)
    blind.write(tmp_path / "sheet", {"one-builder": [row], "other-builder": [row]})

    sheet = (tmp_path / "sheet.md").read_text() + (tmp_path / "sheet.csv").read_text()
    scored = (tmp_path / "sheet.csv").read_text().replace("1,,,", "1,1,0,1").replace("2,,,", "2,1,1,")
    (tmp_path / "sheet.csv").write_text(scored)
    table = blind.unblinded(tmp_path / "sheet.csv", tmp_path / "sheet.key.json")

    assert "builder" not in sheet
    assert "I look up every night" in sheet
    assert "| clean | 1 of 1 | 1 of 1 |" in table


def test_a_row_that_was_cut_off_is_asked_for_again(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"moment": "a"}\n{"mom')

    assert results.read(file) == [{"moment": "a"}]


def test_a_moment_that_nobody_knows_is_refused_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["http://127.0.0.1:9/v1", "--only", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
