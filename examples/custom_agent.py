"""A hive scale that talks: your own Python code plays one creature, a model plays the other.

The scale knows numbers and the beekeeper knows bees. Neither could keep the hive alone.

    pip install glasshouse-agents
    python custom_agent.py
"""

import asyncio

from glasshouse import Agent, Draft, Manifest, Moment, Terrarium, verify

GRAMS = {1: 31_400, 2: 31_900, 3: 29_100}
"""What the hive weighed on each day. A sensor or a database would do as well."""


class HiveScale(Agent):
    """Tells the weight, and what has changed since it last spoke."""

    def __init__(self) -> None:
        self.grams = GRAMS[1]

    async def act(self, moment: Moment) -> Draft | None:
        grams = GRAMS.get(moment.turn)
        if grams is None:
            return None  # No weight has come in: stay silent.
        change, self.grams = grams - self.grams, grams
        alarm = " The bees are leaving!" if change < -1_000 else ""
        return Draft(kind="agent.spoke", payload={"text": f"{grams / 1000} kg, {change:+} g.{alarm}"})


BEEKEEPER = Manifest(
    name="beekeeper",
    persona="Has kept bees for forty years. Trusts the scale, but never says so.",
    wants="a calm hive before the frost",
)


async def main() -> None:
    """Let them talk for three days."""
    async with Terrarium(agents={"scale": HiveScale()}) as t:
        beekeeper = await t.add_creature(BEEKEEPER)
        scale = Manifest(name="scale", schedule={"tick_every": 1}, subscribes_to=())
        await t.add_creature(scale, graph=beekeeper.graph_id)
        await t.step(turns=4)

        for event in await t.events(beekeeper.session_id):
            if event.kind == "agent.spoke":
                print(f"day {event.turn}  {event.actor:10} {event.payload['text']}")
        same = await verify(t, t.default_run_id)
        print("The record can be played again, byte for byte:", same.is_same)


if __name__ == "__main__":
    asyncio.run(main())
