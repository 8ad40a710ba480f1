"""What every test shares: how hard hypothesis searches, and which ids a terrarium makes up."""

import gc
import os
import random
import signal

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from glasshouse.runtime.clock import RandomIds

pytest_plugins = ["tests.every_store"]

# The same examples on every machine, so that a red test is red for everybody.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=100,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# A tenth of the examples, for a quick look while working.
settings.register_profile("quick", settings.get_profile("ci"), max_examples=10)
# New examples on every run; a failing one prints the line that replays it.
settings.register_profile(
    "soak",
    deadline=None,
    max_examples=int(os.environ.get("GLASSHOUSE_SOAK_PLAYS", "5000")),
    stateful_step_count=100,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
PROFILE = os.environ.get("GLASSHOUSE_HYPOTHESIS", "ci")
settings.load_profile(PROFILE)
if PROFILE != "soak":
    # Hypothesis also tries the literals of every module that is imported by now. Which these are depends on the tests that ran
    # before in this process, so the same test could be green here and red there.
    providers._get_local_constants = lambda: providers._local_constants

# Whatever is there once all tests are collected stays until the end. The collector need not look at it again and again, neither
# while it grows nor in the tests.
gc.disable()

# Worlds of tests have code beside them; commands that tests start are asked for permission like a person's.
os.environ["GLASSHOUSE_ALLOW_WORLD_CODE"] = "1"
# Worlds that somebody has installed on this machine are not there for tests.
os.environ["XDG_DATA_HOME"] = os.devnull
os.environ.pop("GLASSHOUSE_WORLDS_FOLDER", None)

# What plays on servers assert, tests show like assertions of their own.
pytest.register_assert_rewrite("tests.servers.plays")

# A run that was started in the background inherits an ignored Ctrl-C, which a person at a terminal never has. The
# commands that tests start inherit this handler in their turn.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Ids that nobody chose hang on the name of the test that is run, so that no test is red once in a thousand times for the
# bytes of an id. A soak draws real ones.
_dice = random.Random()


def drawn_for_this_test(_self: RandomIds) -> str:
    return f"{_dice.getrandbits(64):016x}"


if PROFILE != "soak":
    pytest.MonkeyPatch().setattr(RandomIds, "new", drawn_for_this_test)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _dice.seed(item.nodeid)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a soak, hypothesis searches for new examples of every property."""
    for item in items if PROFILE == "soak" else ():
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.soak)
