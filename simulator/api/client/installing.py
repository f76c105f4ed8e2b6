"""Makes DeviceBindings known to a cluster: `rebind api install-crd`."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Final

from simulator.api.client.endpoint import ApiEndpoint
from simulator.api.client.http import MERGE_PATCH, HttpClient
from simulator.api.client.paths import path_of
from simulator.api.dialect.custom_definition import device_binding_definition
from simulator.api.dialect.documents import items, text
from simulator.api.dialect.kinds import BULK_RESOURCE_BINDINGS, DEVICE_BINDINGS
from simulator.errors import ApiUnreachableError, ServerError

_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_LOOK_S: Final = 0.25
SERVED_WITHIN_S: Final = 30.0
"""How long a server may take from the definition to the kind."""


class Installed(Enum):
    """What became of the definition."""

    CREATED = "created"
    CONFIGURED = "configured"
    UNCHANGED = "unchanged"
    BUILT_IN = "built in"


def install(endpoint: ApiEndpoint, *, within_s: float = SERVED_WITHIN_S) -> Installed:
    """Create or renew the definition, and wait until the server knows the kind.

    Args:
        endpoint: The server.
        within_s: How long that may take.

    Raises:
        ServerError: The server is away or refuses, or does not come to know the kind.
    """
    return asyncio.run(_install(endpoint, round(within_s / _LOOK_S)))


async def _install(endpoint: ApiEndpoint, looks: int) -> Installed:
    client = HttpClient(endpoint)
    try:
        if await _is_own(client):
            return Installed.BUILT_IN
        outcome = await _write(client)
        for _ in range(looks):
            answer = await client.ask("GET", path_of(DEVICE_BINDINGS), query={"limit": "1"})
            if answer.code != _NOT_FOUND and not answer.is_unavailable:
                client.granted(answer)
                return outcome
            await asyncio.sleep(_LOOK_S)
        why = await _why_not(client)
    except ApiUnreachableError as error:
        raise ServerError(str(error)) from error
    finally:
        await client.close()
    reason = f"{endpoint.url} has the definition, but does not serve DeviceBindings yet: {why}"
    raise ServerError(reason)


async def _is_own(client: HttpClient) -> bool:
    """Tell whether it is Rebind's own server, which has what no definition gives."""
    group = f"/apis/{DEVICE_BINDINGS.api_version}"
    answer = await client.ask("GET", group)
    names = [text(one, "name") for one in items(answer.document, "resources")]
    return BULK_RESOURCE_BINDINGS.plural in names


async def _write(client: HttpClient) -> Installed:
    path = f"{_DEFINITIONS}/{DEVICE_BINDINGS.resource}"
    definition = device_binding_definition()
    present = await client.ask("GET", path)
    if present.code == _NOT_FOUND:
        created = await client.ask("POST", _DEFINITIONS, definition)
        if created.code != _CONFLICT:
            client.granted(created)
            return Installed.CREATED
        present = await client.ask("GET", path)  # Somebody else was quicker.
    client.granted(present)
    renewed = await client.ask(
        "PATCH", path, {"spec": definition["spec"]}, content_type=MERGE_PATCH
    )
    client.granted(renewed)
    is_same = renewed.revision == present.revision
    return Installed.UNCHANGED if is_same else Installed.CONFIGURED


async def _why_not(client: HttpClient) -> str:
    """Return what a definition says of why its kind is not served."""
    found = await client.ask("GET", f"{_DEFINITIONS}/{DEVICE_BINDINGS.resource}")
    for condition in items(found.document, "status", "conditions"):
        if text(condition, "status") == "False" and text(condition, "message"):
            return text(condition, "message")
    return "try again"
