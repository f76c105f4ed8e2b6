"""What the kubelet answers to a plugin that registers, and what becomes of its server for that."""

from __future__ import annotations

from typing import Final

from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.statements import NEVER_TRIED_AGAIN, RESTART_COST
from simulator.core.diagnosis.texts import blank, phrase, said
from simulator.core.registration import DEVICE_PLUGIN_VERSION, accept_registration
from simulator.errors import RegistrationError

_REGISTER: Final = "the kubelet's registration server, answering a plugin's Register"
_WATCHER: Final = "the kubelet's plugin watcher (directory plugins_registry)"


def _registration_text(*, version: str, resource: str) -> str:
    try:
        return accept_registration(version=version, resource_name=resource)
    except RegistrationError as error:
        return str(error)


VERSION_UNSUPPORTED: Final = Known(
    key="registrationVersion",
    rules=("S1.12.2",),
    place=_REGISTER,
    texts=(said(_registration_text(version=blank("version"), resource="example.com/gpu")),),
    means='The plugin asked for version "{version}" of the device plugin API.',
    why=f"The kubelet has {DEVICE_PLUGIN_VERSION} and no other, since 1.10.",
    advice=(f"Use a plugin that registers with {DEVICE_PLUGIN_VERSION}.",),
)

NAME_INVALID: Final = Known(
    key="registrationName",
    rules=("S1.12.3", "S1.15"),
    place=_REGISTER,
    texts=(said(_registration_text(version=DEVICE_PLUGIN_VERSION, resource=blank("name"))),),
    means='The plugin registered "{name}", which is no name for an extended resource.',
    why=(
        "The name needs a domain and a slash (example.com/gpu), must not lie in kubernetes.io, "
        "must not begin with requests., and has lower-case letters in its domain."
    ),
    advice=("Correct the resource name in the plugin's configuration.",),
)

DIAL_FAILED: Final = Known(
    key="registrationDial",
    rules=("S1.12.5", "S1.13"),
    place=_REGISTER,
    texts=(phrase(r"failed to dial device plugin: (?P<message>.+)"),),
    means="The kubelet could not connect to the socket that the plugin registered.",
    why=(
        "The plugin must serve its socket before it registers, in the folder device-plugins, "
        "under the name it gave; the kubelet waits 10 seconds. It found: {message}"
    ),
    advice=(
        (
            "See whether the socket stands in the kubelet's folder device-plugins: the plugin's "
            "pod must mount that very folder of the host."
        ),
        "Let the plugin serve first and register then.",
    ),
    reports=("R16",),
)

OPTIONS_FAILED: Final = Known(
    key="registrationOptions",
    rules=("S1.12.6", "S1.13"),
    place=_REGISTER,
    texts=(
        phrase(
            r"failed to get device plugin options: (?P<message>.+)",
            lambda behavior: not behavior.registered_options_used,
        ),
    ),
    means="The plugin's GetDevicePluginOptions failed while it registered.",
    why=(
        "The kubelet asks the plugin for its options before it accepts it; the options in the "
        "Register request do not count. The plugin said: {message}"
    ),
    advice=("Let the plugin implement GetDevicePluginOptions, and answer at once.",),
)

SERVER_FAILED: Final = Known(
    key="registrationServer",
    rules=("S1.11",),
    place="the kubelet's registration server (health check device-plugin)",
    texts=(
        phrase(r"device plugin registration gRPC server failed and no device plugins can register"),
    ),
    means="The kubelet's socket for plugins is gone; no plugin can register any more.",
    why="Serving the socket kubelet.sock ended with an error; the kubelet itself goes on.",
    advice=(
        "See the kubelet's log for what ended the server.",
        f"Restart the kubelet. But {RESTART_COST}.",
    ),
)

WATCHER_FAILED: Final = Known(
    key="pluginWatcher",
    rules=("S1.34", "S1.35"),
    place=_WATCHER,
    texts=(
        phrase(r"manager version, \S+, is not among plugin supported versions"),
        phrase(r"invalid name of device plugin socket"),
        phrase(r"RegisterPlugin error -- no handler registered for plugin type"),
        phrase(r"RegisterPlugin error -- plugin (?:validation|registration) failed"),
    ),
    means="A plugin found through its socket in plugins_registry was not accepted.",
    why=(
        "The plugin's answer to GetInfo names a type, a version or a resource name that the "
        "kubelet does not take, or registering it failed; what stands behind err says which."
    ),
    points=(NEVER_TRIED_AGAIN,),
    advice=(
        "Correct what the plugin answers to GetInfo.",
        "Where the kubelet does not try again, restart the plugin, so that its socket is new.",
    ),
)

SAID_TO_PLUGINS: Final = (VERSION_UNSUPPORTED, NAME_INVALID, DIAL_FAILED, OPTIONS_FAILED)
"""What the kubelet answers: in a plugin's log it stands in an error of the plugin's own call."""

ENTRIES: Final = (
    VERSION_UNSUPPORTED,
    NAME_INVALID,
    DIAL_FAILED,
    OPTIONS_FAILED,
    SERVER_FAILED,
    WATCHER_FAILED,
)
