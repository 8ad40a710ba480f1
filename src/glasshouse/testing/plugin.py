"""The pytest plugin: provides the fixture `glasshouse_play` wherever Glasshouse is installed.

Always holds: only this module imports pytest, and it imports Glasshouse only when a test uses the fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from glasshouse.runtime.played import Played

# So that a failed check says which values it compared. The contracts themselves import nothing of pytest.
pytest.register_assert_rewrite("glasshouse.testing.contracts")


@pytest.fixture
def glasshouse_play() -> Callable[..., Played]:
    """Plays a world offline: `glasshouse_play("worlds/mine", turns=6)`. See `play_offline`."""
    # Imported here, because pytest loads this plugin in every project where Glasshouse is installed.
    from glasshouse.testing import play_offline

    return play_offline
