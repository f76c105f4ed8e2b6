"""The checks by name: what each requires of a plugin, why, and what must hold to ask it at all.

The order is that of the report. Names never change their meaning; a new requirement is a new name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is required of a plugin.

    Attributes:
        name: Stable, lower case, words joined by `-`.
        requires: What the plugin must do, as a sentence about it.
        why: What happens on a node otherwise.
        sources: Rules (`S1.12`) and field reports (`R16`) that it rests on.
        needs: Checks that must have passed; where one did not, this one does not apply.
        is_optional: Whether a plugin may do without what it is about; such a check need not have
            passed for others to apply, but it must not have failed.
    """

    name: str
    requires: str
    why: str
    sources: tuple[str, ...]
    needs: tuple[str, ...] = ()
    is_optional: bool = False


_ALL: Final = (
    Check(
        "register",
        "calls Register within the deadline",
        "its resource does not exist on the node before that",
        ("S1.12", "S1.14"),
    ),
    Check(
        "register-accepted",
        "asks for v1beta1, an extended resource name, and a socket that answers",
        "the kubelet refuses anything else",
        ("S1.12", "S1.13", "S1.15"),
        ("register",),
    ),
    Check(
        "options",
        "answers GetDevicePluginOptions within the deadline",
        "the kubelet asks while the plugin waits in Register",
        ("S1.12", "S1.13"),
        ("register",),
    ),
    Check(
        "early-start",
        "waits for the kubelet's socket when it was started before the kubelet",
        "plugins and kubelets of a node start in any order, and a plugin that exits comes late",
        ("S1.10", "R28"),
        ("register-accepted", "options"),
    ),
    Check(
        "list-size",
        "sends lists of at most 4 MiB",
        "gRPC refuses a larger message and the kubelet takes the plugin for gone",
        ("S1.21", "R62"),
        ("register-accepted",),
    ),
    Check(
        "first-list",
        "sends its first list of devices within the deadline",
        "capacity stays 0 until then",
        ("S1.12", "S1.17", "S2.6"),
        ("register-accepted", "options", "list-size"),
    ),
    Check(
        "devices-listed",
        "lists a healthy device within the deadline, whatever its first list said",
        "an empty list is legal, but nothing can be allocated from it",
        ("S1.20", "R24", "R28"),
        ("first-list",),
    ),
    Check(
        "ids-valid",
        "names each device with 1 to 63 characters",
        "what stores or shows ids relies on it, although the kubelet does not check",
        ("S1.5",),
        ("first-list",),
    ),
    Check(
        "ids-unique",
        "names each device once in a list",
        "the last of the same name wins, and with another health it counts twice",
        ("S1.18",),
        ("first-list",),
    ),
    Check(
        "health-words",
        "says exactly `Healthy` or `Unhealthy` of each device",
        "anything else counts as unhealthy",
        ("S1.5",),
        ("first-list",),
    ),
    Check(
        "health-change",
        "reports a device that breaks as unhealthy, still listed, and as healthy again later",
        "pods get broken devices, or mended ones stay unused",
        ("S1.17", "S1.18", "R24"),
        ("devices-listed",),
    ),
    Check(
        "one-endpoint",
        "has a socket of its own for each resource",
        "one plugin then serves both resources, silently",
        ("S1.12", "S1.14", "S1.36"),
        ("register",),
    ),
    Check(
        "one-instance",
        "registers a resource through one socket at a time",
        "the newest registration wins, and the end of the older one takes it away",
        ("S1.14", "S1.22", "R21", "R122"),
        ("register-accepted",),
    ),
    Check(
        "stream-kept",
        "keeps ListAndWatch open",
        "the kubelet takes the end of the stream for the end of the plugin and never calls again",
        ("S1.22", "S2.6", "R18", "R26"),
        ("devices-listed", "one-instance"),
    ),
    Check(
        "preferred-allocation",
        "prefers as many devices as asked for, all available, with those that must be included",
        "an error refuses the pod; other answers are ignored or filled up at will",
        ("S1.25", "R64", "R84", "R85"),
        ("devices-listed", "stream-kept", "one-instance"),
        is_optional=True,
    ),
    Check(
        "allocate-one",
        "answers Allocate for one device within the deadline",
        "the call has no time-out on a node, and every other pod waits for it",
        ("S1.24", "S1.28", "R82"),
        ("devices-listed", "stream-kept", "one-instance", "preferred-allocation"),
    ),
    Check(
        "response-usable",
        "answers with absolute paths, permissions of r, w and m, and variables that can be set",
        "the container would not start",
        ("S1.4", "S1.24", "R67"),
        ("allocate-one",),
    ),
    Check(
        "pre-start",
        "answers PreStartContainer within the deadline",
        "the container does not start",
        ("S1.26", "R124"),
        ("allocate-one",),
        is_optional=True,
    ),
    Check(
        "allocate-again",
        "answers Allocate for devices that it has answered for before",
        "a later container or pod gets the same device, and no call tells that it is free again",
        ("S1.24", "R41", "R116"),
        ("allocate-one", "pre-start"),
    ),
    Check(
        "allocate-all",
        "answers Allocate for all its healthy devices within the deadline",
        "what is listed as healthy is given to pods",
        ("S1.24", "R84"),
        ("allocate-again",),
    ),
    Check(
        "kubelet-restart",
        "registers again and lists its devices after each of three kubelet restarts",
        "the kubelet deletes the sockets and forgets; it never calls a plugin by itself",
        ("S1.9", "S1.10", "S2.8", "R16"),
        ("devices-listed", "stream-kept", "one-instance"),
    ),
    Check(
        "allocate-after-restart",
        "answers Allocate after the kubelet restarts",
        "a socket that was deleted cannot be called",
        ("S1.10", "S1.24"),
        ("kubelet-restart", "allocate-again"),
    ),
    Check(
        "kubelet-crash",
        "registers again after a kubelet that died in the middle of an Allocate",
        "nobody ends the stream and the call in good order",
        ("S1.10", "S1.22", "R16"),
        ("kubelet-restart", "allocate-again"),
    ),
    Check(
        "slow-kubelet",
        "waits for the kubelet's socket when that is absent for a while",
        "a kubelet may take a minute to come back",
        ("S1.10", "R16"),
        ("kubelet-restart",),
    ),
    Check(
        "socket-wipe",
        "comes back when every file of the plugin directory is deleted",
        "older kubelets delete all of them when they start, newer ones the sockets",
        ("S1.9", "S1.10"),
        ("kubelet-restart",),
    ),
    Check(
        "stream-broken",
        "registers again, or exits to be started again, when the kubelet ends the stream",
        "the kubelet does not call again; the devices stay unhealthy until someone looks",
        ("S1.22", "S2.6", "R17", "R18"),
        ("devices-listed", "stream-kept", "one-instance"),
    ),
    Check(
        "reachable",
        "answers on its socket as long as the socket's file is there",
        "plugin unreachable: the file exists, but connecting to it is refused",
        ("S1.10", "R26"),
        ("devices-listed", "stream-kept", "one-instance"),
    ),
    Check(
        "termination",
        "exits in time after SIGTERM and leaves no socket behind",
        "it is killed, and whoever looks at the socket takes it for alive",
        ("S1.10", "R26"),
        ("register",),
    ),
)

CATALOG: Final[Mapping[str, Check]] = MappingProxyType({check.name: check for check in _ALL})
"""Every check by its name, in the order of the report."""
