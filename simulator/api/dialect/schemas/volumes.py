"""Volumes of pods, as core/v1 has them."""

from __future__ import annotations

from typing import Final

TYPES: Final = """
AWSElasticBlockStoreVolumeSource: fsType:string partition:int readOnly:bool volumeID:string!
AzureDiskVolumeSource: cachingMode:string diskName:string! diskURI:string! fsType:string
  kind:string readOnly:bool
AzureFileVolumeSource: readOnly:bool secretName:string! shareName:string!
CSIVolumeSource: driver:string! fsType:string nodePublishSecretRef:LocalObjectReference
  readOnly:bool volumeAttributes:{}string
CephFSVolumeSource: monitors:[]string! path:string readOnly:bool secretFile:string
  secretRef:LocalObjectReference user:string
CinderVolumeSource: fsType:string readOnly:bool secretRef:LocalObjectReference volumeID:string!
ClusterTrustBundleProjection: labelSelector:LabelSelector name:string optional:bool path:string!
  signerName:string user:int
ConfigMapProjection: items:[]KeyToPath name:string optional:bool
ConfigMapVolumeSource: defaultMode:int defaultUser:int items:[]KeyToPath name:string optional:bool
DownwardAPIProjection: items:[]DownwardAPIVolumeFile
DownwardAPIVolumeFile: fieldRef:ObjectFieldSelector mode:int path:string!
  resourceFieldRef:ResourceFieldSelector user:int
DownwardAPIVolumeSource: defaultMode:int defaultUser:int items:[]DownwardAPIVolumeFile
EmptyDirVolumeSource: medium:string mode:int sizeLimit:quantity
EphemeralVolumeSource: volumeClaimTemplate:PersistentVolumeClaimTemplate
FCVolumeSource: fsType:string lun:int readOnly:bool targetWWNs:[]string wwids:[]string
FlexVolumeSource: driver:string! fsType:string options:{}string readOnly:bool
  secretRef:LocalObjectReference
FlockerVolumeSource: datasetName:string datasetUUID:string
GCEPersistentDiskVolumeSource: fsType:string partition:int pdName:string! readOnly:bool
GitRepoVolumeSource: directory:string repository:string! revision:string
GlusterfsVolumeSource: endpoints:string! path:string! readOnly:bool
HostPathVolumeSource: path:string! type:string
ISCSIVolumeSource: chapAuthDiscovery:bool chapAuthSession:bool fsType:string initiatorName:string
  iqn:string! iscsiInterface:string lun:int! portals:[]string readOnly:bool
  secretRef:LocalObjectReference targetPortal:string!
ImageVolumeSource: pullPolicy:string reference:string
KeyToPath: key:string! mode:int path:string! user:int
NFSVolumeSource: path:string! readOnly:bool server:string!
PersistentVolumeClaimSpec: accessModes:[]string dataSource:TypedLocalObjectReference
  dataSourceRef:TypedObjectReference resources:VolumeResourceRequirements selector:LabelSelector
  storageClassName:string volumeAttributesClassName:string volumeMode:string volumeName:string
PersistentVolumeClaimTemplate: metadata:ObjectMeta spec:PersistentVolumeClaimSpec!
PersistentVolumeClaimVolumeSource: claimName:string! readOnly:bool
PhotonPersistentDiskVolumeSource: fsType:string pdID:string!
PodCertificateProjection: certificateChainPath:string credentialBundlePath:string keyPath:string
  keyType:string! maxExpirationSeconds:int signerName:string! user:int userAnnotations:{}string
PortworxVolumeSource: fsType:string readOnly:bool volumeID:string!
ProjectedVolumeSource: defaultMode:int defaultUser:int sources:[]VolumeProjection
QuobyteVolumeSource: group:string readOnly:bool registry:string! tenant:string user:string
  volume:string!
RBDVolumeSource: fsType:string image:string! keyring:string monitors:[]string! pool:string
  readOnly:bool secretRef:LocalObjectReference user:string
ScaleIOVolumeSource: fsType:string gateway:string! protectionDomain:string readOnly:bool
  secretRef:LocalObjectReference! sslEnabled:bool storageMode:string storagePool:string
  system:string! volumeName:string
SecretProjection: items:[]KeyToPath name:string optional:bool
SecretVolumeSource: defaultMode:int defaultUser:int items:[]KeyToPath optional:bool
  secretName:string
ServiceAccountTokenProjection: audience:string expirationSeconds:int path:string! user:int
StorageOSVolumeSource: fsType:string readOnly:bool secretRef:LocalObjectReference
  volumeName:string volumeNamespace:string
TypedLocalObjectReference: apiGroup:string kind:string! name:string!
TypedObjectReference: apiGroup:string kind:string! name:string! namespace:string
Volume: awsElasticBlockStore:AWSElasticBlockStoreVolumeSource azureDisk:AzureDiskVolumeSource
  azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource cinder:CinderVolumeSource
  configMap:ConfigMapVolumeSource csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource
  emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource fc:FCVolumeSource
  flexVolume:FlexVolumeSource flocker:FlockerVolumeSource
  gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource
  glusterfs:GlusterfsVolumeSource hostPath:HostPathVolumeSource image:ImageVolumeSource
  iscsi:ISCSIVolumeSource name:string! nfs:NFSVolumeSource
  persistentVolumeClaim:PersistentVolumeClaimVolumeSource
  photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource
  projected:ProjectedVolumeSource quobyte:QuobyteVolumeSource rbd:RBDVolumeSource
  scaleIO:ScaleIOVolumeSource secret:SecretVolumeSource storageos:StorageOSVolumeSource
  vsphereVolume:VsphereVirtualDiskVolumeSource
VolumeProjection: clusterTrustBundle:ClusterTrustBundleProjection configMap:ConfigMapProjection
  downwardAPI:DownwardAPIProjection podCertificate:PodCertificateProjection
  secret:SecretProjection serviceAccountToken:ServiceAccountTokenProjection
VolumeResourceRequirements: limits:{}quantity requests:{}quantity
VsphereVirtualDiskVolumeSource: fsType:string storagePolicyID:string storagePolicyName:string
  volumePath:string!
"""
