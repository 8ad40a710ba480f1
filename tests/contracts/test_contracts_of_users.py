"""The files that the how-tos say to save run under the pytest of a user, who has nothing but pytest and Glasshouse."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import fences, page_text

ONE_CHECK_EACH = "position_is_that_of_the_last or requests_are_read_oldest or labels_replace or closing_twice"


@pytest.mark.parametrize(
    ("page", "beginning", "chosen", "count"),
    [
        ("docs/how-to/write-a-store.md", "from pathlib import Path", ONE_CHECK_EACH, 4),
        (
            "docs/how-to/write-a-model.md",
            "from glasshouse.testing import ModelContract",
            "forms or form_of",
            1,
        ),
    ],
)
def test_the_suite_of_a_how_to_runs_as_it_is_printed(
    page: str, beginning: str, chosen: str, count: int, tmp_path: Path
) -> None:
    (suite,) = [f.text for f in fences(page_text(page)) if f.text.startswith(beginning)]
    (tmp_path / "test_mine.py").write_text(suite)
    plain = ["-p", "no:asyncio", "-p", "no:xdist", "-p", "no:schemathesis", "-p", "no:cacheprovider"]

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plain, "-k", chosen, "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{count} passed" in run.stdout
