"""The house stays tidy: lengths, names, docstrings, words, decision records, locks.

Each check is a pure function from a path and a text to complaints. Each is also shown a bad sample, so that a check
which cannot fail is itself a failing test.
"""

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

import pytest

Check = Callable[[PurePosixPath, str], list[str]]

ROOT = Path(__file__).resolve().parent.parent

function_lines_max = 60

DRAWERS = frozenset(
    {"util", "utils", "helper", "helpers", "common", "manager", "managers", "base", "bases", "misc"}
)

# Where a handler may catch everything and go on.
CATCHES_EVERYTHING_IN = frozenset(
    {
        # Round one creature's act: whatever its agent raises is told as `agent.failed`, and the show goes on.
        "src/glasshouse/runtime/acts/act.py",
        # Round a tool in its thread: whatever it raises is told to the creature that used it, and the act goes on.
        "src/glasshouse/tools/running.py",
        # Round code beside a world: whatever it raises is told as a fault of that world, with its file.
        "src/glasshouse/runtime/minds/code_beside.py",
        # Round the words of an exception, which may raise when it is asked for them.
        "src/glasshouse/runtime/minds/faults.py",
        # Round an observer's callback and its task: whoever raises is let go, and the show goes on.
        "src/glasshouse/runtime/ledger/observer.py",
        # The thread hands whatever goes wrong to the caller who awaits the answer.
        "src/glasshouse/stores/sqlite/thread.py",
    }
)

# Spelt in halves, so that this file passes its own check.
UNFINISHED = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
UNFINISHED_IN_SRC = ["NotImplemented" + "Error"]
REGISTRY_HOSTS = [
    r"py" + r"pi\.(?:org|python\.org|io)",
    r"python" + r"hosted\.org",
    r"registry\." + r"(?:npmjs|yarnpkg)\.",
    r"\bcrates" + r"\.io",
    r"anaconda" + r"\.(?:org|com)",
    r"proxy\.golang" + r"\.org",
]

ANOTHER_PROJECT = r"(?:pip|pipx|uv tool|uvx?)\b.*\binstall\b[^\n]*[\s'\"]glass" + r"house(?:[\['\"\s]|$)"
"""Our import name is another project's on the package index: ours is called glasshouse-agents."""

SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "vendor", "golden"})
TEXT_SUFFIXES = frozenset(
    {".py", ".md", ".toml", ".txt", ".sql", ".sh", ".yaml", ".yml", ".json", ".cfg", ".ini"}
)


def complaints_about_function_lengths(path: PurePosixPath, text: str) -> list[str]:
    return [
        f"{path}:{node.lineno}: {node.name} has {lines} lines, at most {function_lines_max}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > function_lines_max
    ]


METHOD = re.compile(r"def (\w+)\(")
PASSED_ON = re.compile(r"self\s*\.\s*\w+\s*\.\s*(\w+)\s*\(")


def complaints_about_passing_on(path: PurePosixPath, text: str) -> list[str]:
    """Only the public face may have methods that do nothing but call another object's method of the same name."""
    # Parsing takes a hundred times as long as looking for a method and a call of one name.
    is_possible = not {*METHOD.findall(text)}.isdisjoint(PASSED_ON.findall(text))
    if path.name == "terrarium.py" or not is_possible:
        return []
    classes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    methods = [(owner, method) for owner in classes for method in owner.body]
    return [
        f"{path}:{method.lineno}: {owner.name}.{method.name} only passes the call on; let callers call the other"
        for owner, method in methods
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and _passes_on(method)
    ]


def _passes_on(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    (*_, last) = body = [line for line in method.body if not _is_docstring(line)] or [ast.Pass()]
    answer = last.value if isinstance(last, ast.Return | ast.Expr) else None
    call = answer.value if isinstance(answer, ast.Await) else answer
    match call:
        case ast.Call(func=ast.Attribute(attr=method.name, value=ast.Attribute(value=ast.Name(id="self")))):
            given = [*call.args, *[keyword.value for keyword in call.keywords]]
            names = [part.id for part in given if isinstance(part, ast.Name)]
            taken = [part.arg for part in (*method.args.args[1:], *method.args.kwonlyargs)]
            return len(body) == 1 and names == taken and len(names) == len(given)
        case _:
            return False


def _is_docstring(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def complaints_about_drawers(path: PurePosixPath, _text: str) -> list[str]:
    words = {word for part in path.with_suffix("").parts for word in part.lower().strip("_").split("_")}
    return [f"{path}: '{word}' is a drawer; name it after its noun" for word in sorted(words & DRAWERS)]


def names_used_twice(files: Iterable[tuple[PurePosixPath, str]]) -> list[str]:
    """Modules, and classes, that have one name inside one layer: a folder directly under `src/glasshouse`."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for path, text in files:
        if len(path.parts) < 4 or "worlds" in path.parts:
            continue
        classes = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
        modules = [path.stem] if path.stem != "__init__" else []
        for sort, some in (("module", modules), ("class", classes)):
            for name in some:
                names.setdefault((path.parts[2], sort, name), []).append(str(path))
    return [f"{sort} {name}: {', '.join(where)}" for (_, sort, name), where in names.items() if where[1:]]


# Fields of what creatures write, which may have any shape. All others are read through `payload_of(event, Struct)`.
OPEN_FIELDS = frozenset({"text", "title", "reason", "winner", "cites", "rests_on"})
PAYLOAD_KEY = re.compile(r"""payload(?:\[|\.get\()["']([a-z_]+)["'](?!\]\s*=[^=])""")


def complaints_about_payload_keys(path: PurePosixPath, text: str) -> list[str]:
    read = PAYLOAD_KEY.findall(text) if "worlds" not in path.parts else []
    return [f"{path}: reads {field!r} of a payload by key" for field in read if field not in OPEN_FIELDS]


# Names that do not say what a value is. `place` is a word of the domain where the module's docstring says what it means.
VAGUE_NAMES = frozenset({"told", "one", "found", "way", "place"})


def complaints_about_vague_names(path: PurePosixPath, text: str) -> list[str]:
    tree = ast.parse(text)
    is_defined = re.search(r"\bA place is\b", ast.get_docstring(tree) or "")
    vague = VAGUE_NAMES - {"place"} if is_defined else VAGUE_NAMES
    return [
        f"{path}:{line}: name {name!r} after what it holds"
        for line, name in names_given(tree)
        if name in vague
    ]


def names_given(tree: ast.Module) -> Iterator[tuple[int, str | None]]:
    """Every name that an assignment, a loop, a pattern, an argument or a function gives, with its line; without fields of
    classes."""
    fields: set[ast.expr] = set()
    for node in ast.walk(tree):  # A class comes before what is inside of it.
        if isinstance(node, ast.ClassDef):
            fields |= {field.target for field in node.body if isinstance(field, ast.AnnAssign)}
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store) and node not in fields:
                yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name.lstrip("_")
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
            yield node.lineno, node.name


def complaints_about_several_facts(path: PurePosixPath, text: str) -> list[str]:
    """A statement must not give unrelated values to several names, as `kind, kept = draft.kind, None` does. A swap or a
    shift, in which a value uses another of the names, is one fact; so is unpacking."""
    return [
        f"{path}:{node.lineno}: write one statement for each of {ast.unparse(target)}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Tuple | ast.List) and _is_unrelated(target.elts, node.value.elts)
    ]


def _is_unrelated(names: list[ast.expr], values: list[ast.expr]) -> bool:
    """Whether values are given to as many names one by one, and no value uses a name that another value is given to."""
    if len(names) != len(values) or any(isinstance(part, ast.Starred) for part in (*names, *values)):
        return False
    used = [{ast.unparse(part) for part in ast.walk(value) if isinstance(part, ast.expr)} for value in values]
    return not any(
        ast.unparse(name) in used[other]
        for number, name in enumerate(names)
        for other in range(len(values))
        if other != number
    )


def complaints_about_missing_docstring(path: PurePosixPath, text: str) -> list[str]:
    if re.match(r'"""\S', text) or ast.get_docstring(ast.parse(text)):
        return []
    return [f"{path}: open the module with a sentence on what it is"]


def catches_everything(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        error is None or (isinstance(error, ast.Name) and error.id in {"Exception", "BaseException"})
        for error in caught
    )


def raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def complaints_about_broad_excepts(path: PurePosixPath, text: str) -> list[str]:
    if str(path) in CATCHES_EVERYTHING_IN:
        return []
    return [
        f"{path}:{line}: catches everything; name what is expected, or raise again at the end"
        for line in broad_excepts(text)
    ]


CATCHES_MUCH = re.compile(
    r"except\s*:|except\b.*\bException\b|except\b.*\bBaseException\b|except\s*\(\s*$", re.MULTILINE
)


def broad_excepts(text: str) -> list[int]:
    if not CATCHES_MUCH.search(text):
        return []
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ExceptHandler) and catches_everything(node) and not raises_again(node)
    ]


def complaints_about_words(path: PurePosixPath, text: str) -> list[str]:
    unfinished = UNFINISHED + (UNFINISHED_IN_SRC if path.parts[0] == "src" else [])
    patterns = [rf"\b{word}\b" for word in unfinished] + REGISTRY_HOSTS + [ANOTHER_PROJECT]
    return [
        f"{path}:{number}: {match.group()!r} does not belong in the project"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern in patterns
        if (match := re.search(pattern, line))
    ]


def complaints_about_decision_record(path: PurePosixPath, text: str) -> list[str]:
    named = re.fullmatch(r"(\d{4})-[a-z0-9-]+", path.stem)
    if named is None:
        return [f"{path}: name it NNNN-words-with-dashes.md"]
    complaints = []
    if not re.match(rf"# {named[1]}\. \S", text):
        complaints.append(f"{path}: the first line is '# {named[1]}. Title'")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    if headings != ["Context", "Decision", "Consequences"]:
        complaints.append(f"{path}: its headings are Context, Decision, Consequences; found {headings}")
    return complaints


def numbers_used_twice(names: Iterable[str]) -> list[str]:
    return [number for number, times in Counter(name[:4] for name in names).items() if times > 1]


def complaints_about_lock(path: PurePosixPath, text: str) -> list[str]:
    complaints = [
        f"{path}: {entry.split()[0]} is not pinned with hashes"
        for entry in re.split(r"\n(?=\S)", text.replace("\\\n", "").strip())
        if not re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry)
    ]
    complaints += [
        f"{path}:{number}: a lock names packages and hashes only, never a place"
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(r"://|^\s*#|^\s*-(?!-hash=)", line)
    ]
    return complaints


def pins(text: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+==\S+)", text, flags=re.MULTILINE))


def adapters_without_protection(packages: Iterable[str], pyproject: str) -> set[str]:
    contracts = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    (protected,) = [
        contract["protected_modules"] for contract in contracts if contract["type"] == "protected"
    ]
    return {"glasshouse." + name for name in packages} - set(protected)


def files_under(
    *folders: str, suffixes: frozenset[str] = TEXT_SUFFIXES
) -> Iterator[tuple[PurePosixPath, str]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT)
            if path.is_file() and path.suffix in suffixes and not SKIPPED_FOLDERS & set(relative.parts):
                yield PurePosixPath(relative), path.read_text(encoding="utf-8")


def modules_under(*folders: str) -> Iterator[tuple[PurePosixPath, str]]:
    return files_under(*folders, suffixes=frozenset({".py"}))


def every_text() -> Iterator[tuple[PurePosixPath, str]]:
    yield from files_under("src", "tests", "bench", "docs", "examples", "requirements", "tools", ".ci")
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and (path.suffix in TEXT_SUFFIXES or path.name in {"Makefile", ".gitignore"}):
            yield PurePosixPath(path.name), path.read_text(encoding="utf-8")
    yield PurePosixPath(".ci/run"), (ROOT / ".ci/run").read_text(encoding="utf-8")


def complaints(check: Check, files: Iterable[tuple[PurePosixPath, str]]) -> list[str]:
    return [complaint for path, text in files for complaint in check(path, text)]


def test_only_the_public_face_passes_calls_on() -> None:
    # A register is a mapping, and an overlay a store over another.
    passing_on = complaints(complaints_about_passing_on, modules_under("src"))

    assert [line for line in passing_on if "Register." not in line and "OverlayStore." not in line] == []


def test_no_function_is_too_long() -> None:
    assert complaints(complaints_about_function_lengths, modules_under("src")) == []


def test_there_are_no_drawers() -> None:
    assert complaints(complaints_about_drawers, modules_under("src", "tests", "bench", "examples")) == []


def test_no_two_modules_or_classes_of_a_layer_have_one_name() -> None:
    assert names_used_twice(modules_under("src")) == []


def test_a_name_that_a_layer_uses_twice_is_noticed() -> None:
    room = "src/glasshouse/world"
    sources = [("graph", "class Edge: ..."), ("fold/graph", ""), ("fold/edge", "class Edge: ...")]
    files = [(PurePosixPath(f"{room}/{name}.py"), text) for name, text in sources]
    elsewhere = [(PurePosixPath("src/glasshouse/views/graph.py"), "class Edge: ...")]

    assert names_used_twice(files) == [
        f"module graph: {room}/graph.py, {room}/fold/graph.py",
        f"class Edge: {room}/graph.py, {room}/fold/edge.py",
    ]
    assert names_used_twice([*files[:1], *elsewhere]) == []


def test_payloads_of_the_engine_are_read_through_their_types() -> None:
    assert complaints(complaints_about_payload_keys, modules_under("src")) == []


def test_locals_are_named_after_what_they_hold() -> None:
    assert complaints(complaints_about_vague_names, modules_under("src", "tests", "bench", "examples")) == []


def test_one_statement_says_one_fact() -> None:
    assert complaints(complaints_about_several_facts, modules_under("src")) == []


def test_every_module_says_what_it_is() -> None:
    assert complaints(complaints_about_missing_docstring, modules_under("src")) == []


def test_nothing_unexpected_is_swallowed() -> None:
    assert complaints(complaints_about_broad_excepts, modules_under("src")) == []


def test_no_place_is_listed_as_catching_everything_without_need() -> None:
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in CATCHES_EVERYTHING_IN}

    assert [path for path, text in sources.items() if not broad_excepts(text)] == []


def test_nothing_is_unfinished_and_no_registry_is_named() -> None:
    assert complaints(complaints_about_words, every_text()) == []


def test_decision_records_have_their_form_and_their_own_number() -> None:
    records = list(files_under("docs/adr"))

    assert records
    assert complaints(complaints_about_decision_record, records) == []
    assert numbers_used_twice(path.name for path, _ in records) == []


def test_locks_carry_hashes_and_no_address() -> None:
    locks = list(files_under("requirements"))

    assert {path.name for path, _ in locks} == {
        "run.txt",
        "core.txt",
        "dev.txt",
        "docs.txt",
        "local.txt",
        "page.txt",
        "real.txt",
    }
    assert complaints(complaints_about_lock, locks) == []


def test_the_page_s_packages_are_pinned_with_hashes_and_no_address() -> None:
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]

    pins = wanted["dependencies"] | wanted["devDependencies"]
    packages = {path: package for path, package in locked.items() if path}
    assert {name: locked[f"node_modules/{name}"]["version"] for name in pins} == pins
    assert [path for path, package in packages.items() if "integrity" not in package] == []
    assert [path for path, package in packages.items() if "resolved" in package] == []


def test_what_runs_is_locked_to_the_same_versions_as_what_develops() -> None:
    locked = {path.stem: pins(text) for path, text in files_under("requirements")}

    assert locked["run"]
    assert locked["run"] <= locked["core"] <= locked["dev"]


def test_every_package_of_adapters_is_protected() -> None:
    packages = [name for name in ("stores", "models", "tools") if (ROOT / "src/glasshouse" / name).is_dir()]

    assert adapters_without_protection(packages, (ROOT / "pyproject.toml").read_text()) == set()


LONG_FUNCTION = "def long() -> None:\n" + "    pass\n" * function_lines_max
SWALLOWS = "try:\n    pass\nexcept {}:\n    pass\n"
HASH = "--hash=sha256:" + "0" * 64
RECORD = "# 0001. A title\n\n## Context\n\n## Decision\n\n## Consequences\n"

PASSES_ON = "class House:\n    def run(self, name):\n        return self._stage.run(name)\n"

BAD_SAMPLES: list[tuple[Check, str, str]] = [
    (complaints_about_passing_on, "src/a.py", PASSES_ON),
    (complaints_about_function_lengths, "src/a.py", LONG_FUNCTION),
    (complaints_about_function_lengths, "src/a.py", "async " + LONG_FUNCTION),
    (complaints_about_drawers, "src/glasshouse/utils.py", ""),
    (complaints_about_drawers, "src/glasshouse/common/graph.py", ""),
    (complaints_about_drawers, "tests/graph_helpers.py", ""),
    (complaints_about_payload_keys, "src/a.py", 'graph = event.payload["graph_id"]'),
    (complaints_about_payload_keys, "src/a.py", "if event.payload.get('is_edit', False):"),
    (complaints_about_vague_names, "src/a.py", "found = 1\n"),
    (complaints_about_vague_names, "src/a.py", "ids = [one.id for one in creatures]\n"),
    (complaints_about_vague_names, "src/a.py", "def said(*, told: str) -> None: ...\n"),
    (complaints_about_vague_names, "src/a.py", "if (way := ways.get(key)):\n    pass\n"),
    (complaints_about_vague_names, "src/a.py", "match ids:\n    case [first, *found]:\n        pass\n"),
    (complaints_about_vague_names, "src/a.py", "for place in table:\n    pass\n"),
    (complaints_about_vague_names, "tests/a.py", "async def _told(events: list[Event]) -> None: ...\n"),
    (complaints_about_several_facts, "src/a.py", "kind, kept, route = draft.kind, None, None\n"),
    (complaints_about_several_facts, "src/a.py", "self.head, self.turn = 0, 0\n"),
    (complaints_about_several_facts, "src/a.py", "if ids:\n    [first, (rest, end)] = ids[0], split(ids)\n"),
    (complaints_about_several_facts, "src/a.py", "low, high = low + 1, high * 2\n"),
    (complaints_about_missing_docstring, "src/a.py", "import ast\n"),
    (complaints_about_broad_excepts, "src/a.py", SWALLOWS.format("Exception")),
    (complaints_about_broad_excepts, "src/a.py", SWALLOWS.format("(OSError, BaseException) as error")),
    (complaints_about_broad_excepts, "src/a.py", SWALLOWS.replace(" {}", "")),
    (complaints_about_words, "docs/a.md", UNFINISHED[0] + ": write this"),
    (complaints_about_words, "src/a.py", "raise " + UNFINISHED_IN_SRC[0]),
    (complaints_about_words, "Makefile", "pip install -i https://py" + "pi.org/simple"),
    (complaints_about_words, "docs/a.md", "files.python" + "hosted.org"),
    (complaints_about_words, "docs/a.md", "pip install 'glass" + "house[mcp]'"),
    (complaints_about_words, "src/a.py", "uv tool install glass" + "house"),
    (complaints_about_decision_record, "docs/adr/first.md", RECORD),
    (complaints_about_decision_record, "docs/adr/0002-title.md", RECORD),
    (complaints_about_decision_record, "docs/adr/0001-title.md", RECORD.replace("## Decision\n", "")),
    (complaints_about_lock, "requirements/a.txt", "rich==15.0.0\n"),
    (complaints_about_lock, "requirements/a.txt", f"rich==15.0.0 \\\n    {HASH}\ntyper==0.29.0\n"),
    (
        complaints_about_lock,
        "requirements/a.txt",
        f"--index-url https://example.invalid\nrich==15.0.0 {HASH}\n",
    ),
    (complaints_about_lock, "requirements/a.txt", f"# made by hand\nrich==15.0.0 {HASH}\n"),
]

GOOD_SAMPLES: list[tuple[Check, str, str]] = [
    (complaints_about_passing_on, "src/terrarium.py", PASSES_ON),
    (complaints_about_passing_on, "src/a.py", PASSES_ON.replace("(name)\n", "(name, 1)\n")),
    (complaints_about_function_lengths, "src/a.py", LONG_FUNCTION.replace("    pass\n", "", 1)),
    (complaints_about_drawers, "src/glasshouse/database.py", ""),
    (complaints_about_payload_keys, "src/a.py", 'text = event.payload.get("text")'),
    (complaints_about_payload_keys, "src/a.py", 'born.payload["manifest"] = manifest'),
    (complaints_about_vague_names, "src/a.py", "ids = [creature.found for creature in creatures]\n"),
    (complaints_about_vague_names, "src/a.py", "class Finding:\n    told: str\n"),
    (
        complaints_about_vague_names,
        "src/a.py",
        '"""A place is a channel\'s id."""\nfor place in table:\n    pass\n',
    ),
    (complaints_about_several_facts, "src/a.py", "first, second = second, first\n"),
    (complaints_about_several_facts, "src/a.py", "a, b = b, a + b\n"),
    (complaints_about_several_facts, "src/a.py", "early, self._early = self._early, None\n"),
    (complaints_about_several_facts, "src/a.py", "row[i], row[j] = row[j], row[i]\n"),
    (complaints_about_several_facts, "src/a.py", "name, number = name_and_number\nat, end = span_of(text)\n"),
    (complaints_about_several_facts, "src/a.py", "first, *rest = 1, *others\nboth = 1, 2\n"),
    (complaints_about_missing_docstring, "src/a.py", '"""What it is."""\n'),
    (complaints_about_broad_excepts, "src/a.py", SWALLOWS.format("OSError")),
    (complaints_about_broad_excepts, "src/a.py", SWALLOWS.format("BaseException") + "    raise\n"),
    (complaints_about_words, "docs/a.md", "A mastodon is no unfinished work."),
    (complaints_about_decision_record, "docs/adr/0001-title.md", RECORD),
    (complaints_about_lock, "requirements/a.txt", f"rich==15.0.0 ; os_name == 'nt' \\\n    {HASH}\n"),
]


@pytest.mark.parametrize(("check", "path", "text"), BAD_SAMPLES)
def test_each_check_complains_about_a_bad_sample(check: Check, path: str, text: str) -> None:
    assert check(PurePosixPath(path), text)


@pytest.mark.parametrize(("check", "path", "text"), GOOD_SAMPLES)
def test_no_check_complains_about_a_good_sample(check: Check, path: str, text: str) -> None:
    assert check(PurePosixPath(path), text) == []


def test_a_number_used_twice_and_an_unprotected_adapter_are_noticed() -> None:
    contract = (
        '[[tool.importlinter.contracts]]\ntype = "protected"\nprotected_modules = ["glasshouse.stores"]\n'
    )

    assert numbers_used_twice(["0001-a.md", "0002-b.md", "0001-c.md"]) == ["0001"]
    assert adapters_without_protection(["stores", "models"], contract) == {"glasshouse.models"}
