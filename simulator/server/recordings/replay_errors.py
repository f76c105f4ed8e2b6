"""What a replay cannot do."""

from __future__ import annotations

from typing import NoReturn

from simulator.errors import ConfigError


def refuse(what: str, number: int) -> NoReturn:
    """Refuse an answer to something that the replay has not asked.

    Raises:
        ConfigError: Always.
    """
    message = (
        f"the recording answers {what} {number}, which the replay has not made: "
        "this program decides otherwise than the one that recorded"
    )
    raise ConfigError(message)
