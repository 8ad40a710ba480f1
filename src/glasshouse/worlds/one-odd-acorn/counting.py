"""Who has won a round of near-twins: by the votes, and by what was dealt."""

from collections import Counter

from glasshouse.contests import Match, Ruling


def most_acorns(match: Match) -> Ruling | None:
    """The other three have won if the odd one was pointed at more often than anybody else; else the odd one has."""
    votes = {line.actor: line.payload["who"] for line in match.lines if "who" in line.payload}
    words = Counter(facts["word"] for facts in match.truths.values())
    odd = next((one for one in match.knowers if words[match.truths[one]["word"]] == 1), None)
    if odd is None or (match.line is not None and len(votes) < len(match.knowers)):
        return None
    name, twin = match.handles[odd], match.truths[odd]["word"]
    shared = next(word for word in words if word != twin)
    told = f"{name} held {twin}, and the others held {shared}"
    counts = Counter(votes.values())
    others = tuple(match.handles[one] for one in match.knowers if one != odd)
    if counts[name] and all(counts[name] > counts[one] for one in others):
        return Ruling("the three", f"Found: {told}. {_acorns(counts[name])} found the way.", others)
    return Ruling(name, f"Still hidden: {told}. {_acorns(counts[name])} came near.")


def _acorns(count: int) -> str:
    return {0: "Not one acorn", 1: "Only one acorn"}.get(count, f"{count} acorns")
