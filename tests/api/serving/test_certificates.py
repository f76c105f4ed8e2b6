"""The server's own certificate is kept, as long as it is good."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from simulator.api.serving import certificates
from simulator.api.serving.certificates import kept_beside, own_certificate
from simulator.errors import ConfigError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    kept = kept_beside(tmp_path / "rebind.kubeconfig")
    assert kept is not None
    return kept


def test_a_certificate_is_kept_with_its_key_for_its_owner_alone(file: Path) -> None:
    first, second = own_certificate("127.0.0.1", file), own_certificate("127.0.0.1", file)

    assert first.authority == second.authority
    assert "PRIVATE KEY" in file.read_text()
    assert b"PRIVATE KEY" not in second.authority
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert own_certificate("127.0.0.1").authority != first.authority


def test_one_that_lacks_a_name_ends_soon_or_is_no_secret_is_renewed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_loopback = own_certificate("127.0.0.1", file).authority
    of_another = own_certificate("192.0.2.7", file).authority
    assert of_another != of_loopback
    file.chmod(0o644)
    renewed = own_certificate("192.0.2.7", file).authority
    assert renewed != of_another
    assert own_certificate("192.0.2.7", file).authority == renewed
    file.unlink()
    monkeypatch.setattr(certificates, "_DAYS", 2)
    soon_over = own_certificate("192.0.2.7", file).authority
    monkeypatch.undo()
    assert own_certificate("192.0.2.7", file).authority != soon_over


@pytest.mark.parametrize("content", [b"", b"mine\n", b"\xff" * 100_000])
def test_what_somebody_else_has_put_there_stays(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="move it away"):
        own_certificate("127.0.0.1", file)

    assert file.read_bytes() == content
