"""Every rule of the wire (S1, S8, S11) is shown by a test over real sockets that cites it.

A test cites a rule in its docstring. Only tests count in whose modules requests go over a socket;
`WITHOUT_SOCKETS` are the others that lie among them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parent
FOLDERS: Final = ("live", "plugins", "rig", "server", "wire")
WITHOUT_SOCKETS: Final = frozenset(
    {
        "wire/test_allocate_answers.py",
        "wire/test_device_lists.py",
        "wire/test_metrics.py",
        "wire/test_plugin_directory.py",
        "wire/test_status.py",
    }
)
"""They look at values, files and texts."""

_RULE: Final = re.compile(r"\bS(?:1|8|11)\.[0-9]+a?")
RULES: Final = (
    *(f"S1.{number}" for number in range(1, 39) if number not in {6, 7}),
    "S1.9a",
    *(f"S8.{number}" for number in range(1, 13) if number != 6),
    "S11.1",
)
"""Without those that no socket can show (details 32)."""


def cited() -> dict[str, list[str]]:
    """Return the tests over sockets by the rules that they cite."""
    found: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for path in sorted((TESTS / folder).rglob("test_*.py")):
            module = path.relative_to(TESTS).as_posix()
            if module in WITHOUT_SOCKETS:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    for rule in _RULE.findall(ast.get_docstring(node) or ""):
                        found.setdefault(rule, []).append(f"{module}::{node.name}")
    return found


CITED: Final = cited()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_the_wire_is_shown_over_a_socket(rule: str) -> None:
    assert CITED.get(rule), f"no test over sockets cites {rule}"


def test_no_test_cites_a_rule_of_the_wire_that_there_is_not() -> None:
    beside = {"S1.6", "S1.7", "S1.8", "S8.6"}

    assert sorted(set(CITED) - set(RULES) - beside) == []
    assert all((TESTS / module).is_file() for module in WITHOUT_SOCKETS)
