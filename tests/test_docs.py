"""The docs tell the truth: every path, target, link, name and sample in them is real.

What the program offers (kinds, errors, public names, commands, settings, fields of files) is asked of the program itself,
so that something new which nobody wrote down fails here. A missing page fails too; nothing is skipped.
"""

import dataclasses
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from opentelemetry import trace
from pydantic import BaseModel
from typer.main import get_command

import glasshouse
import glasshouse.cli.app
from glasshouse import errors
from glasshouse.events import kinds
from glasshouse.events.payloads import PAYLOAD_TYPES, RUN_PAYLOAD_TYPES
from glasshouse.grids.grid_file import GridFile, WhatIfPlan
from glasshouse.manifests.checked_world import BUILT_IN_REFEREES
from glasshouse.manifests.likeness import CreatureFile
from glasshouse.manifests.loading import problems_in
from glasshouse.manifests.models_file import ModelsFile, load_models_file
from glasshouse.manifests.scenario import FIELD_TYPES, Scenario
from glasshouse.manifests.tools_file import ToolsFile, load_tools_file
from glasshouse.settings import Settings
from glasshouse.tools.group.requests import ARGUMENTS
from glasshouse.turns.contests.referees import REFEREES
from tests.journeys.commanding import run_code
from tests.pages import (
    REQUIRED_PAGES,
    ROOT,
    Fence,
    bounds_told_of,
    calls_told_of,
    command_lines,
    exists_somewhere,
    faults_of_index,
    fences,
    fields_told_of,
    files_in,
    fragments_in,
    groups_told_of,
    is_broken,
    is_documented,
    is_documented_option,
    is_shown,
    links,
    page_text,
    pages,
    paths_named,
    rows_in_table,
    run_sample,
    samples,
    sections,
    targets_named,
    targets_offered,
    write_files,
)
from tests.rules.test_public_face import PUBLIC
from tests.what_is_offered import (
    bounds_of_program,
    bounds_without_reason,
    commands_of,
    errors_of,
    fields_and_defaults,
    fields_of,
    groups_of_methods,
    kinds_of,
    limits_that_can_be_set,
    models_within,
    names_read,
    options_of,
    parameters_of,
)
from tests.worlds_on_pages import problems_with, worlds_under
from tools import act_table, layers

code_words_max = 12
"""How many words a reader of the code may have to learn beside those of the product."""

VALUES = {
    value.__name__: value
    for module in PUBLIC
    for name in module.__all__
    if isinstance(value := getattr(module, name), type)
    and (hasattr(value, "__struct_fields__") or dataclasses.is_dataclass(value))
}
"""Every public value, whose fields a reader may ask for."""

FIELDS_OF_PAYLOADS = {
    kind: fields
    for kind, payload in (PAYLOAD_TYPES | RUN_PAYLOAD_TYPES).items()
    if (fields := list(inspect.get_annotations(payload)))
}

FILE_FIELDS = {
    f"`{path or file}`": model
    for file, top in (("scenario.yaml", Scenario), ("creatures/*.yaml", CreatureFile))
    for model, path in models_within(top).items()
}
"""Every model of a world's files, by the heading that must tell of it."""

MODELS_FILE_FIELDS = {
    f"`{path or 'models.yaml'}`": model for model, path in models_within(ModelsFile).items()
}
"""The same for models.yaml."""

TOOLS_FILE_FIELDS = {f"`{path or 'tools.yaml'}`": model for model, path in models_within(ToolsFile).items()}
"""The same for tools.yaml."""


@pytest.mark.parametrize("page", REQUIRED_PAGES)
def test_every_page_that_a_reader_expects_is_there(page: str) -> None:
    assert (ROOT / page).is_file(), f"write {page}"


# The changelog tells of files as they were.
@pytest.mark.parametrize("page", [page for page in pages() if page != "CHANGELOG.md"])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    # A chapter of the tutorial writes its files: they are in the folder of its name.
    written_by_chapter = ROOT / "examples/tutorial" / Path(page).stem
    places = [ROOT, ROOT / "src/glasshouse", (ROOT / page).parent, written_by_chapter]

    assert {path for path in paths_named(page_text(page)) if not exists_somewhere(path, places)} == set()


@pytest.mark.parametrize("page", pages())
def test_every_make_target_that_a_page_names_is_real(page: str) -> None:
    assert targets_named(page_text(page)) <= targets_offered(page_text("Makefile"))


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_somewhere(page: str) -> None:
    assert [link for link in links(page_text(page)) if is_broken(link, ROOT / page)] == []


@pytest.mark.parametrize("page", [page for page in pages() if command_lines(page_text(page))])
def test_every_command_line_that_a_page_shows_is_understood(page: str) -> None:
    for _, *words in command_lines(page_text(page)):
        command: Any = get_command(glasshouse.cli.app.app)
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]

        assert command.make_context("glasshouse", words).command is command


def test_every_kind_is_documented() -> None:
    page = page_text("docs/reference/events.md")

    assert kinds_of(kinds)
    assert {kind for kind in kinds_of(kinds) if not is_documented(kind, page)} == set()


def test_every_error_is_documented() -> None:
    page = page_text("docs/reference/errors.md")

    assert errors_of(errors)
    assert {name for name in errors_of(errors) if not is_documented(name, page)} == set()


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_every_public_name_is_documented(module: ModuleType) -> None:
    page = page_text("docs/reference/api.md")

    assert module.__all__
    assert {name for name in module.__all__ if not is_documented(name, page)} == set()


@pytest.mark.parametrize("module", PUBLIC[1:], ids=lambda module: module.__name__)
def test_the_row_of_a_public_module_lists_its_names(module: ModuleType) -> None:
    page = page_text("docs/reference/api.md")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{module.__name__}` |"))
    listed = set(re.findall(r"`(\w+)`", row))

    # The names of the other two are in tables of their own, which their rows point to.
    assert not listed or listed == set(module.__all__) - set(glasshouse.__all__)
    assert listed or module in (glasshouse.testing, glasshouse.views)


def test_the_code_map_has_a_room_for_every_module() -> None:
    source = ROOT / "src" / "glasshouse"
    code_map = page_text("docs/architecture.md").partition("## Code map\n")[2].partition("\n## ")[0]
    rooms = re.findall(r"`([\w/.]+)`", " ".join(re.findall(r"^\|(.+?)\|", code_map, re.MULTILINE)))
    modules = [path.relative_to(source).as_posix() for path in source.rglob("*.py")]

    homeless = [
        module
        for module in modules
        if not module.endswith("__init__.py")
        and not any(module == room or (room.endswith("/") and module.startswith(room)) for room in rooms)
    ]
    assert [module for module in homeless if not module.startswith("worlds/")] == []
    assert [room for room in rooms if not (source / room).exists()] == []


def test_the_glossary_tells_each_word_once() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", page_text("docs/glossary.md"), re.MULTILINE)

    assert len(words) > 50
    assert sorted({word for word in words if words.count(word) > 1}) == []


def test_the_code_has_few_words_of_its_own() -> None:
    words = re.findall(
        r"^\| \*\*", sections(page_text("docs/glossary.md"))["Words of the code"], re.MULTILINE
    )

    assert 1 <= len(words) <= code_words_max, "name it so that no row is needed, or drop another"


def test_every_command_is_documented() -> None:
    page = page_text("docs/reference/cli.md")
    commands = set(commands_of(get_command(glasshouse.cli.app.app), "glasshouse"))

    assert commands
    assert {command for command in commands if not is_shown(command, page)} == set()


def test_every_option_is_documented() -> None:
    page = page_text("docs/reference/cli.md")
    options = options_of(get_command(glasshouse.cli.app.app))

    assert options
    assert {option for option in options if not is_documented_option(option, page)} == set()


@pytest.mark.parametrize("kind", sorted(FIELDS_OF_PAYLOADS))
def test_the_fields_of_every_typed_payload_are_documented_in_order(kind: str) -> None:
    documented = fields_told_of(kind, page_text("docs/reference/events.md"))

    assert documented == FIELDS_OF_PAYLOADS[kind]


def test_the_fields_of_an_event_are_documented() -> None:
    documented = sections(page_text("docs/reference/events.md"))["Fields"]

    assert {name for name in fields_of(glasshouse.Event) if not is_documented(name, documented)} == set()


def test_every_call_of_the_terrarium_is_documented() -> None:
    page = page_text("docs/reference/api.md")
    calls = {name for name in dir(glasshouse.Terrarium) if not name.startswith("_")}
    described = {name for name, _ in calls_told_of(page)}

    assert {name for name in calls - described if not is_documented(f"t.{name}", page)} == set()


def test_the_calls_of_the_terrarium_stand_in_the_same_groups_in_the_source_and_in_the_reference() -> None:
    in_source = groups_of_methods(glasshouse.Terrarium)
    in_reference = groups_told_of(page_text("docs/reference/api.md"))

    assert in_source
    assert list(in_source.items()) == list(in_reference.items())


def test_every_call_is_documented_with_its_parameters() -> None:
    page = page_text("docs/reference/api.md")
    calls = calls_told_of(page)
    wrong = [
        f"{name}({described})"
        for name, described in calls
        if described != parameters_of(getattr(glasshouse.Terrarium, name))
    ]

    assert calls
    assert wrong == []
    for call in (glasshouse.play, glasshouse.Terrarium, glasshouse.contests.Tournament, glasshouse.Grid):
        assert f"`{call.__name__}({parameters_of(call)})`" in page


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_the_fields_of_every_public_value_are_documented(value: type) -> None:
    page = page_text("docs/reference/api.md") + page_text("docs/reference/events.md")

    assert {name for name in fields_of(value) if not is_documented(name, page)} == set()


@pytest.mark.parametrize("heading", sorted(FILE_FIELDS))
def test_every_field_of_a_worlds_files_is_documented_with_its_default(heading: str) -> None:
    documented = sections(page_text("docs/reference/world-files.md"))

    assert rows_in_table(documented.get(heading, "")) == fields_and_defaults(FILE_FIELDS[heading])


@pytest.mark.parametrize("heading", sorted(MODELS_FILE_FIELDS))
def test_every_field_of_a_models_file_is_documented_with_its_default(heading: str) -> None:
    documented = sections(page_text("docs/reference/models-file.md"))

    assert rows_in_table(documented.get(heading, "")) == fields_and_defaults(MODELS_FILE_FIELDS[heading])


@pytest.mark.parametrize(("heading", "model"), [("Axes", GridFile), ("what_ifs", WhatIfPlan)])
def test_every_field_of_a_grid_file_is_documented(heading: str, model: type[BaseModel]) -> None:
    documented = sections(page_text("docs/reference/grid-file.md"))

    assert [name for name, _ in rows_in_table(documented[heading])] == [*model.model_fields]


@pytest.mark.parametrize("heading", sorted(TOOLS_FILE_FIELDS))
def test_every_field_of_a_tools_file_is_documented_with_its_default(heading: str) -> None:
    documented = sections(page_text("docs/reference/tools-file.md"))

    assert rows_in_table(documented.get(heading, "")) == fields_and_defaults(TOOLS_FILE_FIELDS[heading])


def test_every_tools_file_on_a_page_is_sound(tmp_path: Path) -> None:
    (shown,) = [
        fence.text for fence in fences(page_text("docs/reference/tools-file.md")) if fence.language == "yaml"
    ]
    (tmp_path / "tools.yaml").write_text(shown)

    assert [*load_tools_file(tmp_path / "tools.yaml").servers] == ["weather", "library"]


def test_every_models_file_on_a_page_is_sound(tmp_path: Path) -> None:
    shown = [
        fence.text
        for page in ("docs/reference/models-file.md",)
        for fence in fences(page_text(page))
        if fence.language == "yaml"
    ]

    assert shown
    for number, text in enumerate(shown):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text, encoding="utf-8")
        load_models_file(file)


def test_every_type_of_field_and_every_referee_is_documented() -> None:
    documented = sections(page_text("docs/reference/world-files.md"))

    assert [name for name in FIELD_TYPES if not is_documented(name, documented["Types of fields"])] == []
    assert set(REFEREES) == BUILT_IN_REFEREES
    assert [name for name in REFEREES if not is_documented(name, documented["Referees"])] == []


@pytest.mark.parametrize(
    "tool", ["group_add_node", "group_remove_node", "group_channel", "group_wire", "group_status"]
)
def test_every_argument_of_a_group_tool_is_documented(tool: str) -> None:
    documented = sections(page_text("docs/reference/group-tools.md"))

    arguments = [field.name for field in msgspec.structs.fields(ARGUMENTS[tool])]
    assert {name for name, _ in rows_in_table(documented[f"`{tool}`"])} == set(arguments)


def test_every_group_tool_has_its_section() -> None:
    documented = sections(page_text("docs/reference/group-tools.md"))

    assert [tool for tool in ARGUMENTS if f"`{tool}`" not in documented] == []


def test_every_setting_is_documented_with_its_default() -> None:
    documented = rows_in_table(page_text("docs/reference/settings.md"))

    offered = [(f"GLASSHOUSE_{name.upper()}", default) for name, default in fields_and_defaults(Settings)]
    assert offered
    assert documented == offered


def test_every_bound_on_the_page_is_there_with_its_value() -> None:
    listed = bounds_told_of(page_text("docs/reference/limits.md"))

    assert listed
    assert listed - {(name, value) for name, value, _ in bounds_of_program()} == set()


def test_every_bound_says_in_the_code_what_it_is_for() -> None:
    source = ROOT / "src/glasshouse"
    unexplained = {
        f"{path.relative_to(source)}: {name}"
        for path in source.rglob("*.py")
        for name in bounds_without_reason(path.read_text(encoding="utf-8"))
    }

    assert sorted(unexplained) == []


def test_every_limit_that_can_be_set_is_listed() -> None:
    # The defaults stand where the limit is set: the tests of files, settings and calls compare them.
    listed = set(re.findall(r"`(\w+)`", sections(page_text("docs/reference/limits.md"))["What you can set"]))
    files = [model for top in (Scenario, CreatureFile, ModelsFile, ToolsFile) for model in models_within(top)]
    offered = limits_that_can_be_set([*files, Settings], [glasshouse.Terrarium, glasshouse.tool])

    assert listed - {"governor", "policy", "voice", "limits", "Route", "GLASSHOUSE_ACT_SECONDS_MAX"} == {
        name for name, _ in offered
    }
    described = page_text("docs/reference/api.md")
    assert "`@tool(name=None, seconds_max=10, bytes_max=4096)`" in described
    assert set(limits_that_can_be_set([], [glasshouse.tool])) == {
        ("seconds_max", "`10.0`"),
        ("bytes_max", "`4096`"),
    }


def test_every_bound_bounds_something() -> None:
    bounds = {name for name, _, _ in bounds_of_program()}

    assert bounds - names_read() == set()


def test_the_table_of_layers_says_what_the_import_contracts_say() -> None:
    page = layers.PAGE.read_text(encoding="utf-8")
    contracts = layers.contracts((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert layers.with_tables(page, layers.written(contracts)) == page, "run: python -m tools.layers"


def test_the_page_on_an_act_lists_the_states_and_moves_of_the_engines_table() -> None:
    page = act_table.PAGE.read_text(encoding="utf-8")

    assert act_table.with_tables(page) == page, "run: python -m tools.act_table"


def test_every_page_is_found_from_the_index_under_its_own_title() -> None:
    there = {page.removeprefix("docs/"): page_text(page) for page in pages() if page.startswith("docs/")}
    index = there.pop("README.md")

    assert faults_of_index(index, there) == []
    assert re.findall("^## (.+)$", index, re.MULTILINE) == ["Learn", "Do", "Look up", "Understand"]
    assert "docs/README.md" in {link.partition("#")[0] for link in links(page_text("README.md"))}


def test_the_readme_shows_python_that_runs() -> None:
    assert "README.md" in {page for page, _ in samples()}


@pytest.mark.parametrize(("page", "sample"), [pytest.param(p, s, id=f"{p}:{s.line}") for p, s in samples()])
def test_every_sample_runs(page: str, sample: Fence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # A sample may configure OpenTelemetry; the tests after it are not traced.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    write_files(page_text(page), tmp_path)

    run_sample(sample, page)


REPL_PAGES = [page for page in pages() if "python -m asyncio" in page_text(page)]


def test_pages_with_await_at_top_level_say_where_it_works() -> None:
    assert len(REPL_PAGES) >= 8


AS_REPL = "import runpy; runpy.run_module('asyncio', run_name='__main__', alter_sys=True)"
"""What `python -m asyncio` does."""


@pytest.mark.parametrize("page", REPL_PAGES)
def test_samples_that_claim_to_run_in_a_repl_can_be_pasted_there(page: str, tmp_path: Path) -> None:
    # Without the log: a sample may show how a watcher that raises is reported.
    pasted = "import logging; logging.disable()\n" + "\n".join(s.text for p, s in samples() if p == page)

    said = run_code(AS_REPL, cwd=tmp_path, typed=pasted + "\n")

    assert said.returncode == 0
    assert "Error" not in said.stderr, said.stderr


WORLD_PAGES = [
    page for page in pages() if any(name.endswith("scenario.yaml") for name in files_in(page_text(page)))
]


def test_the_pages_on_worlds_show_worlds() -> None:
    assert {"docs/how-to/write-a-world.md", "docs/reference/world-files.md"} <= set(WORLD_PAGES)


@pytest.mark.parametrize("page", WORLD_PAGES)
def test_every_world_on_a_page_is_sound(page: str, tmp_path: Path) -> None:
    write_files(page_text(page), tmp_path)

    assert [str(problem) for world in worlds_under(tmp_path) for problem in problems_in(world)] == []


@pytest.mark.parametrize(
    ("page", "part"),
    [pytest.param(p, f, id=f"{p}:{f.line}") for p in WORLD_PAGES for f in fragments_in(page_text(p))],
)
def test_every_part_of_a_scenario_on_a_page_fits_into_the_world_there(
    page: str, part: Fence, tmp_path: Path
) -> None:
    write_files(page_text(page), tmp_path)

    assert problems_with(part.text, worlds_under(tmp_path)[0]) == []
