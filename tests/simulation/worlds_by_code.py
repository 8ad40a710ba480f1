"""Worlds made in Python for the simulations, with shapes that the bundled worlds do not have."""

from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest, Memory, Schedule
from glasshouse.manifests.scenario import Scenario


def two_troupes() -> LoadedWorld:
    """Two graphs under one purse: ticks that go together, a wire, a reactor, and turns that are put off."""
    creatures = [
        Manifest(name="drum", persona="keeps time", schedule=Schedule(tick_every=1, together=True)),
        Manifest(name="flute", persona="answers the drum", schedule=Schedule(tick_every=1, together=True)),
        Manifest(name="bell", persona="rings late", schedule=Schedule(tick_every=2)),
        Manifest(
            name="ear", persona="hears everything", subscribes_to=("agent.spoke",), may_emit=("ear.noted",)
        ),
        Manifest(
            name="scribe", persona="writes down", subscribes_to=("ear.noted",), may_emit=("scribe.wrote",)
        ),
    ]
    scenario = Scenario.model_validate(
        {
            "name": "two-troupes",
            "goal": "Keep time together.",
            "opening": "Two rooms, one clock.",
            "kinds": {"ear.noted": {"text": "string"}, "scribe.wrote": {"text": "string"}},
            "troupes": {
                "north": {
                    "cast": [
                        "drum",
                        {"use": "flute", "wires": ["scribe"]},
                        "bell",
                        {"use": "scribe", "channels": {"listen": ["stage"], "send": ["stage"]}},
                    ]
                },
                "south": {"cast": ["drum", "ear", "flute"]},
            },
            "beats": [{"turn": 3, "text": "A window opens."}],
            "governor": {
                "max_turns": 6,
                "max_calls_per_turn": 3,
                "max_total_calls": 60,
                "on_turn_limit": "defer",
            },
        }
    )
    return LoadedWorld.of(scenario, creatures)


def reflecting_table() -> LoadedWorld:
    """Creatures that reflect by cadence on one stage: ticks that go together, an answer, and turns without a call left."""
    creatures = [
        Manifest(
            name="drum",
            persona="keeps time",
            schedule=Schedule(tick_every=1, together=True),
            memory=Memory(reflect_every=1),
        ),
        Manifest(
            name="flute",
            persona="answers the drum",
            schedule=Schedule(tick_every=1, together=True),
            memory=Memory(window=3, reflect_every=2),
        ),
        Manifest(name="ear", persona="hears", subscribes_to=("agent.spoke",), memory=Memory(reflect_every=2)),
    ]
    scenario = Scenario.model_validate(
        {
            "name": "reflecting-table",
            "goal": "Keep time together.",
            "opening": "One room, one clock, and a lantern on the sill.",
            "cast": ["drum", "flute", "ear"],
            "beats": [{"turn": 3, "text": "The lantern goes out."}],
            "governor": {"max_turns": 7, "max_calls_per_turn": 6, "on_turn_limit": "defer"},
        }
    )
    return LoadedWorld.of(scenario, creatures)


def end_in_the_second_room(*, is_crowded: bool = False) -> LoadedWorld:
    """Two graphs under one purse, where what ends the run happens in the younger one; more is said in the first room,
    or, if the second is crowded, there."""
    first = [{"use": "drum", "handle": "snare"}, {"use": "drum", "handle": "tom"}]
    second: list[object] = ["drum", "ear"]
    if is_crowded:
        second += [*first[1:], {"use": "drum", "handle": "gong"}]
        del first[1:]
    creatures = [
        Manifest(name="drum", persona="keeps time", schedule=Schedule(tick_every=1)),
        Manifest(
            name="ear", persona="hears everything", subscribes_to=("agent.spoke",), may_emit=("ear.noted",)
        ),
    ]
    scenario = Scenario.model_validate(
        {
            "name": "second-room",
            "opening": "Two rooms, one door.",
            "kinds": {"ear.noted": {"text": "string"}},
            "troupes": {
                "first": {"cast": first},
                "second": {"cast": second},
            },
            "ends_when": {"kind": "ear.noted", "count": 4},
            "governor": {"max_turns": 12, "max_calls_per_turn": 8, "max_total_calls": 60},
        }
    )
    return LoadedWorld.of(scenario, creatures)
