"""JSON Schema files for editors, generated from the models: `python -m glasshouse.manifests.editor_schema docs/schema`.

Always holds: the files match the models; a test compares them. A field's description is the docstring below it.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from pydantic import BaseModel

from glasshouse.manifests import likeness, models_file, scenario, tools_file

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILES: dict[str, tuple[type[BaseModel], str]] = {
    "scenario.schema.json": (scenario.Scenario, "A world of Glasshouse"),
    "creature.schema.json": (likeness.CreatureFile, "A creature of Glasshouse"),
    "models.schema.json": (models_file.ModelsFile, "The models of Glasshouse"),
    "tools.schema.json": (tools_file.ToolsFile, "The tool servers of Glasshouse"),
}

MAY_BE_LEFT_OUT: dict[type[BaseModel], str] = {scenario.Scenario: "name"}
"""Fields that a program must give and a file may leave out."""


def editor_schemas() -> dict[str, str]:
    """The text of each schema file, by file name."""
    return {file: _text(model, title) for file, (model, title) in FILES.items()}


def write_editor_schemas(folder: Path) -> None:
    """Write the schema files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in editor_schemas().items():
        (folder / file).write_text(text, encoding="utf-8")


def _text(model: type[BaseModel], title: str) -> str:
    schema = {"$schema": DIALECT, **model.model_json_schema(by_alias=True), "title": title}
    if model in MAY_BE_LEFT_OUT:
        schema["required"] = [name for name in schema["required"] if name != MAY_BE_LEFT_OUT[model]]
    parts = {each.__name__: schema for each in _own_classes(model)} | schema.get("$defs", {})
    for module in {each.__module__: sys.modules[each.__module__] for each in _own_classes(model)}.values():
        for model_name, field, description in _docstrings_of_fields(inspect.getsource(module)):
            if model_name not in parts:
                continue
            alias = getattr(module, model_name).model_fields[field].alias
            parts[model_name]["properties"][alias or field]["description"] = description
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _own_classes(model: type[BaseModel]) -> list[type[BaseModel]]:
    """A model and the models that it extends, all of which have fields of their own."""
    return [each for each in model.__mro__ if issubclass(each, BaseModel) and each.model_fields]


def _docstrings_of_fields(source: str) -> Iterator[tuple[str, str, str]]:
    for model in [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]:
        for field, text in pairwise(model.body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                yield model.name, ast.unparse(field.target), ast.literal_eval(text.value)


if __name__ == "__main__":
    write_editor_schemas(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/schema"))
