"""Registration, device lists, the ends of streams, and what the node has."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import DisconnectMatch, ExtendedResourceReset
from simulator.core.instants import MINUTE, Duration
from simulator.core.switch_rows.row import Switch, change

# fmt: off
ROWS: Final[tuple[Switch, ...]] = (
    Switch(
        "endpoint_grace_period",
        "how long a resource stays on the node after its plugin has gone",
        "S2.5, PR 60856 (1.10)", first=Duration(5 * MINUTE), is_duration=True,
    ),
    Switch(
        "same_devices_ignored",
        "a plugin that comes back with the devices it had leaves them unhealthy",
        "R20", first=True, changes=(
        change("1.11.0", "PR 63118, back-port [?]", value=False, ports=("1.10.3",)),
    )),
    Switch(
        "disconnect_match",
        "which plugin the end of a stream disconnects",
        "1.20.2 list 20", first=DisconnectMatch.OWN_ENDPOINT, changes=(
        change("1.25.0", "S1.22, details 1 [?]", value=DisconnectMatch.RESOURCE_NAME),
        change("1.37.0", "PR 135437", value=DisconnectMatch.OWN_ENDPOINT),
    )),
    Switch(
        "register_asynchronous",
        "Register is answered before the plugin is dialed",
        "S1.12", first=True, changes=(
        change("1.25.0", "PR 109016", value=False),
    )),
    Switch(
        "registered_options_used",
        "a plugin's options are those of its Register request, not those it answers when asked",
        "S1.12.6", first=True, changes=(
        change("1.25.0", "PR 109016", value=False),
    )),
    Switch(
        "watched_plugins_retried",
        "a plugin in plugins_registry whose registration failed is tried again",
        "S1.35", first=False, changes=(
        change("1.36.0", "PR 133335", value=True),
    )),
    Switch(
        "registration_health_needs_start",
        "the health check of the registration server fails before it has started",
        "1.32.10 list", first=True, changes=(
        change("1.36.0", "1.32.10 list [?]", value=False),
    )),
    Switch(
        "plugin_directory_emptied",
        "a kubelet start removes every file of the plugin directory, not only sockets",
        "S1.9", first=True, changes=(
        change("1.36.0", "appendix C 1", value=False),
    )),
    Switch(
        "extended_resource_reset",
        "when a kubelet start sets the node's extended resources to 0",
        "S5.4", first=ExtendedResourceReset.NEVER, changes=(
        change("1.11.0", "PR 64784", value=ExtendedResourceReset.ALWAYS),
        change("1.15.0", "PR 77699", value=ExtendedResourceReset.WITHOUT_CHECKPOINT),
    )),
)
# fmt: on
