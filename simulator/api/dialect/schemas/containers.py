"""Containers of pods, as core/v1 has them."""

from __future__ import annotations

from typing import Final

TYPES: Final = """
AppArmorProfile: localhostProfile:string type:string!
Capabilities: add:[]string drop:[]string
ConfigMapEnvSource: name:string optional:bool
ConfigMapKeySelector: key:string! name:string optional:bool
Container: args:[]string command:[]string env:[]EnvVar~name
  envFrom:[]EnvFromSource image:string imagePullPolicy:string lifecycle:Lifecycle
  livenessProbe:Probe name:string! ports:[]ContainerPort~containerPort readinessProbe:Probe
  resizePolicy:[]ContainerResizePolicy resources:ResourceRequirements restartPolicy:string
  restartPolicyRules:[]ContainerRestartRule securityContext:SecurityContext startupProbe:Probe
  stdin:bool stdinOnce:bool terminationMessagePath:string terminationMessagePolicy:string tty:bool
  volumeDevices:[]VolumeDevice~devicePath volumeMounts:[]VolumeMount~mountPath workingDir:string
ContainerPort: containerPort:int! hostIP:string hostPort:int name:string protocol:string
ContainerResizePolicy: resourceName:string! restartPolicy:string!
ContainerRestartRule: action:string! exitCodes:ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator:string! values:[]int
EnvFromSource: configMapRef:ConfigMapEnvSource prefix:string secretRef:SecretEnvSource
EnvVar: name:string! value:string valueFrom:EnvVarSource
EnvVarSource: configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector
  fileKeyRef:FileKeySelector resourceFieldRef:ResourceFieldSelector secretKeyRef:SecretKeySelector
EphemeralContainer: args:[]string command:[]string env:[]EnvVar~name envFrom:[]EnvFromSource
  image:string imagePullPolicy:string lifecycle:Lifecycle livenessProbe:Probe name:string!
  ports:[]ContainerPort~containerPort readinessProbe:Probe resizePolicy:[]ContainerResizePolicy
  resources:ResourceRequirements restartPolicy:string restartPolicyRules:[]ContainerRestartRule
  securityContext:SecurityContext startupProbe:Probe stdin:bool stdinOnce:bool
  targetContainerName:string terminationMessagePath:string terminationMessagePolicy:string
  tty:bool volumeDevices:[]VolumeDevice~devicePath volumeMounts:[]VolumeMount~mountPath
  workingDir:string
ExecAction: command:[]string
FileKeySelector: key:string! optional:bool path:string! volumeName:string!
GRPCAction: mode:string port:int! service:string
HTTPGetAction: host:string httpHeaders:[]HTTPHeader path:string port:intOrString! protocol:string
  scheme:string
HTTPHeader: name:string! value:string!
Lifecycle: postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:string
LifecycleHandler: exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction
  tcpSocket:TCPSocketAction
ObjectFieldSelector: apiVersion:string fieldPath:string!
Probe: exec:ExecAction failureThreshold:int grpc:GRPCAction httpGet:HTTPGetAction
  initialDelaySeconds:int periodSeconds:int successThreshold:int tcpSocket:TCPSocketAction
  terminationGracePeriodSeconds:int timeoutSeconds:int
ResourceClaim: name:string! request:string
ResourceFieldSelector: containerName:string divisor:quantity resource:string!
ResourceRequirements: claims:[]ResourceClaim limits:{}quantity requests:{}quantity
SELinuxOptions: level:string role:string type:string user:string
SeccompProfile: localhostProfile:string type:string!
SecretEnvSource: name:string optional:bool
SecretKeySelector: key:string! name:string optional:bool
SecurityContext: allowPrivilegeEscalation:bool appArmorProfile:AppArmorProfile
  capabilities:Capabilities privileged:bool procMount:string readOnlyRootFilesystem:bool
  runAsGroup:int runAsNonRoot:bool runAsUser:int seLinuxOptions:SELinuxOptions
  seccompProfile:SeccompProfile windowsOptions:WindowsSecurityContextOptions
SleepAction: seconds:int!
TCPSocketAction: host:string port:intOrString!
VolumeDevice: devicePath:string! name:string!
VolumeMount: bindMountOptions:[]string mountPath:string! mountPropagation:string name:string!
  readOnly:bool recursiveReadOnly:string subPath:string subPathExpr:string
WindowsSecurityContextOptions: gmsaCredentialSpec:string gmsaCredentialSpecName:string
  hostProcess:bool runAsUserName:string
"""
