"""Recorded plays are measured like a rehearsal, by the number of their prompts and by their model."""

from glasshouse import MemoryStore, Terrarium
from glasshouse.contests.recorded_plays import measured_plays
from glasshouse.contests.rehearsal import Plan
from glasshouse.manifests.loading import load_world


async def test_only_plays_of_the_world_the_model_and_the_number_count() -> None:
    plan = Plan(load_world("mystery-roots"), rounds=1, turns=3)
    store = MemoryStore()
    async with Terrarium(store) as terrarium:
        run = await terrarium.open_world("mystery-roots")
        await terrarium.run(run.id, turns=5)
        other = await terrarium.open_world("two-tale-hearth")
        await terrarium.run(other.id, turns=2)
        plays = [await terrarium.run_events(each) for each in (run.id, other.id)]
        (model,) = {call.model for event in plays[0] for call in event.calls}
        number = next(
            int(getattr(event.model, "prompting", 1)) for event in plays[0] if event.model is not None
        )

        rehearsal = await measured_plays(plays, store.prompt, plan, model, number)
        of_another_number = await measured_plays(plays, store.prompt, plan, model, number + 7)
        of_another_model = await measured_plays(plays, store.prompt, plan, "nobody", number)

    within = [event for event in plays[0] if event.calls and event.turn <= 3]
    assert rehearsal is not None
    assert (rehearsal.rounds, rehearsal.measures["valid at first try"].n) == (1, len(within))
    assert rehearsal.measures["recited"].n > 0
    assert of_another_number is None
    assert of_another_model is None
