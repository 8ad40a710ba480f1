"""`DocumentTools`: the tool `look_up`, which finds passages in the documents of a world.

Always holds: a creature finds only what its world or its own manifest names, as `run.started` lists it, so whether the tool is offered
needs no file. What was found is recorded with the answer; nothing reads the files again for it. A file that has changed since the
play began, or is gone, is said with the answer. Only the folder of a world is looked into: a run that came in a file names any folder it
likes.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from glasshouse.events.described_tool import LOOK_UP
from glasshouse.events.event import Json
from glasshouse.manifests.documents import NoDocument, paths_meant, read_document
from glasshouse.manifests.world_folders import folder_of, is_scenario, scenario_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.minds.code_beside import folder_brought
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.tools.documents.passages import Passage, passages_about, passages_in
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state.state import CreatureState

documents_kept_max: Final = 400
"""How many documents are kept in passages: those of two worlds with as many as a world may have."""
files_named_max: Final = 8
"""An answer names no more files that are gone, and no more that cannot be read: all of them would leave no room for what was found."""

_OFFER: Final = ToolOffer(
    LOOK_UP,
    "Find what the documents here say about something.",
    {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "what to look for, in a few words", "minLength": 1}
        },
        "required": ["words"],
    },
)


class _Kept(NamedTuple):
    """A document that was read: how it was recognised, its digest, and its passages."""

    stamp: tuple[int, int]
    digest: str
    passages: list[Passage]


class DocumentTools:
    """Offers `look_up` to creatures that have documents, and finds passages in them."""

    def __init__(self) -> None:
        self._kept_cache: OrderedDict[Path, _Kept] = OrderedDict()

    def names(self) -> frozenset[str]:
        """The name that a manifest may grant."""
        return frozenset({LOOK_UP})

    def has(self, tool: str) -> bool:
        """Whether this is the tool."""
        return tool == LOOK_UP

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The tool, if the creature is granted it and there is a document for it."""
        if LOOK_UP not in folded.world.facts_of(creature).tools:
            return ()
        return (_OFFER,) if _documents_for(folded, creature) else ()

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Look something up."""
        creature = context.creature
        documents = {} if creature is None else _documents_for(context.folded, creature)
        purse = None if creature is None else context.folded.runs.purses.get(creature.run_id or "")
        if purse is None or purse.folder is None or not documents:
            return ToolAnswer(is_ok=False, text="There are no documents for you here.")
        # Reading many files takes a while, and other creatures go on meanwhile.
        return await asyncio.to_thread(
            self._looked_up, str(call.arguments.get("words", "")), purse.folder, documents
        )

    def _looked_up(self, words: str, world: str, documents: Mapping[str, str]) -> ToolAnswer:
        """The answer to a call. `documents` has the digests that the files had when the play began."""
        folder = folder_brought(world) or _folder_here(Path(world))
        if folder is None:
            return _answer(words, [], {}, [*documents], {})
        passages: list[Passage] = []
        now: dict[str, str] = {}
        gone: list[str] = []
        unread: dict[str, str] = {}
        for path in documents:
            try:
                kept = self._read(folder, path)
            except NoDocument as fault:
                if (folder / path).exists():
                    unread[path] = str(fault)
                else:
                    gone.append(path)
                continue
            passages += kept.passages
            now[path] = kept.digest
        about = passages_about(words, passages)
        changed = {path: now[path] for path in now if now[path] != documents[path]}
        return _answer(words, about, changed, gone, unread)

    def _read(self, folder: Path, path: str) -> _Kept:
        """A document in passages. One whose size and time are as before is not read again."""
        file = folder / path
        try:
            status = file.stat()
        except OSError as fault:
            raise NoDocument(f"{path} is gone.") from fault
        stamp = (status.st_mtime_ns, status.st_size)
        kept = self._kept_cache.get(file)
        if kept is None or kept.stamp != stamp:
            document = read_document(folder, path)
            kept = self._kept_cache[file] = _Kept(stamp, document.digest, passages_in(path, document.text))
            while len(self._kept_cache) > documents_kept_max:
                self._kept_cache.popitem(last=False)
        return kept


def _folder_here(world: Path) -> Path | None:
    """The folder of a world on this machine; None if there is no world at its path any more."""
    scenario = scenario_of(world)
    return folder_of(world) if scenario.is_file() and is_scenario(scenario) else None


def _documents_for(folded: Folded, creature: CreatureState) -> dict[str, str]:
    """The documents that a creature may look things up in, each with its digest when the play began."""
    purse = folded.runs.purses.get(creature.run_id or "")
    if purse is None or not purse.plan.documents:
        return {}
    own: Iterable[str] = folded.world.facts_of(creature).manifest.get("documents", ())
    all_of_run = purse.plan.documents
    return {path: all_of_run[path] for path in paths_meant((*purse.playbill.documents, *own), all_of_run)}


def _answer(
    words: str,
    about: list[Passage],
    changed: Mapping[str, str],
    gone: list[str],
    unread: Mapping[str, str],
) -> ToolAnswer:
    said = [f"{passage.path}, {_lines(passage)}:\n{passage.text}" for passage in about]
    if not about:
        said.append(f"Nothing in the documents is about {words!r}. Try other words.")
    used = {passage.path for passage in about}
    said += [f"{path} has changed since the play began." for path in changed if path in used]
    said += _some([f"{path} is gone." for path in gone], "are gone")
    said += _some([*unread.values()], "cannot be read")
    result: Json = {"found": [_record(passage, changed) for passage in about]}
    if gone:
        result["gone"] = gone[:files_named_max]
    if unread:
        result["unread"] = [*unread][:files_named_max]
    return ToolAnswer(is_ok=True, text="\n\n".join(said), result=result)


def _some(said: list[str], of_the_rest: str) -> list[str]:
    """What is said of the first files, and how many more there are."""
    more = len(said) - files_named_max
    return said if more <= 0 else [*said[:files_named_max], f"{more} more {of_the_rest}."]


def _lines(passage: Passage) -> str:
    if passage.first == passage.last:
        return f"line {passage.first}"
    return f"lines {passage.first} to {passage.last}"


def _record(passage: Passage, changed: Mapping[str, str]) -> dict[str, Any]:
    record: dict[str, Any] = {"file": passage.path, "lines": [passage.first, passage.last]}
    if passage.path in changed:
        record["digest"] = changed[passage.path]
    return record
