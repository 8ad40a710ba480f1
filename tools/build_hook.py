"""A hook of hatchling: whatever is built carries the third-party files of the page (ADR 0100), a wheel the schemas for editors.

Always holds: a wheel or an sdist without these files is never built. The files that `make setup` made, or that an sdist
holds, are taken if they were made from the lock as it is; otherwise the locked packages are loaded.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

import npm_packages  # noqa: E402
import vendor  # noqa: E402

sys.path.remove(str(TOOLS))


class PageFiles(BuildHookInterface[Any]):
    """Brings the third-party files of the page into the source tree before a build collects its files."""

    def dependencies(self) -> list[str]:
        """npm, in the environment of the build alone, if nothing else here knows a registry."""
        if vendor.is_current() or npm_packages.registry() is not None:
            return []
        locked = (TOOLS.parent / "requirements" / "page.txt").read_text(encoding="utf-8")
        return re.findall(r"^[\w-]+==[\w.]+", locked, re.MULTILINE)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the schemas for editors, and make the folder, unless it is there. A checkout that is installed in place has the
        schemas in `docs/schema`, and the folder from `make setup`."""
        if version == "editable":
            return
        if self.target_name == "wheel":
            build_data["force_include"][str(TOOLS.parent / "docs/schema")] = "glasshouse/schema"
        if vendor.is_current():
            return
        address = npm_packages.registry()
        if address is None:
            self._fail("no npm registry is known here")
        with TemporaryDirectory() as folder:
            try:
                npm_packages.load(vendor.NEEDED, vendor.LOCK, Path(folder), str(address))
                vendor.make_folder(Path(folder))
            except (npm_packages.NotLoaded, OSError) as wrong:
                self._fail(str(wrong))

    def _fail(self, reason: str) -> None:
        advice = "check the network, or name a registry with npm_config_registry, and build again"
        self.app.abort(f"The page's third-party files could not be loaded ({reason}): {advice}.")
