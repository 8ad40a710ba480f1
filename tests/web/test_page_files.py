"""The page and its files: one import map for all modules, under a policy that holds wherever the page is served."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI

from glasshouse import Terrarium
from glasshouse.errors import UnknownName
from glasshouse.runtime.sharing import page_files
from glasshouse.terrarium import stories_of
from glasshouse.web.access import Access
from glasshouse.web.app import app
from tests.pages import ROOT
from tests.web.served import served

IMPORTED = re.compile(
    r"""(?:^|\n)\s*(?:import|export)\b[^"';]*?from\s*["']([^"']+)["']|import\(["']([^"']+)["']\)"""
)


def the_map() -> dict[str, str]:
    written = re.search(r'<script type="importmap">(.*?)</script>', page_files.page().text, re.S)
    assert written is not None
    imports: dict[str, str] = json.loads(written[1])["imports"]
    return imports


def test_every_import_of_a_module_is_in_the_map() -> None:
    known = set(the_map())
    for name, path in page_files.modules().items():
        for pair in IMPORTED.findall(path.read_text(encoding="utf-8")):
            imported = pair[0] or pair[1]
            assert imported in known, f"{name} imports {imported}, which the map does not name"


def test_the_map_names_files_beside_the_page() -> None:
    files = {
        **page_files.modules(),
        **{path.relative_to(page_files.STATIC).as_posix(): path for path in page_files.styles()},
    }
    for name, address in the_map().items():
        assert address.startswith("./static/"), name
        assert page_files.file_at(address.removeprefix("./static/")) == (files[name], True), name


def test_only_screens_that_need_them_load_the_parts_of_a_phone() -> None:
    form = (page_files.STATIC / "page/form.js").read_text(encoding="utf-8")
    assert all(f'matchMedia("{query}")' in form for query in page_files.PHONE.split(", "))
    preloaded = re.findall(
        r'<link rel="modulepreload"( media="[^"]+")? href="([^"]+)">', page_files.page().text
    )
    phones = {address for media, address in preloaded if "page/phone/" in address}
    assert len(phones) == len(list((page_files.STATIC / "page/phone").glob("*.js")))
    assert {address for media, address in preloaded if media} == phones


def test_the_policy_allows_the_scripts_of_the_page_and_no_other_host() -> None:
    text, policy = page_files.page()
    scripts = re.findall(r"<script(?: type=\"importmap\")?>(.*?)</script>", text, re.S)
    assert len(scripts) == 2
    for script in scripts:
        assert page_files.hash_of(script) in policy
    assert "http:" not in policy
    assert "https:" not in policy
    assert "unsafe" not in policy


def test_no_text_of_a_model_can_become_markup() -> None:
    for name, path in page_files.modules().items():
        if name.startswith("page/"):
            source = path.read_text(encoding="utf-8")
            for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
                assert forbidden not in source, f"{name} has {forbidden}"


async def test_the_page_is_asked_for_each_time_and_its_files_are_kept() -> None:
    async with Terrarium() as t, served(t) as house:
        page = await house.client.get("/")
        assert page.headers["content-security-policy"] == page_files.page().policy
        address = the_map()["page/main"].removeprefix(".")
        assert address in page.text
        for path, kept in (
            ("/", "no-cache"),
            ("/static/page/main.js", "no-cache"),
            (address, "public, max-age=31536000, immutable"),
        ):
            answer = await house.client.get(path)
            assert answer.status_code == 200
            assert answer.headers["cache-control"] == kept
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-encoding"] == "gzip"
            plain = await house.client.get(path, headers={"accept-encoding": "identity"})
            assert "content-encoding" not in plain.headers
            assert plain.content == answer.content
            if kept == "no-cache":
                known = {"if-none-match": answer.headers["etag"]}
                assert (await house.client.get(path, headers=known)).status_code == 304


async def test_a_file_that_has_changed_has_another_address_and_an_older_page_gets_it_as_it_is() -> None:
    async with Terrarium() as t, served(t) as house:
        older = await house.client.get("/static/000000000000/page/main.js")
        now = (page_files.STATIC / "page/main.js").read_text(encoding="utf-8")
        assert older.text == page_files.without_comments(now)
        assert older.headers["cache-control"] == "no-cache"
        for nothing in (
            "page/none.js",
            "000000000000/page/none.js",
            "",
            "page",
            "%2e%2e/app.py",
            "000000000000/%2e%2e/%2e%2e/app.py",
            "%00",
        ):
            assert (await house.client.get(f"/static/{nothing}")).status_code == 404, nothing


# Node brings a parser of JavaScript along.
TOKENS = """
const acorn = require("internal/deps/acorn/acorn/dist/acorn");
const read = (text) => {
  const words = [];
  acorn.parse(text, {ecmaVersion: "latest", sourceType: "module", onToken: ({start, end}) => words.push(text.slice(start, end))});
  return JSON.stringify(words);
};
const pairs = JSON.parse(require("fs").readFileSync(0, "utf-8"));
const wrong = pairs.filter(({ whole, sent }) => read(whole) !== read(sent)).map(({ name }) => name);
process.stdout.write(JSON.stringify(wrong));
"""


def test_modules_are_sent_without_comments_and_are_otherwise_the_same() -> None:
    own = {name: path for name, path in page_files.modules().items() if name.startswith("page/")}
    pairs = [
        {
            "name": name,
            "whole": (text := path.read_text(encoding="utf-8")),
            "sent": page_files.without_comments(text),
        }
        for name, path in own.items()
    ]
    assert all(pair["whole"].count("\n") == pair["sent"].count("\n") for pair in pairs)
    assert sum(len(pair["sent"]) for pair in pairs) < 0.85 * sum(len(pair["whole"]) for pair in pairs)
    odd = "const text = `\n// not a comment\n`;\n"
    if (node := shutil.which("node", path=f"{os.environ['PATH']}:{ROOT / '.venv/bin'}")) is None:
        pytest.skip("there is no node")
    checked = [*pairs, {"name": "odd", "whole": odd, "sent": page_files.without_comments(odd)}]

    answer = subprocess.run(
        [node, "--expose-internals", "-e", TOKENS],
        input=json.dumps(checked),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    assert json.loads(answer.stdout) == ["odd"]


def test_the_hash_in_an_address_is_that_of_the_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "STATIC", tmp_path)
    file = tmp_path / "some.js"
    addresses = []
    for number, text in enumerate(("a", "b", "a")):
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(number, number))
        addresses.append(page_files.address_of(file))
    assert addresses[0] == addresses[2] != addresses[1]


@pytest.mark.parametrize("path", ["", "/some/show"])
async def test_the_page_can_be_installed_wherever_it_is_served_and_without_a_token(path: str) -> None:
    async with Terrarium() as t:
        outer = FastAPI()
        outer.mount(path or "/", app(t, Access("a secret of more than sixteen characters")))
        async with served(t, page=outer) as house:
            root = f"{house.address}{path}/"
            page = await house.client.get(root)
            link = re.search(r'<link rel="manifest" href="([^"]+)">', page.text)
            assert link is not None
            address = urljoin(root, link[1])
            answer = await house.client.get(address)
            assert answer.headers["content-type"].startswith("application/manifest+json")
            manifest = answer.json()
            assert urljoin(address, manifest["start_url"]) == root
            assert urljoin(address, manifest["scope"]) == root
            assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
            for icon in manifest["icons"]:
                picture = await house.client.get(urljoin(address, icon["src"]))
                assert picture.headers["content-type"] == icon["type"]
                if icon["type"] == "image/png":
                    assert size_of_png(picture.content) == icon["sizes"]
        # The policy lets the page load both, and there is no service worker that would keep an old page.
        assert "default-src 'self'" in page.headers["content-security-policy"]
        assert not any(
            "serviceWorker" in module.read_text(encoding="utf-8") for module in page_files.modules().values()
        )


def size_of_png(content: bytes) -> str:
    """The width and height that the head of a picture tells."""
    width, height = struct.unpack(">II", content[16:24])
    return f"{width}x{height}"


def test_the_colours_of_the_system_s_bars_are_the_grounds_of_both_themes() -> None:
    theme = (page_files.STATIC / "page/theme.css").read_text(encoding="utf-8")
    page = page_files.page().text
    grounds = re.findall(r"--bg: (#\w+);", theme)
    assert re.findall(r'<meta name="theme-color" content="(#\w+)"', page) == grounds
    manifest = json.loads((page_files.STATIC / "app.webmanifest").read_text(encoding="utf-8"))
    assert manifest["theme_color"] == manifest["background_color"] == grounds[0]


async def test_an_event_has_the_number_that_its_record_has() -> None:
    async with Terrarium() as t:
        run = await t.open_world("three-ways-in", rng_seed=3)
        await t.run(run.id)
        other = await t.open_world("hatbox-and-cello", rng_seed=1)
        stories = stories_of(t)
        story = stories.of_run(run.id)
        records = await stories.records(story, "director", 0, 1_000)
        for record in records[::13]:
            assert await stories.number_of(story, "director", await t.event(record.id)) == record.k
        with pytest.raises(UnknownName):
            await stories.number_of(story, "director", await t.event(f"{other.session_id}.1"))


def test_every_sheet_that_comes_later_is_brought_by_a_part() -> None:
    sources = [
        (page_files.STATIC / f"page/{name}.js").read_text(encoding="utf-8") for name in ("on_demand", "form")
    ]
    brought = {f"page/{name}.css" for text in sources for name in re.findall(r'"([a-z]+/[a-z]+)"[,\]]', text)}
    later = {name for name in the_map() if name.endswith(".css") and not name.startswith("page/share/")}

    assert brought == later
