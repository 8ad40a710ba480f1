"""What every test shares: how hard hypothesis searches."""

import os

from hypothesis import HealthCheck, settings

# The same examples on every machine, so that a red test is red for everybody.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=100,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# New examples on every run; a failing one prints the line that replays it.
settings.register_profile(
    "soak",
    deadline=None,
    max_examples=5_000,
    stateful_step_count=100,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("GLASSHOUSE_HYPOTHESIS", "ci"))
