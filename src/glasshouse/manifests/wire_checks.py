"""Cross checks of wires: conditions and prompts that cannot be read, or that name a field or a kind nobody has.

Always holds: each check yields what is wrong and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.errors import Refused
from glasshouse.manifests.problem import At, Complaint, likely
from glasshouse.manifests.rehearsal import Rehearsal
from glasshouse.manifests.scenario import CORE_KINDS, WirePlan
from glasshouse.world.conditions import EXAMPLE, KIND, condition_of
from glasshouse.world.wiring import ALWAYS_KNOWN, check_wire, placeholders_of

CORE_FIELDS = frozenset({"text", "title", "winner", "cites", "rests_on"})
"""What lines of the core's own kinds may hold."""


def conditions_that_cannot_hold(world: Rehearsal) -> Iterator[Complaint]:
    """Conditions that cannot be read, and those on kinds and fields that no line here has."""
    for at, wire in _wires(world):
        if wire.when is None:
            continue
        try:
            clauses = condition_of(wire.when)
        except Refused as refusal:
            yield Complaint((*at, "when"), _told(refusal))
            continue
        kinds = CORE_KINDS | set(world.scenario.kinds)
        for clause in clauses if "kinds" not in world.hurt else ():
            if clause.name == KIND:
                if clause.verb == "is" and clause.value not in kinds:
                    words = f"no kind is called {clause.value!r}. {likely(clause.value, sorted(kinds))}"
                    yield Complaint((*at, "when"), words)
            elif clause.name not in _fields(world):
                words = (
                    f"no line here has a field {clause.name!r}. {likely(clause.name, sorted(_fields(world)))}"
                )
                yield Complaint((*at, "when"), f"{words} {EXAMPLE}")


def prompts_that_cannot_be_filled(world: Rehearsal) -> Iterator[Complaint]:
    """Prompts with placeholders that stand for nothing, or for words that the wire does not carry."""
    for at, wire in _wires(world):
        if wire.prompt is None:
            continue
        try:
            check_wire(with_content=wire.with_content, prompt=wire.prompt, when=None)
        except Refused as refusal:
            yield Complaint((*at, "prompt"), _told(refusal))
            continue
        known = _fields(world) | ALWAYS_KNOWN
        for name in placeholders_of(wire.prompt) if "kinds" not in world.hurt else ():
            if name not in known:
                words = f"nothing is put in for {{{name}}}. {likely(name, sorted(known))}"
                yield Complaint((*at, "prompt"), words)


def _told(refusal: Refused) -> str:
    return f"{refusal.reason[:1].lower()}{refusal.reason[1:]} {refusal.instead}"


def _wires(world: Rehearsal) -> Iterator[tuple[At, WirePlan]]:
    for at, entry in world.entries:
        yield from (((*at, "wires", n), wire) for n, wire in enumerate(entry.wires))


def _fields(world: Rehearsal) -> frozenset[str]:
    return CORE_FIELDS.union(*world.scenario.kinds.values())
