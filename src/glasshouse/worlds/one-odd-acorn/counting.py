"""Who has won a round of near-twins: by the votes, and by what was dealt."""

from collections import Counter

from glasshouse.contests import Match, Ruling


def most_acorns(match: Match) -> Ruling | None:
    """The other three have won if the odd one was pointed at more often than anybody else; else the odd one has.

    Nothing is ruled before everybody has voted and said a last thing, or the run is over.
    """
    votes = {line.actor: line.payload["who"] for line in match.lines if line.kind == "vote.cast"}
    spoke = {line.actor for line in match.lines if line.kind == "last.said"}
    words = Counter(facts["word"] for facts in match.truths.values())
    odd = next((creature for creature in match.knowers if words[match.truths[creature]["word"]] == 1), None)
    is_over = match.line is None
    if odd is None or not (is_over or len(votes) == len(spoke) == len(match.knowers)):
        return None
    name = match.handles[odd]
    twin = match.truths[odd]["word"]
    shared = next(word for word in words if word != twin)
    thimbles = f"Three of the thimbles say {shared}. That of {_called(name)} says {twin}."
    counts = Counter(votes.values())
    others = tuple(match.handles[creature] for creature in match.knowers if creature != odd)
    if counts[name] and all(counts[name] > counts[other] for other in others):
        return Ruling(
            "the three", f"{thimbles} {_acorns(counts[name])} found it, and the three have won.", others
        )
    return Ruling(name, f"{thimbles} {_acorns(counts[name])} came near, and the odd one has won.")


def _called(handle: str) -> str:
    return f"the {handle.replace('-', ' ').title()}"


def _acorns(count: int) -> str:
    return {0: "Not one acorn", 1: "One acorn", 2: "Two acorns", 3: "Three acorns"}.get(
        count, "All the acorns"
    )
