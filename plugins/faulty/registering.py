"""Modes whose fault is in how the plugin registers, stays or goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from plugins.fake.plugin import FakePlugin, Troubles
from plugins.faulty.mode import Around, Instance, Mode, hanging, one_instance, stays_away
from plugins.faulty.plugins import EndingPlugin
from simulator.core.instants import SECOND, Duration
from simulator.protocol import services


def _two_instances(around: Around) -> Sequence[Instance]:
    """Return an old and a new instance; the old one goes when the new one has come (R21)."""
    leaving = replace(around.conduct, leaves_after=Duration(2 * around.after))
    coming = replace(around.conduct, starts_after=around.after, minds_stream_end=False)
    return [
        Instance(
            model=FakePlugin(around.resource, around.devices, sleep=around.sleep), conduct=conduct
        )
        for conduct in (leaving, coming)
    ]


REGISTERING: Final = (
    Mode(
        name="late",
        does="makes its socket and registers only after --after",
        sources=("R28", "R16", "S5.4"),
        fails=("register",),
        make=one_instance(
            conduct=lambda around: replace(around.conduct, starts_after=around.after)
        ),
    ),
    Mode(
        name="needs-kubelet",
        does="gives up when there is no kubelet as it starts",
        sources=("S1.10",),
        fails=("early-start",),
        make=one_instance(conduct=lambda around: replace(around.conduct, needs_kubelet=True)),
    ),
    Mode(
        name="no-socket",
        does="registers without serving a socket",
        sources=("S1.13",),
        fails=("register-accepted",),
        make=one_instance(conduct=lambda around: replace(around.conduct, serves=False)),
    ),
    Mode(
        name="wrong-version",
        does="registers with the API version v1alpha",
        sources=("S1.5", "S1.12", "S1.7"),
        fails=("register-accepted",),
        make=one_instance(conduct=lambda around: replace(around.conduct, version="v1alpha")),
    ),
    Mode(
        name="bad-name",
        does="registers a name without a domain",
        sources=("S1.15",),
        fails=("register-accepted",),
        make=lambda around: one_instance()(
            replace(around, resource=around.resource.rpartition("/")[2] or "gpu")
        ),
    ),
    Mode(
        name="two-resources",
        does="registers a second resource for the same socket",
        sources=("S1.12", "S1.14", "S1.36"),
        fails=("one-endpoint",),
        make=one_instance(
            conduct=lambda around: replace(
                around.conduct, also_registers=(f"{around.resource}-too",)
            )
        ),
    ),
    Mode(
        name="two-instances",
        does="registers from a second socket after --after, and leaves the first after twice that",
        sources=("R21", "R122", "S1.22", "S1.23"),
        fails=("one-instance",),
        make=_two_instances,
        after=SECOND,
    ),
    Mode(
        name="hanging-options",
        does="never answers GetDevicePluginOptions",
        sources=("S1.13",),
        fails=("options",),
        make=one_instance(troubles=hanging(services.GET_DEVICE_PLUGIN_OPTIONS.name)),
    ),
    Mode(
        name="failing-options",
        does="answers GetDevicePluginOptions with an error",
        sources=("S1.12",),
        fails=("options",),
        make=one_instance(troubles=Troubles(fail_options="not now")),
    ),
    Mode(
        name="stream-ends",
        does="ends the stream after its first list and does not come back",
        sources=("R17", "R18", "S1.22"),
        fails=("stream-kept",),
        make=one_instance(EndingPlugin, conduct=stays_away),
    ),
    Mode(
        name="ignores-stream-end",
        does="does not come back when the kubelet ends the stream",
        sources=("R17", "S2.6"),
        fails=("stream-broken",),
        make=one_instance(conduct=stays_away),
    ),
    Mode(
        name="server-stops",
        does="stops its server when a stream ends, and leaves its socket behind",
        sources=("R26",),
        fails=("stream-broken", "reachable"),
        make=one_instance(conduct=lambda around: replace(around.conduct, keeps_server=False)),
    ),
    Mode(
        name="ignores-restart",
        does="does not come back after a kubelet restart",
        sources=("R16", "R20", "S1.10"),
        fails=("kubelet-restart", "stream-broken"),
        make=one_instance(conduct=lambda around: replace(around.conduct, returns_after=None)),
    ),
    Mode(
        name="impatient",
        does="gives up when the kubelet is away for more than a second",
        sources=("S1.10",),
        fails=("slow-kubelet",),
        make=one_instance(conduct=lambda around: replace(around.conduct, patience=SECOND)),
    ),
    Mode(
        name="leaves-socket",
        does="leaves its socket behind when it ends",
        sources=("R26", "S1.10"),
        fails=("termination",),
        make=one_instance(conduct=lambda around: replace(around.conduct, removes_socket=False)),
    ),
    Mode(
        name="lingers",
        does="takes --after to end",
        sources=("S1.10",),
        fails=("termination",),
        make=one_instance(conduct=lambda around: replace(around.conduct, lingers=around.after)),
    ),
)
"""The rows of the table."""
