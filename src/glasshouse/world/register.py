"""A register of names: who has which name in one graph, and which name is free."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, ValuesView

import msgspec


class Register(msgspec.Struct):
    """Names and their owners, in the order in which they were taken.

    `lowest_free` is a hint for names that many share: every number from 2 up to it is taken.
    """

    owners: dict[str, str] = msgspec.field(default_factory=dict)
    lowest_free: dict[str, int] | None = None

    def __contains__(self, name: object) -> bool:
        return name in self.owners

    def __iter__(self) -> Iterator[str]:
        return iter(self.owners)

    def __len__(self) -> int:
        return len(self.owners)

    def __getitem__(self, name: str) -> str:
        return self.owners[name]

    def get(self, name: str) -> str | None:
        """The owner of a name."""
        return self.owners.get(name)

    def items(self) -> ItemsView[str, str]:
        """Names and their owners."""
        return self.owners.items()

    def values(self) -> ValuesView[str]:
        """All owners."""
        return self.owners.values()

    def take(self, name: str, owner: str) -> None:
        """Give a name to an owner. A taken name stays with its owner."""
        if self.owners.setdefault(name, owner) is not owner:
            return
        stem, mark, _ = name.partition("~")
        if mark:
            hints = self.lowest_free if self.lowest_free is not None else {}
            hints[stem] = first_free(stem, hints.get(stem, 2), self)
            self.lowest_free = hints

    def release(self, name: str, owner: str) -> None:
        """Free a name of this owner."""
        if self.owners.get(name) != owner:
            return
        del self.owners[name]
        stem, mark, number = name.partition("~")
        if mark and self.lowest_free is not None:
            self.lowest_free[stem] = max(2, min(self.lowest_free.get(stem, 2), int(number)))

    def rename(self, old: str, new: str, owner: str) -> None:
        """Change the name of an owner."""
        self.release(old, owner)
        self.take(new, owner)


def first_free(stem: str, start: int, *taken: Register | dict[str, str]) -> int:
    """The first number from `start` that is free with this stem."""
    while any(f"{stem}~{start}" in names for names in taken):
        start += 1
    return start


def free_name(name: str, *registers: Register, also_taken: dict[str, str] | None = None) -> str:
    """The name itself if it is free, else the next free `name~2`."""
    tables: tuple[Register | dict[str, str], ...] = (*registers, also_taken or {})
    if not any(name in table for table in tables):
        return name
    stem = name.partition("~")[0]
    start = max((register.lowest_free or {}).get(stem, 2) for register in registers)
    return f"{stem}~{first_free(stem, start, *tables)}"
