"""What `kubectl explain` says of the types and fields that Rebind is about."""

from __future__ import annotations

from typing import Final

TYPES: Final = {
    "BulkResourceBinding": (
        "Many ResourceBindings in one request. Not part of Kubernetes: there each pod is bound in "
        "a request of its own."
    ),
    "ComputeDevice": "Devices of one resource that a container has.",
    "ComputeResourceBinding": "The devices of one container.",
    "Container": "A container of a pod.",
    "DeviceBinding": "Which devices of a node a pod has: one object for each pod, of its name.",
    "DeviceBindingContainer": "The devices of one container.",
    "DeviceBindingDevices": "Devices of one resource.",
    "DeviceBindingSpec": "Which pod, on which node, and which devices.",
    "DeviceBindingStatus": "How far the object was seen.",
    "Event": "Something that happened to an object.",
    "Lease": "A sign of life: the kubelet of a node renews one.",
    "Namespace": "A scope for names.",
    "Node": "A machine with a kubelet.",
    "NodeStatus": "What the node's kubelet last said of it.",
    "ObjectMeta": "What every object has.",
    "Pod": "Containers that run together on one node.",
    "PodSpec": "What is to run; but for images and a few others it does not change.",
    "PodStatus": "What the pod's kubelet last said of it.",
    "ResourceBinding": (
        "The devices that a pod was given, to be copied into its spec. Devices are added once and "
        "never taken away or exchanged."
    ),
    "ResourceRequirements": "What a container needs and may use.",
}
"""By type."""

FIELDS: Final = {
    "apiVersion": "The group and version of the object's kind.",
    "kind": "The kind of the object.",
    "metadata": "What every object has: its name, labels and so on.",
    "spec": "What is wanted.",
    "status": "What is; written by the server and by kubelets.",
    "ComputeDevice.deviceIDs": "The devices, as the plugin names them.",
    "ComputeDevice.resourceName": "The extended resource, such as example.com/gpu.",
    "Container.computeDevices": (
        "The devices that the container has. Set through pods/resourcebinding; setting it at "
        "creation asks for devices by id."
    ),
    "Container.name": "Unique among the containers of the pod.",
    "Container.resources": "What the container needs; devices are counted here.",
    "DeviceBindingContainer.devices": "Its devices, by resource.",
    "DeviceBindingContainer.name": "The container's name.",
    "DeviceBindingDevices.deviceIDs": "The devices, as the plugin names them.",
    "DeviceBindingDevices.numaNodes": "The NUMA nodes that the devices are on.",
    "DeviceBindingDevices.resourceName": "The extended resource, such as example.com/gpu.",
    "DeviceBindingSpec.containers": "The containers with devices.",
    "DeviceBindingSpec.nodeName": "The node whose devices these are.",
    "DeviceBindingSpec.podUID": "The pod that has them: another pod of its name has another UID.",
    "DeviceBindingStatus.observedGeneration": "The generation that the node last acted on.",
    "NodeStatus.allocatable": "What pods can have of each resource.",
    "NodeStatus.capacity": "What there is of each resource.",
    "NodeStatus.deviceManager": "What the device manager knows; not part of Kubernetes.",
    "ObjectMeta.finalizers": "What must be done before the object goes away.",
    "ObjectMeta.resourceVersion": "Which state of the object this is; an opaque text.",
    "ObjectMeta.uid": "Tells the object from every other one, of the same name too.",
    "PodSpec.nodeName": "The node that the pod is bound to.",
    "PodSpec.terminationGracePeriodSeconds": "How long its containers have to end.",
    "PodStatus.devices": "The devices on record for the pod; not part of Kubernetes.",
    "PodStatus.phase": "Pending, Running, Succeeded, Failed or Unknown.",
    "ResourceBinding.containers": "The containers that are given devices.",
    "ResourceBinding.target": "The pod: its name, and the UID that is meant.",
    "ResourceRequirements.limits": (
        "Most that it may use. Extended resources are whole numbers and equal to the requests."
    ),
    "ResourceRequirements.requests": "What it needs; the limits where it is not said.",
}
"""By `Type.field`; by `field` where it means the same in every type."""
