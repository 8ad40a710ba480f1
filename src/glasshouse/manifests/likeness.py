"""`like`: a creature's file that names another creature, and only says what is different.

    name: second-owl
    like: owl
    voice: {say_words_max: 20}

Always holds: what is loaded is a whole manifest; whoever reads the ledger needs no other file. A field that is given replaces the
other's, a list as a whole; of `voice`, `schedule` and `memory`, each of their fields does. Who a creature is to others, its `name`,
`title` and `bio`, it never takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.manifests.fields import CreatureName
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import Complaint, Position, shown, unknown
from glasshouse.manifests.yaml_source import Node, Source

FIELD: Final = "like"
OWN_FIELDS: Final = frozenset({"name", "title", "bio", FIELD})
"""What a creature never takes over from the one that it is like."""


class CreatureFile(Manifest):
    """A creature's file: its manifest, or what is different from another creature's."""

    like: CreatureName | None = None
    """Another creature of this world, whose fields it has where its own file says nothing else."""


class Likeness(NamedTuple):
    """A creature's file with the fields of those that it is like."""

    source: Source
    complaints: list[Complaint]
    chain: tuple[str, ...]
    """The names of those that it is like, the nearest first."""


def completed(
    source: Source, name: str, creatures: Mapping[str, Path], read: Callable[[Path], Source]
) -> Likeness:
    """A creature's file, completed. `creatures` are the files beside it, by name."""
    if source.root is None or FIELD not in source.root.children:
        return Likeness(source, [], ())
    at = source.root.children[FIELD].position
    chain: list[str] = []
    roots = [source.root]
    fault = ""
    while not fault and FIELD in roots[-1].children:
        other = roots[-1].children[FIELD].scalar
        if not isinstance(other, str):
            fault = "this should be the name of another creature."
        elif other == name or other in chain:
            circle = " is like ".join(map(shown, [name, *chain, other]))
            fault = f"{circle}: this goes round in a circle. Write the fields of one of them out."
        elif other not in creatures:
            fault = unknown("creature of this world", other, creatures)
        else:
            base = read(creatures[other]).root
            chain.append(other)
            if base is None or base.sort is not dict:
                fault = f"the file of {shown(other)} cannot be read. Correct it first."
            else:
                roots.append(base)
    merged = roots[-1].without((FIELD,))
    for root in reversed(roots[:-1]):
        merged = _over(root.without((FIELD,)), merged, at)
    complaints = [Complaint((FIELD,), fault)] if fault else []
    # Without its `like`, so that the rest can be checked. A complaint about the field is told of the whole file's source.
    return Likeness(replace(source, root=merged), complaints, tuple(chain))


def _over(own: Node, base: Node, at: Position) -> Node:
    """A mapping's fields over those of another. What is taken over stands where `like` stands."""
    children = {key: _moved(node, at) for key, node in base.children.items() if key not in OWN_FIELDS}
    keys = dict.fromkeys(children, at) | own.keys
    for key, node in own.children.items():
        before = children.get(key)
        is_mapping = node.sort is dict and before is not None and before.sort is dict
        children[key] = _with_fields(node, before) if is_mapping and before is not None else node
    return replace(own, children=children, keys=keys)


def _with_fields(own: Node, base: Node) -> Node:
    """A mapping inside: its own fields over the other's, each as a whole."""
    return replace(own, children={**base.children, **own.children}, keys={**base.keys, **own.keys})


def _moved(node: Node, at: Position) -> Node:
    """A value as if it stood at this position."""
    children = {key: _moved(child, at) for key, child in node.children.items()}
    return replace(node, position=at, children=children, keys=dict.fromkeys(node.keys, at))
