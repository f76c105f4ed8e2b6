"""Objects beside pods, and what all objects share."""

from __future__ import annotations

from typing import Final

TYPES: Final = """
AttachedVolume: devicePath:string! name:string!
Binding: apiVersion:string kind:string metadata:ObjectMeta target:ObjectReference!
ConfigMapNodeConfigSource: kubeletConfigKey:string! name:string! namespace:string!
  resourceVersion:string uid:string
DaemonEndpoint: Port:int!
DeleteOptions: apiVersion:string dryRun:[]string gracePeriodSeconds:int
  ignoreStoreReadErrorWithClusterBreakingPotential:bool kind:string orphanDependents:bool
  preconditions:Preconditions propagationPolicy:string
Event: action:string apiVersion:string count:int eventTime:microTime firstTimestamp:time
  involvedObject:ObjectReference! kind:string lastTimestamp:time message:string
  metadata:ObjectMeta! reason:string related:ObjectReference reportingComponent:string
  reportingInstance:string series:EventSeries source:EventSource type:string
EventSeries: count:int lastObservedTime:microTime
EventSource: component:string host:string
Eviction: apiVersion:string deleteOptions:DeleteOptions kind:string metadata:ObjectMeta
FieldSelectorAttributes: rawSelector:string requirements:[]FieldSelectorRequirement
FieldSelectorRequirement: key:string! operator:string! values:[]string
LabelSelector: matchExpressions:[]LabelSelectorRequirement matchLabels:{}string
LabelSelectorAttributes: rawSelector:string requirements:[]LabelSelectorRequirement
LabelSelectorRequirement: key:string! operator:string! values:[]string
Lease: apiVersion:string kind:string metadata:ObjectMeta spec:LeaseSpec
LeaseSpec: acquireTime:microTime holderIdentity:string leaseDurationSeconds:int
  leaseTransitions:int preferredHolder:string renewTime:microTime strategy:string
LocalObjectReference: name:string
ManagedFieldsEntry: apiVersion:string fieldsType:string fieldsV1:{}any manager:string
  operation:string subresource:string time:time
Namespace: apiVersion:string kind:string metadata:ObjectMeta spec:NamespaceSpec
  status:NamespaceStatus
NamespaceCondition: lastTransitionTime:time message:string reason:string status:string!
  type:string!
NamespaceSpec: finalizers:[]string
NamespaceStatus: conditions:[]NamespaceCondition~type phase:string
Node: apiVersion:string kind:string metadata:ObjectMeta spec:NodeSpec status:NodeStatus
NodeAddress: address:string! type:string!
NodeCondition: lastHeartbeatTime:time lastTransitionTime:time message:string reason:string
  status:string! type:string!
NodeConfigSource: configMap:ConfigMapNodeConfigSource
NodeConfigStatus: active:NodeConfigSource assigned:NodeConfigSource error:string
  lastKnownGood:NodeConfigSource
NodeDaemonEndpoints: kubeletEndpoint:DaemonEndpoint
NodeFeatures: supplementalGroupsPolicy:bool
NodePodPreemptionPolicy: disableResizePreemption:[]string
NodeRuntimeHandler: features:NodeRuntimeHandlerFeatures name:string
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts:bool userNamespaces:bool
NodeSpec: configSource:NodeConfigSource externalID:string podCIDR:string podCIDRs:[]string~
  podPreemptionPolicy:NodePodPreemptionPolicy providerID:string taints:[]Taint unschedulable:bool
NodeStatus: addresses:[]NodeAddress~type allocatable:{}quantity capacity:{}quantity
  conditions:[]NodeCondition~type config:NodeConfigStatus daemonEndpoints:NodeDaemonEndpoints
  declaredFeatures:[]string features:NodeFeatures images:[]ContainerImage nodeInfo:NodeSystemInfo
  phase:string runtimeHandlers:[]NodeRuntimeHandler volumesAttached:[]AttachedVolume
  volumesInUse:[]string
NodeSwapStatus: capacity:int
NodeSystemInfo: architecture:string! bootID:string! containerRuntimeVersion:string!
  kernelVersion:string! kubeProxyVersion:string! kubeletVersion:string! machineID:string!
  operatingSystem:string! osImage:string! runningInUserNamespace:bool swap:NodeSwapStatus
  systemUUID:string!
NonResourceAttributes: path:string verb:string
NonResourceRule: nonResourceURLs:[]string verbs:[]string!
ObjectMeta: annotations:{}string creationTimestamp:time deletionGracePeriodSeconds:int
  deletionTimestamp:time finalizers:[]string~ generateName:string generation:int labels:{}string
  managedFields:[]ManagedFieldsEntry name:string namespace:string
  ownerReferences:[]OwnerReference~uid resourceVersion:string selfLink:string uid:string
ObjectReference: apiVersion:string fieldPath:string kind:string name:string namespace:string
  resourceVersion:string uid:string
OwnerReference: apiVersion:string! blockOwnerDeletion:bool controller:bool kind:string!
  name:string! uid:string!
Preconditions: resourceVersion:string uid:string
SelfSubjectAccessReview: apiVersion:string kind:string metadata:ObjectMeta
  spec:SelfSubjectAccessReviewSpec! status:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: nonResourceAttributes:NonResourceAttributes
  resourceAttributes:ResourceAttributes
SelfSubjectReview: apiVersion:string kind:string metadata:ObjectMeta
  status:SelfSubjectReviewStatus
SelfSubjectReviewStatus: userInfo:UserInfo
SelfSubjectRulesReview: apiVersion:string kind:string metadata:ObjectMeta
  spec:SelfSubjectRulesReviewSpec! status:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: namespace:string
SubjectAccessReviewStatus: allowed:bool! denied:bool evaluationError:string reason:string
SubjectRulesReviewStatus: evaluationError:string incomplete:bool!
  nonResourceRules:[]NonResourceRule! resourceRules:[]ResourceRule!
Taint: effect:string! key:string! timeAdded:time value:string
UserInfo: extra:{}[]string groups:[]string uid:string username:string
"""
