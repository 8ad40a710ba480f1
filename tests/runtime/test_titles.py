"""Titles that deceive are refused by every door through which a creature comes; recorded ones are read as they are."""

from pathlib import Path

import pytest

from glasshouse import Manifest, SqliteStore, Terrarium, WhatIf
from glasshouse.errors import Refused
from glasshouse.runtime import graph_edits

DECEIVING = Manifest(name="moth", title="The \u202eMoth")


async def test_a_newcomer_with_a_title_that_deceives_is_refused() -> None:
    async with Terrarium() as t:
        with pytest.raises(Refused, match="title of moth is refused: there is a RIGHT-TO-LEFT OVERRIDE"):
            await t.add_creature(DECEIVING)
        with pytest.raises(Refused, match="Delete it"):
            await t.add_creature(Manifest(name="owl"), is_privileged=True, may_spawn=[DECEIVING])

        assert t.graphs() == ()


async def test_a_newcomer_is_not_called_like_another_of_its_graph() -> None:
    async with Terrarium() as t:
        owl = await t.add_creature(Manifest(name="owl", title="The Old Owl"))
        wick = await t.add_creature(Manifest(name="wick"), graph=owl.graph_id)

        for title, other in (("the OLD owl", "owl"), ("WICK", "wick")):
            with pytest.raises(Refused, match=f"looks like the title of '{other}'"):
                await t.add_creature(Manifest(name="moth", title=title), graph=owl.graph_id)

        twin = await t.add_creature(Manifest(name="owl", title="The Old Owl"), graph=owl.graph_id)
        elsewhere = await t.add_creature(Manifest(name="moth", title="WICK"))
        assert {twin.graph_id, wick.graph_id} == {owl.graph_id}
        assert elsewhere.graph_id != owl.graph_id


async def test_a_branch_adds_nobody_whose_title_deceives() -> None:
    async with Terrarium() as t:
        run = await t.open_world("thousand-token-wood")
        await t.step(2)
        last = [event async for event in t.history(run.session_id)][-1]

        with pytest.raises(Refused, match="Delete it"):
            await t.branch(last.session_id, last.id, WhatIf(add=(DECEIVING,)))


async def test_a_recorded_title_is_read_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "show.glasshouse"
    with monkeypatch.context() as before_the_rule:
        before_the_rule.setattr(graph_edits, "check_titles", lambda *given: None)
        async with Terrarium(SqliteStore(path)) as t:
            creature = await t.add_creature(DECEIVING)
            await t.add_creature(Manifest(name="owl"), graph=creature.graph_id)
            await t.disturb(creature.run_id or "", "A bell rings.")
            await t.step(2)

    async with Terrarium(SqliteStore(path)) as t:
        await t.disturb(creature.run_id or "", "Another bell rings.")
        await t.step(2)
        last = [event async for event in t.history(t.creature(creature.id).session_id)][-1]
        branch = await t.branch(last.session_id, last.id, WhatIf(disturb="A third bell rings."))

        assert branch.id != creature.run_id
