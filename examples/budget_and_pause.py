"""A run that may think six times: it pauses at its limit, and a director decides whether it is worth more.

A limit holds before the call, not after it. The paused run stays as it is; a branch with a higher limit goes on from there.

    pip install glasshouse-agents
    python budget_and_pause.py
"""

import asyncio

from glasshouse import Governor, Terrarium, WhatIf

ALLOWANCE = Governor(max_total_calls=6, on_budget="pause")
RAISED = Governor(max_total_calls=40)


async def main() -> None:
    """Play twenty questions on an allowance."""
    async with Terrarium() as t:
        run = await t.open_world("twenty-sprouts", rng_seed=4, governor=ALLOWANCE)
        await t.run(run.id)

        run = t.run_of(run.id)
        print(f"The game is {run.status} after {run.calls} calls: {run.axis}")
        print("The last line so far:", (await t.played(run.id)).lines[-1].text)

        more = await t.branch(run.session_id, change=WhatIf(limits=RAISED))
        await t.run(more.id)

        more = t.run_of(more.id)
        print(f"The branch is {more.status} after {more.calls} calls: won by {more.winner}")
        print(f"The first run is still {t.run_of(run.id).status} after {t.run_of(run.id).calls} calls")
        print(
            f"Both together cost {(run.usd or 0) + (more.usd or 0):.2f} dollars, because the offline troupe plays for nothing"
        )


if __name__ == "__main__":
    asyncio.run(main())
