"""Consulting: who has a tool looks things up with it and says what it said; who has none asks, and acts on the answer.

Looking up is chosen by a tool that wants a date; asking by a field `date`; acting by such a field and one for the lines
it rests on. Whoever has a part says it in lines of that part (`_scene`); others, and a part that has none left, in sentences
of the book. Always holds: what is said of a day is what the tool said; a day that was asked about is not asked about
again; whoever chooses a day chooses one that was looked up, and says on which lines that rests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from glasshouse.troupe.reading import Reading, ToolSaid, value_in
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.skills.acting import played, remarked
from glasshouse.troupe.skills.almanacs import (
    BOOK,
    Known,
    day_called,
    day_in,
    day_of,
    days_open,
    known_days,
    latitude_in,
    wanted_by,
)
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    call,
    counted,
    passing,
    sentences,
    speaking_branch,
    untold,
    with_line,
)
from glasshouse.troupe.speaking import Speaker, Spoken
from glasshouse.troupe.world_dates import with_dates_written
from glasshouse.troupe.world_topic import matter_of

DATE: Final = "date"
steps_days_max: Final = 11
"""Who looks for a better night asks for one this many days further at most."""
lit_a_day: Final = 8
"""About how much more or less of the moon a night has than the one before. So nobody goes further than the moon needs."""
nights_near_max: Final = 3
"""Where it gets no better in one direction, one of this many nights of which there is most hope is asked about."""
lit_bright_min: Final = 60
"""A night is bright from here on."""
lit_dark_max: Final = 25
"""A night is dark up to here."""
lit_full_min: Final = 85
"""A night is as bright as it gets from here on."""
lines_rested_on_max: Final = 3
"""A choice of a night rests on this many lines at most."""

_WITH_OWN_LINE: Final = 0.25
_ONE_PART: Final = re.compile(r"\b1 parts\b")


def consulted(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A tool that wants a date, used; once it has spoken, what it said."""
    tools = [branch for branch in branches if branch.tool and _date_wanted_by(branch)]
    if not tools:
        return None
    said = [past for past in speaker.reading.tools_said if any(past.tool == tool.tool for tool in tools)]
    speaking = speaking_branch(branches)
    if said and speaking is not None:
        return _reported(speaker, speaking, said[-1])
    day = _day_asked_about(speaker.reading)
    if day is None or said:
        return None
    return _looked_up(speaker, tools[0], day)


def asked_or_acted(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A question about a day that nobody asked about yet; or a day that was looked up, and what to do about it."""
    branch = next((branch for branch in branches if branch.takes_text(DATE)), None)
    if branch is None:
        return None
    single, many = _ref_fields(branch)
    if single:
        return _acted(speaker, branches, branch, single)
    return _chose(speaker, branches, branch, many) if many else _asked(speaker, branch)


def _looked_up(speaker: Speaker, branch: Branch, day: date) -> Reply:
    latitude = latitude_in(speaker.reading)
    given: dict[str, Any] = {_date_wanted_by(branch): day.isoformat()}
    if latitude is not None and "latitude" in branch.fields:
        given["latitude"] = latitude
    return call(branch, given, f"They ask about {day_called(day)}. I do not guess, I look it up.")


def _reported(speaker: Speaker, branch: Branch, said: ToolSaid) -> Reply:
    """What the tool said, in my own words, with its numbers in the fields that ask for them."""
    result = value_in(said.text) if said.is_ok else None
    if not isinstance(result, dict):
        texts = (
            sentences("told", BOOK, told=with_dates_written(said.text.rstrip(".")))
            if said.is_ok
            else sentences("unread", BOOK)
        )
        return with_line(branch, speaker.dress(texts, "answer", "I say what I was told, and no more"))
    day = next((named for value in result.values() if (named := day_in(value)) is not None), None)
    gaps = {
        "day": day_called(day) if day is not None else "",
        "moon": str(result.get("moon", "")),
        "lit": str(result.get("moon_lit_percent", "")),
        "length": _length(str(result.get("day_length", ""))),
    }
    fields = {name: value for name in branch.fields if (value := _field(name, result)) is not None}
    facts = [_first_or(speaker.reading, "read"), *([_band(float(gaps["lit"]))] if gaps["lit"] else [])]
    spoken = _scene(speaker, branch, facts, {**gaps, "lit": _in_words(gaps["lit"])})
    if spoken is None:
        texts = _beside(speaker, "woven", **gaps) or sentences("woven", BOOK, **gaps)
        texts = texts or sentences("told", BOOK, told=_listed(result))
        spoken = speaker.dress(texts, "answer", "I say what is written, and no more", own=_WITH_OWN_LINE)
        spoken = remarked(speaker, spoken, *facts)
    return with_line(branch, spoken, **fields)


def _scene(speaker: Speaker, branch: Branch, facts: Sequence[str], slots: Mapping[str, str]) -> Spoken | None:
    """A line of my part for a day, with a remark behind it where one fits; none if my part has none."""
    reply = played(speaker, [branch], facts, {name: value for name, value in slots.items() if value})
    if reply is None:
        return None
    said = Spoken(reply.fields["text"], reply.fields["thought"], reply.fields["mood"])
    return remarked(speaker, said, *facts, is_last=True)


def _in_words(number: str) -> str:
    """How much of a moon there is, as one says it; empty if that is not known."""
    if not number.isdigit():
        return number
    return counted(int(number)) if int(number) else "nothing"


def _listed(result: dict[str, Any]) -> str:
    """A tool's answer as one reads out a list."""
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result.items())


def _field(name: str, result: dict[str, Any]) -> Any:
    """The part of a tool's answer that a field of the reply asks for, by its name."""
    if name == DATE:
        return next((value for value in result.values() if day_in(value) is not None), None)
    return (
        next((value for key, value in result.items() if name in key.split("_")), None)
        if name != "text"
        else None
    )


def _asked(speaker: Speaker, branch: Branch) -> Reply | None:
    reading = speaker.reading
    wanted = wanted_by(reading.me.wants, reading.me.persona) or "bright"
    known = known_days(reading)
    day = _next_day(speaker, wanted, known)
    if day is None:
        return None
    heading = f"ask {wanted}"
    last = known[-1] if known and known[-1].line in reading.fresh else None
    if last is not None:
        heading = f"{heading} {_band(last.lit)}"
    gaps = {"day": day_called(day), "lit": f"{last.lit:g}" if last is not None else ""}
    still = set(days_open(reading))
    best = _best([night for night in known if night.day in still], wanted)
    if last is not None and best is not None and _band(last.lit) == wanted:
        gaps |= {"best": day_called(best.day), "most": f"{best.lit:g}"}
        if best.lit != last.lit:
            heading = f"{heading} less"
        elif best.lit == 0:
            heading = f"{heading} best"
    # The words of the heading behind `ask dark`: how the day was that was read out last, and whether a better one is known.
    facts = [_first_or(reading, "asked"), *heading.split()[2:]]
    slots = {**gaps, "seen": _in_words(gaps["lit"]), "most": _in_words(gaps.get("most", ""))}
    worse = _worse_behind(best, known, day) if best is not None else None
    if best is not None and worse is not None:
        facts.append("nearer")
        slots |= {"best": day_called(best.day), "most": _in_words(f"{best.lit:g}")}
        slots |= {"other": day_called(worse.day), "less": _in_words(f"{worse.lit:g}")}
    spoken = _scene(speaker, branch, facts, slots)
    if spoken is None:
        is_owed = bool(speaker.topic.owed)
        texts = [] if is_owed else _beside(speaker, heading, **gaps)
        texts = texts or _beside(speaker, f"ask {wanted}", **gaps) or sentences(f"ask {wanted}", BOOK, **gaps)
        spoken = speaker.dress(texts, "ask", f"it has to be a {wanted} one", own=_WITH_OWN_LINE)
        spoken = remarked(speaker, spoken, facts[0])
    return with_line(branch, spoken, **{DATE: day.isoformat()})


def _next_day(speaker: Speaker, wanted: str, known: list[Known]) -> date | None:
    """A day that was not asked about: from the best one known in the direction in which it gets better."""
    reading = speaker.reading
    lines = (*reading.remembered, *reading.discussion)
    asked = {day_of(line) for line in lines if line.origin == "cast"}
    left = [day for day in days_open(reading) if day not in asked]
    if not left:
        return None
    still = set(days_open(reading))
    best = _best([night for night in known if night.day in still], wanted)
    if best is None:
        return speaker.dice.choice(left)
    is_later = _is_better_later(best, known, wanted)
    if is_later is not None:
        steps = [(day - best.day).days * (1 if is_later else -1) for day in left]
        furthest = _days_needed(best, wanted)
        ahead = [(day, step) for day, step in zip(left, steps, strict=True) if 0 < step <= furthest]
        if ahead:
            far = [day for day, step in ahead if 2 * step >= furthest]
            return speaker.dice.choice(far or [day for day, _ in ahead])
    hopes = {day: (_hope_of(day, known, wanted), -abs((day - best.day).days)) for day in left}
    return speaker.dice.choice(sorted(left, key=lambda day: hopes[day], reverse=True)[:nights_near_max])


def _days_needed(best: Known, wanted: str) -> int:
    """In how many days it can be as bright or as dark as it gets."""
    lacking = 100 - best.lit if wanted == "bright" else best.lit
    return max(1, min(steps_days_max, round(lacking / lit_a_day)))


def _hope_of(day: date, known: Sequence[Known], wanted: str) -> float:
    """How good a night can be, by the nearest one that is known."""
    nearest = min(known, key=lambda night: abs((day - night.day).days))
    change = lit_a_day * abs((day - nearest.day).days)
    return min(100.0, nearest.lit + change) if wanted == "bright" else -max(0.0, nearest.lit - change)


def _is_better_later(best: Known, known: Sequence[Known], wanted: str) -> bool | None:
    """Whether it gets better after the best day that is known: by what the moon is called, else by the days that were worse.
    None where worse ones are known on both sides, or none between which and the best the moon cannot have turned."""
    if best.phase.startswith("wa"):
        return ("waxing" in best.phase) == (wanted == "bright")
    sides = {night.day < best.day for night in known if _is_on_one_slope(best, night)}
    return sides.pop() if len(sides) == 1 else None


def _is_on_one_slope(best: Known, other: Known) -> bool:
    """Whether two nights differ by as much as their days apart would have it; if by less, the moon has turned between them."""
    return abs(best.lit - other.lit) >= lit_a_day / 2 * abs((best.day - other.day).days) > 0


def _worse_behind(best: Known, known: Sequence[Known], day: date) -> Known | None:
    """The night nearest to the best one from which it got better on the way to a day; none if the best is not on that way."""
    behind = [night for night in known if (night.day < best.day < day) or (night.day > best.day > day)]
    worse = [night for night in behind if night.lit != best.lit]
    return min(worse, key=lambda night: abs((night.day - best.day).days), default=None)


def _acted(speaker: Speaker, branches: Sequence[Branch], branch: Branch, field: str) -> Reply | None:
    """What a day that was just told of means for me."""
    known = known_days(speaker.reading)
    cause = speaker.reading.cause
    about = next((night for night in known if cause is not None and night.line.ref == cause.ref), None)
    about = about or (known[-1] if known else None)
    if about is None:
        return passing(branches, speaker, "unknown", BOOK)
    kind = _band(about.lit)
    gaps = _gaps(speaker.reading, about)
    fields = {DATE: about.day.isoformat(), field: about.line.ref}
    still = days_open(speaker.reading)
    is_gone = bool(still) and about.day not in still
    facts = [_first_or(speaker.reading, "packed"), kind, *(["gone"] if is_gone else [])]
    scene = _scene(speaker, branch, facts, {**gaps, "lit": _in_words(gaps["lit"])})
    if scene is not None:
        return with_line(branch, scene, **fields)
    texts = _beside(speaker, f"pack {kind}", "pack", **gaps) or sentences(f"pack {kind}", BOOK, **gaps)
    if any(line.origin == "world" for line in speaker.reading.fresh):
        # To what the world shows several speak at once, so it has to be said which day is meant.
        texts = [text for text in texts if gaps["day"] in text] or texts
    if is_gone and not speaker.topic.owed:
        texts = sentences("pack gone", BOOK, **gaps)
    spoken = speaker.dress(texts, "offer", "it was read out, so I get ready for it", own=_WITH_OWN_LINE)
    return with_line(branch, remarked(speaker, spoken, *facts), **fields)


def _chose(speaker: Speaker, branches: Sequence[Branch], branch: Branch, field: str) -> Reply | None:
    """The best of the days that were looked up and are still open, with the lines it rests on."""
    reading = speaker.reading
    shown = [line.text for line in reversed(reading.discussion) if line.origin == "world"]
    wanted = wanted_by(reading.scene, *shown, reading.me.wants) or "bright"
    still = set(days_open(reading))
    known = [night for night in known_days(reading) if night.day in still or not still]
    best = _best(known, wanted)
    if best is None:
        return passing(branches, speaker, "unknown", BOOK)
    other = _best([night for night in known if night != best], wanted)
    is_poor = best.lit < lit_bright_min if wanted == "bright" else best.lit > lit_dark_max
    gaps = _gaps(reading, best)
    if other is not None:
        gaps |= {"other": day_called(other.day), "less": f"{other.lit:g}"}
    gaps["asker"] = _asker_of(reading, best)
    is_full = wanted == "bright" and best.lit >= lit_full_min
    how = "choose poor" if is_poor else "choose full" if is_full else "choose"
    facts = [how.removeprefix("choose ")]
    slots = {**gaps, "lit": _in_words(gaps["lit"]), "less": _in_words(gaps.get("less", ""))}
    spoken = _scene(speaker, branch, facts, slots)
    if spoken is None:
        texts = sentences("choose poor" if is_poor else "choose", BOOK, **gaps)
        aim = f"a {wanted} night is wanted, and this is it"
        spoken = remarked(
            speaker, speaker.dress(texts, "appraise", aim, own=_WITH_OWN_LINE), *facts, is_last=True
        )
    refs = [night.line.ref for night in (best, other) if night is not None][:lines_rested_on_max]
    return with_line(branch, spoken, **{DATE: best.day.isoformat(), field: refs})


def _asker_of(reading: Reading, known: Known) -> str:
    """Who asked about a day, as one speaks of somebody in the village."""
    asked = (
        line
        for line in (*reading.remembered, *reading.discussion)
        if line.origin == "cast" and line.ref != known.line.ref and day_of(line) == known.day
    )
    line = next(asked, None)
    return f"the {line.handle.split('-')[-1]}" if line is not None else ""


def _first_or(reading: Reading, fact: str) -> str:
    """What my remarks may need: that I speak for the first time, or what I do now."""
    return fact if any(reading.is_mine(line) for line in reading.discussion) else "first"


def _band(lit: float) -> str:
    """What one calls a night with so many parts in a hundred."""
    return "bright" if lit >= lit_bright_min else "dark" if lit <= lit_dark_max else "half"


def _beside(speaker: Speaker, heading: str, lead: str = "", **gaps: str) -> list[str]:
    """What was not said yet under a heading; where something came in that must be taken up, with that in it."""
    reading = speaker.reading
    owed = untold(reading, f"{lead or heading} beside", BOOK, **gaps) if speaker.topic.owed else []
    return [_counted(text) for text in owed or untold(reading, heading, BOOK, **gaps)]


def _counted(text: str) -> str:
    """One part is no parts."""
    return _ONE_PART.sub("1 part", text)


def _best(known: Sequence[Known], wanted: str) -> Known | None:
    sign = 1 if wanted == "bright" else -1
    return max(known, key=lambda night: sign * night.lit, default=None)


def _gaps(reading: Reading, about: Known) -> dict[str, str]:
    matter = matter_of(reading)
    return {
        "day": day_called(about.day),
        "moon": about.phase,
        "lit": f"{about.lit:g}",
        "dish": matter.noun.definite if matter is not None else "it",
    }


def _day_asked_about(reading: Reading) -> date | None:
    """The day in what I answer; else the newest that somebody asked about."""
    lines = [*([reading.cause] if reading.cause is not None else []), *reversed(reading.fresh)]
    return next((day for line in lines if (day := day_of(line)) is not None), None)


def _date_wanted_by(branch: Branch) -> str:
    """The argument of a tool that has to be a date; empty if there is none."""
    for name, schema in branch.fields.items():
        if isinstance(schema, dict) and "date" in str(schema.get("description", "")).split():
            return name
    return ""


def _ref_fields(branch: Branch) -> tuple[str, str]:
    """The field that asks for one line, and the field that asks for several; empty where there is none."""
    single = next((name for name, schema in branch.fields.items() if is_ref(schema)), "")
    many = next(
        (
            name
            for name, schema in branch.fields.items()
            if isinstance(schema, dict) and is_ref(schema.get("items"))
        ),
        "",
    )
    return single, many


def _length(length: str) -> str:
    """`7 h 50 min` as one says it."""
    return (
        length.replace(" h 00 min", " hours")
        .replace(" h 0", " hours and ")
        .replace(" h ", " hours and ")
        .replace(" min", " minutes")
    )
