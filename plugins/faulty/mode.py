"""What a mode of faulty plugins is, and how the plugins of one are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from plugins.conduct import Conduct
from plugins.fake.plugin import FakePlugin, FakeSettings, Troubles
from plugins.faulty.plugins import OddAnswerPlugin
from plugins.model import Sleep
from simulator.core.allocate_response import AllocateResponse
from simulator.core.devices import Device
from simulator.core.instants import MINUTE, Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a faulty plugin is made of.

    Attributes:
        resource: The name that is registered.
        devices: Its devices, as a good plugin would list them.
        after: The span of the modes that need one.
        conduct: How a good plugin would behave.
    """

    resource: str
    devices: tuple[Device, ...]
    after: Duration
    conduct: Conduct
    sleep: Sleep


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One server of a faulty plugin."""

    model: FakePlugin
    conduct: Conduct


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One way to be wrong.

    Attributes:
        does: What the plugin does, as a sentence about it.
        sources: Rules (`S1.21`) and field reports (`R62`).
        fails: The checks of `rebind conform` that it fails; others pass or do not apply.
        make: Makes the instances.
        after: The span that `--after` stands for when it is not given.
    """

    name: str
    does: str
    sources: tuple[str, ...]
    fails: tuple[str, ...]
    make: Callable[[Around], Sequence[Instance]] = field(repr=False)
    after: Duration = MINUTE


Devices = Callable[[Around], Sequence[Device]]
ConductOf = Callable[[Around], Conduct]


def one_instance(  # noqa: PLR0913 - what the modes differ in
    plugin: type[FakePlugin] = FakePlugin,
    *,
    settings: FakeSettings = FakeSettings(),  # noqa: B008 - a frozen value
    troubles: Troubles | None = None,
    devices: Devices = lambda around: around.devices,
    conduct: ConductOf = lambda around: around.conduct,
    answer: AllocateResponse | None = None,
) -> Callable[[Around], Sequence[Instance]]:
    """Return a maker of a plugin that is like a good one but for what is given."""
    if troubles is not None:
        settings = replace(settings, troubles=troubles)

    def make(around: Around) -> Sequence[Instance]:
        model = plugin(around.resource, devices(around), settings, sleep=around.sleep)
        if isinstance(model, OddAnswerPlugin) and answer is not None:
            model.answer = answer
        return [Instance(model=model, conduct=conduct(around))]

    return make


def hanging(call: str) -> Troubles:
    """Return the trouble that a call is never answered."""
    return Troubles(hanging=frozenset({call}))


def stays_away(around: Around) -> Conduct:
    """Return the conduct of a plugin that does not mind the end of its stream."""
    return replace(around.conduct, minds_stream_end=False)
