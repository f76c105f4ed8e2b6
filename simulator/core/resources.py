"""Extended resource names and what makes one valid (S1.15)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NewType

ResourceName = NewType("ResourceName", str)
"""The name of an extended resource, such as `example.com/gpu`; validated once, at the edge."""

_PREFIX_MAX: Final = 253
_NAME_MAX: Final = 63
_KEPT: Final = 1_024
"""Names that are not looked at again: a cluster has few, and every request names some."""
_REQUESTS: Final = "requests."
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_PREFIX: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)


def is_extended_resource_name(text: str) -> bool:
    """Tell whether the kubelet accepts `text` as a device plugin's resource name.

    Kubelet: IsExtendedResourceName (apis/core/v1/helper), S1.15.
    """
    # What is far too long is not remembered either.
    return len(text) <= _PREFIX_MAX + len("/") + _NAME_MAX and _is_extended(text)


@lru_cache(maxsize=_KEPT)
def _is_extended(text: str) -> bool:
    if "/" not in text or "kubernetes.io/" in text or text.startswith(_REQUESTS):
        return False
    prefix, _, name = (_REQUESTS + text).partition("/")
    return (
        len(prefix) <= _PREFIX_MAX
        and _PREFIX.fullmatch(prefix) is not None
        and 1 <= len(name) <= _NAME_MAX
        and _NAME.fullmatch(name) is not None
    )
