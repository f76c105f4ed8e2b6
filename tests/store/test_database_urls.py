"""Which database a URL names, and what is shown of a URL that names none."""

from __future__ import annotations

import pytest

from simulator.errors import ConfigError
from store.databases import database_at


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:secret@db.example.com/rebind",
        "mysql://u:sec/ret@db.example.com/rebind",
        "postgres://u:secret@db.example.com/rebind",
        "postgresql://u:sec@ret@db.example.com/rebind",
        "postgresql://u:secret@db.example.com:port/rebind",
        "u:secret@db.example.com",
        "sqlite:///rebind.db?password=secret",
    ],
)
def test_a_password_is_not_shown_in_what_is_said_about_a_url(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        database_at(url)

    assert "***" in str(error.value)
    assert "sec" not in str(error.value)
    assert "ret" not in str(error.value).replace("sqlite", "")


def test_a_sign_that_ends_the_password_too_early_is_named() -> None:
    """Else the rest of the password would pass for the server's name, and be shown."""
    with pytest.raises(ConfigError, match="write an @ in the password as %40"):
        database_at("postgresql://u:sec@ret@db.example.com/rebind")

    assert "ret" not in database_at("postgresql://u:sec%40ret@db.example.com/x").name
