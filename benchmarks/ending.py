"""Processes of a benchmark that end with the one that has started them, whatever ends that.

They are in a session of their own: Ctrl-C is for whoever measures, which then ends the others.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def end_with_parent() -> None:
    """Be ended when the process that has started this one is gone."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(1)
