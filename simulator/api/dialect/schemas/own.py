"""The objects of Rebind's own group, and what Rebind adds to those of Kubernetes.

DeviceBinding and ResourceBinding are details 27 and 28; `computeDevices` of a container is the
field that they fill (persistence-designs 1.1). `status.devices` of a pod and `status.deviceManager`
of a node are what `rebind serve` shows beside what the API has.
"""

from __future__ import annotations

from typing import Final

TYPES: Final = """
BulkResourceBinding: apiVersion:string items:[]ResourceBinding! kind:string metadata:ObjectMeta
ComputeDevice: deviceIDs:[]string! resourceName:string!
ComputeResourceBinding: computeDevices:[]ComputeDevice! containerName:string!
DeviceBinding: apiVersion:string kind:string metadata:ObjectMeta spec:DeviceBindingSpec!
  status:DeviceBindingStatus
DeviceBindingContainer: devices:[]DeviceBindingDevices name:string!
DeviceBindingDevices: deviceIDs:[]string! numaNodes:[]int resourceName:string!
DeviceBindingSpec: containers:[]DeviceBindingContainer nodeName:string! podUID:string!
DeviceBindingStatus: observedGeneration:int
ResourceBinding: apiVersion:string containers:[]ComputeResourceBinding! kind:string
  metadata:ObjectMeta target:ObjectReference!
"""

ADDED: Final = """
Container: computeDevices:[]ComputeDevice
NodeStatus: deviceManager:[]any
PodStatus: devices:{}any
"""
"""Further fields of Kubernetes' own types."""
