"""`ViewDiff`: what one event changed on a stage, as a patch that rebuilds the stage anywhere.

Always holds: the diffs of a stage, applied in order to an empty one, give an equal stage, also after JSON encoding
and decoding. If the same text is said twice, both lines are kept: lines are never compared by their text.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec.structs import astuple

from glasshouse.events.model_use import Usage
from glasshouse.reprs import repr_of
from glasshouse.views.stage import NOTES, ROWS, Counters, Note, StageProjection, Touched, stage_lines_max

SCENE: Final = ("current_scene", "scene_title")


class Patch(msgspec.Struct, frozen=True):
    """One step: set a field, append a line (the oldest is dropped if the list is full), or drop a row."""

    __repr__ = repr_of("op", "path", "value")

    op: Literal["set", "append", "drop"]
    path: tuple[str, ...]
    value: Any = None


class ViewDiff(msgspec.Struct, frozen=True):
    """Everything that changed, in order. Consecutive diffs can be added."""

    __repr__ = repr_of("patch")

    patch: tuple[Patch, ...] = ()

    @property
    def scene_changed(self) -> bool:
        """Whether the scene changed."""
        return any(step.path[0] in SCENE for step in self.patch)

    @property
    def new_lines(self) -> tuple[Note, ...]:
        """All new lines of every voice, in the order in which they were said."""
        return self._notes(*NOTES)

    @property
    def new_agent_notes(self) -> tuple[Note, ...]:
        """New lines of the cast."""
        return self._notes("agent_notes")

    @property
    def new_judge_notes(self) -> tuple[Note, ...]:
        """New verdicts and other lines of judges."""
        return self._notes("judge_notes")

    @property
    def new_user_artifacts(self) -> tuple[Note, ...]:
        """New lines of visitors."""
        return self._notes("user_artifacts")

    @property
    def has_changes(self) -> bool:
        """Whether anything but the counters changed. A change of counters alone is not worth a redraw."""
        return any(step.path[0] != "counters" for step in self.patch)

    def apply_to(self, stage: StageProjection) -> None:
        """Bring a stage up to date that has everything before this diff."""
        for step in self.patch:
            name = step.path[0]
            part = getattr(stage, step.path[0])
            if name in NOTES:
                part.append(_as(Note, step.value))
                del part[:-stage_lines_max]
            elif name in ROWS and step.op == "drop":
                part.pop(step.path[1], None)
            elif name in ROWS:
                part[step.path[1]] = _as(ROWS[name], step.value)
            elif name == "counters":
                setattr(part, step.path[1], _as(Usage if step.path[1] == "usage" else int, step.value))
            else:
                setattr(stage, name, step.value)

    def __add__(self, later: ViewDiff) -> ViewDiff:
        return ViewDiff(self.patch + later.patch)

    def _notes(self, *names: str) -> tuple[Note, ...]:
        return tuple([_as(Note, step.value) for step in self.patch if step.path[0] in names])


UNCHANGED: Final = ViewDiff()


def diff_of(stage: StageProjection, touched: Touched, before: Counters) -> ViewDiff:
    """The diff for the last event, given the parts that it touched and the counters before it."""
    steps = [_step(stage, path) for path in touched]
    for name, was, now in zip(
        Counters.__struct_fields__, astuple(before), astuple(stage.counters), strict=True
    ):
        if now != was:
            steps.append(Patch("set", ("counters", name), now))
    return ViewDiff(tuple(steps)) if steps else UNCHANGED


def _step(stage: StageProjection, path: tuple[str, ...]) -> Patch:
    part = getattr(stage, path[0])
    if path[0] in ROWS:
        row = part.get(path[1])
        return Patch("drop", path) if row is None else Patch("set", path, row)
    if path[0] in NOTES:
        return Patch("append", path, part[-1])
    return Patch("set", path, part)


def _as(kind: type[Any], value: Any) -> Any:
    """The value as its type. It has this type already, unless it was decoded from JSON."""
    return value if isinstance(value, kind) else msgspec.convert(value, kind)
