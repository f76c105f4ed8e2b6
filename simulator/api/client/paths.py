"""Where objects are found: the paths of the API."""

from __future__ import annotations

from urllib.parse import quote

from simulator.api.dialect.kinds import Kind


def path_of(kind: Kind, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of an object, of a part of it, or of a collection.

    Args:
        kind: The kind.
        namespace: Empty for all namespaces, and for kinds without.
        name: Empty for the collection.
        subresource: Empty for the object itself.
    """
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    parts = [root]
    if namespace and kind.namespaced:
        parts += ["namespaces", quote(namespace, safe="")]
    parts.append(kind.plural)
    if name:
        parts.append(quote(name, safe=""))
    if subresource:
        parts.append(subresource)
    return "/".join(parts)
