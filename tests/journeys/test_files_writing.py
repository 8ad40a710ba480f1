"""Writing files: whole or not at all, made to last, and foolish places refused in words."""
# ruff: noqa: ASYNC240, ASYNC221 (a test may wait for its own small files)

import asyncio
import json
import os
import random
import stat
import subprocess
from pathlib import Path

import pytest

from glasshouse import Refused, SqliteStore, Terrarium
from glasshouse.errors import StoreFailed
from tests.journeys.session_files import a_play, said


async def test_a_place_that_does_not_exist_is_refused_in_words(tmp_path: Path) -> None:
    async with Terrarium() as here:
        session_id = await a_play(here)

        with pytest.raises(StoreFailed, match=r"play\.glass cannot be written .*Choose another place"):
            await here.export(session_id, tmp_path / "nowhere" / "play.glass")


@pytest.mark.parametrize("bad_path", ["", ".", "..", "/", "a\0b", "\ud800.glass", "folder", "folder/.."])
async def test_what_cannot_name_a_file_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad_path: str
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    async with Terrarium() as here:
        session_id = await a_play(here)

        with pytest.raises(Refused, match=r"is not a path for a file.*Name a file"):
            await here.export(session_id, bad_path)

    assert [entry.name for entry in tmp_path.rglob("*")] == ["folder"]


@pytest.mark.parametrize("bad_path", ["file/play.glass", "n" * 300, "file/deep/play.glass"])
async def test_a_place_that_no_file_can_have_is_told_in_words(tmp_path: Path, bad_path: str) -> None:
    (tmp_path / "file").write_text("no folder")
    async with Terrarium() as here:
        session_id = await a_play(here)

        with pytest.raises(StoreFailed, match=r"cannot be written .*Choose another place"):
            await here.export(session_id, tmp_path / bad_path)


async def test_a_finished_file_and_then_its_name_are_made_to_outlast_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "play.glass"
    synced: list[tuple[bool, bool, bool]] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        about = os.fstat(descriptor)
        is_folder = stat.S_ISDIR(about.st_mode)
        synced.append((is_folder, is_folder and os.path.samestat(about, tmp_path.stat()), path.exists()))
        fsync(descriptor)

    async with Terrarium() as here:
        session_id = await a_play(here)
        monkeypatch.setattr(os, "fsync", noted)

        await here.export(session_id, path)

    assert synced == [(False, False, False), (True, True, True)]


@pytest.mark.parametrize("name", ["play.jsonl", "play.glass"])
async def test_a_failed_export_leaves_the_old_file_and_no_half_one(tmp_path: Path, name: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("this needs the right to mount")
    try:
        async with Terrarium() as here:
            session_id = await a_play(here)
            path = await here.export(session_id, disk / name)
            before = path.read_bytes()
            noise = [random.Random(n).randbytes(1_000).hex() for n in range(200)]
            await asyncio.gather(*[here.append("ada", said(text)) for text in noise])

            with pytest.raises(StoreFailed, match="No space left"):
                await here.export(session_id, path)

            assert path.read_bytes() == before
            assert [entry.name for entry in disk.iterdir()] == [name]
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


async def test_an_export_replaces_an_older_file_whole(tmp_path: Path) -> None:
    async with Terrarium() as here:
        session_id = await a_play(here)
        path = tmp_path / "play.jsonl"
        path.write_text("something much longer than the export will be\n" * 10_000)

        await here.export(session_id, path)

        assert json.loads(path.read_text().splitlines()[-1])["end"]
        assert [entry.name for entry in tmp_path.iterdir()] == ["play.jsonl"]


async def test_two_exports_to_one_place_leave_one_whole_file(tmp_path: Path) -> None:
    async with Terrarium() as here, Terrarium(SqliteStore(tmp_path / "there.glasshouse")) as there:
        session_id = await a_play(here)
        await asyncio.gather(*[here.append("ada", said(f"{n}" * 50)) for n in range(2_000)])

        await asyncio.gather(*[here.export(session_id, tmp_path / "play.jsonl") for _ in range(6)])

        session = await there.import_file(tmp_path / "play.jsonl")
        assert len(await there.events(session.id)) == len(await here.events(session_id))
