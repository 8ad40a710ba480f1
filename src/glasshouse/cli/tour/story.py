"""The story of the tour as data: who lives under the glass, what they say, what each scene is for.

Always holds: nothing here is computed. The names, the lines and the seed never change, so the tour never does.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Part(NamedTuple):
    """One creature of a troupe: its name, and who it is."""

    name: str
    persona: str


class Line(NamedTuple):
    """What a creature says, and on which channel."""

    creature: str
    channel: str
    text: str


class Title(NamedTuple):
    """A scene's heading, the call it makes, and one plain sentence about it."""

    heading: str
    call: str
    sentence: str


IDS_SEED: Final = 1851
ROUNDS: Final = 10

MOSS_BANK: Final = (
    Part("pim", "a snail who keeps the weather"),
    Part("dew", "a tree frog who counts the drops"),
    Part("oona", "a fern who remembers every rain"),
)
NIGHT_BED: Final = (
    Part("lux", "a glow-worm who reads by her own light"),
    Part("pim", "a moth who asks everything twice"),
)

COUNTED: Final = Line("dew", "commons", "Four hundred drops since noon. The glass is humming.")
REMEMBERED: Final = Line("oona", "commons", "It hummed like this the year the roof let the sky in.")
DREAMT: Final = Line("lux", "commons", "A word came in my sleep, and I could not read it.")
ACROSS: Final = Line("dew", "gap", "Lux, the word was rain. We kept some for you.")
ANSWERED: Final = Line("lux", "commons~2", "Then I shall read it aloud until it stays.")

BRIDGE: Final = ("dew", "lux", "gap")

HINT: Final = "This takes about half a minute. Ctrl-C leaves at any time."
OPENING: Final = (
    "Five creatures, two panes of glass, one ledger. No network and no model is needed: the lines are scripted,"
    " and everything else you see is really happening, in a real file."
)

TITLES: Final = {
    "troupes": Title(
        "Two troupes under glass",
        't.add_creature(Manifest(name="pim"))',
        "Creatures that a channel joins form a graph; here are two, and each has a creature called pim.",
    ),
    "mail": Title(
        "Words, and who is owed them",
        't.append("dew", Draft(kind="agent.spoke", channel="commons", …))',
        "A line is owed to everybody who hears it, and to nobody beyond the pane; answering a line settles it.",
    ),
    "merge": Title(
        "The panes touch: a merge",
        't.connect("dew", "lux", channel="gap")',
        "One channel across two graphs makes them one: the larger keeps its id, clashing names are renamed,"
        " and no mail is lost.",
    ),
    "split": Title(
        "The bridge is cut: a split",
        't.disconnect("dew", "lux")',
        "Without the bridge there are two graphs again, and what lux heard before the cut is still hers to answer.",
    ),
    "fork": Title(
        "What if? A fork",
        "t.fork(session_id, at=event_id)",
        "A fork shares the past up to one event and not a word after it; the session it grew from does not notice.",
    ),
    "lineage": Title(
        "Who descends from whom",
        "t.lineage(session_id)",
        "Sessions descend from one another as commits do in git; a child points at its parents and copies nothing.",
    ),
    "rounds": Title(
        "Ten more merges, ten more splits",
        f'for _ in range({ROUNDS}): t.connect("dew", "lux"); t.disconnect("dew", "lux")',
        "However often two graphs meet and part, each old event is remembered exactly once.",
    ),
    "history": Title(
        "Read back, in order",
        "t.events(session_id)",
        "What lux's graph remembers: the words of both panes and every change of shape, in one order for all readers.",
    ),
    "shape": Title(
        "The shape of the past",
        "t.graphs_at(event_id)",
        "The ledger holds the shape as well as the talk: this is how the glasshouse stood when dew spoke over the gap.",
    ),
    "refusal": Title(
        "A refusal that helps",
        't.wire("oona", "lux")',
        "What cannot be done is refused before anything changes, and the refusal says what would work.",
    ),
    "reopen": Title(
        "Close the file, open it again",
        'Terrarium(SqliteStore("…"))',
        "Reopening folds the ledger: the same graphs, the same sessions, and not one event added.",
    ),
    "carry": Title(
        "Carried in one file",
        't.export(session_id, "lux.glass", role="director")',
        "A session travels with all it remembers; imported elsewhere, its story has the very same digest.",
    ),
    "next": Title("Your turn", "", "That was all real. Here is where to go from here:"),
}

NEXT: Final = (
    ("glasshouse tour --store my.glasshouse", "take the tour again and keep its store"),
    ("glasshouse tour --json", "the same facts, one JSON object a line"),
    ("README.md", "a glasshouse of your own, in ten lines"),
    ("docs/how-to/change-the-graph.md", "host creatures, join and part them"),
    ("docs/how-to/read-the-past.md", "scrub, count and fork what happened"),
)
