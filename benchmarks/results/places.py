"""Where a figure was measured, in words, when it is not of all rows that are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.results.naming import KNOBS, Knob
from benchmarks.results.pairs import Pair

_NAMED_MAX: Final = 2
"""Phases, or words of one knob, that are named; of more the pairs are counted."""


def where(used: Sequence[Pair], all_: Sequence[Pair], knobs: Sequence[Knob] = KNOBS) -> str:
    """Return ` in storm at fsync +1ms`, or how many pairs that are; empty if it is all of them.

    Args:
        used: Pairs that a figure is from.
        all_: Pairs that a reader would take it to be from.
        knobs: What the pairs may differ in beside their phase.
    """
    if len(used) == len(all_):
        return ""
    phases, chosen = _narrowed(used, all_, lambda pair: pair.first.phase)
    named = [phases]
    for knob in knobs:
        words, chosen = _narrowed(used, chosen, lambda pair, of=knob.words: of(pair.first.setting))  # type: ignore[misc]
        named.append(words)
    is_short = all(len(words) <= _NAMED_MAX and all(words) for words in named)
    if len(chosen) != len(used) or not is_short:
        return f" in {len(used)} of {len(all_)} cases"
    told = [" and ".join(words) for words in named[1:] if words]
    return (f" in {' and '.join(phases)}" if phases else "") + (
        f" at {', '.join(told)}" if told else ""
    )


def _narrowed(
    used: Sequence[Pair], all_: Sequence[Pair], word: Callable[[Pair], str]
) -> tuple[list[str], list[Pair]]:
    """Return the words that tell the used pairs from others, if any, and the pairs that have them.

    Args:
        used: Pairs to tell from the others.
        all_: Pairs that nothing told so far tells from them.
        word: What a pair has.
    """
    words = list(dict.fromkeys(map(word, used)))
    chosen = [pair for pair in all_ if word(pair) in words]
    return (words if len(chosen) < len(all_) else []), chosen
