"""What goes wrong between the kubelet and a plugin: calls and the stream."""

from __future__ import annotations

from typing import Final

from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.statements import NEWER_PLUGIN_CUT_OFF, RESTART_COST
from simulator.core.diagnosis.surroundings import Surroundings
from simulator.core.diagnosis.texts import blank, phrase, said, said_by_version
from simulator.core.refusals import (
    AllocateFailed,
    EmptyAllocateResponse,
    PreferredAllocationFailed,
    stopped_endpoint_text,
)
from simulator.core.resources import ResourceName

_MESSAGE: Final = blank("message")

PREFERENCE_FAILED: Final = Known(
    key="preferredAllocationFailed",
    rules=("S3.18", "S3 steps K, L"),
    place="the kubelet's device manager, asking the plugin which devices it prefers",
    texts=said_by_version(
        PreferredAllocationFailed(_MESSAGE).text,
        lambda behavior: behavior.preferred_allocation_known,
    ),
    means="The plugin's GetPreferredAllocation failed; the kubelet takes that for a refusal.",
    why=(
        "An error is no fallback to a plain choice: one lost device that the plugin stumbles "
        "over makes all the others unusable. The plugin said: {message}"
    ),
    advice=(
        "Look at the plugin's log for this call; let it report the lost device unhealthy.",
        "Delete this pod, or let its controller replace it.",
        (
            "If later pods are refused with too few available, restart the kubelet: devices taken "
            f"before the failed call can stay reserved. But {RESTART_COST}."
        ),
    ),
    reports=("R84", "R64", "R78"),
)

RPC_ERROR: Final = Known(
    key="pluginCallFailed",
    rules=("S3.12",),
    place="a call from the kubelet to the plugin",
    texts=said_by_version(
        AllocateFailed(f"rpc error: code = {blank('word')} desc = {_MESSAGE}").text
    ),
    means=(
        "The call failed with gRPC code {word}. Without another text around it, it is the "
        "plugin's Allocate, whose errors the kubelet passes on as they are."
    ),
    why="What stands behind desc comes from the plugin or from the connection to it: {message}",
    advice=(
        "Look at the plugin's log at that time.",
        "Delete this pod, or let its controller replace it; nothing stays reserved.",
    ),
    reports=("R41", "R87", "R82"),
    surroundings=Surroundings.NEAR,
    general=True,
)

EMPTY_RESPONSE: Final = Known(
    key="emptyAllocateResponse",
    rules=("S3.13",),
    place="the kubelet's device manager, reading the answer to Allocate",
    texts=said_by_version(EmptyAllocateResponse().text),
    means="The plugin answered Allocate without a container response.",
    why=(
        "The plugin is at fault: there must be one response for the container. The devices stay "
        "reserved, although nobody holds them, until the kubelet counts anew."
    ),
    advice=(
        "Correct or upgrade the device plugin.",
        (
            "If later pods are refused with too few available, restart the kubelet. But "
            f"{RESTART_COST}."
        ),
    ),
    reports=("R78",),
)

STOPPED: Final = Known(
    key="endpointStopped",
    rules=("S1.27", "S2.6"),
    place="the kubelet's device manager, about to call the plugin",
    texts=(
        phrase(r"endpoint (?P<dump>&?\{.{0,2000}) has been stopped"),
        said(stopped_endpoint_text(ResourceName(blank("dump")))),
    ),
    means="The call was not made: the plugin's stream had ended, and it has not come back.",
    why=(
        "The kubelet never dials a plugin again by itself; the plugin has to register. Within 5 "
        "minutes the resource is kept, with all devices unhealthy."
    ),
    points=(NEWER_PLUGIN_CUT_OFF,),
    advice=(
        "Restart the device plugin, so that it registers.",
        "Then delete this pod, or let its controller replace it.",
    ),
    reports=("R17", "R18", "R21", "R26"),
)

TOO_LARGE: Final = Known(
    key="messageTooLarge",
    rules=("S1.21",),
    place="gRPC between the kubelet and the plugin",
    texts=(
        phrase(
            r"(?:received|trying to send) message larger than max "
            r"\((?P<size>\d+) vs\.? (?P<limit>(?!16777216\b)\d+)\)"  # 16 MiB is the runtime's
        ),
    ),
    means="A message of {size} bytes came in, and at most {limit} are taken.",
    why=(
        "The plugin's list, or its answer, names too many devices: 4 MiB are about 53,700 devices "
        "of 78 bytes. A ListAndWatch message that large ends the stream, and the resource stays "
        "at 0."
    ),
    versions="no release of the kubelet has raised the limit of 4 MiB",
    advice=(
        "Let the plugin offer fewer devices: a larger unit (GiB for MiB), or shorter ids.",
        "Restart the plugin then, so that it registers.",
    ),
    reports=("R62", "R64"),
    surroundings=Surroundings.NOT_FOREIGN,
)

UNREACHABLE: Final = Known(
    key="pluginUnreachable",
    rules=("S1.10",),
    place="gRPC between the kubelet and the plugin",
    texts=(
        phrase(r"(?:rpc error: )?code = Unavailable"),
        phrase(r"(?:dial unix \S+: )?connect: (?:connection refused|no such file or directory)"),
    ),
    means="The plugin's socket did not answer: its process has ended, or its socket was removed.",
    why=(
        "A kubelet start removes the sockets of plugins; a plugin that goes on serving the "
        "removed socket is alive, but cannot be reached."
    ),
    advice=(
        (
            "See whether the plugin's process runs, and whether its socket stands in the folder "
            "device-plugins."
        ),
        "Restart the plugin; it has to make its socket anew and register.",
    ),
    reports=("R16", "R26"),
    surroundings=Surroundings.NEAR,
)

STREAM_ENDED: Final = Known(
    key="streamEnded",
    rules=("S1.22", "S2.6"),
    place="the kubelet, watching a plugin's devices (ListAndWatch)",
    texts=(phrase(r"ListAndWatch ended unexpectedly for device plugin"),),
    means="The connection on which a plugin reports its devices has ended.",
    why=(
        "The plugin stopped, crashed, was replaced, or sent too large a list. All its devices "
        "are unhealthy from now on: capacity stays, allocatable is 0; after 5 minutes the "
        "resource is dropped. The kubelet does not dial again."
    ),
    points=(NEWER_PLUGIN_CUT_OFF,),
    advice=(
        "See whether the plugin registered again after this line; if not, restart it.",
        "When replacing a plugin, let the old instance end before the new one registers.",
    ),
    reports=("R17", "R18", "R21", "R20", "R62"),
)

OUT_OF_SYNC: Final = Known(
    key="endpointsOutOfSync",
    rules=("S2.10",),
    place="the kubelet's device manager, counting capacity for the node's status",
    texts=(phrase(r"endpoints (?:are|were|became) out of sync"),),
    means="The kubelet dropped a resource whose plugin was away for too long; no more is wrong.",
    why="It drops the resource's devices one list after the other, and wonders at its own traces.",
    versions="up to 1.35",
    advice=(
        (
            "Nothing for these words. If the resource is missing, restart its plugin, so that it "
            "registers."
        ),
    ),
    reports=("R29",),
)

NODE_ZERO_HIDDEN: Final = Known(
    key="numaNodeZeroHidden",
    rules=("S2.2", "S8.9"),
    place="a list of devices, printed from protobuf",
    texts=(
        phrase(
            r"topology\"?\s?:?\s?[{<]\s?\"?nodes\"?\s?:?\s?"
            r"(?:\[(?:\s?\{[^{}]*\}\s?,)*\s?\{\s?\}|\{\s?\}|<\s?>)"
        ),
    ),
    means=(
        "The device is on NUMA node 0: the encoder leaves out a number that is 0, and prints an "
        "empty node. It is not missing, and the kubelet reads it as 0."
    ),
    why=(
        "In protobuf a field that has its default value is not written, and neither JSON nor text "
        "made from it shows it. A device without NUMA nodes has no topology at all."
    ),
    advice=(
        "Nothing for these words: count the devices with an empty node to those of NUMA node 0.",
        (
            "Where a tool takes such a device for one without NUMA node, let the tool print "
            "default values, or read the ids by the NUMA node in the checkpoint."
        ),
    ),
    reports=("R104", "R101"),
)

ENTRIES: Final = (
    NODE_ZERO_HIDDEN,
    OUT_OF_SYNC,
    PREFERENCE_FAILED,
    EMPTY_RESPONSE,
    STREAM_ENDED,
    RPC_ERROR,
    STOPPED,
    TOO_LARGE,
    UNREACHABLE,
)
