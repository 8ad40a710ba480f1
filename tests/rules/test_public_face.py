"""The public face: every name is where the docs say, none costs anything before it is asked for, all that calls give is public."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

import glasshouse
from glasshouse import Terrarium
from glasshouse.manifests import LoadedWorld
from glasshouse.tools.mcp.tool_server import ToolServer
from glasshouse.views import Verification

MODULES = sorted(set(dir(glasshouse)) - set(glasshouse.__all__))
PUBLIC = [
    glasshouse,
    *[importlib.import_module(f"glasshouse.{name}") for name in MODULES if name != "errors"],
]


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_every_public_name_comes_from_its_home(module: ModuleType) -> None:
    missing = [name for name in dir(module) if getattr(module, name, None) is None]

    assert missing == []
    assert module.__all__ == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("name", [*MODULES, "events.kinds"])
def test_a_public_module_is_there_without_an_import_of_its_own(name: str) -> None:
    script = f"import glasshouse; print(glasshouse.{name}.__name__)"

    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (result.stdout, result.stderr) == (f"glasshouse.{name}\n", "")


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_a_stub_lists_one_name_a_line_as_the_program_reads_it(module: ModuleType) -> None:
    stub = ast.parse(Path(module.__file__ or "").with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]

    assert all(len(node.names) == 1 and node.names[0].asname == node.names[0].name for node in imports)
    assert sorted(node.names[0].name for node in imports) == dir(module)


def test_the_package_itself_has_about_twenty_five_names() -> None:
    assert 20 <= len(glasshouse.__all__) <= 29


def test_a_name_that_is_not_public_is_refused_in_words() -> None:
    with pytest.raises(AttributeError, match="has no name 'Terarium'"):
        glasshouse.Terarium  # type: ignore[attr-defined]  # noqa: B018 (asking for the name is what raises)


def test_importing_the_package_brings_nothing_with_it() -> None:
    script = (
        "import sys, glasshouse; print([m for m in ('pydantic', 'msgspec', 'sqlite3') if m in sys.modules])"
    )

    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"


def hints_of(call: Any) -> dict[str, Any]:
    """The type hints of a call, those included that only a type checker imports."""
    later = {"LoadedWorld": LoadedWorld, "AnyWorld": Any, "Sequence": Sequence, "Verification": Verification}
    later |= {"ToolServer": ToolServer}
    return get_type_hints(call, localns=later)


def classes_in(hint: Any) -> set[type]:
    """The classes of Glasshouse that a type hint names."""
    inner = {part_class for part in get_args(hint) for part_class in classes_in(part)}
    is_ours = isinstance(hint, type) and hint.__module__.startswith("glasshouse")
    return inner | ({hint} if is_ours else set())


FOLDS = {"StageProjection", "Counters"}
"""Views that are folded on by whoever holds them."""


def given_back() -> set[type]:
    """Every class that a call of a terrarium, or of a public function, gives back; and what their fields hold."""
    calls = [getattr(Terrarium, name) for name in dir(Terrarium) if name[0] != "_" and name != "record"]
    calls = [call.fget if isinstance(call, property) else call for call in calls]
    calls += [glasshouse.play, glasshouse.verify, glasshouse.rebuild_stage]
    classes: set[type] = set()
    new = {value for call in calls for value in classes_in(hints_of(call).get("return"))}
    while new:
        classes |= new
        held = [hint for value in new for name, hint in get_type_hints(value).items() if name[0] != "_"]
        new = {value for hint in held for value in classes_in(hint)} - classes
    return classes


def test_everything_that_a_call_gives_back_is_public() -> None:
    public = {id(getattr(module, name)) for module in PUBLIC for name in module.__all__}
    public |= {id(value) for value in vars(glasshouse.errors).values()}

    assert sorted(str(value) for value in given_back() if id(value) not in public) == []


def test_every_value_that_a_call_gives_back_is_frozen() -> None:
    values = [value for value in given_back() if value.__name__ not in FOLDS]
    structs = [value for value in values if issubclass(value, msgspec.Struct)]
    dataclasses_given: list[Any] = [value for value in values if is_dataclass(value)]

    assert [value for value in structs if not value.__struct_config__.frozen] == []
    assert [value for value in dataclasses_given if not value.__dataclass_params__.frozen] == []
    assert len(structs) + len(dataclasses_given) > 20
