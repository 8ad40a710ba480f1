"""The folder of golden files: every kind has one, and none is ever overwritten."""

from pathlib import Path

from glasshouse.events import kinds
from glasshouse.events.codec import VERSIONS, encoded
from tests.rules.events.golden_files import FOLDER, GROWN, samples, write_missing

CORE_KINDS = sorted(v for name, v in vars(kinds).items() if name.isupper() and isinstance(v, str))


def test_every_kind_of_the_core_has_a_golden_file_of_every_version_it_ever_had() -> None:
    wanted = {f"{kind}.json" for kind in CORE_KINDS}
    wanted |= {
        f"{kind}@{version}.json" for kind, newest in VERSIONS.items() for version in range(2, newest + 1)
    }

    wanted |= {f"{kind}+{field}.json" for kind, fields in GROWN.items() for field in fields}

    assert {path.name for path in FOLDER.iterdir()} == wanted


def test_every_kind_of_the_core_has_a_sample() -> None:
    assert sorted(event.kind for event in samples().values()) == CORE_KINDS


def test_every_file_of_todays_version_is_its_sample_byte_for_byte() -> None:
    differs = [name for name, event in samples().items() if (FOLDER / name).read_bytes() != encoded(event)]

    assert differs == [], "A golden file or its sample lost or changed a field."


def test_what_is_missing_is_written_and_what_is_there_stays_for_ever(tmp_path: Path) -> None:
    old = tmp_path / "agent.spoke.json"
    old.write_bytes(b"old bytes")

    written = write_missing(tmp_path)

    assert old.read_bytes() == b"old bytes"
    assert "agent.spoke.json" not in written
    assert len(written) == len(samples()) - 1
    assert all((tmp_path / name).read_bytes() == encoded(samples()[name]) for name in written)
    assert write_missing(tmp_path) == []
