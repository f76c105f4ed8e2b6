"""`rebind plugin run`: a plugin in the foreground, from its start to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import rebind
from tests.plugins.kubelet import in_loop, kubelet, plugin_directory

ROOT = Path(__file__).parents[2]


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start `rebind plugin run` as a process of its own."""
    with subprocess.Popen(  # noqa: S603 - this program, and no other
        [sys.executable, "-m", "simulator.cli", "plugin", "run", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
@in_loop
async def test_a_plugin_runs_until_it_is_told_to_end_and_takes_its_socket_along(
    ending: signal.Signals,
) -> None:
    async with kubelet() as node:
        arguments = ("fake", "--count", "2", "--socket-dir", str(node.directory))
        with started(*arguments) as process:
            plugin = await node.plugin()
            devices = plugin.devices()
            sockets = [path.name for path in node.directory.glob("fake-*")]
            process.send_signal(ending)
            await node.until(lambda: plugin.ended)
            stdout, stderr = process.communicate(timeout=60)

        assert devices == {"gpu-0": ("Healthy", None), "gpu-1": ("Healthy", None)}
        assert sockets == ["fake-example.com_gpu.sock"]
        assert process.returncode == 0
        assert stdout == ""
        assert stderr.splitlines() == [
            f"ready: example.com/gpu, 2 devices, {node.directory}/fake-example.com_gpu.sock",
            "registered example.com/gpu",
        ]
        assert list(node.directory.glob("fake-*")) == []


def test_a_plugin_may_be_started_before_its_kubelet_and_end_by_itself() -> None:
    with plugin_directory() as directory:
        finished = rebind(
            "plugin", "run", "files", "--device", "/dev/null=example.com/null",
            "--socket-dir", str(directory), "--run-for", "1ms",
        )  # fmt: skip

        assert finished.code == 0
        assert finished.stderr == (
            f"ready: example.com/null, 1 device, {directory}/files-example.com_null.sock; "
            f"waiting for {directory}/kubelet.sock\n"
        )
        assert list(directory.iterdir()) == []


def test_a_plugin_may_wait_in_the_registry_to_be_found() -> None:
    with plugin_directory() as directory:
        (directory / "device-plugins").mkdir()
        (directory / "plugins_registry").mkdir()
        finished = rebind(
            "plugin", "run", "fake", "--registry", "--run-for", "1ms",
            "--socket-dir", str(directory / "device-plugins"),
        )  # fmt: skip

        assert finished.stderr == (
            f"ready: example.com/gpu, 8 devices, "
            f"{directory}/plugins_registry/fake-example.com_gpu.sock\n"
        )


NO_DIRECTORY = (
    "there is no plugin directory nowhere; start `rebind serve` first, or name another one with "
    "--socket-dir"
)
NO_NODE = "there is no node in nowhere; start one with `rebind serve --root-dir nowhere`"
NO_COUNT = "--count: 'many' is not a whole number from 0 to 1000000"
NO_MODE = (
    "a faulty plugin has a fault; name one with --mode, `rebind plugin run faulty --help` "
    "lists them"
)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("fake", "--socket-dir", "nowhere"), 3, NO_DIRECTORY),
        (("fake", "--root-dir", "nowhere"), 3, NO_NODE),
        (("fake", "--socket-dir", ".", "--count", "many"), 2, NO_COUNT),
        (("faulty", "--socket-dir", "."), 2, NO_MODE),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(
    arguments: tuple[str, ...], code: int, message: str
) -> None:
    finished = rebind("plugin", "run", *arguments)

    assert (finished.code, finished.stdout) == (code, "")
    assert finished.stderr == f"error: {message}\n"


def test_the_help_of_faulty_plugins_lists_every_mode() -> None:
    text = rebind("plugin", "run", "faulty", "--help").stdout

    assert "  oversize-list       sends a list of more than 4 MiB (R62, S1.21)\n" in text
