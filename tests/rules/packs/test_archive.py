"""Packs: the same bytes for the same files, and no harm from bytes that somebody made up."""

import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import BadWorld, Refused
from glasshouse.packs import archive
from glasshouse.packs.archive import files_max, packed, unpacked, world_bytes_max
from glasshouse.packs.packing import staged, write_files
from glasshouse.packs.paths import fault_of_path
from glasshouse.packs.sources import offered_from

FILES = {"scenario.yaml": b"cast: [ada]\n", "creatures/ada.yaml": b"name: ada\n", "notes/\u00fc.md": b""}


def test_the_same_files_are_the_same_bytes_on_every_machine() -> None:
    content = packed("pond", dict(reversed(FILES.items())))

    # Written down, so that another Python or library that packs otherwise is noticed.
    assert sha256(content).hexdigest() == "b0f93e43c48b77676d5fda9debe7b4c6f0bef69d12210bac2268f9830817dd76"
    assert unpacked(content) == {f"pond/{name}": text for name, text in FILES.items()}


def archive_of(*entries: tuple[str, bytes, int], how: int = zipfile.ZIP_STORED) -> bytes:
    """An archive with names as they are, also those that the library would correct, and modes."""
    buffer = BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as made:
        warnings.simplefilter("ignore")  # That a name is there twice.
        for name, content, mode in entries:
            entry = zipfile.ZipInfo("x")
            entry.filename = name
            entry.external_attr = mode << 16
            entry.compress_type = how
            made.writestr(entry, content)
    return buffer.getvalue()


def test_links_and_devices_are_refused() -> None:
    for mode in (stat.S_IFLNK | 0o777, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK):
        with pytest.raises(Refused, match=r"is a link|is no plain file"):
            unpacked(archive_of(("pond/scenario.yaml", b"/etc/passwd", mode)))


def test_a_bomb_is_refused_before_it_grows() -> None:
    bomb = archive_of(("pond/a.txt", bytes(world_bytes_max * 4), 0), how=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 100_000

    with pytest.raises(Refused, match="more than 8,388,608 bytes together"):
        unpacked(bomb)


def test_a_bomb_that_claims_to_be_small_is_refused() -> None:
    """Both places that tell the size of its file say one byte."""
    size = struct.pack("<L", world_bytes_max + 1)
    bomb = archive_of(("pond/a.txt", bytes(world_bytes_max + 1), 0), how=zipfile.ZIP_DEFLATED)

    lying = bomb.replace(size, struct.pack("<L", 1))

    assert lying != bomb
    with pytest.raises(Refused):
        unpacked(lying)


def test_many_files_of_the_same_bytes_count_each_time() -> None:
    tenth = bytes(world_bytes_max // 10)
    entries = [(f"pond/{n}.txt", tenth, 0) for n in range(11)]

    with pytest.raises(Refused, match="bytes together"):
        unpacked(archive_of(*entries, how=zipfile.ZIP_DEFLATED))


def test_more_files_than_the_bound_are_refused() -> None:
    with pytest.raises(Refused, match="more than 500 files"):
        unpacked(archive_of(*[(f"pond/{n}.txt", b"", 0) for n in range(files_max + 1)]))


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all", b"\x1f\x8b" + bytes(40)])
def test_what_is_no_archive_is_refused_in_words(content: bytes) -> None:
    with pytest.raises(Refused, match="no sound ZIP archive"):
        unpacked(content)


NAMES = st.one_of(
    st.sampled_from(
        [
            "scenario.yaml",
            "creatures/ada.yaml",
            "../out.yaml",
            "/out.yaml",
            "a\\..\\out",
            "CON",
            "A",
            "a",
            "a/b",
            ".x",
        ]
    ),
    st.text(st.characters(codec="utf-8"), max_size=12),
)
ENTRIES = st.lists(
    st.tuples(
        st.builds("{}{}".format, st.sampled_from(["pond/", "", "../", "/"]), NAMES),
        st.one_of(st.binary(max_size=40), st.just(b"cast: [ada]\ngoal: Talk.\n"), st.just(b"name: ada\n")),
        st.sampled_from([0, stat.S_IFREG | 0o777, stat.S_IFLNK | 0o777, stat.S_IFDIR]),
    ),
    max_size=5,
)


def flipped(content: bytes, flips: list[tuple[int, int]]) -> bytes:
    """The same bytes with some of them changed."""
    bytes_ = bytearray(content)
    for offset, value in flips:
        if bytes_:
            bytes_[offset % len(bytes_)] = value
    return bytes(bytes_)


@given(ENTRIES, st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 255)), max_size=4), st.booleans())
def test_no_made_up_archive_writes_outside_grows_or_raises_anything_else(
    made_up: Callable[[], Path],
    entries: list[tuple[str, bytes, int]],
    flips: list[tuple[int, int]],
    deflates: bool,
) -> None:
    folder = made_up()
    how = zipfile.ZIP_DEFLATED if deflates else zipfile.ZIP_STORED
    pack = folder / "x.world.zip"
    pack.write_bytes(flipped(archive_of(*entries, how=how), flips))

    try:
        files = unpacked(pack.read_bytes())
        assert all(fault_of_path(name) == "" for name in files)
        assert len(files) <= files_max
        assert sum(map(len, files.values())) <= world_bytes_max
        write_files(folder / "inside", files)
        offered_from(str(pack))
    except (Refused, BadWorld):
        pass

    assert {path.name for path in folder.iterdir()} <= {"x.world.zip", "inside"}
    assert {path.name for path in folder.parent.iterdir()} == {folder.name}


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A new folder alone in a folder, so that whatever is written beside it is seen."""

    def made() -> Path:
        folder = tmp_path_factory.mktemp("alone") / "here"
        folder.mkdir()
        return folder

    return made


def test_files_are_staged_only_after_their_names_were_checked(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="leads out"), staged("pond", {"../x": b""}):
        raise AssertionError("nothing was staged")
    assert archive.pack_bytes_max > world_bytes_max
