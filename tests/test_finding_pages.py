"""What a reader looks for is found: the README is short and leads into the index, the index answers the usual questions in one
hop, each error has a section, each public name an example, and each how-to says what one gets and what can go wrong."""

import re
import tomllib
from typing import Final

import pytest

import glasshouse
from glasshouse import errors
from tests.pages import ROOT, anchors, fences, links, page_text, pages, sections, without_fences
from tests.what_is_offered import errors_of
from tools.docs_site.examples import examples
from tools.docs_site.llms import llms_txt
from tools.docs_site.sources import groups_of

readme_lines_max = 120
sample_lines_max = 10
least_words_of_an_ending = 15

QUESTIONS: Final = {
    "limit what a run costs": ("how-to/bound-a-run.md", "the-limits", "max_total_usd"),
    "play with a hosted model": ("how-to/play-with-a-hosted-model.md", "keys", "OPENAI_API_KEY"),
    "see the prompt behind a line": ("how-to/ask-why.md", "the-prompt", "--as director"),
    "deploy it": ("how-to/deploy.md", "a-service", "ExecStart"),
    "play a thousand runs": ("how-to/ten-thousand-runs.md", "write-a-grid", "rng_seeds"),
    "use two machines": ("how-to/ten-thousand-runs.md", "on-many-machines", "ray start"),
    "use it inside FastAPI": ("how-to/use-it-inside-your-program.md", "fastapi", "lifespan"),
    "keep the ledger in a store of your own": (
        "how-to/write-a-store.md",
        "one-object-four-protocols",
        "LedgerStore",
    ),
    "stop agents that talk in circles": ("how-to/bound-a-run.md", "circles", "loop.suspected"),
    "give agents documents": ("how-to/agents-that-know-my-documents.md", "name-the-files", "look_up"),
}
"""What a newcomer asks: the page, its section, and a word that the answer cannot do without."""

NOT_FOR_USERS: Final = {"build", "dev", "docs", "test"}
"""Extras that users never install."""


def test_the_readme_fits_on_three_screens_with_one_picture() -> None:
    readme = page_text("README.md")

    assert len(readme.splitlines()) <= readme_lines_max
    assert len(re.findall(r"!\[", readme)) == 1


def test_the_readme_leads_into_the_index_six_times() -> None:
    into_index = [link for link in links(page_text("README.md")) if link.startswith("docs/README.md#")]

    assert len(into_index) == 6
    assert "docs/README.md#the-tour" in into_index


def test_the_sample_of_the_readme_has_ten_lines() -> None:
    (sample,) = [fence.text for fence in fences(page_text("README.md")) if fence.language == "python"]

    assert len([line for line in sample.splitlines() if line.strip()]) <= sample_lines_max


def test_the_readme_lists_every_extra_that_users_install() -> None:
    project = tomllib.loads(page_text("pyproject.toml"))["project"]
    table = sections(page_text("README.md"))["Install"]
    listed = [
        name
        for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
        for name in re.findall(r"`([\w-]+)`", row)
    ]

    assert sorted(listed) == sorted(project["optional-dependencies"].keys() - NOT_FOR_USERS)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_one_hop_from_the_index(question: str) -> None:
    page, anchor, needed = QUESTIONS[question]
    row = next(
        line for line in page_text("docs/README.md").splitlines() if line.startswith(f"| {question} |")
    )
    text = page_text(f"docs/{page}")
    answer = "".join(body for heading, body in sections(text).items() if anchor in anchors(f"# {heading}\n"))

    assert links(row) == [f"{page}#{anchor}"]
    assert anchor in anchors(text)
    assert needed in answer


def test_every_error_leads_to_a_section_that_is_there() -> None:
    for name in errors_of(errors):
        error = getattr(errors, name).__new__(getattr(errors, name))
        page, _, anchor = error.help.partition("#")

        assert anchor == name.lower()
        assert anchor in anchors(page_text(page))


def test_an_error_of_a_program_leads_to_the_section_of_its_base() -> None:
    class NoTickets(errors.Refused):
        pass

    assert NoTickets("Sold out.").help == "docs/how-to/troubleshooting.md#refused"


def test_every_public_name_has_an_example_that_uses_it() -> None:
    shown = examples()

    assert list(shown) == sorted(shown)
    assert set(shown) == set(glasshouse.__all__)
    assert [name for name, text in shown.items() if not re.search(rf"\b{name}\b", text)] == []


def test_the_index_for_assistants_lists_every_page_but_decisions_once() -> None:
    index = page_text("docs/README.md")
    listed = re.findall(r"\]\(_sources/([^)]+)\.txt\)", llms_txt(index))
    written = [page.removeprefix("docs/") for page in pages() if page.startswith("docs/")]

    assert sorted(listed) == sorted(
        page for page in written if page != "README.md" and not page.startswith("adr/")
    )


def test_the_groups_of_the_navigation_are_those_of_the_index() -> None:
    assert list(groups_of(page_text("docs/README.md"))) == ["Learn", "Do", "Look up", "Understand"]


@pytest.mark.parametrize("page", [page for page in pages() if page.startswith("docs/how-to/")])
def test_a_how_to_begins_with_what_one_gets_and_ends_with_what_can_go_wrong(page: str) -> None:
    title, _, rest = page_text(page).partition("\n\n")
    headings = re.findall(r"^## (.+)$", without_fences(page_text(page)), re.MULTILINE)
    ending = sections(page_text(page))["What can go wrong"]

    assert title.startswith("# ")
    assert rest.startswith("You get: "), "write first: You get: …"
    assert headings[-1] == "What can go wrong"
    assert len(ending.split()) >= least_words_of_an_ending


def test_the_messages_that_the_page_on_errors_quotes_are_those_of_the_code() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/glasshouse").rglob("*.py"))
    # A text that goes on on the next line is one text.
    code = re.sub(r'"\s*\n\s*f?"', "", source)
    code = re.sub(r"\{[^{}\n]*\}", "…", code)
    quoted = re.findall(r"“(.+?)”", page_text("docs/how-to/troubleshooting.md"), re.DOTALL)
    # What a message is about stands for a value: names, numbers, addresses.
    value = r"…|\b[\w.]+\(\)|'\w+'|\d+|http://\S+|\bcreature\b|worlds/\S+ cast:|show\.glasshouse|FILE|\b\w+\.\w+\b|\bmax_\w+|may_emit|Ollama"
    parts = [part.strip(" .,:;") for text in quoted for part in re.split(value, " ".join(text.split()))]

    assert len(quoted) > 20
    assert [part for part in parts if len(part) > 5 and part not in code] == []
