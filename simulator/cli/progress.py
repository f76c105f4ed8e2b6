"""How far a long command is: a bar on stderr, where that is a terminal."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import Progress


def progress_bar() -> Progress:
    """Return a bar that leaves nothing behind, and that is silent without a terminal."""
    return Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
