"""The kinds of value that scenario files hold, as pydantic types.

Each says in words what it wants, so that an error and `rebind explain` tell the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Strict
from pydantic.alias_generators import to_camel

from scenarios.files.phrases import found
from scenarios.schema.versions import VersionSelector, parse_selector, replayable_version
from simulator.config import API_VERSION
from simulator.core.instants import HOUR, Duration, format_duration, parse_duration
from simulator.core.resources import ResourceName, is_extended_resource_name
from simulator.errors import ConfigError

ItemT = TypeVar("ItemT")

_DNS_1123: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_DEVICE_ID_MAX: Final = 256
DURATION_MAX: Final = Duration(720 * HOUR)
"""Longest span that a scenario can name, and longest run: nodes do something all the time."""


class Model(BaseModel):
    """A map with a fixed set of camelCase keys; anything else in it is an error."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        arbitrary_types_allowed=True,
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        validate_by_name=False,
    )


def _text(value: object, wanted: str) -> str:
    if isinstance(value, str):
        return value
    hint = "; put it in quotes" if isinstance(value, int | float) else ""
    reason = f"wants {wanted}, found {found(value)}{hint}"
    raise ValueError(reason)


def _duration(value: object) -> Duration:
    wanted = "a duration such as 250ms or 1m30s"
    if not isinstance(value, str):
        reason = f"wants {wanted}, found {found(value)}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            reason += "; add a unit"
        raise ValueError(reason)  # noqa: TRY004 - pydantic turns a ValueError into a placed fault
    span = parse_duration(value)
    if span < 0:
        reason = f"wants {wanted}, found a negative one"
        raise ValueError(reason)
    if span > DURATION_MAX:
        reason = (
            f"wants a duration of at most {format_duration(DURATION_MAX)}, found {found(value)}"
        )
        raise ValueError(reason)
    return span


def _name(value: object) -> str:
    name = _text(value, "a name")
    if not _DNS_1123.fullmatch(name):
        reason = (
            f"{found(name)} is not a DNS-1123 name: "
            "lower-case letters, digits, '-' and '.', at most 253 characters"
        )
        raise ValueError(reason)
    return name


def _resource(value: object) -> ResourceName:
    name = _text(value, "an extended resource name")
    if not is_extended_resource_name(name):
        reason = f"{found(name)} is not an extended resource name such as example.com/gpu"
        raise ValueError(reason)
    return ResourceName(name)


def _device_id(value: object) -> str:
    device = _text(value, "a device id")
    if not device or len(device) > _DEVICE_ID_MAX or not device.isprintable():
        reason = f"{found(device)} is not a device id: 1 to {_DEVICE_ID_MAX} printable characters"
        raise ValueError(reason)
    return device


def _version(value: object) -> str:
    text = _text(value, "a kubelet version such as 1.27.2")
    try:
        return replayable_version(text)
    except ConfigError as error:
        raise ValueError(str(error)) from error


def _api_version(value: object) -> str:
    if value != API_VERSION:
        reason = f"wants {API_VERSION}, found {found(value)}"
        raise ValueError(reason)
    return API_VERSION


def _selector(value: object) -> VersionSelector:
    return parse_selector(_text(value, 'a kubelet version or a range such as ">=1.25.10 <1.28"'))


def one_or_list(value: object) -> object:
    """Return a list as it is, and anything else as a list of one."""
    return value if isinstance(value, list) else [value]


@dataclass(frozen=True, slots=True)
class Wording:
    """How `rebind explain` and errors call a kind of value.

    Attributes:
        text: E.g. `duration`.
        allowed: All values, when they can be listed.
    """

    text: str
    allowed: tuple[str, ...] = ()


GoDuration = Annotated[Duration, BeforeValidator(_duration), Wording("duration")]
"""A Go duration: `250ms`, `1m30s`."""

Name = Annotated[str, BeforeValidator(_name), Wording("name")]
"""A DNS-1123 name."""

Resource = Annotated[ResourceName, BeforeValidator(_resource), Wording("resource name")]
"""An extended resource name (S1.15)."""

DeviceIdText = Annotated[str, BeforeValidator(_device_id), Wording("device id")]
"""A device's id."""

KubeletVersion = Annotated[str, BeforeValidator(_version), Wording("kubelet version")]
"""A kubelet version such as `1.27.2`."""

Versions = Annotated[
    VersionSelector, BeforeValidator(_selector), Wording("kubelet version or range")
]
"""A kubelet version or a range such as `>=1.25.10 <1.28`."""

ApiVersion = Annotated[str, BeforeValidator(_api_version), Wording("text", (API_VERSION,))]
"""The version of Rebind's files."""

Items = Annotated[tuple[ItemT, ...], Strict(strict=False)]
"""A list."""

Manifest = dict[str, object]
"""A Kubernetes manifest; read from the document's own nodes (`scenarios.kubernetes.manifests`)."""
