"""What a release says of itself: its bill of materials. Building and trying it is `make release`."""

import json
from importlib.metadata import requires
from typing import Any

from packaging.requirements import Requirement

from glasshouse.installation import DISTRIBUTION
from tools import sbom, vendor


def components(scope: str) -> dict[str, dict[str, Any]]:
    bill = json.loads(sbom.bill())
    return {part["name"]: part for part in bill["components"] if part["scope"] == scope}


def needed_by(name: str, known: set[str]) -> set[str]:
    """A distribution and what it needs here, without extras."""
    if name in known:
        return known
    known.add(name)
    for text in requires(name) or ():
        need = Requirement(text)
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            needed_by(need.name.lower().replace("_", "-"), known)
    return known


def test_the_bill_of_materials_requires_what_an_installation_needs_and_what_the_page_holds() -> None:
    required = components("required")
    needed = needed_by(DISTRIBUTION, set()) - {DISTRIBUTION}

    assert needed <= {*required}
    # Others are needed on other systems only, and say so, or are needed by such a one.
    assert {*required} - needed - {*vendor.NEEDED} <= {
        "colorama",
        "httpx2-jsfetch",
        "tomli",
        "exceptiongroup",
    }
    assert {"hatchling", "pytest", "typescript"} <= {*components("excluded")}
    assert {"asyncpg", "mcp", "xllamacpp"} <= {*components("optional")}


def test_the_bill_of_materials_has_hashes_and_no_address() -> None:
    text = sbom.bill()

    assert text == sbom.bill()
    assert "://" not in text
    assert [part["name"] for part in json.loads(text)["components"] if not part["hashes"]] == []
    assert all(part["bom-ref"] == part["purl"] for part in json.loads(text)["components"])
