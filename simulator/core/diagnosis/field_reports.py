"""The public reports that the catalogue refers to, by their id: reference and subject.

The references are GitHub's: `owner/repository#number` for an issue, `PR number` for a change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class FieldReport:
    """One report.

    Attributes:
        reference: Where it can be read.
        subject: What went wrong.
    """

    reference: str
    subject: str


# fmt: off
FIELD_REPORTS: Final[Mapping[str, FieldReport]] = MappingProxyType({
    "R01": FieldReport(
        "kubernetes/kubernetes#118559",
        "Kubelet-only restart kills running pods that hold devices",
    ),
    "R02": FieldReport(
        "kubernetes/kubernetes#109595",
        "After a node reboot a pod is admitted on remembered devices that do not exist yet",
    ),
    "R03": FieldReport(
        "kubernetes/kubernetes#125579",
        "After reboot pods fail for good; a bare pod never comes back",
    ),
    "R04": FieldReport(
        "kubernetes/kubernetes PR 126707 (fix PR 135485)",
        "After a kubelet restart an older, exited instance is looked up and the pod is refused",
    ),
    "R07": FieldReport(
        "squat/generic-device-plugin#33",
        "USB stick plugin: one replica, many failed pods after node restart",
    ),
    "R09": FieldReport(
        "kubernetes/kubernetes#119248",
        "Plugin restarts exactly when a pod is being created",
    ),
    "R11": FieldReport(
        "kubernetes/kubernetes#108152",
        "Controller re-creates rejected pods without end",
    ),
    "R12": FieldReport(
        "kubernetes/kubernetes#121061",
        "Rejected pods are left behind after the node recovered",
    ),
    "R13": FieldReport(
        "kubernetes/kubernetes#67107",
        "Container started after reboot before its device was re-configured",
    ),
    "R14": FieldReport(
        "kubernetes/kubernetes#116125",
        "Checkpoint deleted plus reboot: pod runs with no device at all",
    ),
    "R16": FieldReport(
        "Mellanox/k8s-rdma-shared-dev-plugin#79 (+#74)",
        "Plugin server is not restarted after kubelet restart, capacity stays 0",
    ),
    "R17": FieldReport(
        "ROCm/k8s-device-plugin#186",
        "Stream EOF, process alive, never registers again",
    ),
    "R18": FieldReport(
        "kubernetes/kubernetes#92958",
        "Kubelet never re-dials a plugin after ListAndWatch failed",
    ),
    "R20": FieldReport(
        "kubernetes/kubernetes#62773",
        "Plugin restart with the same devices leaves allocatable at 0",
    ),
    "R21": FieldReport(
        "kubernetes/kubernetes#121994 (+#127803)",
        "Old plugin instance goes away after the new one registered; new one is dropped",
    ),
    "R24": FieldReport(
        "Project-HAMi/ascend-device-plugin#129",
        "Device unhealthy at plugin start is never republished after it recovers",
    ),
    "R26": FieldReport(
        "GoogleCloudPlatform/container-engine-accelerators#412",
        "Plugin stops its own server when one Send fails, then can never come back",
    ),
    "R28": FieldReport(
        "NVIDIA/k8s-device-plugin#1645",
        "After upgrade allocatable 0 because config side-car raced at start",
    ),
    "R29": FieldReport(
        "kubernetes/kubernetes#60176",
        "Plugin failure must give 0 first, removal only after a timeout",
    ),
    "R30": FieldReport(
        "NVIDIA/dcgm-exporter#151 (+#201)",
        "Time-sliced GPU: no pod labels because ids carry a replica suffix",
    ),
    "R32": FieldReport(
        "NVIDIA/dcgm-exporter#138",
        "Label missing for pods that use a GPU without requesting it",
    ),
    "R34": FieldReport(
        "DataDog/datadog-agent#40889",
        "PodResources returns ids in another order than the machine",
    ),
    "R35": FieldReport(
        "NVIDIA/NVSentinel#1585",
        "Alert for a replaced GPU cannot clear because the UUID changed",
    ),
    "R36": FieldReport(
        "kubernetes/kubernetes#124345",
        "Kubelet restart kills a pod whose finished init container also used the device",
    ),
    "R38": FieldReport(
        "kubernetes/kubernetes#56022 (PR 56818)",
        "App container did not reuse the init container's devices",
    ),
    "R39": FieldReport(
        "kubernetes/kubernetes#71312",
        "Init takes 5, app 2: 3 stay blocked until the pod ends",
    ),
    "R41": FieldReport(
        "project-akri/akri#843",
        "Plugin refuses the second Allocate of the same id for a later container of the same pod",
    ),
    "R42": FieldReport(
        "kubernetes/kubernetes#120501",
        "PodResources does not list devices of sidecar containers",
    ),
    "R44": FieldReport(
        "kubernetes/kubernetes#117955",
        "Completed pod turns into UnexpectedAdmissionError on kubelet restart",
    ),
    "R46": FieldReport(
        "kubernetes/kubernetes#119423 (+PR 79409)",
        "PodResources List contains pods in terminal phase",
    ),
    "R48": FieldReport(
        "kubernetes/kubernetes#137010",
        "Device entry stays in the checkpoint file after the pod was deleted",
    ),
    "R49": FieldReport(
        "NVIDIA/k8s-device-plugin#290",
        "When exactly is a GPU freed? Usage graph shows three users of two GPUs",
    ),
    "R50": FieldReport(
        "kubernetes/kubernetes#94305",
        "Disk full at restart: every pod, even without devices, is refused and deleted",
    ),
    "R52": FieldReport(
        "kubernetes/kubernetes#135711 (+PR 139707)",
        "State file has left-over bytes after its JSON value after an unclean stop; kubelet panics",
    ),
    "R54": FieldReport(
        "kubernetes/kubernetes#102880 (PR 102882)",
        "Format change 1.19 -> 1.20: old file silently not read",
    ),
    "R55": FieldReport(
        "k8snetworkplumbingwg/multus-cni#778 (+tkestack/gpu-manager PR 62)",
        "Third-party readers of the file break on the map form",
    ),
    "R56": FieldReport(
        "kubernetes/kubernetes#86676 (+PR 86689)",
        "Checksum verification fails after upgrade because the struct type changed",
    ),
    "R58": FieldReport(
        "tkestack/gpu-manager#148",
        "Checkpoint does not exist until a plugin has something to store",
    ),
    "R59": FieldReport(
        "kubernetes/kubelet#16 (+kubeadm#2685, kubernetes-the-hard-way#702)",
        "'checkpoint is not found' frightens newcomers, is taken for the cause of a dead kubelet",
    ),
    "R60": FieldReport(
        "kubernetes/kubernetes#102552",
        "NUMA information is not restored after reboot, CPUs end on the wrong node",
    ),
    "R62": FieldReport(
        "kubernetes/kubernetes#109304 (+PR 127049, gpushare-scheduler-extender#156)",
        "ListAndWatch message above 4 MiB kills the stream",
    ),
    "R64": FieldReport(
        "Project-HAMi/volcano-vgpu-device-plugin#152",
        "GetPreferredAllocation answer/request too large -> pod refused",
    ),
    "R66": FieldReport(
        "Project-HAMi/volcano-vgpu-device-plugin#140",
        "Every allocated id is copied into Pod status: 370 KB per pod",
    ),
    "R67": FieldReport(
        "NVIDIA/k8s-device-plugin#1432",
        "Env var lists the same GPU once per slice: argument list too long",
    ),
    "R68": FieldReport(
        "kubernetes/kubernetes#92396 (+#52510, sriov-dp#245)",
        "Renamed/removed resource stays on the node as 0",
    ),
    "R70": FieldReport(
        "NVIDIA/k8s-device-plugin#240",
        "MIG layout change leaves the old counts beside the new ones",
    ),
    "R71": FieldReport(
        "intel/intel-device-plugins-for-kubernetes#548",
        "Mode change leaves af-* at 0 next to region-*",
    ),
    "R72": FieldReport(
        "kubernetes/kubernetes#55179",
        "Re-registered plugin with other ids: old ids kept too",
    ),
    "R74": FieldReport(
        "NVIDIA/k8s-device-plugin#373",
        "VM moved to another host: remembered GPU UUID does not exist any more",
    ),
    "R75": FieldReport(
        "AliyunContainerService/gpushare-scheduler-extender#85",
        "Cloud instance stop/start gives a different GPU; pods do not start",
    ),
    "R76": FieldReport(
        "kubernetes/kubernetes#107928",
        "PCI address of the VF changes on hard reboot",
    ),
    "R78": FieldReport(
        "kubernetes/kubernetes#130145 (+PR 130172, #137317)",
        "One failed multi-container admission blocks devices until kubelet restarts",
    ),
    "R79": FieldReport(
        "kubernetes/kubernetes#75880",
        "Two pods hold the same GPU in the checkpoint",
    ),
    "R80": FieldReport(
        "kubernetes/kubernetes#141471",
        "Force delete frees the device before the old container stopped",
    ),
    "R82": FieldReport(
        "kubernetes/kubernetes#129249",
        "Allocate hangs -> every new pod on the node waits",
    ),
    "R84": FieldReport(
        "NVIDIA/k8s-device-plugin#231 (+kubernetes#97131)",
        "One lost GPU makes preferred allocation fail, other three unusable; 12k failed pods",
    ),
    "R85": FieldReport(
        "Project-HAMi/HAMi PR 1743 (#1741)",
        "8 GPUs requested, ids map to 5 physical cards only",
    ),
    "R87": FieldReport(
        "Project-HAMi/volcano-vgpu-device-plugin#93 (+gpushare-device-plugin#16, vgpu-manager#2)",
        "Allocate carries no pod identity; plugin takes the oldest pending pod - wrong one",
    ),
    "R89": FieldReport(
        "k3s-io/k3s#11269 (kine#357)",
        "Compaction fails with 'database is locked', later ones are skipped; file and WAL grow",
    ),
    "R90": FieldReport(
        "k3s-io/kine PR 414",
        "Compaction stops for good if the first ever run failed",
    ),
    "R91": FieldReport(
        "k3s-io/k3s#8234",
        "'database is locked' with a single process under moderate stress",
    ),
    "R93": FieldReport(
        "k3s-io/k3s#11901 (kine#213)",
        "One disk hiccup -> compaction time-out -> DB grows to GBs -> start impossible",
    ),
    "R95": FieldReport(
        "portainer/kubesolo PR 148 (#145)",
        "Power loss leaves bad WAL/SHM -> boot loop; fix deletes WAL",
    ),
    "R97": FieldReport(
        "kubeedge/kubeedge PR 2271",
        "Turn synchronous off because inserts are slow on edge disks",
    ),
    "R99": FieldReport(
        "etcd-io/etcd#12405 (+#10414)",
        "WAL fsync > 1 s on one member: health flaps",
    ),
    "R100": FieldReport(
        "kubernetes/kubernetes#112234",
        "Empty (not nil) hints make single-numa-node refuse the pod",
    ),
    "R101": FieldReport("kubernetes/kubernetes#101522", "NUMA node 0 is shown as an empty object"),
    "R102": FieldReport(
        "kubernetes/kubernetes PR 103289",
        "Device without topology exported as NUMA 0",
    ),
    "R104": FieldReport(
        "NVIDIA/k8s-device-plugin#1643",
        "MIG devices: some without NUMA id in the registered list",
    ),
    "R106": FieldReport(
        "kubernetes/kubernetes#104122 (PR 104123)",
        "GetAllocatableResources counts unhealthy devices",
    ),
    "R107": FieldReport(
        "kubernetes/kubernetes#119560 (PR 119561)",
        "Panic: lock released for GetPreferredAllocation while List recalculates",
    ),
    "R109": FieldReport(
        "kubernetes/kubernetes#99370 (PR 114572)",
        "Plugin update while hints are computed: concurrent map access",
    ),
    "R110": FieldReport(
        "kubernetes-sigs/dra-driver-nvidia-gpu#951 (PR 1066)",
        "Claim marked prepared is not prepared again after reboot",
    ),
    "R111": FieldReport(
        "kubernetes/kubernetes#127653",
        "dra_manager_state from 1.30 unreadable in 1.31",
    ),
    "R113": FieldReport(
        "kubernetes-sigs/dra-driver-nvidia-gpu#1100 (PR 1259)",
        "Bad checksum: crash loop with no event",
    ),
    "R114": FieldReport(
        "ROCm/k8s-gpu-dra-driver#86",
        "Boot id alone is not enough; 32-bit hash equality is no proof",
    ),
    "R116": FieldReport(
        "Project-HAMi/k8s-dra-driver#45",
        "Replay of a completed prepare returns an error",
    ),
    "R117": FieldReport(
        "kubernetes/kubernetes#14702",
        "Default 5 QPS: 30 pods need 270 requests = 54 s",
    ),
    "R119": FieldReport(
        "kubernetes/kubernetes#50304",
        "Node heartbeat waits behind pod writes; node flips NotReady",
    ),
    "R121": FieldReport(
        "kubernetes/kubernetes#128188",
        "State file written once per container instead of once per pod",
    ),
    "R122": FieldReport(
        "kubernetes/kubernetes#52190 (+#65770)",
        "Two plugins register one name: the newest wins silently",
    ),
    "R124": FieldReport(
        "kubernetes/kubernetes#96779",
        "PreStartRequired plugin + limit 0 -> container start error",
    ),
})
# fmt: on
