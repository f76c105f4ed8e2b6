"""`rebind plugin run nvml` as a process of its own, which finds the library as on any machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.plugins.kubelet import in_loop, kubelet
from tests.plugins.nvml.stub import LIBRARY, Stub, gpu, searched_first

ROOT = Path(__file__).parents[3]


def start(*arguments: str, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - this program, and no other
        [sys.executable, "-m", "simulator.cli", "plugin", "run", "nvml", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@in_loop
async def test_the_plugin_tells_a_kubelet_of_gpus_until_it_is_told_to_end(stub: Stub) -> None:
    stub.says("count 2", "whole 1")
    async with kubelet() as node:
        where = ("--socket-dir", str(node.directory))
        with start(*where, environment=stub.environment) as process:
            try:
                plugin = await node.plugin()
                stub.says("lost 1")
                await node.until(
                    lambda: [health for health, _ in plugin.devices().values()][1] != "Healthy"
                )
                process.send_signal(signal.SIGTERM)
                stdout, stderr = process.communicate(timeout=60)
            finally:
                process.kill()

        assert list(plugin.devices()) == [gpu(0), gpu(1)]
        assert (process.returncode, stdout) == (0, "")
        assert sorted(stderr.splitlines()) == [
            f"WARNING plugins.nvml.plugin: lost GPUs: {gpu(1)} resourceName=nvidia.com/gpu",
            f"ready: nvidia.com/gpu, 2 devices, {node.directory}/nvml-nvidia.com_gpu.sock",
            "registered nvidia.com/gpu",
        ]
        assert not list(node.directory.glob("nvml-*"))


def test_without_the_library_one_line_says_so_and_the_exit_code_is_3(tmp_path: Path) -> None:
    """The file stands in the way of a real library, should this machine have one."""
    (tmp_path / LIBRARY).write_text("no library", encoding="ascii")
    environment = searched_first(tmp_path)

    with start("--socket-dir", str(tmp_path), environment=environment) as process:
        stdout, stderr = process.communicate(timeout=60)

    assert (process.returncode, stdout) == (3, "")
    assert stderr == (
        "error: asked NVML for this machine's GPUs: its library libnvidia-ml.so.1 is not on this "
        "machine; install the NVIDIA driver, or use `rebind plugin run fake`\n"
    )
