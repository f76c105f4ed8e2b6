"""A machine with GPUs for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.nvml.stub import STATE_VARIABLE, Stub, build, compiler, preload


@pytest.fixture(scope="session")
def stub_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the stub; each worker of xdist builds its own, which takes a tenth of a second."""
    if compiler() is None:
        pytest.skip("no C compiler on this machine builds the stub of NVML")
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def stub(stub_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Return a fresh machine, which pynvml sees in this process too."""
    preload(stub_library)
    machine = Stub(library=stub_library, state=tmp_path / "nvml", host_root=tmp_path / "host")
    monkeypatch.setenv(STATE_VARIABLE, str(machine.state))
    return machine
