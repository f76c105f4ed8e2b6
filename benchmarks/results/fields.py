"""How the values of a result are written in its file, and what is accepted there.

Keys are camelCase, durations are Go strings, and latencies stand in HdrHistogram's own encoding
beside the percentiles that people ask for, which are derived from it.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, PlainSerializer, PlainValidator
from pydantic.alias_generators import to_camel

from benchmarks.results.latencies import PERCENTILES, Latencies
from simulator.core.instants import Duration, format_duration, parse_duration

DOCUMENT: Final = ConfigDict(
    extra="forbid", strict=True, allow_inf_nan=False, alias_generator=to_camel
)
"""Of every class that stands in a file."""

_COUNT_MAX: Final = (1 << 63) - 1
_AMOUNT_MAX: Final = 1e18

Json: TypeAlias = JsonValue
Count = Annotated[int, Field(ge=0, le=_COUNT_MAX)]
Number = Annotated[int, Field(ge=1, le=_COUNT_MAX)]
Amount = Annotated[float, Field(ge=0, le=_AMOUNT_MAX)]
Share = Annotated[float, Field(ge=0, le=1)]


def percentile_name(percent: float) -> str:
    """Return how a percentile is called: `p50`, `p99.9`, `max`."""
    return "max" if percent == PERCENTILES[-1] else f"p{percent:g}"


def _read_duration(value: object) -> Duration:
    if not isinstance(value, str):
        message = "a duration is a text such as 250ms"
        raise ValueError(message)  # noqa: TRY004 - pydantic collects values that are wrong
    return parse_duration(value)


def _latencies_document(latencies: Latencies) -> Json:
    found = latencies.percentiles(PERCENTILES)
    named: dict[str, Json] = {
        percentile_name(percent): format_duration(value)
        for percent, value in zip(PERCENTILES, found, strict=True)
    }
    return {"count": len(latencies), **named, "histogram": latencies.encoded()}


def _read_latencies(value: object) -> Latencies:
    if not isinstance(value, dict) or not isinstance(value.get("histogram"), str):
        message = "latencies have a text `histogram`"
        raise ValueError(message)  # noqa: TRY004 - pydantic collects values that are wrong
    found = Latencies.decoded(value["histogram"])
    if value.get("count") != len(found):
        message = f"count is {value.get('count')}, and the histogram holds {len(found)}"
        raise ValueError(message)
    return found


DurationText = Annotated[
    Duration, PlainValidator(_read_duration), PlainSerializer(format_duration, return_type=str)
]
EncodedLatencies = Annotated[
    Latencies, PlainValidator(_read_latencies), PlainSerializer(_latencies_document)
]
