"""What a referee receives: the lines so far, what was dealt to whom, and the handles."""

from pathlib import Path

from glasshouse import Agent, Draft, Event, MemoryStore, SqliteStore
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.turns.moment.moment import Moment
from tests.runtime.stage_crew import Doing, Speaker, on_stage, the_end

CAST = ("ada", "bo", "cy", "dee")

REFEREE = """
from collections import Counter

from glasshouse.contests import Match, Ruling


def counts_the_votes(match):
    votes = {line.actor: line.payload["who"] for line in match.lines if line.kind == "vote.cast"}
    if len(votes) < len(match.knowers):
        return None
    words = Counter(facts["word"] for facts in match.truths.values())
    odd = next(one for one, facts in match.truths.items() if words[facts["word"]] == 1)
    named = Counter(votes.values()).most_common(1)[0][0]
    if match.called(named) != odd:
        return Ruling(match.handles[odd], f"Most named {named}.")
    others = tuple(match.handles[one] for one in match.knowers if one != odd)
    return Ruling("the others", f"They found the odd one: {named}.", others)


def votes_at_once(match):
    if match.line is not None and match.line.kind == "vote.cast":
        return Ruling(match.line.payload["who"], "It was said.")


def tells_what_it_heard(match):
    if match.line is not None and len(match.lines) < 6:
        return None
    return Ruling(None, " / ".join(str(line.payload.get("text")) for line in match.lines))
"""

SCENARIO = """
name: w
opening: Four sit down.
cast: [ada, bo, cy, dee]
kinds: {vote.cast: {who: creature, text: string}}
deal: {word: {to: [ada, bo, cy, dee], from: [[pond, puddle]], odd_one: true}}
competition: {kind: judged, contestants: [ada, bo, cy, dee], referee: "rules.py:counts_the_votes"}
ends_when: {referee: true}
governor: {max_turns: 5}
"""


def _world(folder: Path, scenario: str = SCENARIO) -> LoadedWorld:
    (folder / "creatures").mkdir()
    for name in CAST:
        (folder / "creatures" / f"{name}.yaml").write_text(
            f"name: {name}\nmay_emit: [agent.spoke, vote.cast]\nschedule: {{tick_every: 1}}\n"
        )
    (folder / "rules.py").write_text(REFEREE)
    (folder / "scenario.yaml").write_text(scenario)
    return load_world(folder)


def _votes_for(who: str) -> Doing:
    async def votes(moment: Moment) -> Draft:
        return Draft(kind="vote.cast", payload={"who": who, "text": f"It is {who}."})

    return Doing(votes)


def _the_odd_one(events: tuple[Event, ...]) -> str:
    sealed = [event.sealed for event in events if event.sealed]
    return next(str(deal["to"][0]) for deal in sealed if deal["facts"]["word"] == "puddle")


async def _played(world: LoadedWorld, minds: dict[str, Agent]) -> tuple[Event, str]:
    async with on_stage(minds=minds) as t:
        run = await t.open_world(world)
        await t.run()
        return await the_end(t), _the_odd_one(await t.run_events(run.id))


async def test_a_referee_counts_votes_over_all_the_lines(tmp_path: Path) -> None:
    world = _world(tmp_path)
    _, odd = await _played(world, {name: _votes_for("ada") for name in CAST})
    wrong = next(name for name in CAST if name != odd)

    ending, _ = await _played(world, {name: _votes_for(odd) for name in CAST})
    missed, _ = await _played(world, {name: _votes_for(wrong) for name in CAST})

    assert (ending.payload["winner"], ending.payload["reason"]) == ("the others", "ended")
    assert ending.payload["members"] == [name for name in CAST if name != odd]
    assert (missed.payload["winner"], missed.payload.get("members")) == (odd, None)


async def test_a_referee_looks_back_on_the_same_lines_after_a_crash(tmp_path: Path) -> None:
    world = _world(tmp_path, SCENARIO.replace("counts_the_votes", "tells_what_it_heard"))

    async def reason_after(stops_at: int) -> str:
        store = MemoryStore()
        async with on_stage(store, minds={name: Speaker() for name in CAST}) as t:
            await t.open_world(world)
            for _ in range(stops_at):
                await t.step_one()
        async with on_stage(store, minds={name: Speaker() for name in CAST}) as t:
            await t.run()
            return str((await the_end(t)).payload["why"])

    whys = [await reason_after(stops_at) for stops_at in (0, 1, 2)]

    dealt = [f"Something is dealt to {name}, face down." for name in CAST]
    assert whys == [" / ".join([*dealt, "Four sit down.", "ada1"])] * 3


async def test_a_ruling_from_before_a_crash_is_found_again_whoever_asks_first(tmp_path: Path) -> None:
    scenario = SCENARIO.replace("ends_when: {referee: true}\n", "").replace(
        "counts_the_votes", "votes_at_once"
    )
    world = _world(tmp_path, scenario)
    store = SqliteStore(tmp_path / "kept.glasshouse")
    async with on_stage(store, minds={"ada": _votes_for("bo")}) as t:
        run = await t.open_world(world)
        await t.step_one()

    async with on_stage(SqliteStore(tmp_path / "kept.glasshouse"), minds={n: Speaker() for n in CAST}) as t:
        t.due(run.id)
        await t.run(run.id)

        assert (await the_end(t)).payload["winner"] == "bo"
