"""The kinds that the API serves, and what can be done with each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

GROUP: Final = "rebind.internal"
VERSION: Final = "v1alpha1"

GET: Final = "get"
LIST: Final = "list"
WATCH: Final = "watch"
CREATE: Final = "create"
UPDATE: Final = "update"
PATCH: Final = "patch"
DELETE: Final = "delete"
DELETE_COLLECTION: Final = "deletecollection"

EVERYTHING: Final = (CREATE, DELETE, DELETE_COLLECTION, GET, LIST, PATCH, UPDATE, WATCH)
_OF_STATUS: Final = (GET, PATCH, UPDATE)


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of an object, or something done to it, under a path of its own.

    Attributes:
        name: As it stands in the path, such as `status`.
        kind: The kind of its body.
        group, version: Where that kind is from.
    """

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = "v1"


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of object, and the resource that it is served as; each is equal to itself alone.

    Attributes:
        group: Empty for the core group.
        kind: Such as `Pod`.
        plural: The resource, such as `pods`.
        native: Whether it is one of Kubernetes' own: those alone take strategic merge patches and
            keep no unknown fields, and a deletion of a pod answers with the object.
        stored: Whether there are objects; False for questions and orders that are only answered.
        api_version: What stands in `apiVersion`.
        resource: The resource with its group, as messages name it.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = EVERYTHING
    subresources: tuple[Subresource, ...] = ()
    native: bool = True
    stored: bool = True
    api_version: str = field(init=False)
    resource: str = field(init=False)

    def __post_init__(self) -> None:
        """Put together what every request asks for."""
        group, version, plural = self.group, self.version, self.plural
        object.__setattr__(self, "api_version", f"{group}/{version}" if group else version)
        object.__setattr__(self, "resource", f"{plural}.{group}" if group else plural)

    @property
    def singular(self) -> str:
        """Return the name for one of them on the command line."""
        return self.kind.lower()

    @property
    def list_kind(self) -> str:
        """Return the kind of a list of them."""
        return f"{self.kind}List"

    def subresource(self, name: str) -> Subresource | None:
        """Return the subresource with a name."""
        return next((one for one in self.subresources if one.name == name), None)


def _status(kind: str, group: str = "", version: str = "v1") -> Subresource:
    return Subresource("status", kind, _OF_STATUS, group, version)


NAMESPACES: Final = Kind(
    "",
    "v1",
    "Namespace",
    "namespaces",
    namespaced=False,
    short_names=("ns",),
    verbs=(CREATE, DELETE, GET, LIST, PATCH, UPDATE, WATCH),
    subresources=(Subresource("finalize", "Namespace", (UPDATE,)), _status("Namespace")),
)
NODES: Final = Kind(
    "",
    "v1",
    "Node",
    "nodes",
    namespaced=False,
    short_names=("no",),
    subresources=(_status("Node"),),
)
PODS: Final = Kind(
    "",
    "v1",
    "Pod",
    "pods",
    short_names=("po",),
    categories=("all",),
    subresources=(
        Subresource("binding", "Binding", (CREATE,)),
        Subresource("eviction", "Eviction", (CREATE,), "policy"),
        Subresource("resourcebinding", "ResourceBinding", (CREATE,)),
        _status("Pod"),
    ),
)
BINDINGS: Final = Kind("", "v1", "Binding", "bindings", verbs=(CREATE,), stored=False)
"""Orders that bind pods to nodes, as `pods/NAME/binding` does; each names its pod."""
EVENTS: Final = Kind("", "v1", "Event", "events", short_names=("ev",))
LEASES: Final = Kind("coordination.k8s.io", "v1", "Lease", "leases")
DEVICE_BINDINGS: Final = Kind(
    GROUP,
    VERSION,
    "DeviceBinding",
    "devicebindings",
    short_names=("devb",),
    categories=("rebind",),
    subresources=(_status("DeviceBinding", GROUP, VERSION),),
    native=False,
)
BULK_RESOURCE_BINDINGS: Final = Kind(
    GROUP,
    VERSION,
    "BulkResourceBinding",
    "resourcebindings",
    namespaced=False,
    verbs=(CREATE,),
    native=False,
    stored=False,
)
"""Many ResourceBindings in one request; not Kubernetes, where every pod is a request of its own."""
SELF_SUBJECT_ACCESS_REVIEWS: Final = Kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
    namespaced=False,
    verbs=(CREATE,),
    stored=False,
)
SELF_SUBJECT_RULES_REVIEWS: Final = Kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectRulesReview",
    "selfsubjectrulesreviews",
    namespaced=False,
    verbs=(CREATE,),
    stored=False,
)
SELF_SUBJECT_REVIEWS: Final = Kind(
    "authentication.k8s.io",
    "v1",
    "SelfSubjectReview",
    "selfsubjectreviews",
    namespaced=False,
    verbs=(CREATE,),
    stored=False,
)

KINDS: Final = (
    BINDINGS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    SELF_SUBJECT_REVIEWS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_RULES_REVIEWS,
    LEASES,
    BULK_RESOURCE_BINDINGS,
    DEVICE_BINDINGS,
)
"""By group, then by plural."""

QUESTIONS: Final = frozenset(
    {SELF_SUBJECT_REVIEWS, SELF_SUBJECT_ACCESS_REVIEWS, SELF_SUBJECT_RULES_REVIEWS}
)
"""What everybody who is known may ask about themselves."""
KINDS_BY_PATH: Final = {(one.group, one.version, one.plural): one for one in KINDS}
"""By group, version and plural."""
STORED_KINDS: Final = tuple(one for one in KINDS if one.stored)
NAMESPACED_KINDS: Final = tuple(one for one in STORED_KINDS if one.namespaced)
