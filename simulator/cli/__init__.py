"""The command line: the only place that prints, exits and configures logging.

Each command lives in its own module, which is imported when the command is used (`program`). A
command raises the errors of `simulator.errors` and lets `OSError` through; `failures` turns them
into one line and an exit code. Tables and documents go through `output`, and through nothing else.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program with the arguments of the process and exit."""
    # Imported here so that importing one command's module does not load the whole program.
    from simulator.cli.program import run  # noqa: PLC0415

    sys.exit(run(sys.argv[1:]))
