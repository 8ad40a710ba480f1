"""`DocumentTools`: the tool `look_up`, which finds passages in the documents of a world.

Always holds: a creature finds only what its world or its own manifest names, as `run.started` lists it, so whether the tool is offered
needs no file. What was found is recorded with the answer; nothing reads the files again for it. A file that has changed since the
play began, or is gone, is said with the answer.
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
from glasshouse.manifests.world_folders import folder_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.tools.documents.passages import Passage, passages_about, passages_in
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state.state import CreatureState

documents_kept_max: Final = 400
"""How many documents are kept in passages: those of two worlds with as many as a world may have."""

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
        folder = folder_of(Path(purse.folder))
        # Reading many files takes a while, and other creatures go on meanwhile.
        return await asyncio.to_thread(
            self._looked_up, str(call.arguments.get("words", "")), folder, documents
        )

    def _looked_up(self, words: str, folder: Path, documents: Mapping[str, str]) -> ToolAnswer:
        """The answer to a call. `documents` has the digests that the files had when the play began."""
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
    said += [f"{path} is gone." for path in gone]
    said += [*unread.values()]
    result: Json = {"found": [_record(passage, changed) for passage in about]}
    if gone:
        result["gone"] = gone
    if unread:
        result["unread"] = [*unread]
    return ToolAnswer(is_ok=True, text="\n\n".join(said), result=result)


def _lines(passage: Passage) -> str:
    if passage.first == passage.last:
        return f"line {passage.first}"
    return f"lines {passage.first} to {passage.last}"


def _record(passage: Passage, changed: Mapping[str, str]) -> dict[str, Any]:
    record: dict[str, Any] = {"file": passage.path, "lines": [passage.first, passage.last]}
    if passage.path in changed:
        record["digest"] = changed[passage.path]
    return record
