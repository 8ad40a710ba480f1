"""A turn of phrase belongs to one creature: what two creatures of different worlds both say is counted here.

Counted are runs of five words, names and articles left out, over three plays of every bundled world.
`python -m tests.contracts.test_skeletons_have_owners` prints the count and the runs with who says them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from glasshouse import play
from glasshouse.manifests.world_folders import bundled_worlds

Owner = tuple[str, str]
"""A world and one of its creatures."""

run_words = 5
plays_of_a_world = 3
runs_shared_before = 175
"""What `python -m tests.contracts.test_skeletons_have_owners` printed when all creatures spoke from one grammar."""
runs_shared_max = runs_shared_before // 4
ARTICLES = frozenset({"a", "an", "the"})

WORD = re.compile(r"[a-z]+(?:['\u2019-][a-z]+)*")


def runs_in(text: str, names: frozenset[str]) -> set[str]:
    """Each five words in a row of one line, without its names and articles."""
    words = [word for word in WORD.findall(text.lower()) if word not in names and word not in ARTICLES]
    return {" ".join(words[at : at + run_words]) for at in range(len(words) - run_words + 1)}


@cache
def owners_of_runs() -> dict[str, frozenset[Owner]]:
    """Who says each run, over all plays."""
    owners: defaultdict[str, set[Owner]] = defaultdict(set)
    for world in [world.name for world in bundled_worlds()]:
        for rng_seed in range(plays_of_a_world):
            said = [line for line in play(world, rng_seed=rng_seed).lines if line.voice == "cast"]
            names = frozenset(part for line in said for part in (line.who, *re.split(r"[-_~]", line.who)))
            for line in said:
                for run in runs_in(line.text, names):
                    owners[run].add((world, line.who))
    return {run: frozenset(handles) for run, handles in owners.items()}


def runs_shared_between_worlds() -> dict[str, frozenset[Owner]]:
    """The runs that creatures of at least two worlds say."""
    return {
        run: owners for run, owners in owners_of_runs().items() if len({world for world, _ in owners}) > 1
    }


def test_a_run_of_five_words_leaves_out_names_and_articles() -> None:
    runs = runs_in("The Badger is against a drain, says the badger, and so am I.", frozenset({"badger"}))

    assert runs == {
        "is against drain says and",
        "against drain says and so",
        "drain says and so am",
        "says and so am i",
    }


def test_few_runs_are_shared_by_creatures_of_different_worlds() -> None:
    shared = runs_shared_between_worlds()

    assert len(owners_of_runs()) > 5_000, "too little was said to count anything"
    assert len(shared) <= runs_shared_max, "\n".join(sorted(shared))


if __name__ == "__main__":
    shared = runs_shared_between_worlds()
    for run, owners in sorted(shared.items()):
        print(run, *sorted(f"{world}/{who}" for world, who in owners), sep="  ")
    print(len(shared))
