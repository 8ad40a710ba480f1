"""Events from outside: whatever a visitor says is told as something that happened, in sentences that are right, in every world."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from functools import cache

import pytest

from glasshouse import Event, MemoryStore, Terrarium
from glasshouse.manifests import load_world
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.scripts.script import EVENT, EVENT_ACTS, Entry
from glasshouse.scripts.script_names import unknown_names
from glasshouse.scripts.script_text import read_script
from glasshouse.troupe.talk.happenings import event_told_by_visitor, happenings_in
from tests.contracts.scripted_plays import script_named

WORLDS = [world.name for world in bundled_worlds()]
PLACES = {"hatbox-and-cello": 2, "keeper-of-dusk": 2, "three-ways-in": 4}
"""Where a world plays in several places, each hears of it and speaks of it by itself."""

TOLD: tuple[tuple[str, str, str, str], ...] = (
    ("The lights go out.", "the lights went out", "", "why did the lights go out"),
    ("The window breaks.", "the window broke", "", "why did the window break"),
    (
        "A stranger knocks at the door.",
        "a stranger knocked at the door",
        "the stranger knocked at the door",
        "why did the stranger knock at the door",
    ),
    (
        "A police car stops outside.",
        "a police car stopped outside",
        "the police car stopped outside",
        "why did the police car stop outside",
    ),
    (
        "everyone's phone rings at once",
        "everyone's phone rang at once",
        "",
        "why did everyone's phone ring at once",
    ),
    ("It begins to snow", "it began to snow", "", "why did it begin to snow"),
    (
        "Two foxes fight under the table.",
        "two foxes fought under the table",
        "the two foxes fought under the table",
        "why did the two foxes fight under the table",
    ),
    (
        "Smoke comes out of the cellar.",
        "smoke came out of the cellar",
        "the smoke came out of the cellar",
        "why did the smoke come out of the cellar",
    ),
    ("Somebody has stolen the ladder.", "somebody has stolen the ladder", "", "who has stolen the ladder"),
    ("Someone cut the rope.", "someone cut the rope", "", "who cut the rope"),
    ("The floor is wet.", "the floor is wet", "", "why is the floor wet"),
    (
        "The children are singing outside.",
        "the children are singing outside",
        "",
        "why are the children singing outside",
    ),
    (
        "A letter arrives for nobody.",
        "a letter arrived for nobody",
        "the letter arrived for nobody",
        "why did the letter arrive for nobody",
    ),
    ("Footsteps in the hall", "there were footsteps in the hall", "", "where did the footsteps come from"),
    (
        "a dead bird on the doorstep",
        "there is a dead bird on the doorstep",
        "",
        "where did the dead bird come from",
    ),
    ("No key in the lock", "there is no key in the lock", "", "why is there no key in the lock"),
    ("Fire in the kitchen!", "there is fire in the kitchen", "", "where did the fire come from"),
    (
        "Broken glass everywhere",
        "there is broken glass everywhere",
        "",
        "where did the broken glass come from",
    ),
    ("Mrs Higgins", 'somebody said "Mrs Higgins"', "", 'who said "Mrs Higgins"'),
    ("Napoleon", 'somebody said "Napoleon"', "", 'who said "Napoleon"'),
    ("earthquake", "there was an earthquake", "", "where did the earthquake come from"),
    ("A scream!", "there was a scream", "", "where did the scream come from"),
    (
        "Thunder. It begins to rain hard.",
        "there was thunder, and it began to rain hard",
        "",
        "why did it begin to rain hard",
    ),
    (
        "The door opens, and a child walks in.",
        "the door opened, and a child walked in",
        "the door opened, and the child walked in",
        "why did the door open",
    ),
    (
        "The clock stops, but it still ticks.",
        "the clock stopped, but it still ticked",
        "",
        "why did the clock stop",
    ),
    ("You hear a loud crash", "we heard a loud crash", "", "what was it"),
    (
        "I found a teapot.",
        "a visitor found a teapot",
        "the visitor found a teapot",
        "why did the visitor find a teapot",
    ),
    ("I am the mayor.", "a visitor is the mayor", "the visitor is the mayor", "why is the visitor the mayor"),
    (
        "I want to go home.",
        "a visitor wants to go home",
        "the visitor wants to go home",
        "why does the visitor want to go home",
    ),
    (
        "I have a bomb in my bag",
        "a visitor has a bomb in their bag",
        "the visitor has a bomb in their bag",
        "why does the visitor have a bomb in their bag",
    ),
    ("Who turned off the music?", "somebody turned off the music", "", "who turned off the music"),
    ("Where is the key?", 'somebody asked "Where is the key?"', "", ""),
    ("Run!", 'somebody called "Run!"', "", 'who called "Run!"'),
    ("Help, the boat is sinking!", "the boat is sinking", "", "why is the boat sinking"),
    ("Breaking news: the queen is dead", "the queen is dead", "", "why is the queen dead"),
    (
        "Anna says that the well is poisoned.",
        "Anna said that the well is poisoned",
        "",
        "why did Anna say that the well is poisoned",
    ),
    (
        "Rosa's brother calls: his house was robbed",
        "Rosa's brother called, and his house was robbed",
        "",
        "why did Rosa's brother call",
    ),
    ("the dog ate the map", "the dog ate the map", "", "why did the dog eat the map"),
    (
        "My sister fell off the roof.",
        "the visitor's sister fell off the roof",
        "",
        "why did the visitor's sister fall off the roof",
    ),
    (
        "The wine has turned to vinegar.",
        "the wine has turned to vinegar",
        "",
        "why has the wine turned to vinegar",
    ),
    ("The twins are missing", "the twins are missing", "", "why are the twins missing"),
    ("All the candles burn blue.", "all the candles burn blue", "", "why do all the candles burn blue"),
    (
        "A horse in a red hat walks past and says good evening.",
        "a horse in a red hat walked past and said good evening",
        "the horse in a red hat walked past and said good evening",
        "why did the horse in a red hat walk past and say good evening",
    ),
    ("The king is dead. Long live the king!", "the king is dead", "", "why is the king dead"),
    (
        "There is a knock at the window.",
        "there was a knock at the window",
        "",
        "where did the knock come from",
    ),
    (
        "it turns out the treasure map is a forgery",
        "the treasure map is a forgery",
        "",
        "why is the treasure map a forgery",
    ),
    (
        "An old man with a lantern asks the way to the sea.",
        "an old man with a lantern asked the way to the sea",
        "the old man with a lantern asked the way to the sea",
        "why did the old man with a lantern ask the way to the sea",
    ),
    (
        "The bridge has collapsed and nobody was hurt.",
        "the bridge has collapsed and nobody was hurt",
        "",
        "why has the bridge collapsed",
    ),
    ("Nobody can find the cat.", "nobody can find the cat", "", "why can nobody find the cat"),
    (
        "The phone will not stop ringing.",
        "the phone will not stop ringing",
        "",
        "why will the phone not stop ringing",
    ),
    ("Everything smells of fish.", "everything smells of fish", "", "why does everything smell of fish"),
    (
        "A drunk sailor falls down the stairs and breaks his arm.",
        "a drunk sailor fell down the stairs and broke his arm",
        "the drunk sailor fell down the stairs and broke his arm",
        "why did the drunk sailor fall down the stairs and break his arm",
    ),
    ("They are coming.", "they are coming", "", "why are they coming"),
    ("He is back.", "he is back", "", "why is he back"),
    (
        "Ten thousand bees pour out of the chimney",
        "ten thousand bees poured out of the chimney",
        "the ten thousand bees poured out of the chimney",
        "why did the ten thousand bees pour out of the chimney",
    ),
    ("the power is back on", "the power is back on", "", "why is the power back on"),
    ("Suddenly a shot rings out.", "a shot rang out", "the shot rang out", "why did the shot ring out"),
    ("Outside, somebody is crying.", "somebody is crying outside", "", "who is crying outside"),
    (
        "Last night someone dug up the garden.",
        "someone dug up the garden last night",
        "",
        "who dug up the garden last night",
    ),
    ("We are being watched.", "we are being watched", "", "why are we being watched"),
    ("The roof just fell in", "the roof just fell in", "", "why did the roof just fall in"),
    (
        "Free ice cream for everybody!",
        "there is free ice cream for everybody",
        "",
        "where did the free ice cream come from",
    ),
    (
        "A ghost appears and demands to speak to the manager",
        "a ghost appeared and demanded to speak to the manager",
        "the ghost appeared and demanded to speak to the manager",
        "why did the ghost appear and demand to speak to the manager",
    ),
    (
        "The temperature drops ten degrees",
        "the temperature dropped ten degrees",
        "",
        "why did the temperature drop ten degrees",
    ),
    (
        "The ceiling drips on everyone's head",
        "the ceiling dripped on everyone's head",
        "",
        "why did the ceiling drip on everyone's head",
    ),
    (
        "the fire brigade arrives, sirens blaring",
        "the fire brigade arrived, sirens blaring",
        "",
        "why did the fire brigade arrive",
    ),
    (
        "There's a huge hole in the floor",
        "there is a huge hole in the floor",
        "",
        "why is there a huge hole in the floor",
    ),
    ("the bread won't rise", "the bread will not rise", "", "why will the bread not rise"),
    ("A wolf!", "there is a wolf", "", "where did the wolf come from"),
    (
        "I lost my left shoe",
        "a visitor lost their left shoe",
        "the visitor lost their left shoe",
        "why did the visitor lose their left shoe",
    ),
    (
        "I don't believe any of you",
        "a visitor does not believe any of us",
        "the visitor does not believe any of us",
        "why does the visitor not believe any of us",
    ),
    (
        "I think I broke it",
        "a visitor thinks they broke it",
        "the visitor thinks they broke it",
        "why does the visitor think they broke it",
    ),
    ("My mother is ill.", "the visitor's mother is ill", "", "why is the visitor's mother ill"),
    ("our boat leaks", "the visitor's boat leaked", "", "why did the visitor's boat leak"),
    ("Please stop talking.", 'somebody said "Please stop talking"', "", 'who said "Please stop talking"'),
    ("you are all fired", "we are all fired", "", "why are we all fired"),
    ("Does anybody have a match?", 'somebody asked "Does anybody have a match?"', "", ""),
    ("Is this the way to the station?", 'somebody asked "Is this the way to the station?"', "", ""),
    ("What happened to the cook?", 'somebody asked "What happened to the cook?"', "", ""),
    (
        "The moon turns red and the dogs howl",
        "the moon turned red and the dogs howled",
        "",
        "why did the moon turn red",
    ),
    ("the cook quits", "the cook quit", "", "why did the cook quit"),
    (
        "An alarm goes off somewhere below.",
        "an alarm went off somewhere below",
        "the alarm went off somewhere below",
        "why did the alarm go off somewhere below",
    ),
    ("All three clocks stop", "all three clocks stopped", "", "why did all three clocks stop"),
    ("Half the guests have left", "half the guests have left", "", "why have half the guests left"),
    ("One of you is lying.", "one of us is lying", "", "why is one of us lying"),
    ("Nothing works anymore", "nothing works anymore", "", "why does nothing work anymore"),
    ("It's raining frogs", "it is raining frogs", "", "why is it raining frogs"),
    ("it stinks", "it stank", "", "why did it stink"),
    ("the flumph zorps at us", "the flumph zorped at us", "", "why did the flumph zorp at us"),
    (
        "A meteor streaks across the sky; nobody breathes.",
        "a meteor streaked across the sky, and nobody breathed",
        "the meteor streaked across the sky, and nobody breathed",
        "why did the meteor streak across the sky",
    ),
    (
        "The elevator is stuck between two floors.",
        "the elevator is stuck between two floors",
        "",
        "why is the elevator stuck between two floors",
    ),
    (
        "the president resigned this morning",
        "the president resigned this morning",
        "",
        "why did the president resign this morning",
    ),
    (
        "good morning everyone",
        'somebody said "good morning everyone"',
        "",
        'who said "good morning everyone"',
    ),
    (
        "a birthday cake for the oldest of us",
        "there is a birthday cake for the oldest of us",
        "",
        "where did the birthday cake come from",
    ),
    (
        "Three men with suitcases",
        "there are three men with suitcases",
        "",
        "where did the three men come from",
    ),
    (
        "the smell of burnt toast",
        "there is the smell of burnt toast",
        "",
        "where did the smell of burnt toast come from",
    ),
    ("A fly in the soup.", "there is a fly in the soup", "", "where did the fly come from"),
    ("Gunshots!", 'somebody called "Gunshots!"', "", 'who called "Gunshots!"'),
    ("music from nowhere", "there was music from nowhere", "", "where did the music come from"),
    ("She fainted.", "she fainted", "", "why did she faint"),
    (
        "Somebody is lying dead in the garden",
        "somebody is lying dead in the garden",
        "",
        "who is lying dead in the garden",
    ),
    (
        "A parcel has come, and it is ticking.",
        "a parcel has come, and it is ticking",
        "the parcel has come, and it is ticking",
        "why has the parcel come",
    ),
    ("While you talk, the tide comes in.", "the tide came in", "", "why did the tide come in"),
    (
        "If nobody moves the dog will bite",
        'somebody said "If nobody moves the dog will bite"',
        "",
        'who said "If nobody moves the dog will bite"',
    ),
    (
        "The old oak fell on the barn during the storm",
        "the old oak fell on the barn during the storm",
        "",
        "why did the old oak fall on the barn during the storm",
    ),
    (
        "People are shouting in the street",
        "people are shouting in the street",
        "the people are shouting in the street",
        "why are the people shouting in the street",
    ),
    (
        "The child who lives next door has run away",
        'somebody said "The child who lives next door has run away"',
        "",
        'who said "The child who lives next door has run away"',
    ),
    (
        "A letter addressed to nobody arrives",
        "a letter addressed to nobody arrived",
        "the letter addressed to nobody arrived",
        "why did the letter addressed to nobody arrive",
    ),
    ("Suddenly everything goes quiet...", "everything went quiet", "", "why did everything go quiet"),
    (
        "Wow, look at the sky!",
        'somebody called "Wow, look at the sky!"',
        "",
        'who called "Wow, look at the sky!"',
    ),
    ("the wifi is down", "the wifi is down", "", "why is the wifi down"),
    (
        "Aliens land in the car park",
        "aliens landed in the car park",
        "the aliens landed in the car park",
        "why did the aliens land in the car park",
    ),
    ("Mr. Smith has been arrested.", "Mr Smith has been arrested", "", "why has Mr Smith been arrested"),
    (
        "12 penguins march through the room",
        "12 penguins marched through the room",
        "the 12 penguins marched through the room",
        "why did the 12 penguins march through the room",
    ),
    ("The 7 o'clock train is late.", "the 7 o'clock train is late", "", "why is the 7 o'clock train late"),
    (
        "a fox steals the bread and runs off",
        "a fox stole the bread and ran off",
        "the fox stole the bread and ran off",
        "why did the fox steal the bread and run off",
    ),
    (
        "an earthquake shakes the house",
        "an earthquake shook the house",
        "the earthquake shook the house",
        "why did the earthquake shake the house",
    ),
    (
        "The radio plays a song nobody has heard since the war.",
        "the radio played a song nobody has heard since the war",
        "",
        "why did the radio play a song nobody has heard since the war",
    ),
    (
        "A bat flies in, and everyone screams.",
        "a bat flew in, and everyone screamed",
        "the bat flew in, and everyone screamed",
        "why did the bat fly in",
    ),
    ("The well ran dry overnight", "the well ran dry overnight", "", "why did the well run dry overnight"),
    (
        "Lightning strikes the tower",
        "lightning struck the tower",
        "the lightning struck the tower",
        "why did the lightning strike the tower",
    ),
    ("the baby won't stop crying", "the baby will not stop crying", "", "why will the baby not stop crying"),
    ("someone faints", "someone fainted", "", "who fainted"),
    ("A thief!", "there is a thief", "", "where did the thief come from"),
    ("Everybody freezes.", "everybody froze", "", "why did everybody freeze"),
)
"""What a visitor says; what is told of it; the same as something that is known, where that is another form; what one asks."""


@pytest.mark.parametrize(("said", "clause", "known", "question"), TOLD)
def test_what_a_visitor_says_is_told_as_a_clause_in_the_right_tense_and_number(
    said: str, clause: str, known: str, question: str
) -> None:
    event = event_told_by_visitor(said)

    assert event.told == clause
    assert event.told_again == (known or clause)
    assert event.question == question


def test_nothing_that_anybody_can_say_has_no_clause() -> None:
    odd = [
        "?",
        "...",
        "!!!",
        '"',
        "\u2603 \u2603",
        "a" * 300,
        "word " * 80,
        "\n\nHe\nfell",
        "NULL",
        "{event}",
        "[1] you (cast)",
        "",
    ]

    clauses = [event_told_by_visitor(text).told for text in odd]

    assert [clause for clause in clauses if not clause or "\n" in clause or clause.count('"') % 2] == []
    assert max(len(clause.split()) for clause in clauses) <= 21


def test_what_a_castmate_tells_of_itself_is_not_told_as_a_visitors() -> None:
    mine = happenings_in("I found a teapot.")
    theirs = happenings_in("I found a teapot.", is_of_visitor=True)

    assert [event.told for event in mine] == ["you found a teapot"]
    assert [event.told for event in theirs] == ["a visitor found a teapot"]


def entries_on_events(world: str) -> list[Entry]:
    return [entry for part in script_named(world).parts.values() for entry in part if entry.on == EVENT]


@pytest.mark.parametrize("world", WORLDS)
def test_every_line_for_an_event_says_what_happened_where_a_clause_may_stand(world: str) -> None:
    """So whatever comes, the sentence is right: the clause is certain, and it stands by itself, behind a colon, `that` or `because`."""
    lines = [(entry, phrasing.text) for entry in entries_on_events(world) for phrasing in entry.phrasings]
    clause = re.compile(r"(?:^|[.!?:,] |\b(?:that|because) )\{event(?:\.known)?\}(?=[.!,:]|$)")
    question = re.compile(r"(?:^|[.!?,] )\{event\.why\}\?")

    assert lines
    assert [text for _, text in lines if len(clause.findall(text)) + len(question.findall(text)) != 1] == []
    assert [text for _, text in lines if text.count("{event") != 1] == []
    assert [entry.id for entry, text in lines if "{you}" in text and entry.act != "answer"] == []


@pytest.mark.parametrize("world", WORLDS)
def test_whoever_tells_of_events_can_do_all_that_falls_to_them(world: str) -> None:
    missing = []
    for handle, part in script_named(world).parts.items():
        acts = {entry.act: entry for entry in part if entry.on == EVENT}
        never = load_world(world).manifests[handle].voice.never
        needed = {*EVENT_ACTS} - ({"ask"} if any("question" in vow for vow in never) else set())
        if acts:
            missing += [f"{handle} {act}" for act in needed - set(acts)]
        if "ask" in acts:
            slots = [set(phrasing.slots) for phrasing in acts["ask"].phrasings]
            missing += [] if {"event.why"} in slots and {"event"} in slots else [f"{handle} asks in one way"]

    assert missing == []


@cache
def turns_of(world: str, rng_seed: int) -> int:
    return played(world, rng_seed)[-1].turn


def played(world: str, rng_seed: int, said: str = "") -> tuple[Event, ...]:
    middle = max(1, turns_of(world, rng_seed) // 2) if said else 0

    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore()) as terrarium:
            run = await terrarium.open_world(load_world(world), rng_seed=rng_seed)
            if said:
                await terrarium.step(middle)
                await terrarium.disturb(run.id, said)
            await terrarium.run(run.id)
            return await terrarium.run_events(run.id)

    return asyncio.run(play())


def done_about(world: str, events: tuple[Event, ...]) -> list[tuple[str, str]]:
    """Who did what about the event, in the order of the play."""
    script = script_named(world)
    return [
        (str(event.actor), act)
        for event in events
        if isinstance(event.payload.get("text"), str)
        for act in script.event_acts_in(str(event.actor).partition("~")[0], event.payload["text"])
    ]


@pytest.mark.parametrize("said", ["A police car stops outside.", "Where is the key?", "the dog ate the map"])
@pytest.mark.parametrize("world", WORLDS)
def test_a_disturbance_is_told_asked_about_once_and_comes_back_once(world: str, said: str) -> None:
    events = played(world, 11, said)
    done = done_about(world, events)
    counts = Counter(act for _, act in done)
    places = PLACES.get(world, 1)

    assert len({handle for handle, _ in done}) >= 2
    assert 1 <= counts["report"] <= places
    assert 1 <= counts["ask"] <= places
    assert 1 <= counts["remark"] <= places
    assert next(act for _, act in done) == "report"
    assert events[-1].payload["reason"] == "ended"


def test_nobody_speaks_of_themselves_as_of_another() -> None:
    done = done_about("almanac-oak", played("almanac-oak", 11, "The mule falls asleep."))

    assert len(done) >= 3
    assert [handle for handle, _ in done if handle.startswith("doubtful-mule")] == []


def test_an_undisturbed_play_says_nothing_of_events() -> None:
    assert [world for world in WORLDS if done_about(world, played(world, 11))] == []


def test_a_story_goes_on_behind_a_disturbance_as_if_nothing_stood_behind_its_lines() -> None:
    """The keeper answers what was asked, not what was said of the police car behind it."""
    events = played("twenty-sprouts", 11, "A police car stops outside.")
    asked = [event for event in events if event.kind == "question.asked"]
    answered = [event for event in events if event.kind == "answer.given"]

    assert len(asked) >= 5
    assert len(answered) >= len(asked)
    assert [event for event in events if event.kind in {"agent.failed", "act.discarded"}] == []


SCRIPT = """[part gull: has eaten three hats]
* gull-told report on=event again
  I saw it from the pier: {event}.
* gull-offered offer on=event
  I offer you {event}.
* gull-want want
  I want {event}.
"""


def test_what_is_wrong_in_lines_for_events_is_told() -> None:
    faults = unknown_names(read_script(SCRIPT))

    assert [(fault.line, fault.noun, fault.name) for fault in faults] == [
        (4, "act of an event", "offer"),
        (7, "slot", "event"),
    ]
