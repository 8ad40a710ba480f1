"""Talk on the page: what creatures and visitors say, thoughts, verdicts, dealt cards, the use of tools, approvals.

Always holds: every text comes from `shown`, the event as the role may read it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from msgspec.structs import asdict

from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event, Json, text_of
from glasshouse.events.payloads import copied_from, payload_of, private_of, sealed_of, verdict_of
from glasshouse.views.group_deeds import GROUP_TOOLS, deed_of
from glasshouse.views.page import Icon, cut, list_items_max, text_chars_max
from glasshouse.views.page_state import EndNotes, FeedLine, FoldOne, Page
from glasshouse.views.scenes import scene_of

disturbances_known_max: Final = 1_000
"""Of how many disturbances and scenes the fold knows that they were shown: a later copy of an older one is shown again."""
argument_chars_max: Final = 200
"""How much the fold keeps of an argument of a group tool: a handle or a channel's name is shorter."""
visit_chars_max: Final = 400
"""What a visitor said at more length was suggested by no world, and the fold does not keep it."""
tool_arguments_max: Final = 16
"""The fold keeps the first arguments of a call."""
line_fields_max: Final = 6
"""A line in a view keeps so many fields of its kind beside its text, the first ones."""
field_chars_max: Final = 80
"""How much of a field a view keeps: an answer, a name, or the id of an event is shorter."""
field_items_max: Final = 8
"""How many items of a field that is a list a view keeps."""

_WORDS: Final = frozenset({"text", "title"})
"""Fields that are shown as the words of a line or of a scene."""


def say(page: Page, event: Event, shown: Event, k: int) -> FeedLine:
    """A line of a creature. A world's own kinds come here, too."""
    text = text_of(shown)
    creature = page.view["creatures"].get(event.actor)
    if creature is None:
        return "line", text
    _quiet(page, event.actor)
    notes = _notes_in(page, event)
    notes.lines += 1
    notes.line = event.id
    line: Json = {"n": k, "kind": event.kind}
    if event.channel is not None:
        line["channel"] = event.channel
    if event.caused_by is not None:
        line["answers"] = event.caused_by
    fields = _fields_of(shown)
    if fields:
        line["fields"] = fields
    page.changes.set_with_text("creatures", event.actor, "line", line)
    _feel(page, event.actor, shown)
    return ("judge" if creature["role"] == "judge" else "line"), text


def _fields_of(shown: Event) -> Json:
    """What a line says beside its text, as its kind has it: an answer, a name, the lines it rests on."""
    fields: Json = {}
    for name, value in shown.payload.items():
        if name in _WORDS or len(fields) == line_fields_max:
            continue
        if isinstance(value, str):
            fields[name] = cut(value, field_chars_max)
        elif isinstance(value, bool | int | float):
            fields[name] = value
        elif isinstance(value, list) and value:
            fields[name] = [cut(str(item), field_chars_max) for item in value[:field_items_max]]
    return fields


def _notes_in(page: Page, event: Event) -> EndNotes:
    return page.behind.end_notes.setdefault(event.run_id or "", EndNotes())


def note_sealed(page: Page, event: Event, shown: Event) -> None:
    """What was dealt: everybody sees that there is a card and whose; its text only where the role may read it."""
    sealed = sealed_of(event)
    for key, value in sealed.facts.items():
        card: Json = {"owner": sealed.to[0] if sealed.to else ""}
        if shown.sealed is not None:
            card["text"] = cut(value if isinstance(value, str) else str(value), text_chars_max)
        page.changes.set("contest", "sealed", key, card)


def _think(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    text = text_of(shown)
    if text and event.actor in page.view["creatures"]:
        page.changes.set("creatures", event.actor, "thought", cut(text, text_chars_max))
    return "thought", text


def _feel(page: Page, creature: str, shown: Event) -> None:
    """What a creature thought and felt behind its act, where the role may read it."""
    private = private_of(shown.private)
    for name, value in (("thought", private.thought), ("mood", private.mood)):
        if value:
            page.changes.set("creatures", creature, name, cut(value, text_chars_max))


def _quiet(page: Page, creature: str) -> None:
    """An act is over: no tool is asked any more, and what went wrong before is past."""
    shown = page.view["creatures"][creature]
    for name in ("tool", "error"):
        if name in shown:
            page.changes.delete("creatures", creature, name)


def _observe(page: Page, event: Event, shown: Event, k: int) -> FeedLine:
    scene = scene_of(event)
    if scene is not None and _is_known(page, f"scene {sha256(repr(scene).encode()).hexdigest()[:16]}"):
        return "copy", text_of(shown)
    if scene is not None and event.sealed is None:
        _notes_in(page, event).scene = event.id
    title = text_of(shown, "title") or page.view["scene"].get("title", "")
    page.changes.set_with_text("scene", {"title": title, "n": k})
    if event.actor in page.view["creatures"]:
        say(page, event, shown, k)
    return "world", text_of(shown)


def _visit(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    icon: Icon = "copy" if _is_known(page, copied_from(event) or event.id) else "visitor"
    text = text_of(shown)
    if icon == "visitor" and len(text) <= visit_chars_max:
        notes = _notes_in(page, event)
        notes.visits = [*notes.visits, text][-list_items_max:]
    return icon, text


def _is_known(page: Page, name: str) -> bool:
    """Whether a row has shown this already. From now on one has."""
    said = page.behind.said
    is_known = name in said
    said[name] = None
    if len(said) > disturbances_known_max:
        del said[next(iter(said))]
    return is_known


def _judge(page: Page, event: Event, shown: Event, k: int) -> FeedLine:
    verdict = verdict_of(shown)
    text = verdict.text or ""
    entry = {"n": k, "by": event.actor, "winner": verdict.winner, "text": cut(text, text_chars_max)}
    page.changes.append(
        "contest", "verdicts", {name: value for name, value in entry.items() if value is not None}
    )
    if verdict.winner:
        score = page.view["contest"]["score"].get(verdict.winner, 0)
        page.changes.set("contest", "score", verdict.winner, score + 1)
    say(page, event, shown, k)
    _notes_in(page, event).verdict = event.id
    return "judge", text


def _be_silent(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    reason = text_of(shown, "reason")
    if event.actor in page.view["creatures"]:
        _quiet(page, event.actor)
        if event.kind == kinds.AGENT_FAILED:
            page.changes.set("creatures", event.actor, "error", cut(reason, text_chars_max))
        _feel(page, event.actor, shown)
    return ("error" if event.kind == kinds.AGENT_FAILED else "silence"), reason


def _call_tool(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    called = payload_of(shown, payloads.ToolCalled)
    tool = called.tool
    if event.actor in page.view["creatures"]:
        page.changes.set("creatures", event.actor, "tool", tool)
    if tool not in GROUP_TOOLS:
        return "tool", tool
    given = list(called.arguments.items())[:tool_arguments_max]
    page.behind.asked[event.actor] = {name: cut(str(value), argument_chars_max) for name, value in given}
    return "copy", tool


def _return_from_tool(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    returned = payload_of(shown, payloads.ToolReturned)
    if event.actor in page.view["creatures"]:
        page.changes.delete("creatures", event.actor, "tool")
    refusal = None if returned.is_ok else returned.text
    arguments = page.behind.asked.pop(event.actor, {})
    deed = deed_of(returned.tool, arguments, returned.result, refusal=refusal)
    return "tool", f"{returned.tool}: {returned.text}" if deed is None else deed.words


def _propose(page: Page, event: Event, shown: Event, k: int) -> FeedLine:
    proposed = payload_of(shown, payloads.EditProposed)
    page.changes.set("approvals", event.id, {"n": k, "creature": event.actor, **asdict(proposed)})
    return "approval", f"{proposed.tool}: {proposed.why}"


def _decide(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    decided = payload_of(shown, payloads.EditDecided)
    for name, waiting in list(page.view["approvals"].items()):
        if waiting["creature"] == event.actor and waiting["number"] == decided.number:
            page.changes.delete("approvals", name)
    return "approval", f"{'approved' if decided.is_approved else 'refused'} by {decided.by}"


FOLDS: Final[dict[str, FoldOne]] = {
    **dict.fromkeys(sorted(kinds.INNER), _think),
    kinds.WORLD_OBSERVED: _observe,
    kinds.USER_INJECTED: _visit,
    kinds.JUDGE_VERDICT: _judge,
    **dict.fromkeys(sorted(kinds.WITHOUT_A_LINE), _be_silent),
    kinds.TOOL_CALLED: _call_tool,
    kinds.TOOL_RETURNED: _return_from_tool,
    kinds.EDIT_PROPOSED: _propose,
    kinds.EDIT_DECIDED: _decide,
}
