"""`python -m simulator.cli` is `rebind`."""

from __future__ import annotations

from simulator.cli import main

main()
