"""A careful gossip, written with LangGraph: it drafts a line, then softens it, and only the second version is said.

Two steps of thinking are two calls of the run's model: both are counted, recorded, and replayed without LangGraph.

    pip install "glasshouse-agents[langgraph]"
    python langgraph_creature.py
"""

import asyncio
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from glasshouse import Agent, Draft, Manifest, ModelRouter, Moment, Terrarium, verify
from glasshouse.frameworks import MomentChatModel, scene_of
from glasshouse.testing import ScriptedModel


class Thought(TypedDict):
    line: str


async def draft(state: Thought, runtime: Runtime[MomentChatModel]) -> Thought:
    asked = [("system", "Gossip about it, in one sentence."), ("user", state["line"])]
    return {"line": (await runtime.context.ainvoke(asked)).text}


async def soften(state: Thought, runtime: Runtime[MomentChatModel]) -> Thought:
    asked = [("system", "Say this so that nobody is hurt."), ("user", state["line"])]
    return {"line": (await runtime.context.ainvoke(asked)).text}


graph = StateGraph(Thought, context_schema=MomentChatModel)
graph.add_sequence([draft, soften])
graph.add_edge(START, "draft")
gossip = graph.compile()


class Gossip(Agent):
    async def act(self, moment: Moment) -> Draft | None:
        state = await gossip.ainvoke({"line": scene_of(moment)}, context=MomentChatModel(moment=moment))
        return Draft(kind="agent.spoke", payload={"text": state["line"]})


async def main() -> None:
    scripted = ScriptedModel("He has burnt it again.", "I smell that somebody is cooking.")
    async with Terrarium(models=ModelRouter(scripted), agents={"gossip": Gossip()}) as t:
        cook = await t.add_creature(Manifest(name="cook", subscribes_to=()))
        await t.add_creature(Manifest(name="gossip"), graph=cook.graph_id)
        await t.append(cook, Draft(kind="agent.spoke", payload={"text": "Supper will be late."}))
        await t.run()
        print(await t.played(t.default_run_id))
        print("Plays again the same, without LangGraph:", (await verify(t, t.default_run_id)).is_same)


if __name__ == "__main__":
    asyncio.run(main())
