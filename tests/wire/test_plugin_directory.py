"""The plugin directory: made, cleaned, and the only place of endpoints."""

from __future__ import annotations

import logging
import os
import socket
import stat
from pathlib import Path

import pytest

from simulator.errors import InvalidEndpointError, ServerError
from simulator.wire.plugin_directory import clean_directory, endpoint_path, make_directory


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(path))


@pytest.fixture
def plugins(folder: Path) -> Path:
    """Return a plugin directory with one entry of each kind."""
    directory = folder / "dp"
    make_directory(directory)
    for name in ("kubelet_internal_checkpoint", "DEPRECATION", "notes.txt", ".hidden"):
        (directory / name).touch()
    for name in ("kubelet.sock", "gpu.sock", ".hidden.sock"):
        bind(directory / name)
    (directory / "sub").mkdir()
    bind(directory / "sub" / "inner.sock")
    bind(folder / "outside.sock")
    (directory / "to-socket").symlink_to(folder / "outside.sock")
    (directory / "to-file").symlink_to(directory / "notes.txt")
    (directory / "to-folder").symlink_to(directory / "sub")
    (directory / "to-nothing").symlink_to(folder / "nowhere")
    return directory


def test_a_directory_is_made_with_mode_0750(folder: Path) -> None:
    """S1.8."""
    before = os.umask(0o022)
    try:
        make_directory(folder / "a" / "device-plugins")
    finally:
        os.umask(before)

    assert stat.S_IMODE((folder / "a" / "device-plugins").stat().st_mode) == 0o750


def test_a_directory_that_is_there_stays_as_it_is(folder: Path) -> None:
    """S1.8: only when it is absent."""
    (folder / "dp").mkdir(0o700)

    make_directory(folder / "dp")

    assert stat.S_IMODE((folder / "dp").stat().st_mode) == 0o700


def test_a_directory_that_cannot_be_made_is_told(folder: Path) -> None:
    """S1.8: the kubelet exits."""
    (folder / "dp").touch()

    with pytest.raises(ServerError, match=r"/dp/x cannot be made: .*/dp: File exists"):
        make_directory(folder / "dp" / "x")


def test_sockets_and_links_to_sockets_are_removed_since_1_36(
    plugins: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """S1.9, S1.9a, S1.10."""
    with caplog.at_level(logging.WARNING):
        removed = clean_directory(plugins, emptied=False)

    assert removed == [".hidden.sock", "gpu.sock", "kubelet.sock", "to-socket"]
    assert sorted(path.name for path in plugins.iterdir()) == [
        ".hidden",
        "DEPRECATION",
        "kubelet_internal_checkpoint",
        "notes.txt",
        "sub",
        "to-file",
        "to-folder",
        "to-nothing",
    ]
    assert (plugins / "sub" / "inner.sock").is_socket()
    assert (plugins.parent / "outside.sock").is_socket()
    assert [record.message for record in caplog.records] == [
        f"{plugins}/to-nothing is left: No such file or directory"
    ]


def test_everything_but_directories_and_the_checkpoint_was_removed_before_1_36(
    plugins: Path,
) -> None:
    """S1.9 [32], S1.9a."""
    removed = clean_directory(plugins, emptied=True)

    assert removed == [
        ".hidden",
        ".hidden.sock",
        "DEPRECATION",
        "gpu.sock",
        "kubelet.sock",
        "notes.txt",
        "to-file",
        "to-folder",
        "to-nothing",
        "to-socket",
    ]
    assert sorted(path.name for path in plugins.iterdir()) == ["kubelet_internal_checkpoint", "sub"]
    assert (plugins / "sub" / "inner.sock").is_socket()
    assert (plugins.parent / "outside.sock").is_socket()


def test_what_cannot_be_removed_is_told_and_the_rest_removed(
    plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1.9: delete errors are gathered and returned; for root nothing refuses by itself."""
    unlink = Path.unlink

    def refuse(path: Path, *, missing_ok: bool = False) -> None:
        if path.name in ("gpu.sock", "kubelet.sock"):
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)

    with pytest.raises(ServerError) as failure:
        clean_directory(plugins, emptied=False)

    assert str(failure.value) == (
        f"{plugins}/gpu.sock cannot be removed: Permission denied; "
        f"{plugins}/kubelet.sock cannot be removed: Permission denied"
    )
    assert not (plugins / ".hidden.sock").exists()


def test_a_directory_that_cannot_be_read_is_told(folder: Path) -> None:
    with pytest.raises(ServerError, match="cannot be read: No such file or directory"):
        clean_directory(folder / "none", emptied=False)


@pytest.mark.parametrize(
    ("endpoint", "joined"),
    [
        ("gpu.sock", "dp/gpu.sock"),
        ("sub/gpu.sock", "dp/sub/gpu.sock"),
        ("./sub//../gpu.sock", "dp/gpu.sock"),
        ("/gpu.sock", "dp/gpu.sock"),
        ("/var/lib/kubelet/device-plugins/gpu.sock", "dp/var/lib/kubelet/device-plugins/gpu.sock"),
        ("", "dp"),
        ("a/..", "dp"),
        ("..gpu.sock", "dp/..gpu.sock"),
    ],
)
@pytest.mark.parametrize("confined", [True, False])
def test_an_endpoint_is_joined_to_the_directory(
    folder: Path, endpoint: str, joined: str, *, confined: bool
) -> None:
    """S1.12.4."""
    make_directory(folder / "dp")

    assert endpoint_path(folder / "dp", endpoint, confined=confined) == folder / joined


def test_an_endpoint_outside_the_directory_is_refused_unless_the_kubelet_is_followed(
    folder: Path,
) -> None:
    """S1.12.4; issue 4 D."""
    directory = folder / "dp"
    make_directory(directory)
    (directory / "out").symlink_to(folder)

    for endpoint in ("../gpu.sock", "/../gpu.sock", "sub/../../gpu.sock", "../dp2/gpu.sock"):
        with pytest.raises(InvalidEndpointError, match=r"leaves the plugin directory"):
            endpoint_path(directory, endpoint)
    with pytest.raises(InvalidEndpointError, match=r"'out/gpu.sock' leaves the plugin directory"):
        endpoint_path(directory, "out/gpu.sock")

    assert endpoint_path(directory, "../gpu.sock", confined=False) == folder / "gpu.sock"
    assert endpoint_path(directory, "out/gpu.sock", confined=False) == directory / "out/gpu.sock"


@pytest.mark.parametrize(
    ("endpoint", "reason"), [("a\0b", "holds a zero byte"), ("x" * 108, "at most 107")]
)
def test_an_endpoint_that_can_be_no_socket_is_refused(
    folder: Path, endpoint: str, reason: str
) -> None:
    with pytest.raises(InvalidEndpointError, match=reason):
        endpoint_path(folder, endpoint, confined=False)
