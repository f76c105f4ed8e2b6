"""Ctrl-C, also where Python would lose it."""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_AGAIN_AFTER: Final = 0.02
"""Seconds until an interrupt is tried again."""


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Interrupt again where an interrupt came in the middle of a finalizer.

    An exception in one, such as the callback of a weak reference, is printed with its traceback and
    otherwise ignored, so that the command would run on.
    """
    usual = sys.unraisablehook

    def hook(unraisable: UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            again = threading.Timer(_AGAIN_AFTER, _thread.interrupt_main)
            again.daemon = True
            again.start()
        else:
            usual(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual


def follows_interrupt(error: BaseException | None) -> bool:
    """Tell whether an error came up while an interrupt was being handled.

    A library that cleans up after Ctrl-C, such as one that rolls a transaction back in the middle
    of a close, may fail at that; what ended the command is still the interrupt.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
