"""JSON Schema files for editors, generated from the models: `python -m glasshouse.manifests.editor_schema docs/schema`.

Always holds: the files match the models; a test compares them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import BaseModel

from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILES: dict[str, tuple[type[BaseModel], str]] = {
    "scenario.schema.json": (Scenario, "A world of Glasshouse"),
    "creature.schema.json": (Manifest, "A creature of Glasshouse"),
}


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
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write_editor_schemas(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/schema"))
