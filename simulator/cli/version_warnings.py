"""What is said of kubelet versions that are newer than any that is known."""

from __future__ import annotations

import logging

from simulator.core.behavior import Behavior

_LOG = logging.getLogger(__name__)


def warn_of_unknown(*behaviors: Behavior) -> None:
    """Say of each version that is not known yet which one it behaves like."""
    for behavior in behaviors:
        if behavior.note:
            _LOG.warning(behavior.note)
