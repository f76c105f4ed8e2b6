"""Reports laid out by Rich, as text: the same on every terminal of the same width."""

from __future__ import annotations

import io
from collections.abc import Callable

from rich.console import Console


def laid_out(show: Callable[[Console], None], *, width: int, color: bool) -> str:
    """Return what `show` prints, without spaces at the ends of lines.

    Nothing in a text is taken for markup, since ids and messages come from outside.
    """
    text = io.StringIO()
    show(
        Console(
            file=text,
            width=width,
            force_terminal=color,
            no_color=not color,
            color_system="standard" if color else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
    )
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
