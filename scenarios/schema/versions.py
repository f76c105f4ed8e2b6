"""Which kubelet versions an expectation speaks of: versions and ranges (details 19)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simulator.core.kubelet_version import NEWEST_PATCH, KubeletVersion, parse_version
from simulator.core.switches import OLDEST, TRUST_CHECKPOINT, behavior_for, profile_of
from simulator.errors import ConfigError

_TERM: Final = re.compile(r"(>=|<=|==|!=|>|<|=)?\s*(v?[0-9][0-9A-Za-z.+~_-]*)", re.ASCII)
_LONGEST_TEXT: Final = 256
_OPERATORS: Final[dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
_EQUALITIES: Final = frozenset({"=", "==", "!=", "<="})


def replayable_version(text: str) -> str:
    """Return the kubelet version that `text` is, or the profile that is no release.

    Raises:
        ConfigError: It is neither, or older than those that can be replayed.
    """
    behavior_for(text)
    return text


@dataclass(frozen=True, slots=True)
class VersionSelector:
    """A version, or a range such as `>=1.25.10 <1.28`: all terms must hold; or `trust-checkpoint`.

    A bound without a patch number speaks of the minor version: `1.27` is every 1.27, `<1.28` none
    of 1.28, `>1.28` at least 1.29. The other way round, a kubelet that is only called `1.24` is the
    newest of that minor version, and so it is `1.24.0` if nothing has changed since then.
    """

    text: str
    terms: tuple[tuple[str, KubeletVersion], ...]

    def selects(self, version: str) -> bool:
        """Tell whether `version` is meant; the profile that is no release only by its name."""
        if TRUST_CHECKPOINT in {version, self.text}:
            return version == self.text
        release = parse_version(version)
        return all(_compare(sign, release, bound) for sign, bound in self.terms)


def _compare(sign: str, release: KubeletVersion, bound: KubeletVersion) -> bool:
    compare = _OPERATORS[sign]
    as_minor = sign in _EQUALITIES and _behave_alike(release, bound)
    if as_minor or bound.patch == NEWEST_PATCH:
        return compare((release.minor,), (bound.minor,))
    return compare((release.minor, release.patch), (bound.minor, bound.patch))


def _behave_alike(release: KubeletVersion, bound: KubeletVersion) -> bool:
    """Tell whether a release named without a patch is as good as the patch that a bound names."""
    return (
        release.patch == NEWEST_PATCH
        and release.minor == bound.minor >= OLDEST.minor
        and profile_of(behavior_for(str(release))) == profile_of(behavior_for(str(bound)))
    )


def parse_selector(text: str) -> VersionSelector:
    """Read a version or a range.

    Raises:
        ValueError: The text is neither.
    """
    if text.strip() == TRUST_CHECKPOINT:
        return VersionSelector(TRUST_CHECKPOINT, ())
    rest = text.strip() if len(text) <= _LONGEST_TEXT else ""
    terms = []
    try:
        while match := _TERM.match(rest):
            terms.append((match.group(1) or "=", parse_version(match.group(2))))
            rest = rest[match.end() :].lstrip(" ,")
    except ConfigError as error:
        raise ValueError(str(error)) from error
    if rest or not terms:
        reason = (
            f'"{text[:40]}" is neither a kubelet version nor a range; '
            'write one like 1.27.2 or ">=1.25.10 <1.28"'
        )
        raise ValueError(reason)
    return VersionSelector(text, tuple(terms))
