"""A server that is named by its URL, and the token for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.errors import ConfigError
from simulator.live.remote.choosing import api_server_at

URL = "http://127.0.0.1:8080"


def test_the_file_with_the_token_is_read_again(tmp_path: Path) -> None:
    """Those of service accounts are renewed within the hour."""
    file = tmp_path / "token"
    file.write_text("old\n")
    endpoint = api_server_at(URL, file, None).endpoint
    assert endpoint.token() == "old"
    file.write_text("new\n")
    assert endpoint.token() == "new"
    file.unlink()
    with pytest.raises(ConfigError, match="no token can be read"):
        endpoint.token()


def test_a_server_that_asks_nobody_needs_no_token() -> None:
    assert api_server_at(URL, None, None).endpoint.token() == ""


@pytest.mark.parametrize("content", ["", "two words", "a\nb"])
def test_a_file_without_a_token_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_text(content)
    with pytest.raises(ConfigError, match="no token; the file has one"):
        api_server_at(URL, file, None)
