"""The reader of the docs can be trusted: what is there is found, and what is missing or wrong is noticed."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from glasshouse.manifests.loading import problems_in
from tests.pages import (
    ROOT,
    Fence,
    bounds_told_of,
    calls_told_of,
    command_lines,
    exists_somewhere,
    faults_of_index,
    fences,
    fields_told_of,
    fragments_in,
    groups_told_of,
    is_broken,
    is_documented,
    is_shown,
    links,
    paths_named,
    rows_in_table,
    run_sample,
    targets_named,
    targets_offered,
    write_files,
)
from tests.what_is_offered import (
    bounds_in,
    bounds_without_reason,
    fields_and_defaults,
    groups_of_methods,
    limits_that_can_be_set,
    models_within,
    parameters_of,
)
from tests.worlds_on_pages import problems_with, worlds_under
from tools import layers

SAMPLE_PAGE = """# A page

See `docs/nowhere.md`, `tests/rules/`, `world/decisions/decide.py`, `a/b` and `make teste JOBS=4`.
Read [this](nowhere.md), [that](#a-page), [there](#no-heading) and [far](https://example.invalid).

```sh
$ make play
```

```python
await something
```
"""


def test_a_page_is_read_for_paths_targets_links_and_samples() -> None:
    sh, python = fences(SAMPLE_PAGE)

    assert paths_named(SAMPLE_PAGE) == {"docs/nowhere.md", "tests/rules/", "world/decisions/decide.py"}
    assert targets_named(SAMPLE_PAGE) == {"teste", "play"}
    assert links(SAMPLE_PAGE) == ["nowhere.md", "#a-page", "#no-heading"]
    assert (sh.language, python.language, python.text) == ("sh", "python", "await something\n")
    assert SAMPLE_PAGE.splitlines()[python.line - 1] == "await something"


def test_commands_and_calls_on_a_page_are_read_word_by_word() -> None:
    shell = '```sh\nglasshouse play "a b" \\\n  --json | tail -n 1   # the end\nmake play\n```\n'

    assert command_lines(shell) == [["glasshouse", "play", "a b", "--json"]]
    assert calls_told_of("`await t.step(turns=1)`, `t.graphs()` and `t.x`") == [
        ("step", "turns=1"),
        ("graphs", ""),
    ]
    page = "## T\n\n`t.x()`\n\n### Going\n\n| call | what |\n|---|---|\n| `await t.b()`, `t.a` | `b` after t.c |\n"
    assert groups_told_of(page) == {"Going": ["b", "a"]}
    assert groups_of_methods(Grouped) == {"": ["begin"], "Going": ["step", "turns"], "Reading": ["event"]}
    assert parameters_of(named_and_not) == 'world, *, pace="fast"'


class Grouped:
    """A class whose methods stand in groups."""

    def begin(self) -> None: ...

    # Going

    async def step(self) -> None:
        # Not a group: it is inside a method.
        ...

    @property
    def turns(self) -> int:
        return 0

    def _hidden(self) -> None: ...

    # Reading

    def event(self) -> None: ...


def named_and_not(world: str, *, pace: str = "fast") -> None:
    """A call with one parameter of each sort."""


def test_what_is_not_there_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(SAMPLE_PAGE, encoding="utf-8")

    assert [link for link in links(SAMPLE_PAGE) if is_broken(link, page)] == ["nowhere.md", "#no-heading"]
    assert not exists_somewhere("docs/nowhere.md", [ROOT, tmp_path])
    assert exists_somewhere("docs/adr/*.md", [ROOT])
    assert targets_offered("lock_options := x\nplay: setup ## go\n") == {"play"}


def test_a_name_counts_only_when_it_stands_whole() -> None:
    assert is_documented("Terrarium", "`Terrarium(store)` hosts creatures")
    assert not is_documented("Terra", "`Terrarium(store)` hosts creatures")
    assert not is_documented("run.start", "`run.started`")
    assert is_shown("glasshouse tour", "run `glasshouse tour --slow`")
    assert not is_shown("glasshouse tour", "run `glasshouse tours`")


def test_a_wrong_table_of_fields_or_bounds_is_noticed() -> None:
    page = "### `a.b` and `c.d`\n\n| `one` | text |\n| `two` | text |\n\n### `e.f`\n\n| `three` | text |\n"
    row = "| `queue_events_max` | 1,024 events | they wait |\n"

    assert fields_told_of("a.b", page) == fields_told_of("c.d", page) == ["one", "two"]
    assert fields_told_of("a", page) == []
    decimal = "| `look_seconds_min` | 0.25 seconds | it waits |\n"

    assert bounds_told_of(row + decimal) == {
        ("queue_events_max", "1,024"),
        ("look_seconds_min", "0.25"),
    }
    assert bounds_told_of(row.replace("they wait", "")) == set()
    assert bounds_in("a_max = 1\nb_min: int = 2\nmax_c = 3\ndef f():\n    d_max = 4\n") == {"a_max", "b_min"}


def test_a_bound_without_a_reason_is_noticed() -> None:
    explained = '# Why.\na_max = 1\nb_max = 2\n"""Why."""\nc_max = 3  # Why.\n'

    assert bounds_without_reason(explained) == set()
    assert bounds_without_reason("# Why.\n\na_max = 1\nb_min: int = 2\nc = 3\n") == {"a_max", "b_min"}


def test_a_limit_that_can_be_set_is_found_in_files_and_calls() -> None:
    class Limits(BaseModel):
        max_turns: int = 7
        words: int = 3

    def call(*, seconds_max: float = 2.5, name: str = "") -> None: ...

    assert limits_that_can_be_set([Limits], [call]) == {("max_turns", "`7`"), ("seconds_max", "`2.5`")}


def test_a_sample_may_await_and_may_fail() -> None:
    run_sample(Fence("python", 3, "import asyncio\nawait asyncio.sleep(0)\n"), "page.md")
    with pytest.raises(ZeroDivisionError):
        run_sample(Fence("python", 3, "1 / 0\n"), "page.md")


class _Inner(BaseModel):
    depth: int = 3


class _Outer(BaseModel):
    name: str
    wanted: bool = False
    words: tuple[str, ...] = ("a", "b")
    inner: Annotated[tuple[_Inner, ...], Field(max_length=2)] = Field(default=(), alias="from")
    own: _Inner = _Inner()
    nothing: int | None = None


def test_the_fields_of_files_are_found_with_their_defaults() -> None:
    assert models_within(_Outer) == {_Outer: "", _Inner: "inner"}
    assert fields_and_defaults(_Inner) == [("depth", "`3`")]
    assert fields_and_defaults(_Outer) == [
        ("name", "required"),
        ("wanted", "`false`"),
        ("words", "`[a, b]`"),
        ("from", "empty"),
        ("own", "its own"),
        ("nothing", "none"),
    ]


def test_a_field_or_setting_that_is_left_out_or_has_another_default_is_noticed() -> None:
    row = "| `depth` | number | `3` | how deep | `depth: 4` |\n"

    assert rows_in_table(row) == fields_and_defaults(_Inner)
    assert rows_in_table(row.replace("`3`", "`4`")) != fields_and_defaults(_Inner)
    assert rows_in_table("| `depth` | how deep |\n") == rows_in_table("no table") == []
    assert not is_documented("names_the_word", "`names_the_words` and names_the_word")


def test_a_world_on_a_page_is_found_and_its_faults_are_noticed(tmp_path: Path) -> None:
    page = (
        "```yaml\n# w/scenario.yaml\nname: w\ncast: [ada]\n```\n\n"
        "```yaml\n# w/creatures/ada.yaml\nname: ada\nschedule: {tick_every: 1}\n```\n\n```yaml\ngoal: Sing.\n```\n"
    )
    write_files(page, tmp_path)
    (world,) = worlds_under(tmp_path)

    assert problems_in(world) == []
    assert [part.text for part in fragments_in(page)] == ["goal: Sing.\n"]
    assert problems_with("goal: Sing.\n", world) == []
    assert len(problems_with("cast: [adda]\nglaol: Sing.\n", world)) == 2


def test_a_page_that_an_index_leaves_out_names_wrongly_or_lists_twice_is_noticed() -> None:
    texts = {"a.md": "# A page\n", "adr/0001-x.md": "# 0001. A choice\n", "b.md": "# Another\n"}
    index = "See [B](b.md).\n\n- [A page](a.md): all of it\n- [0001](adr/0001-x.md) A choice\n"

    assert faults_of_index(index + "- [Another](b.md): more\n", texts) == []
    assert faults_of_index(index, texts) == ["write: - [Another](b.md):"]
    assert faults_of_index(index + "- [An other](b.md): more\n", texts) == ["write: - [Another](b.md):"]
    assert faults_of_index(index + "- [Another](b.md): [gone](c.md)\n- [Another](b.md): x\n", texts) == [
        "listed 2 times: b.md",
        "no page: c.md",
    ]


CONTRACTS = """
[[tool.importlinter.contracts]]
id = "layers"
type = "layers"
containers = ["glasshouse"]
layers = ["__main__", "testing", "frameworks | stores", "runtime", "turns", "errors"]

[[tool.importlinter.contracts]]
id = "runtime"
type = "layers"
containers = ["glasshouse.runtime"]
layers = ["stage", "acts | past"]

[[tool.importlinter.contracts]]
id = "pure-core"
type = "forbidden"
source_modules = ["glasshouse.turns"]
forbidden_modules = ["asyncio"]

[[tool.importlinter.contracts]]
id = "stores"
type = "forbidden"
source_modules = ["glasshouse.stores"]
forbidden_modules = ["glasshouse.turns", "glasshouse.runtime"]
ignore_imports = ["glasshouse.stores.** -> glasshouse.turns.moment"]

[[tool.importlinter.contracts]]
id = "adapters"
type = "protected"
protected_modules = ["glasshouse.stores"]
allowed_importers = ["glasshouse.testing"]
"""


def test_the_tables_of_layers_are_what_the_contracts_say() -> None:
    tables = layers.written(layers.contracts(CONTRACTS))

    assert tables.splitlines()[2:] == [
        "| **faces** | 1 | `__main__` | all but `stores` |",
        "| **on top** | 2 | `testing` | all |",
        "| **adapters** | 3 | `frameworks` | all |",
        "|  | 3 | `stores` | only `errors`, `turns.moment` |",
        "| **engine** | 4 | `runtime` | all |",
        "| **rules** | 5 | `turns` (pure) | all |",
        "| **base** | 6 | `errors` | nothing |",
        "",
        "| layer of `runtime/` | entries |",
        "|---|---|",
        "| 1 | `stage` |",
        "| 2 | `acts`, `past` |",
    ]
