"""The options of `faulty` plugins, and the plugins that they make."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final

from plugins.conduct import Conduct
from plugins.fake.inventory import DeviceLayout
from plugins.faulty.mode import Around
from plugins.faulty.modes import MODES
from plugins.kinds import RESOURCE_NAME, Kind, Plan, Setting
from plugins.options import Chosen, Option, number_between, one_of, read_span
from simulator.errors import ConfigError

RESOURCE: Final = replace(
    RESOURCE_NAME,
    default="example.com/faulty",
    is_repeated=False,
    help="Extended resource that is offered",
)
MODE: Final = Option(
    name="mode",
    read=one_of(MODES),
    metavar="MODE",
    help="What is wrong with it; the help lists all modes",
)
COUNT: Final = Option(
    name="count",
    read=number_between(1, 1000),
    default="4",
    metavar="N",
    help="How many devices a good plugin in its place would have",
)
AFTER: Final = Option(
    name="after",
    read=read_span,
    metavar="DURATION",
    help="The span of the modes that say so; left out: 1s for two-instances, else 1m",
)
OPTIONS: Final[tuple[Option[Any], ...]] = (MODE, RESOURCE, COUNT, AFTER)


def _open(
    chosen: Chosen, setting: Setting, conduct: Conduct
) -> AbstractContextManager[Sequence[Plan]]:
    name = chosen.maybe(MODE)
    if name is None:
        reason = (
            "a faulty plugin has a fault; name one with --mode, "
            "`rebind plugin run faulty --help` lists them"
        )
        raise ConfigError(reason)
    mode = MODES[name]
    resource = chosen.one(RESOURCE)
    after = chosen.maybe(AFTER)
    around = Around(
        resource=resource,
        devices=DeviceLayout(count=chosen.one(COUNT)).devices(resource),
        after=mode.after if after is None else after,
        conduct=conduct,
        sleep=setting.sleep,
    )
    instances = mode.make(around)
    return nullcontext([Plan(model=each.model, conduct=each.conduct) for each in instances])


FAULTY: Final = Kind(
    name="faulty",
    summary="One fault of a plugin at a time, as they were seen in the field",
    text=(
        "Behind each mode stand the rules of the kubelet and the reports from the field that it is "
        "about. A mode that is not about a call, a list or a registration does that well."
    ),
    terms=tuple((mode.name, f"{mode.does} ({', '.join(mode.sources)})") for mode in MODES.values()),
    example="--mode duplicate-ids",
    options=OPTIONS,
    open=_open,
)
