"""States of a pod that no message explains."""

from __future__ import annotations

from typing import Final

from simulator.core.diagnosis.known import Known, Point
from simulator.core.diagnosis.statements import (
    OLD_INSTANCE_SEEN,
    RUNNING_PODS_REFUSED,
    TERMINATED_READMITTED,
    spares_running_containers,
)

_KUBELET: Final = "the kubelet"

NO_DEVICES_WANTED: Final = Known(
    key="noDevicesWanted",
    rules=("S3.7",),
    place="the pod's manifest",
    means="No container has a limit of an extended resource: the pod gets no device.",
    why=(
        "The device manager looks at limits only. What a container sees of a device without "
        "asking for it, through the runtime, the kubelet does not know."
    ),
    versions="any version",
    advice=("To get a device, add it to resources.limits of the container.",),
    reports=("R32",),
)

UNSCHEDULED: Final = Known(
    key="unscheduled",
    rules=("S2.12",),
    place="the scheduler",
    means="The pod has no node yet; no kubelet knows it.",
    why="Nothing in its status says what the scheduler waits for.",
    versions="any version",
    advice=(
        "See its events (FailedScheduling), and allocatable of what it requests on the nodes.",
    ),
    reports=("R16",),
)

NOT_ADMITTED_YET: Final = Known(
    key="notAdmittedYet",
    rules=("S1.28", "S1.24"),
    place="the kubelet, before or in the admission of the pod",
    means="The pod has its node, and no container has been prepared.",
    why=(
        "The kubelet admits pods one after the other and waits for Allocate and "
        "GetPreferredAllocation without a limit: one plugin that hangs holds up every pod of the "
        "node. The kubelet may also be down."
    ),
    versions="any version",
    advice=(
        "See whether other new pods of the node wait too, and whether the node is Ready.",
        "Restart the plugin whose log ends in a call: that ends the call, and the waiting.",
    ),
    reports=("R82",),
)

STARTING: Final = Known(
    key="starting",
    rules=("S3.22", "S3.25"),
    place=f"{_KUBELET} and the container runtime",
    means="The pod was admitted with what it asks for; its containers are being prepared.",
    why=(
        "Images, volumes and the sandbox come first. Devices are not chosen again, only "
        "PreStartContainer of the plugin may be called."
    ),
    versions="any version",
    advice=("Wait; if it lasts, see the pod's events.",),
)

RUNS_WITH_DEVICES: Final = Known(
    key="runsWithDevices",
    rules=("S9.2", "S5.13"),
    place=_KUBELET,
    means="The pod runs, and holds what it asks for.",
    why="Its devices stay its own until it ends, whatever becomes of the plugin.",
    versions="any version",
    points=(RUNNING_PODS_REFUSED,),
    advice=("Nothing.",),
)

RUNS_UNPROVEN: Final = Known(
    key="runsHoldingUnknown",
    rules=("S3.7", "S9.2"),
    place=_KUBELET,
    means="The pod runs; its status does not say whether it holds what it asks for.",
    why=(
        "A pod is admitted without devices when the kubelet does not know the resource at that "
        "moment. Only the checkpoint file, PodResources, or the status of a newer kubelet tells."
    ),
    versions="any version",
    points=(
        Point(
            "the status names the devices that a container holds",
            lambda behavior: behavior.resource_health_in_status,
        ),
    ),
    advice=("Give the node's file: rebind diagnose --pod FILE --checkpoint FILE.",),
    reports=("R14",),
)

RUNS_WITHOUT_DEVICES: Final = Known(
    key="runsWithoutDevices",
    rules=("S3.7", "S4.14", "S3.22.3"),
    place="the kubelet's device manager, skipping a resource that it does not know",
    means="By the file, or by its status, the pod runs without devices that it asks for.",
    why=(
        "When it was admitted, the kubelet did not know the resource: the checkpoint file was "
        "lost, damaged or of another form, and the plugin had not registered yet. An unknown "
        "extended resource is skipped without a word."
    ),
    versions="any version",
    advice=(
        (
            "With the plugin registered, restart the container (end its process): at its next "
            "start it gets its devices."
        ),
        "Or delete the pod, so that it is admitted anew.",
        "Its earlier devices count as free: see that no other pod got them.",
    ),
    reports=("R14", "R54"),
)

DEVICE_UNHEALTHY: Final = Known(
    key="heldDeviceUnhealthy",
    rules=("S9.7", "S9.4"),
    place="the kubelet, showing the health of devices in the pod's status",
    means="A device that the pod holds is reported unhealthy by its plugin.",
    why=(
        "The kubelet does nothing about it: it neither evicts nor restarts the pod. At a kubelet "
        "restart or reboot the pod may be refused for it."
    ),
    points=(
        Point(
            "the status shows the health of devices",
            lambda behavior: behavior.resource_health_in_status,
        ),
    ),
    versions="where the status shows it",
    advice=(
        "Look at the device and the plugin's log.",
        "Delete the pod; its replacement gets a healthy device.",
    ),
)

FINISHED_INIT_HOLDS: Final = Known(
    key="finishedInitContainer",
    rules=("S5.15",),
    place="the kubelet, at its next start",
    means="A finished init container of this running pod also asked for devices.",
    why=(
        "It does not run any more. When the kubelet restarts before the plugin is back, its "
        "devices are looked at, none is healthy, and the whole pod is refused and killed."
    ),
    versions="",
    points=(
        Point(
            "running containers are spared, a finished init container is not",
            spares_running_containers,
        ),
        RUNNING_PODS_REFUSED,
    ),
    advice=("Leave the device out of the init container, or make it a sidecar.",),
    reports=("R36",),
)

RESTARTED_BEFORE: Final = Known(
    key="restartedBefore",
    rules=("S5.6",),
    place="the kubelet, at its next start",
    means="A container with devices has been restarted before.",
    why=(
        "When the kubelet restarts before the plugin is back, it may look at the old, exited "
        "instance, take the container for not running, and refuse the whole pod."
    ),
    points=(OLD_INSTANCE_SEEN,),
    advice=("Upgrade the kubelet to a version where any running instance counts.",),
    reports=("R04",),
)

RESIZE_PENDING: Final = Known(
    key="resizePending",
    rules=("S13.6",),
    place="the kubelet, admitting a change of the pod's resources",
    means="A change of the pod's resources waits (PodResizePending); the pod goes on unchanged.",
    why=(
        "For a resize the kubelet asks the same managers as at an admission. Their refusal does "
        "not fail a running pod; the change is tried again."
    ),
    versions="1.33 and later",
    advice=("Do not delete the pod for it: it keeps running with what it has.",),
)

TERMINATING: Final = Known(
    key="terminating",
    rules=("S6.5", "S6.2"),
    place=_KUBELET,
    means="The pod is being deleted.",
    why=(
        "It keeps its devices until its containers have stopped; after that they are free at the "
        "next admission of another pod. Deleted by force it loses them at once, while its "
        "containers may still run."
    ),
    versions="any version",
    advice=("Wait for its containers; do not delete it by force while it uses a device.",),
    reports=("R80", "R49"),
)

COMPLETED: Final = Known(
    key="completed",
    rules=("S6.3", "S5.7"),
    place=_KUBELET,
    means="The pod has ended well; it uses no device.",
    why=(
        "Its entry stays in the checkpoint file until the next write, but its devices are free "
        "for the next pod."
    ),
    versions="any version",
    points=(TERMINATED_READMITTED,),
    advice=("Nothing; delete it when its log is not needed any more.",),
    reports=("R44", "R48", "R46"),
)

ENDED_BY_ITSELF: Final = Known(
    key="endedByItself",
    rules=("S13.5",),
    place="the pod's own processes",
    means="The pod failed because its containers ended with an error; it was not refused.",
    why="A refused pod has a reason such as UnexpectedAdmissionError in its status.",
    versions="any version",
    points=(TERMINATED_READMITTED,),
    advice=("See the containers' logs.",),
)

PHASE_UNKNOWN: Final = Known(
    key="phaseUnknown",
    rules=("S12.3",),
    place="the API server",
    means="The pod's status says nothing of use: its phase is Unknown or absent.",
    why="The node has not reported for a while, or the file is a manifest without a status.",
    versions="any version",
    advice=("Take the pod as the API has it: kubectl get pod NAME -o yaml.",),
)
