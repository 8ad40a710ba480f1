"""Acts under way: noted from their first call of a tool until they end, and taken up before anything else."""

from glasshouse.events import kinds
from glasshouse.events.payloads import ToolReturned
from glasshouse.turns.runs.purses import Runs
from glasshouse.turns.runs.schedule import Due, next_act
from glasshouse.world.decisions.intents import CallTool, Connect, FollowCall, StartTurn
from tests.rules.worlds_by_hand import HandWorld

TALK = (kinds.AGENT_SPOKE, kinds.AGENT_PASSED)


def talkers(*names: str, hears: tuple[str, ...] = (kinds.AGENT_SPOKE,)) -> HandWorld:
    """Creatures at one table who may also pass."""
    made = HandWorld()
    for name in names:
        made.add(name, emits=TALK, hears=hears)
    for name in names[1:]:
        made.do(Connect(names[0], name, "stage", both=True))
    return made


def test_an_act_is_under_way_from_its_first_call_until_it_ends() -> None:
    made = talkers("ada", "bo")
    line = made.say("ada", channel="stage")

    called = made.do(CallTool("bo", line.id, "lantern", {}, 1)).events[0]
    returned = made.do(
        FollowCall("bo", called.id, ToolReturned("lantern", 1, is_ok=True, text="lit"))
    ).events[0]
    on_its_way = dict(made.agenda.under_way)
    made.say("bo", kind=kinds.AGENT_PASSED, caused_by=line.id)

    assert {name: (act.cause, act.events) for name, act in on_its_way.items()} == {
        "bo": (line.id, [called.id, returned.id])
    }
    assert made.agenda.under_way == {}


def test_one_who_is_removed_is_no_longer_under_way() -> None:
    made = talkers("ada", "bo", "cy")
    line = made.say("ada", channel="stage")
    made.do(CallTool("bo", line.id, "lantern", {}, 1))

    made.remove("bo")

    assert made.agenda.under_way == {}


def test_an_act_under_way_comes_before_what_was_owed_earlier() -> None:
    made = talkers("ada", "bo", "cy")
    graph = made.world.graphs[made.world.creatures["ada"].graph_id]
    first = made.say("ada", channel="stage")
    second = made.say("ada", channel="stage")
    made.do(StartTurn(graph.id, 1))

    before = next_act(made.world, made.agenda, graph, Runs())
    made.do(CallTool("cy", second.id, "lantern", {}, 1))
    after = next_act(made.world, made.agenda, graph, Runs())

    assert before == Due("bo", first.id)
    assert after == Due("cy", second.id)
