"""Numbers, shares and latencies as churn profiles write them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from benchmarks.profiles.profile import LatencyRange
from scenarios.files.phrases import found
from scenarios.schema.fields import GoDuration, Model, Wording
from simulator.core.instants import Duration, format_duration

RATE_MAX: Final = 1_000_000
"""Highest rate, per second."""
PODS_MAX: Final = 1_000_000
"""Most pods of anything."""

_PERCENT: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%", re.ASCII)
_WHOLE: Final = 100


def _rate(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= RATE_MAX:
        return float(value)
    reason = f"wants a number above 0 and at most {RATE_MAX}, found {found(value)}"
    raise ValueError(reason)


def _share(value: object) -> Fraction:
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None or not 0 < Fraction(match[1]) <= _WHOLE:
        reason = f"wants a share above 0% and up to 100%, such as 90%, found {found(value)}"
        raise ValueError(reason)
    return Fraction(match[1]) / _WHOLE


def _percentile(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _WHOLE:
        return float(value)
    reason = f"wants a percentile above 0 and at most 100, found {found(value)}"
    raise ValueError(reason)


Rate = Annotated[float, BeforeValidator(_rate), Wording("number")]
"""A number above 0, most often of a second."""

Share = Annotated[Fraction, BeforeValidator(_share), Wording("share such as 90%")]
"""A share above 0%, up to 100%."""

Percentile = Annotated[float, BeforeValidator(_percentile), Wording("percentile")]
"""E.g. 99 or 99.9."""

PodCount = Annotated[int, Field(ge=1, le=PODS_MAX)]
"""A number of pods."""


class Latency(Model):
    """How long answers take: lognormal, by two percentiles; constant where they are the same."""

    p50: GoDuration
    """The median."""
    p99: GoDuration
    """The 99th percentile."""

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.p99 < self.p50:
            reason = '"p99" cannot be shorter than "p50"'
            raise ValueError(reason)
        return self

    @classmethod
    def always(cls, span: Duration) -> Self:
        """Return a latency that does not vary."""
        text = format_duration(span)
        return cls.model_validate({"p50": text, "p99": text})

    @property
    def value(self) -> LatencyRange:
        """The latency as the profile has it."""
        return LatencyRange(self.p50, self.p99)
