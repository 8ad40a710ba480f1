"""What journeys share: a store in which something was played, for everybody who only looks."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.journeys.commanding import play_some


@pytest.fixture(scope="session")
def played_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that are over and one that is not. To look at: who changes something takes `own_store`."""
    path = tmp_path_factory.mktemp("played") / "played.glasshouse"
    asyncio.run(play_some(path))
    return path


@pytest.fixture(scope="session")
def store(played_store: Path) -> str:
    """The same, as the command line is given it."""
    return str(played_store)


@pytest.fixture
def own_store(played_store: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(played_store, tmp_path / "played.glasshouse"))
