"""Two houses in one database: a play goes on after its program has ended, and nobody else can write to it meanwhile.

pip install "glasshouse-agents[postgres]"
createdb glass
python store_on_postgresql.py postgresql://localhost/glass
"""

import asyncio
import sys

from glasshouse import PostgresStore, Terrarium, verify
from glasshouse.errors import StoreBusy


async def main(address: str) -> None:
    """Begin a play, end the program's part of it, and continue."""
    async with Terrarium(PostgresStore(address, house="attic")) as attic:
        run = await attic.open_world("mystery-roots", rng_seed=5, run_id="the-stolen-something")
        await attic.run(run.id, turns=4)
        print("The attic is closed after turn", attic.run_of(run.id).turns)

    async with Terrarium(PostgresStore(address, house="attic")) as attic:
        (run,) = attic.runs()
        await attic.run(run.id)
        print("Opened again:", attic.run_of(run.id).winner, "wins after", attic.run_of(run.id).turns, "turns")
        print("Every event is as it was recorded:", (await verify(attic, run.id)).is_same)

        async with Terrarium(PostgresStore(address, house="cellar")) as cellar:
            print("The cellar, next door in the same database, has", len(cellar.runs()), "runs")
        try:
            async with Terrarium(PostgresStore(address, house="attic")):
                pass
        except StoreBusy:
            print("Somebody else at the door of the attic has to wait: one house, one writer.")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
