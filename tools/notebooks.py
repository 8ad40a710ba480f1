"""Run the notebooks of `examples/notebooks`, and compare what they print with what is stored in them: `python -m tools.notebooks`.

With `--write` it stores what they print. Always holds: a notebook is run in a folder of its own, without a key and without a word to
another host, and its file stays small.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
NOTEBOOKS: Final = ROOT / "examples" / "notebooks"
notebook_bytes_max: Final = 60_000
"""A larger notebook is refused: its outputs are transcripts and short tables, and people read its changes."""
cell_seconds_max: Final = 120
"""A cell that takes longer hangs."""


def notebooks() -> list[Path]:
    """The notebooks, by name."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def as_text(notebook: Any) -> str:
    """A notebook as it is stored: without what differs each time or each machine."""
    cells = [{**cell, "metadata": {}} for cell in notebook["cells"]]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {**notebook, "cells": [_stored(cell) for cell in cells], "metadata": metadata}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _stored(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell with its texts as lists of lines, so that a change is a few lines."""
    kept = {**cell, "source": _lines(cell["source"])}
    if cell["cell_type"] == "code":
        kept["outputs"] = [_output(output) for output in _joined(cell["outputs"])]
    return kept


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is printed in one go may come in parts, as the kernel sends it: it is one text."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            joined[-1] = {**last, "text": "".join([*last["text"], *output["text"]])}
        else:
            joined.append(output)
    return joined


def _output(output: dict[str, Any]) -> dict[str, Any]:
    """What a cell prints, without ids of runs, which differ each time."""
    if "text" in output:
        return {**output, "text": _lines(_masked(output["text"]))}
    if "data" in output:
        return {**output, "data": {kind: _lines(_masked(value)) for kind, value in output["data"].items()}}
    return output


def _masked(text: str | list[str]) -> str:
    return re.sub(r"\br-[0-9a-f]{4,}", "r-ID", "".join(text))


def _lines(text: str | list[str]) -> list[str]:
    return "".join(text).splitlines(keepends=True)


def run_notebook(path: Path) -> str:
    """A notebook's text after it was run from its first cell to its last."""
    # Only the docs' extra has them, and types are checked without it.
    nbformat, nbclient = map(importlib.import_module, ("nbformat", "nbclient"))
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    prefix = "glasshouse-notebook-"
    with tempfile.TemporaryDirectory(prefix=prefix) as folder, tempfile.TemporaryDirectory() as sockets:
        client = nbclient.NotebookClient(
            notebook,
            timeout=cell_seconds_max,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            record_timing=False,
        )
        manager = client.create_kernel_manager()
        # Sockets in a folder that nobody else may open, in place of ports of this machine.
        manager.transport = "ipc"
        manager.ip = str(Path(sockets) / "kernel")
        asyncio.run(client.async_execute())
    return as_text(notebook)


def main() -> int:
    """Run all, and compare or write."""
    writes = sys.argv[1:] == ["--write"]
    faults = []
    for path in notebooks():
        name = path.relative_to(ROOT)
        text = run_notebook(path)
        if len(text.encode()) > notebook_bytes_max:
            faults.append(f"{name} has more than {notebook_bytes_max:,} bytes.")
        elif writes:
            path.write_text(text, encoding="utf-8")
        elif text != path.read_text(encoding="utf-8"):
            faults.append(
                f"{name} prints something else. If that is as it should be: python -m tools.notebooks --write"
            )
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"The {len(notebooks())} notebooks {'are written' if writes else 'print what is stored'}.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
