"""The defaults of Rebind, each stated once (details 13).

A value is taken from the flag, else from the `REBIND_*` environment variable, else from the
configuration file, else from here; the command line does the looking up.
"""

from __future__ import annotations

from typing import Final

API_VERSION: Final = "rebind.internal/v1alpha1"
DEFAULT_DATABASE_URL: Final = "sqlite:///rebind.db"
DEFAULT_ROOT_DIR: Final = "./rebind-run"
DEFAULT_KUBELET_VERSION: Final = "1.36.2"
CHECKPOINT_FILE_NAME: Final = "kubelet_internal_checkpoint"
RETIRED_CHECKPOINT_NAME: Final = f"{CHECKPOINT_FILE_NAME}.retired"
"""What the file is called when a migration has set it aside."""
PLUGIN_DIRECTORY: Final = "device-plugins"
"""In a kubelet's root folder: where plugins register and the checkpoint file is (S1.6)."""
REGISTRY_DIRECTORY: Final = "plugins_registry"
"""Beside it: where the kubelet looks for plugins by itself (S1.30)."""
POD_RESOURCES_DIRECTORY: Final = "pod-resources"
"""Beside it: where agents ask who has which device (S8.1)."""
CONTROL_SOCKET: Final = "rebind.sock"
"""The control socket of `rebind serve`, in its root directory."""
KUBELET_SOCKET: Final = "kubelet.sock"
"""What the kubelet's own sockets are called, in the first and in the last."""
CHECKPOINT_SIZE_MAX: Final = 64 * 1024 * 1024
"""Largest checkpoint file that is read, in bytes (details 18)."""
