"""Two boats out of earshot: they become one graph when one calls for help, and two again when it is safe.

Who hears whom is not settled at the start. `connect` merges two graphs while the show runs; leaving a channel splits them.

    pip install glasshouse-agents
    python merging_graphs.py
"""

import asyncio

from glasshouse import Agent, Draft, Manifest, Moment, Terrarium

ROWER = [
    "Dry feet.",
    "My socks are wet. Help!",
    "The gulls are laughing.",
    "Dry again. Thank you!",
    "La la la.",
]


class Rower(Agent):
    """Says how wet the boat is."""

    async def act(self, moment: Moment) -> Draft | None:
        return Draft(kind="agent.spoke", payload={"text": ROWER[moment.turn - 1]})


class Mender(Agent):
    """Sits in the other boat, and mends what it hears of."""

    async def act(self, moment: Moment) -> Draft | None:
        heard = [event.payload["text"] for event in moment.recent_events if event.actor == "rower"]
        text = "Hold still. I have tar." if heard and "Thank you" not in heard[-1] else "Hm hm hm."
        return Draft(kind="agent.spoke", payload={"text": text})


async def main() -> None:
    """Row for five turns. Whoever hosts the show listens, and changes the graph between two turns."""
    async with Terrarium(agents={"rower": Rower(), "mender": Mender()}) as t:
        for name in ("rower", "mender"):
            await t.add_creature(Manifest(name=name, schedule={"tick_every": 1}, subscribes_to=()))

        for turn in range(1, 6):
            boats = " | ".join("+".join(graph.creature_ids) for graph in t.graphs())
            await t.step()
            lines = [line for line in (await t.played(t.default_run_id)).lines if line.turn == turn]
            for line in lines:
                print(f"{boats:14}  {line.who:6}  {line.text}")
            if any("Help!" in line.text for line in lines):
                await t.connect("rower", "mender", channel="rope", both=True)
            if any("Thank you" in line.text for line in lines):
                await t.leave_channel("mender", "rope")

        sessions = [t.session(event.session_id) for event in await t.run_events(t.default_run_id)]
        print("What happened to the graphs:", *dict.fromkeys(session.origin for session in sessions))


if __name__ == "__main__":
    asyncio.run(main())
