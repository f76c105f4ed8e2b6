"""The command line: the only place that prints, exits and configures logging.

Each command lives in its own module, which is imported when the command is used (`program`). A
command raises the errors of `simulator.errors` and lets `OSError` through; `failures` turns them
into one line and an exit code. Tables and documents go through `output`, and through nothing else.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path


def main() -> None:
    """Run the program with the arguments of the process and exit."""
    _settle_streams()
    # Imported here so that importing one command's module does not load the whole program.
    from simulator.cli.program import run  # noqa: PLC0415

    sys.exit(run(sys.argv[1:]))


def _settle_streams() -> None:
    """Have streams that take any text: data is UTF-8 whatever the locale, as kubectl's is.

    A name that is not UTF-8 is written with escapes, which JSON and YAML can hold. What goes to a
    stream that the caller has closed is lost.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the process
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
