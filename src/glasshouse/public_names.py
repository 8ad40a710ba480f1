"""Public names, each listed once: in the stub (`__init__.pyi`) beside a package's `__init__`.

A type checker reads the stub. At run time the same list says where to import a name from when it is first used, so
importing a package costs nothing. The public modules of a package are in its stub, too, and are imported when they are
first used; `import *` leaves them out. Always holds: a stub has one `from home import Name as Name` a line, and no module
inside the package imports a public name through such a list. This module imports nothing that Python has not loaded at its
start: while it is imported, Ctrl-C would still show a traceback.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # What `typing` has, without the time that its import takes.
if TYPE_CHECKING:
    from collections.abc import Callable


def public_names(
    package: str, folder: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """What the stub in a package's folder lists: `__getattr__`, `__dir__` and `__all__` of the package."""
    with open(f"{folder}/__init__.pyi", encoding="utf-8") as stub:
        imports = [line.split() for line in stub if line.startswith("from ")]
    homes = {name: home for _, home, _, name, *_ in imports}

    def value_of(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"{package} has no name {name!r}. It has {', '.join(sorted(homes))}.")
        if homes[name] == package:  # A module of the package. Python makes it an attribute of the package.
            __import__(f"{package}.{name}")
            return sys.modules[f"{package}.{name}"]
        value: object = getattr(__import__(homes[name], fromlist=(name,)), name)
        setattr(sys.modules[package], name, value)
        return value

    return value_of, lambda: sorted(homes), sorted([name for name in homes if homes[name] != package])
