"""A judge at a pie contest, written with pydantic-ai: it returns a checked `Verdict`, and has a tool of its own.

The agent stays as it is. `MomentModel` lets it ask the run's models, so limits, records and replays hold for it too.

    pip install "glasshouse-agents[pydantic-ai]"
    python pydantic_ai_creature.py
"""

import asyncio

from pydantic import BaseModel, Field
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import NativeOutput

from glasshouse import Agent, Draft, Manifest, ModelRouter, Moment, Terrarium, verify
from glasshouse.frameworks import MomentModel, scene_of
from glasshouse.testing import ScriptedModel


class Verdict(BaseModel):
    pie: str
    points: int = Field(ge=1, le=10)


judge = PydanticAgent(
    output_type=NativeOutput(Verdict), instructions="You judge pies. Look inside before you judge."
)


@judge.tool_plain
def look_inside(pie: str) -> str:
    """Cut a pie open."""
    return "a ring that somebody lost on Tuesday" if pie == "pear" else "plums"


class Judge(Agent):
    async def act(self, moment: Moment) -> Draft | None:
        verdict = (await judge.run(scene_of(moment), model=MomentModel(moment))).output
        return Draft(kind="agent.spoke", payload={"text": f"The {verdict.pie} pie: {verdict.points} of 10."})


# What a small model might reply. Eleven points are too many, and pydantic-ai sends them back.
LOOKS = '{"tool": "look_inside", "arguments": {"pie": "pear"}}'
JUDGES = ['{"pie": "pear", "points": 11}', '{"pie": "pear", "points": 9}']


async def main() -> None:
    async with Terrarium(models=ModelRouter(ScriptedModel(LOOKS, *JUDGES)), agents={"judge": Judge()}) as t:
        baker = await t.add_creature(Manifest(name="baker", subscribes_to=()))
        await t.add_creature(Manifest(name="judge"), graph=baker.graph_id)
        await t.append(baker, Draft(kind="agent.spoke", payload={"text": "A plum pie, and a pear pie."}))
        await t.run()
        print(await t.played(t.default_run_id))
        print("Plays again the same, without pydantic-ai:", (await verify(t, t.default_run_id)).is_same)


if __name__ == "__main__":
    asyncio.run(main())
