"""`OfflineModel`: the troupe behind the port of a model, and the pure function it is made of.

Always holds: `answer` is a function of the prompt. It costs nothing, waits for nothing and never calls itself anything
but the offline troupe.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import Any, Final, Self

from glasshouse.model_values import Tokens
from glasshouse.scripts.script import Script
from glasshouse.scripts.script_text import script_digest, script_of
from glasshouse.troupe import kinds
from glasshouse.troupe.field_texts import told_of
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.schema import Source, filled_schema
from glasshouse.troupe.skills.acting import performed, with_event
from glasshouse.troupe.skills.bluffing import description, vote
from glasshouse.troupe.skills.branches import Branch, Reply, branches_of, passing, with_line
from glasshouse.troupe.skills.choosing import chosen
from glasshouse.troupe.skills.consulting import asked_or_acted, consulted
from glasshouse.troupe.skills.contributing import contributed
from glasshouse.troupe.skills.conversing import conversed
from glasshouse.troupe.skills.crediting import credited
from glasshouse.troupe.skills.debating import argued
from glasshouse.troupe.skills.guessing import named_or_asked
from glasshouse.troupe.skills.judging import verdict
from glasshouse.troupe.skills.keeping import kept_answer
from glasshouse.troupe.skills.looking_up import looked_up
from glasshouse.troupe.skills.noticing import noticed
from glasshouse.troupe.skills.pairing import bluffed
from glasshouse.troupe.skills.pointing import pointed
from glasshouse.troupe.skills.recalling import remembered
from glasshouse.troupe.skills.reflecting import reflected, taken_up
from glasshouse.troupe.skills.regrouping import is_group_tool, regrouped
from glasshouse.troupe.skills.sleuthing import hypothesis, objection
from glasshouse.troupe.skills.solo_parts import parts_in_turn
from glasshouse.troupe.skills.telling import called_for, told_on
from glasshouse.troupe.skills.timed_lines import staged
from glasshouse.troupe.skills.tool_use import used
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.titles import with_titles
from glasshouse.turns.moment.prompt import Completion, Prompt, as_prose, tokens_guessed

MODEL_NAME: Final = "offline"
hasty_lines_max: Final = 3
"""A player in the temper `offline:hasty` reads no more of the discussion."""

Skill = Callable[[Speaker, Sequence[Branch]], Reply | None]

SKILLS: Final[tuple[Skill, ...]] = (
    reflected,
    bluffed,
    performed,
    consulted,
    looked_up,
    remembered,
    asked_or_acted,
    told_on,
    called_for,
    argued,
    contributed,
    kept_answer,
    named_or_asked,
    pointed,
    hypothesis,
    objection,
    credited,
    verdict,
    used,
    chosen,
    vote,
    description,
    staged,
    conversed,
)
"""Asked in this order; the first that has an answer gives it."""

_CALLING: Final[tuple[Skill, ...]] = (consulted, looked_up, remembered, used)
"""Those that call tools. The others do not take an argument of a tool for a field of theirs."""

_NUMBERED: Final = re.compile(r"(@[\w-]+)~\d+")
"""The number behind the name of another graph says only how many were there before in the same store."""

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode


TEMPERS: Final[Mapping[str, int | None]] = {"": None, "hasty": hasty_lines_max}
"""How much of a discussion the troupe reads: all of it; a hasty one only the last few lines."""


class OfflineModel:
    """A model that needs no network, no key and no download. In a temper, it plays otherwise, and less well."""

    is_free: Final = True
    answers_at_once: Final = True

    def __init__(self, temper: str = "", script: str | None = None) -> None:
        """`script` is the text of the script of the world that it plays, if that has one."""
        self.name = f"{MODEL_NAME}:{temper}" if temper else MODEL_NAME
        self._temper = temper
        self._lines_max = TEMPERS[temper]
        self._play_from(script)

    def _play_from(self, script: str | None) -> None:
        self._script = None if script is None else script_of(script)
        self._digest = "" if script is None or self._script is None else script_digest(script)

    def with_script(self, script: str) -> Self:
        """The same troupe in a world that has a script: this text. A copy, so that a class made of this one keeps what it adds."""
        scripted = copy.copy(self)
        scripted._play_from(script)
        return scripted

    async def complete(self, prompt: Prompt) -> Completion:
        """Answer at once."""
        text = answer(prompt, self._lines_max, self._script)
        return Completion(
            text=text,
            model=self.name,
            usage=Tokens(tokens_guessed(prompt.system) + tokens_guessed(prompt.user), tokens_guessed(text)),
            usd=0.0,
            served_by=self._digest,
        )


def answer(prompt: Prompt, lines_max: int | None = None, script: Script | None = None) -> str:
    """What the troupe says to a prompt, of whose discussion it reads so many lines; none means all. A player whom the prompt shows to
    have a part in the script plays it."""
    reading = Reading(prompt, lines_max, script)
    speaker = Speaker(reading, dice_for(prompt.seed, reading))
    branches = branches_of(reading.schema)
    if not branches:
        return _without_branches(speaker, reading)
    reply = regrouped(speaker, branches)
    branches = [branch for branch in branches if not is_group_tool(branch)]
    if reply is None:
        reply = taken_up(speaker, _in_parts(speaker, branches) or _reply(speaker, branches))
        reply = noticed(speaker, branches, reply)
    reply = with_event(speaker, reply)
    said = filled_schema(reply.branch.schema, _source(speaker), reply.fields)
    if reading.titles:
        said = {name: with_titles(value, reading.titles) for name, value in said.items()}
    return as_prose(said) if prompt.form == "prose" else _encode(said)


def _in_parts(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """What a player who is alone says in the next part that has something to say."""
    passing_branches = [branch for branch in branches if branch.is_passing]
    for part in parts_in_turn(speaker.reading, branches):
        reply = _reply(speaker, [part, *passing_branches])
        if not reply.branch.is_passing:
            return reply
    return None


def _reply(speaker: Speaker, branches: Sequence[Branch]) -> Reply:
    spoken = [branch for branch in branches if not branch.tool]
    for skill in SKILLS:
        reply = skill(speaker, branches if skill in _CALLING else spoken)
        if reply is not None:
            return reply
    return _talk(speaker, branches)


def dice_for(seed: int, reading: Reading) -> Random:
    """Dice that fall alike for the same seed and the same that was read. The words of a prompt that tell how to answer
    are not read, so other words there change no play."""
    # Whoever plays from a script or a game has nothing else to say.
    again = () if reading.part is not None else reading.refused
    texts = "\n".join((*reading.read_lines, *again))
    if "~" in texts:
        texts = _NUMBERED.sub(r"\1", texts)
    seen = f"{seed}\x1f{reading.me.handle}\x1f{texts}".encode("utf-8", "surrogatepass")
    return Random(int.from_bytes(blake2b(seen, digest_size=8).digest(), "big"))


def _talk(speaker: Speaker, branches: Sequence[Branch]) -> Reply:
    """Plain talk in one of the branches that take it; of several, the first is the likeliest."""
    open_branches = [branch for branch in branches if not (branch.is_passing or branch.tool)]
    if not open_branches:
        return passing(branches, speaker, "pass") or Reply(branches[0], {})
    outward = [branch for branch in open_branches if branch.kind not in kinds.INNER] or open_branches
    branch = outward[0] if speaker.dice.random() < 0.85 else speaker.dice.choice(open_branches)
    return with_line(branch, speaker.speak(branch.kind))


def _without_branches(speaker: Speaker, reading: Reading) -> str:
    if reading.schema is not None:
        return _encode(filled_schema(reading.schema, _source(speaker)))
    spoken = speaker.speak(kinds.AGENT_SPOKE)
    return _encode({"kind": kinds.AGENT_SPOKE, **spoken._asdict()})


def _source(speaker: Speaker) -> Source:
    """What the fields that no skill has filled are made from."""
    reading = speaker.reading
    line = speaker.topic.line
    newest = [line.ref for line in reversed(reading.heard)]
    refs = newest if line is None else [line.ref, *(ref for ref in newest if ref != line.ref)]

    def text(name: str) -> str:
        if name in _LONG:
            return speaker.speak(kinds.AGENT_SPOKE).text
        if name == "mood":
            return speaker.speak(kinds.AGENT_SPOKE).mood
        if name.startswith("another"):
            return speaker.topic.second or name
        return told_of(reading, name) or speaker.topic.noun.definite

    return Source(text, tuple(refs), lambda: reading.stems_heard, speaker.dice)


_LONG: Final[frozenset[Any]] = frozenset({"text", "thought", "reason", "message", "description", "prompt"})
