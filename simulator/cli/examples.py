"""The examples at the end of every command's help.

An example is run by the tests, in a folder that holds a node's checkpoint file, a second one, a
database and so on (`tests/cli`), so it is a command that a reader can type.
"""

from __future__ import annotations

HEADING = "Example:"


def example(*commands: str) -> str:
    """Return the help epilog that shows `commands`, each a full line such as `rebind version`."""
    return "\n".join(["\b", HEADING, *(f"  {command}" for command in commands)])


def examples_of(epilog: str | None) -> list[str]:
    """Return the commands of an epilog made by `example`."""
    lines = (epilog or "").splitlines()
    if HEADING not in lines:
        return []
    return [line.strip() for line in lines[lines.index(HEADING) + 1 :] if line.strip()]
