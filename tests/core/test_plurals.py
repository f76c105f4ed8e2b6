"""Numbers agree with their nouns."""

from __future__ import annotations

from simulator.core.plurals import counted


def test_one_is_singular_and_all_else_plural() -> None:
    assert [counted(number, "pod") for number in (0, 1, 2)] == ["0 pods", "1 pod", "2 pods"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
