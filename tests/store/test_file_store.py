"""The file store, with the facts of the real one's tests (util/store) and S4.9."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from simulator.errors import StoreError, StoreUnavailableError
from store.file_store import FileStore, is_valid_key

HEX_64 = "0123456789abcdef" * 4


@pytest.mark.parametrize("key", ["a7.87-6_8", HEX_64, "kubelet_internal_checkpoint", "k" * 250])
def test_keys_of_files__TestIsValidKey(key: str) -> None:
    assert is_valid_key(key)


@pytest.mark.parametrize("key", ["    ", "/foo/bar", ".foo", "a7.87-677-", "", "k" * 251, "key\n"])
def test_keys_that_are_refused__TestIsValidKey(key: str, tmp_path: Path) -> None:
    store = FileStore(tmp_path)

    assert not is_valid_key(key)
    with pytest.raises(StoreError, match="invalid key"):
        store.write(key, b"x")
    with pytest.raises(StoreError, match="invalid key"):
        store.read(key)
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_read_listed_and_deleted__TestFileStore(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "device-plugins")

    assert store.keys() == []
    assert store.read("id1") is None
    store.write("id2", b"data2")
    store.write("id1", b"data1")
    store.write("id1", b"")
    (tmp_path / "device-plugins" / ".id3").write_bytes(b"left by a crash")
    assert store.keys() == ["id1", "id2"]
    assert (store.read("id1"), store.read("id2")) == (b"", b"data2")
    store.delete("id2")
    store.delete("id2")
    assert store.keys() == ["id1"]


def test_a_file_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    FileStore(tmp_path).write("kubelet_internal_checkpoint", b"{}")

    mode = (tmp_path / "kubelet_internal_checkpoint").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600  # X10


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    def no_space(_: int) -> None:
        raise OSError(28, "no space left on device")

    FileStore(tmp_path).write("kubelet_internal_checkpoint", b"old")
    with pytest.raises(
        StoreUnavailableError,
        match=r'^failed to write checkpoint file "kubelet_internal_checkpoint": '
        r"no space left on device$",  # S3.15
    ):
        FileStore(tmp_path, sync=no_space).write("kubelet_internal_checkpoint", b"new")

    assert [path.name for path in tmp_path.iterdir()] == ["kubelet_internal_checkpoint"]
    assert FileStore(tmp_path).read("kubelet_internal_checkpoint") == b"old"


def test_a_directory_in_the_way_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "key").mkdir()

    with pytest.raises(StoreUnavailableError, match="failed to read"):
        FileStore(tmp_path).read("key")
    with pytest.raises(StoreUnavailableError, match="failed to write"):
        FileStore(tmp_path).write("key", b"x")
    assert FileStore(tmp_path).keys() == []
