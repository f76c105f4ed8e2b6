"""The terminal that stdout goes to, if it goes to one."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Final

WIDTH: Final = 100
"""Width of a report that does not go to a terminal."""


def width() -> int:
    """Return the terminal's width; without a terminal the same everywhere."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH


def is_colored() -> bool:
    """Tell whether color is wanted."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def error_width() -> int:
    """Return the width of the terminal that stderr goes to, if it goes to one."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or WIDTH
    except OSError:
        return WIDTH
