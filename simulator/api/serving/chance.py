"""Where uids and the ends of generated names come from."""

from __future__ import annotations

import os
from typing import Final

from simulator.api.dialect.writing import Fresh
from simulator.core.instants import Instant

_ALPHABET: Final = b"bcdfghjklmnpqrstvwxz2456789"
"""Kubernetes' letters for generated names: no vowels, so that no words come about."""
_LETTERS: Final = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))
_SUFFIX: Final = 5
_UID: Final = 16
_EACH: Final = _UID + _SUFFIX
_DRAWN: Final = 256


class Chance:
    """Uids and ends of names, drawn many at a time.

    One call of the system for each uid would let go of the interpreter every time, to the thread
    that commits: that was seen to cost more than all the rest of a create.
    """

    def __init__(self) -> None:
        self._drawn: list[tuple[str, str]] = []

    def fresh(self, now: Instant) -> Fresh:
        """Return what is new about an object that is made now."""
        if not self._drawn:
            drawn = os.urandom(_EACH * _DRAWN)
            self._drawn = [_made(drawn[at : at + _EACH]) for at in range(0, len(drawn), _EACH)]
        uid, suffix = self._drawn.pop()
        return Fresh(now, uid, suffix)


def _made(drawn: bytes) -> tuple[str, str]:
    """Return a uid, and the end of a name."""
    digits = drawn[:_UID].hex()
    # A UUID of version 4: what says so stands in place of two random digits.
    variant = "89ab"[drawn[8] & 3]
    uid = f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
    return uid, drawn[_UID:].translate(_LETTERS).decode()
