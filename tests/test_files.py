"""Files that users name: what they stand for is asked before anything is opened."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import devices
import pytest

from ddsim import files
from ddsim.files import TooLargeError, read_within, write_together, write_whole
from ddsim.learning.saving import Saver
from ddsim.scenario import variation


def names(folder: Path) -> list[str]:
    """What is in a folder, drafts included."""
    return sorted(item.name for item in folder.iterdir())


def test_a_link_stays_and_what_it_names_is_written(tmp_path: Path) -> None:
    """Through links of links, and to a file that is not there yet."""
    target, link, further = (tmp_path / name for name in ("target", "link", "further"))
    link.symlink_to("target")
    further.symlink_to(link)
    for content in (b"made", b"replaced"):
        write_whole(further, content)
        assert target.read_bytes() == content
    assert link.is_symlink()
    assert further.is_symlink()
    assert names(tmp_path) == ["further", "link", "target"]


def test_a_replacement_may_be_read_by_those_who_might_before(tmp_path: Path) -> None:
    """The mode of a file survives."""
    path = tmp_path / "secret"
    path.write_text("a")
    path.chmod(0o600)
    write_whole(path, b"b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_device_is_written_and_stays_a_device(tmp_path: Path) -> None:
    """Nothing takes its place; one without room is named."""
    taker, cramped = devices.null(tmp_path), devices.full(tmp_path)
    write_whole(taker, b"x")
    with pytest.raises(OSError, match=r"No space left on device: '.*/full'"):
        write_whole(cramped, b"x")
    assert [stat.S_ISCHR(path.stat().st_mode) for path in (taker, cramped)] == [True, True]


def test_a_pipe_is_written_where_somebody_reads(tmp_path: Path) -> None:
    """All of it, however long; without a reader it is refused at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"nobody reads from: '.*/pipe'"):
        write_whole(pipe, b"x")
    content, read = b"x" * 1_000_000, []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    while not read:
        try:
            write_whole(pipe, content)
        except OSError:
            continue  # the reader has not come yet
        reader.join()
    assert read == [content]
    assert names(tmp_path) == ["pipe"]


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    """And none of the files beside it is touched."""
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError, match=r"a folder, not a file: '.*/b'"):
        write_together({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a", "b"]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second file has no room: the first is as it was, no draft is left, the file is named."""
    write = Path.write_bytes

    def cramped(path: Path, content: bytes) -> int:
        if len(content) > 10:
            write(path, content[:10])
            raise OSError(28, "No space left on device", str(path))
        return write(path, content)

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(Path, "write_bytes", cramped)
    with pytest.raises(OSError, match=r"No space left on device: '.*/b'"):
        write_together({tmp_path / "a": b"new", tmp_path / "b": b"x" * 20})
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_sizes_are_looked_at_before_reading(tmp_path: Path) -> None:
    """A file of 3 GB is refused unread, an endless stream after the limit."""
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(3_000_000_000)
    with pytest.raises(TooLargeError, match="3000000000 bytes"):
        read_within(large, 4_000_000)
    with pytest.raises(TooLargeError, match="more than 4000000 bytes"):
        read_within("/dev/zero", 4_000_000)


def test_a_limit_holds_to_the_byte(tmp_path: Path) -> None:
    """As many as may be are read, one more is too many."""
    path = tmp_path / "file"
    path.write_bytes(b"1234")
    assert read_within(path, 4) == b"1234"
    with pytest.raises(TooLargeError, match="4 bytes"):
        read_within(path, 3)


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    """One that is written in pieces too."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = b"x" * 300_000
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert read_within(pipe, 1_000_000) == content
    writer.join()


def test_a_pipe_that_nobody_writes_into_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rather than waited for without end."""
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="nobody writes into"):
        read_within(tmp_path / "pipe", 10)


def test_a_trace_of_a_link_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is looked at before it is read."""
    monkeypatch.setattr(variation, "MOST_BYTES", 10)
    trace = tmp_path / "rates.csv"
    trace.write_text("0, 1e9\n60, 2e9\n")
    with pytest.raises(ValueError, match="15 bytes"):
        variation.read_rates(trace)


def test_a_state_that_is_a_pipe_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for what a stranger puts in the place of a kept state."""
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    saver = object.__new__(Saver)
    saver.path = tmp_path / "state"
    os.mkfifo(saver.path)
    assert saver.load() is None
