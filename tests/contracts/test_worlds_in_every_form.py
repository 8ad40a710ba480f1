"""Every bundled world is played in every form of reply: it ends well, at the first try, and verifies without the binding."""

from typing import Any

import pytest

from glasshouse import Event, Terrarium, kinds, verify
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.model_values import Form
from glasshouse.models.router import ModelRouter
from glasshouse.turns.moment.prompt import PROFILES

WORLDS = sorted(world.name for world in bundled_worlds())


def models_in(form: Form) -> ModelRouter:
    offline = ModelRouter()
    return ModelRouter({profile: offline.route(profile)._replace(form=form) for profile in PROFILES})


async def played(world: str, form: Form) -> tuple[Event, ...]:
    """The events of a world's play, which is verified on the way."""
    async with Terrarium(models=models_in(form)) as t:
        run = await t.open_world(world, rng_seed=11)
        await t.run(run.id)
        outcome = await verify(t, run.id)
        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event, outcome.prompt_diffs[:1])
        assert outcome.prompt_diffs == ()
        return await t.run_events(run.id)


def said(events: tuple[Event, ...]) -> list[dict[str, Any]]:
    return [event.payload for event in events if event.kind not in kinds.ENGINE]


@pytest.mark.parametrize("world", WORLDS)
async def test_a_world_ends_well_in_every_form(world: str) -> None:
    by_form = {form: await played(world, form) for form in ("schema", "json", "prose")}

    for form, events in by_form.items():
        assert events[-1].payload["reason"] in {"ended", "no_contest"}, form
        assert kinds.AGENT_FAILED not in [event.kind for event in events], form
        calls = [call for event in events for call in event.calls]
        assert {call.form for call in calls} == {form}
        assert all(call.completion.startswith("KIND: " if form == "prose" else "{") for call in calls)
        assert max(len(event.calls) for event in events) == 1, "no reply had to be repaired"
    assert len(said(by_form["schema"])) == len(said(by_form["json"]))
