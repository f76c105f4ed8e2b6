"""A folder whose path is short enough for sockets."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return an empty folder with a short path."""
    made = Path(tempfile.mkdtemp(prefix="rb"))
    yield made
    shutil.rmtree(made)
