"""Reads the taints of `--register-with-taints`, as a kubelet's flag of this name has them."""

from __future__ import annotations

from simulator.live.remote.settings import EFFECTS, Taint


def read_taints(text: str) -> tuple[Taint, ...]:
    """Read `KEY=VALUE:EFFECT,...`, or nothing for no taints.

    Raises:
        ValueError: It is none.
    """
    return tuple(_read(part.strip()) for part in text.split(",")) if text.strip() else ()


def _read(text: str) -> Taint:
    named, _, effect = text.rpartition(":")
    key, _, value = named.partition("=")
    if not key or effect not in EFFECTS:
        reason = (
            f'"{text}" is no taint; KEY=VALUE:EFFECT is, with an effect of {", ".join(EFFECTS)}'
        )
        raise ValueError(reason)
    return Taint(key, value, effect)
