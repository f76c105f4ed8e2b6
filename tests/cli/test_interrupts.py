"""Ctrl-C in the middle of a finalizer, where Python prints it and goes on."""

from __future__ import annotations

import time
import weakref

import pytest

from simulator.cli.interrupts import follows_interrupt, interrupts_kept

LONGEST = 60.0
"""Seconds after which an interrupt counts as lost."""


class Thing:
    """Something with weak references to it."""


def interrupt(_: object) -> None:
    """Do as Ctrl-C does at this moment."""
    raise KeyboardInterrupt


def lose_and_wait() -> None:
    """Interrupt in the callback of a weak reference, which Python ignores, and go on."""
    thing = Thing()
    reference = weakref.ref(thing, interrupt)
    with interrupts_kept():
        del thing
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            assert reference() is None


def test_an_interrupt_in_a_finalizer_still_ends_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KeyboardInterrupt):
        lose_and_wait()

    assert capsys.readouterr().err == ""


def fail_at_cleaning_up() -> None:
    """Be interrupted, and fail at what is done then."""
    try:
        raise KeyboardInterrupt
    finally:
        int("no number")


def test_an_error_of_the_cleaning_up_after_an_interrupt_is_the_interrupt() -> None:
    with pytest.raises(ValueError, match="no number") as caught:
        fail_at_cleaning_up()

    assert follows_interrupt(caught.value)


def test_another_error_is_no_interrupt() -> None:
    assert not follows_interrupt(ValueError())
