"""A landlady who answers from her guest book, and from what she said three hundred lines ago.

The world is in the folder `harbour-inn`: three small YAML files and the book. `documents` names the book, `memory: {long: true}`
does the rest. What came from where is in the ledger, so an answer can be traced to a line of a file or of the talk.

    pip install glasshouse-agents
    python documents_and_memory.py
"""

import asyncio
from pathlib import Path

from glasshouse import Draft, Terrarium

INN = Path(__file__).with_name("harbour-inn")


def spoken(text: str) -> Draft:
    """A line."""
    return Draft(kind="agent.spoke", payload={"text": text})


async def main() -> None:
    """A long evening, and then a question."""
    async with Terrarium() as t:
        run = await t.open_world(INN)
        landlady, parrot = t.creatures()
        await t.append(landlady, spoken("The telescope has cost me three pounds of butter so far."))
        await t.append_all(parrot, [spoken(f"Another cup! That makes {count}.") for count in range(1, 301)])

        await t.disturb(run.id, "Where is the brass telescope kept?")
        answer = await t.step_one()
        assert answer is not None
        print("landlady:", answer.payload["text"])

        for link in (await t.why(answer.id)).links:
            for use in link.tools:
                if use.returned is not None:
                    print("She read:", use.returned.payload["result"])
            for line in link.lines:
                if line.section == "remembered":
                    print("She remembered:", line.text)


if __name__ == "__main__":
    asyncio.run(main())
