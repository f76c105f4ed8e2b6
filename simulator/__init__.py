"""Rebind: a kubelet device manager without a kubelet.

`simulator.core` decides, `simulator.engine` drives it in virtual time, `store` keeps what was
decided, `scenarios` describes what happens to a node, and `simulator.cli` is the way in.
"""

from __future__ import annotations

__version__ = "0.1.0"
