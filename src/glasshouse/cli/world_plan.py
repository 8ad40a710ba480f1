"""`WorldPlan`: what somebody wants of a new world, and the files that `glasshouse new world` makes of it, from templates.

Always holds: what is written is sound and without a warning, because it is loaded before a file of it is written. The same plan
gives the same files.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

from glasshouse.cli.program import program_called
from glasshouse.errors import Refused, UnknownName
from glasshouse.manifests.editor_schema import editor_schemas
from glasshouse.manifests.world_folders import SCENARIO_FILE, SCRIPT_FILE
from glasshouse.packs.packing import world_of_files
from glasshouse.world.state.ids import check_name

NONE: Final = "none"
TEMPLATES: Final = Path(__file__).resolve().parent / "commands" / "templates"
PARTS: Final = ("host", "guest", "counter", "mender", "sleeper", "messenger")
"""The templates of a cast, in its order: the first two want opposite things, the others take them up."""
JUDGE: Final = "judge"
CLERK: Final = "clerk"
ASKED: Final = "clerk.asked"
"""The kind of line that the clerk answers."""
TEAMS: Final = ("movers", "keepers")
"""The teams of a versus: the first creature's, and the second's. The others play for nobody."""
DEFAULT_CAST: Final = ("gardener", "wanderer")
cast_min: Final = 2
"""A new world has no fewer creatures: one alone wants nothing of anybody."""
cast_max: Final = len(PARTS)
"""A new world has no more creatures, because there are templates for these."""
SCRIPT: Final = "script"
YAML_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"})
"""Words that YAML does not read as text."""
SCHEMAS: Final = ".schema"
"""The folder in a new world that holds what editors check its files with. It is hidden, so a pack leaves it out."""
SCENARIO_SCHEMA: Final = "scenario.schema.json"
CREATURE_SCHEMA: Final = "creature.schema.json"
DOCUMENT: Final = "house-book.md"


class ToolPlan(NamedTuple):
    """A tool that comes with Glasshouse, as a new world uses it."""

    question: str
    """What the offline troupe asks of it, once a play."""
    cares_about: str


TOOLS: Final[Mapping[str, ToolPlan]] = {
    "look_up": ToolPlan("Clerk, where does the broom hang?", "the house book"),
    "almanac": ToolPlan("Clerk, was there a moon on 2026-10-31?", "the moon"),
    "calendar": ToolPlan("Clerk, which day of the week was 2026-10-31?", "dates"),
}


class WorldPlan(NamedTuple):
    """What somebody wants of a new world."""

    name: str
    title: str = ""
    cast: tuple[str, ...] = DEFAULT_CAST
    contest: str = NONE
    """none, judged or versus."""
    secrets: tuple[str, ...] = ()
    """What may be dealt to the second of the cast; empty: nothing is."""
    tool: str = NONE
    has_script: bool = True

    @property
    def everybody(self) -> tuple[str, ...]:
        """The cast, and who the contest and the tool add to it."""
        return (
            *self.cast,
            *((CLERK,) if self.tool != NONE else ()),
            *((JUDGE,) if self.contest != NONE else ()),
        )

    @property
    def turns(self) -> int:
        """How many turns its three movements have: two each, and one more for what is asked and hidden. Everybody speaks once in each."""
        return 7 if self.tool != NONE or self.secrets else 6


def title_of(name: str) -> str:
    """A name as a title."""
    return name.replace("-", " ").replace("_", " ").title()


def check_cast(cast: tuple[str, ...]) -> None:
    """Refuse a cast that no world could have."""
    for name in cast:
        check_name("creature name", name)
    if not cast_min <= len(cast) <= cast_max:
        raise Refused(
            f"A new world has {cast_min} to {cast_max} creatures, and these are {len(cast)}.",
            "Add more later: glasshouse new creature NAME --in PATH",
        )
    if len({*cast}) < len(cast):
        raise Refused("Two creatures have the same name.", "Rename one of them.")
    if taken := [name for name in cast if name in {JUDGE, CLERK, *TEAMS}]:
        raise Refused(f"{taken[0]} is the name of something else in a new world.", "Choose another name.")


def check_tool(tool: str) -> None:
    """Refuse a tool that a new world cannot have."""
    if tool != NONE and tool not in TOOLS:
        raise UnknownName(noun="tool for a new world", name=tool, known=TOOLS)


def files_of_plan(plan: WorldPlan, path: Path) -> dict[str, str]:
    """Each file of the new world, which will be at this path, by its path from there."""
    check_name("world name", plan.name)
    check_cast(plan.cast)
    check_tool(plan.tool)
    files = {SCENARIO_FILE: _filled("world/scenario.yaml", _values_of_scenario(plan, path))}
    files |= {f"creatures/{name}.yaml": text for name, text in _creatures(plan)}
    if plan.has_script:
        files[SCRIPT_FILE] = "".join(_script(plan))
    if plan.tool == "look_up":
        files[DOCUMENT] = _filled(DOCUMENT, {})
    _check(plan, files)
    schemas = editor_schemas()
    return files | {f"{SCHEMAS}/{file}": schemas[file] for file in (SCENARIO_SCHEMA, CREATURE_SCHEMA)}


def _check(plan: WorldPlan, files: Mapping[str, str]) -> None:
    """Load it: a text that nobody could guess, such as a title that deceives, may make it unsound."""
    world_of_files(plan.name, {path: text.encode() for path, text in files.items()})


def _filled(template: str, values: Mapping[str, str]) -> str:
    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(values)


def as_yaml(text: str) -> str:
    """A name that YAML reads back as text: one such as 12 or no stands between quotation marks."""
    return text if text[:1].isalpha() and text.lower() not in YAML_WORDS else quoted(text)


def quoted(text: str) -> str:
    """Any text between quotation marks: YAML reads it back as it is."""
    return json.dumps(text, ensure_ascii=False)


def _values_of_scenario(plan: WorldPlan, path: Path) -> dict[str, str]:
    return {
        "program": program_called(),
        "path": shlex.quote(str(path)),
        "name": as_yaml(plan.name),
        "title": quoted(plan.title or title_of(plan.name)),
        "cast": _listed(plan.everybody),
        "kinds": _kinds(plan),
        "documents": _documents(plan),
        "deal": _deal(plan),
        "competition": _competition(plan),
        "ending": _ending(plan),
        "third": str(plan.turns - 1),
        "max_turns": str(plan.turns + 2),
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(as_yaml, names))


def _kinds(plan: WorldPlan) -> str:
    return f"kinds:\n  {ASKED}: {{text: string}}\n" if plan.tool != NONE else ""


def _deal(plan: WorldPlan) -> str:
    if not plan.secrets:
        return ""
    facts = ", ".join(map(quoted, plan.secrets))
    return (
        "\n# Who it belongs to: code deals it, face down. Nobody else reads it, and a line that says it is masked.\n"
        f"deal:\n  whose: {{to: {as_yaml(plan.cast[1])}, from: [{facts}]}}\n"
    )


def _documents(plan: WorldPlan) -> str:
    if plan.tool != "look_up":
        return ""
    about = "# What whoever has the tool look_up finds passages in: files beside this one, or patterns such as notes/*.md."
    return f"\n{about}\ndocuments: [{DOCUMENT}]\n"


def _competition(plan: WorldPlan) -> str:
    if plan.contest == NONE:
        return "competition: {kind: none}\n"
    if plan.contest == "judged":
        return f"competition: {{kind: judged, contestants: [{_listed(plan.cast)}]}}\n"
    teams = ", ".join(f"{team}: [{as_yaml(name)}]" for team, name in zip(TEAMS, plan.cast, strict=False))
    return f"competition: {{kind: versus, teams: {{{teams}}}}}\n"


def _ending(plan: WorldPlan) -> str:
    if plan.contest != NONE:
        return "ends_when: {kind: judge.verdict}"
    return f"ends_when: {{kind: agent.spoke, count: {plan.turns * len(plan.cast)}}}"


def _creatures(plan: WorldPlan) -> Iterator[tuple[str, str]]:
    for name, part in zip(plan.cast, PARTS, strict=False):
        yield name, _filled(f"creatures/{part}.yaml", {"name": as_yaml(name), **_values_of_host(plan)})
    if plan.tool != NONE:
        cares_about = TOOLS[plan.tool].cares_about
        yield CLERK, _filled(f"creatures/{CLERK}.yaml", {"tool": plan.tool, "cares_about": cares_about})
    if plan.contest != NONE:
        yield JUDGE, _filled(f"creatures/{JUDGE}.yaml", {"turns": str(plan.turns)})


def _values_of_host(plan: WorldPlan) -> dict[str, str]:
    """What differs in the file of the first of the cast."""
    wants = "To have what is in the middle out on the road, where it is looked for, and the broom back."
    ask = " Asks the clerk once what nobody here knows."
    return {
        "wants": wants + (ask if plan.tool != NONE else ""),
        "may_emit": f"agent.spoke, {ASKED}" if plan.tool != NONE else "agent.spoke",
    }


def _script(plan: WorldPlan) -> Iterator[str]:
    """The parts of the script, one below the other."""
    yield _filled(f"{SCRIPT}/head.txt", {})
    for at, (name, part) in enumerate(zip(plan.cast, PARTS, strict=False)):
        other = plan.cast[1 - at] if at < 2 else plan.cast[0]
        values = {"me": name, "other": other, "Other": title_of(other)}
        yield _filled(f"{SCRIPT}/{part}.txt", values)
        if plan.secrets and at < 2:
            yield _filled(f"{SCRIPT}/{part}-secret.txt", values)
        if plan.tool != NONE and at < 2:
            yield _filled(f"{SCRIPT}/{part}-tool.txt", {"question": TOOLS[plan.tool].question})
    if plan.contest != NONE:
        yield _filled(f"{SCRIPT}/{JUDGE}.txt", {})
