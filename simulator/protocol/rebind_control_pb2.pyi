from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InfoResponse(_message.Message):
    __slots__ = ("version", "pid", "root_dir", "kubelet_version", "persistence", "source", "db", "http", "nodes")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    ROOT_DIR_FIELD_NUMBER: _ClassVar[int]
    KUBELET_VERSION_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DB_FIELD_NUMBER: _ClassVar[int]
    HTTP_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    version: str
    pid: int
    root_dir: str
    kubelet_version: str
    persistence: str
    source: str
    db: str
    http: str
    nodes: _containers.RepeatedCompositeFieldContainer[NodeInfo]
    def __init__(self, version: _Optional[str] = ..., pid: _Optional[int] = ..., root_dir: _Optional[str] = ..., kubelet_version: _Optional[str] = ..., persistence: _Optional[str] = ..., source: _Optional[str] = ..., db: _Optional[str] = ..., http: _Optional[str] = ..., nodes: _Optional[_Iterable[_Union[NodeInfo, _Mapping[str, object]]]] = ...) -> None: ...

class NodeInfo(_message.Message):
    __slots__ = ("name", "directory", "kubelet_socket", "pod_resources_socket")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    KUBELET_SOCKET_FIELD_NUMBER: _ClassVar[int]
    POD_RESOURCES_SOCKET_FIELD_NUMBER: _ClassVar[int]
    name: str
    directory: str
    kubelet_socket: str
    pod_resources_socket: str
    def __init__(self, name: _Optional[str] = ..., directory: _Optional[str] = ..., kubelet_socket: _Optional[str] = ..., pod_resources_socket: _Optional[str] = ...) -> None: ...

class ApplyRequest(_message.Message):
    __slots__ = ("manifest", "name", "wait")
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    manifest: bytes
    name: str
    wait: bool
    def __init__(self, manifest: _Optional[bytes] = ..., name: _Optional[str] = ..., wait: _Optional[bool] = ...) -> None: ...

class ApplyResponse(_message.Message):
    __slots__ = ("objects",)
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    objects: _containers.RepeatedCompositeFieldContainer[AppliedObject]
    def __init__(self, objects: _Optional[_Iterable[_Union[AppliedObject, _Mapping[str, object]]]] = ...) -> None: ...

class AppliedObject(_message.Message):
    __slots__ = ("name", "outcome")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    name: str
    outcome: str
    def __init__(self, name: _Optional[str] = ..., outcome: _Optional[str] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("kind", "name", "node", "selector", "namespace")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    SELECTOR_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    node: str
    selector: str
    namespace: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., node: _Optional[str] = ..., selector: _Optional[str] = ..., namespace: _Optional[str] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("objects",)
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    objects: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, objects: _Optional[_Iterable[bytes]] = ...) -> None: ...

class WatchEvent(_message.Message):
    __slots__ = ("type", "object")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    type: str
    object: bytes
    def __init__(self, type: _Optional[str] = ..., object: _Optional[bytes] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("kind", "name", "namespace")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    namespace: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., namespace: _Optional[str] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: bytes
    def __init__(self, document: _Optional[bytes] = ...) -> None: ...

class ObjectName(_message.Message):
    __slots__ = ("kind", "name", "namespace")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    namespace: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., namespace: _Optional[str] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("objects", "force", "grace_period_seconds", "wait")
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    GRACE_PERIOD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    objects: _containers.RepeatedCompositeFieldContainer[ObjectName]
    force: bool
    grace_period_seconds: int
    wait: bool
    def __init__(self, objects: _Optional[_Iterable[_Union[ObjectName, _Mapping[str, object]]]] = ..., force: _Optional[bool] = ..., grace_period_seconds: _Optional[int] = ..., wait: _Optional[bool] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ("question", "node", "device", "pod", "past", "until_revision")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    POD_FIELD_NUMBER: _ClassVar[int]
    PAST_FIELD_NUMBER: _ClassVar[int]
    UNTIL_REVISION_FIELD_NUMBER: _ClassVar[int]
    question: str
    node: str
    device: str
    pod: str
    past: bool
    until_revision: int
    def __init__(self, question: _Optional[str] = ..., node: _Optional[str] = ..., device: _Optional[str] = ..., pod: _Optional[str] = ..., past: _Optional[bool] = ..., until_revision: _Optional[int] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: bytes
    def __init__(self, answer: _Optional[bytes] = ...) -> None: ...

class RecordsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RecordsResponse(_message.Message):
    __slots__ = ("line",)
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: bytes
    def __init__(self, line: _Optional[bytes] = ...) -> None: ...

class RestartKubeletRequest(_message.Message):
    __slots__ = ("node", "down_ns", "kubelet_version")
    NODE_FIELD_NUMBER: _ClassVar[int]
    DOWN_NS_FIELD_NUMBER: _ClassVar[int]
    KUBELET_VERSION_FIELD_NUMBER: _ClassVar[int]
    node: str
    down_ns: int
    kubelet_version: str
    def __init__(self, node: _Optional[str] = ..., down_ns: _Optional[int] = ..., kubelet_version: _Optional[str] = ...) -> None: ...

class RestartKubeletResponse(_message.Message):
    __slots__ = ("kubelet_version",)
    KUBELET_VERSION_FIELD_NUMBER: _ClassVar[int]
    kubelet_version: str
    def __init__(self, kubelet_version: _Optional[str] = ...) -> None: ...

class RebootNodeRequest(_message.Message):
    __slots__ = ("node", "down_ns", "renumber")
    NODE_FIELD_NUMBER: _ClassVar[int]
    DOWN_NS_FIELD_NUMBER: _ClassVar[int]
    RENUMBER_FIELD_NUMBER: _ClassVar[int]
    node: str
    down_ns: int
    renumber: bool
    def __init__(self, node: _Optional[str] = ..., down_ns: _Optional[int] = ..., renumber: _Optional[bool] = ...) -> None: ...

class RebootNodeResponse(_message.Message):
    __slots__ = ("boot_id",)
    BOOT_ID_FIELD_NUMBER: _ClassVar[int]
    boot_id: str
    def __init__(self, boot_id: _Optional[str] = ...) -> None: ...

class StartPluginRequest(_message.Message):
    __slots__ = ("node", "name", "kind", "arguments")
    NODE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    node: str
    name: str
    kind: str
    arguments: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, node: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[str] = ..., arguments: _Optional[_Iterable[str]] = ...) -> None: ...

class StartPluginResponse(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class StopPluginRequest(_message.Message):
    __slots__ = ("node", "name")
    NODE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    node: str
    name: str
    def __init__(self, node: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class StopPluginResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
