"""Names of files in shared worlds: those that mean the same file on every system, and no other."""

import pytest

from glasshouse.errors import Refused
from glasshouse.packs.paths import check_paths, fault_of_path, folder_of_world, path_chars_max


@pytest.mark.parametrize(
    "path", ["scenario.yaml", "creatures/ada.yaml", "notes/Über uns.md", "a/b/c/d/e/f/g/h"]
)
def test_plain_names_are_safe(path: str) -> None:
    assert fault_of_path(path) == ""


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/etc/passwd", "leads out"),
        ("../scenario.yaml", "leads out"),
        ("creatures/../../x.yaml", "leads out"),
        ("creatures\\ada.yaml", "means something else"),
        ("C:/scenario.yaml", "means something else"),
        ("a\0b", "means something else"),
        ("a\nb", "means something else"),
        ("a//b", "without a name"),
        ("./a", "without a name"),
        ("", "without a name"),
        (".git/hooks/x", "is hidden"),
        ("creatures/.env", "is hidden"),
        ("CON", "name of a device"),
        ("notes/aux.txt", "name of a device"),
        ("Lpt9.tar.gz", "name of a device"),
        ("COM¹", "name of a device"),
        ("ada. ", "begins or ends"),
        ("ada.", "begins or ends"),
        ("a\u202egpj.exe", "nobody can see"),
        ("a/" * 8 + "b", "levels"),
        ("a" * (path_chars_max + 1), "longer"),
    ],
)
def test_a_name_that_is_another_place_somewhere_is_refused(path: str, fault: str) -> None:
    with pytest.raises(Refused, match=fault):
        check_paths([path])


@pytest.mark.parametrize(
    "paths",
    [
        ["Ada.yaml", "ada.yaml"],
        ["creatures/ada.yaml", "Creatures/bo.yaml"],
        ["stra\u00dfe.md", "STRASSE.md"],
        ["caf\u00e9.md", "cafe\u0301.md"],
        ["ada.yaml", "ada.yaml"],
        ["notes", "notes/a.md"],
        ["Notes", "notes/a.md"],
    ],
)
def test_names_that_are_one_file_somewhere_are_refused(paths: list[str]) -> None:
    with pytest.raises(Refused, match=r"one file on some systems|is a file and a folder"):
        check_paths(paths)


def test_the_only_world_is_found_and_of_several_one_must_be_named() -> None:
    several = ["worlds/ada/scenario.yaml", "worlds/bo/scenario.yml", "README.md"]

    assert folder_of_world(["scenario.yaml", "worlds/ada/scenario.yaml"], "") == ""
    assert folder_of_world(several[:1], "") == "worlds/ada/"
    assert folder_of_world(several, "bo") == "worlds/bo/"
    with pytest.raises(Refused, match=r"several worlds\. Name one with --world: ada, bo"):
        folder_of_world(several, "")
    with pytest.raises(Refused, match=r"no world 'cy'\. Name one with --world: ada, bo"):
        folder_of_world(several, "cy")
    with pytest.raises(Refused, match="There is no world"):
        folder_of_world(["README.md"], "")
