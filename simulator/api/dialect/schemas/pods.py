"""The rest of a pod's spec and status, as core/v1 has them."""

from __future__ import annotations

from typing import Final

TYPES: Final = """
Affinity: nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity
ContainerExtendedResourceRequest: containerName:string! requestName:string! resourceName:string!
ContainerImage: names:[]string sizeBytes:int
ContainerState: running:ContainerStateRunning terminated:ContainerStateTerminated
  waiting:ContainerStateWaiting
ContainerStateRunning: startedAt:time
ContainerStateTerminated: containerID:string exitCode:int! finishedAt:time message:string
  reason:string signal:int startedAt:time
ContainerStateWaiting: message:string reason:string
ContainerStatus: allocatedResources:{}quantity allocatedResourcesStatus:[]ResourceStatus~name
  containerID:string image:string! imageID:string! lastState:ContainerState name:string!
  ready:bool! resources:ResourceRequirements restartCount:int! started:bool state:ContainerState
  stopSignal:string user:ContainerUser volumeMounts:[]VolumeMountStatus~mountPath
ContainerUser: linux:LinuxContainerUser
EvictionResponder: name:string! priority:int!
HostAlias: hostnames:[]string ip:string!
HostIP: ip:string!
ImageVolumeStatus: imageRef:string!
LinuxContainerUser: gid:int! supplementalGroups:[]int uid:int!
NodeAffinity: preferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm
  requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
NodeAllocatableMappedResources: name:string! quantity:quantity!
NodeAllocatableOverheadResources: name:string! perContainer:string perPod:string
NodeAllocatableResourceClaimStatus: containers:[]string mapping:[]NodeAllocatableMappedResources
  overhead:[]NodeAllocatableOverheadResources resourceClaimName:string!
NodeSelector: nodeSelectorTerms:[]NodeSelectorTerm!
NodeSelectorRequirement: key:string! operator:string! values:[]string
NodeSelectorTerm: matchExpressions:[]NodeSelectorRequirement matchFields:[]NodeSelectorRequirement
Pod: apiVersion:string kind:string metadata:ObjectMeta spec:PodSpec status:PodStatus
PodAffinity: preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
PodAffinityTerm: labelSelector:LabelSelector matchLabelKeys:[]string mismatchLabelKeys:[]string
  namespaceSelector:LabelSelector namespaces:[]string topologyKey:string!
PodAntiAffinity: preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
PodCondition: lastProbeTime:time lastTransitionTime:time message:string observedGeneration:int
  reason:string status:string! type:string!
PodDNSConfig: nameservers:[]string options:[]PodDNSConfigOption searches:[]string
PodDNSConfigOption: name:string value:string
PodExtendedResourceClaimStatus: requestMappings:[]ContainerExtendedResourceRequest!
  resourceClaimName:string!
PodIP: ip:string!
PodOS: name:string!
PodReadinessGate: conditionType:string!
PodResourceClaim: name:string! resourceClaimName:string resourceClaimTemplateName:string
PodResourceClaimStatus: name:string! resourceClaimName:string
PodSchedulingGate: name:string!
PodSchedulingGroup: podGroupName:string
PodSecurityContext: appArmorProfile:AppArmorProfile fsGroup:int fsGroupChangePolicy:string
  runAsGroup:int runAsNonRoot:bool runAsUser:int seLinuxChangePolicy:string
  seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile supplementalGroups:[]int
  supplementalGroupsPolicy:string sysctls:[]Sysctl windowsOptions:WindowsSecurityContextOptions
PodSpec: activeDeadlineSeconds:int affinity:Affinity automountServiceAccountToken:bool
  containers:[]Container~name! dnsConfig:PodDNSConfig dnsPolicy:string enableServiceLinks:bool
  ephemeralContainers:[]EphemeralContainer~name evictionResponders:[]EvictionResponder
  hostAliases:[]HostAlias~ip hostIPC:bool hostNetwork:bool hostPID:bool hostUsers:bool
  hostname:string hostnameOverride:string imagePullSecrets:[]LocalObjectReference~name
  initContainers:[]Container~name nodeName:string nodeSelector:{}string os:PodOS
  overhead:{}quantity preemptionPolicy:string priority:int priorityClassName:string
  readinessGates:[]PodReadinessGate resourceClaims:[]PodResourceClaim~name^
  resources:ResourceRequirements restartPolicy:string runtimeClassName:string schedulerName:string
  schedulingGates:[]PodSchedulingGate~name schedulingGroup:PodSchedulingGroup
  securityContext:PodSecurityContext serviceAccount:string serviceAccountName:string
  setHostnameAsFQDN:bool shareProcessNamespace:bool subdomain:string
  terminationGracePeriodSeconds:int tolerations:[]Toleration
  topologySpreadConstraints:[]TopologySpreadConstraint~topologyKey volumes:[]Volume~name^
  workloadRef:WorkloadReference
PodStatus: allocatedResources:{}quantity conditions:[]PodCondition~type
  containerStatuses:[]ContainerStatus ephemeralContainerStatuses:[]ContainerStatus
  extendedResourceClaimStatus:PodExtendedResourceClaimStatus hostIP:string hostIPs:[]HostIP~ip
  initContainerStatuses:[]ContainerStatus message:string
  nodeAllocatableResourceClaimStatuses:[]NodeAllocatableResourceClaimStatus
  nominatedNodeName:string observedGeneration:int phase:string podIP:string podIPs:[]PodIP~ip
  qosClass:string reason:string resize:string resourceClaimStatuses:[]PodResourceClaimStatus~name^
  resources:ResourceRequirements startTime:time volumeHealth:[]PodVolumeHealth
PodVolumeHealth: healthConditions:[]VolumeHealthCondition lastTransitionTime:time name:string!
PreferredSchedulingTerm: preference:NodeSelectorTerm! weight:int!
ResourceAttributes: fieldSelector:FieldSelectorAttributes group:string
  labelSelector:LabelSelectorAttributes name:string namespace:string resource:string
  subresource:string verb:string version:string
ResourceHealth: health:string message:string resourceID:string!
ResourceRule: apiGroups:[]string resourceNames:[]string resources:[]string verbs:[]string!
ResourceStatus: name:string! resources:[]ResourceHealth
Sysctl: name:string! value:string!
Toleration: effect:string key:string operator:string tolerationSeconds:int value:string
TopologySpreadConstraint: labelSelector:LabelSelector matchLabelKeys:[]string maxSkew:int!
  minDomains:int nodeAffinityPolicy:string nodeTaintsPolicy:string topologyKey:string!
  whenUnsatisfiable:string!
VolumeHealthCondition: message:string reason:string! status:string!
VolumeMountStatus: mountPath:string! name:string! readOnly:bool recursiveReadOnly:string
  volumeStatus:VolumeStatus
VolumeStatus: image:ImageVolumeStatus
WeightedPodAffinityTerm: podAffinityTerm:PodAffinityTerm! weight:int!
WorkloadReference: name:string! podGroup:string! podGroupReplicaKey:string
"""
