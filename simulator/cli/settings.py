"""Where the value of an option comes from: flag, environment, configuration file, default.

The settings are the options that many commands share. For each of them `REBIND_` and its name in
capitals is the environment variable (`REBIND_KUBELET_VERSION`), and its name in camelCase the key
of the configuration file (`kubeletVersion`). The file is the one named by `--config` or
`REBIND_CONFIG`, else `./rebind.yaml` if there is one:

    apiVersion: rebind.internal/v1alpha1
    kind: Configuration
    spec:
      db: sqlite:///laboratory.db
      kubeletVersion: 1.27.2

Options that are not settings, such as `--force`, are given on the command line only.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from simulator.config import API_VERSION
from simulator.errors import ConfigError

LOG_SETTINGS: Final = ("log-level", "log-format", "debug")
"""Settings of the program itself, read before any command."""
SETTINGS: Final = (
    *LOG_SETTINGS,
    "db",
    "durability",
    "http",
    "kubelet-version",
    "max-size",
    "no-headers",
    "node",
    "output",
    "persistence",
    "readmission",
    "root-dir",
    "seed",
    "server",
)
DEFAULT_FILE: Final = Path("rebind.yaml")
KIND: Final = "Configuration"


@dataclass(slots=True)
class Settings:
    """What holds for the whole invocation.

    Attributes:
        debug: Whether an error is shown with its traceback.
        log_level, log_format: What the log handler was last set to.
        configured: The commands' values in the configuration file, by the name of the option.
    """

    debug: bool = False
    log_level: str = "warning"
    log_format: str = "text"
    configured: Mapping[str, str] = field(default_factory=dict)


def environment_variable(setting: str) -> str:
    """Return e.g. `REBIND_KUBELET_VERSION` for `kubelet-version`."""
    return f"REBIND_{setting.replace('-', '_').upper()}"


def file_key(setting: str) -> str:
    """Return e.g. `kubeletVersion` for `kubelet-version`."""
    first, *rest = setting.split("-")
    return first + "".join(word.capitalize() for word in rest)


def read_configuration(path: Path | None) -> dict[str, str]:
    """Return the values of the configuration file by the name of the option.

    Args:
        path: The file that was asked for; None for the default one, which may be absent.

    Raises:
        ConfigError: The file is not a valid configuration; the message has path, line and column.
        OSError: The file that was asked for cannot be read.
    """
    if path is None:
        if not DEFAULT_FILE.is_file():
            return {}
        path = DEFAULT_FILE
    root = _parse(path)
    if root is None:
        return {}
    top = _entries(path, root, allowed=("apiVersion", "kind", "metadata", "spec"))
    for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        found = top[key].value if key in top else "nothing"
        if found != expected:
            raise _at(path, top.get(key, root), f"{key} is {found}, expected {expected}")
    if "spec" not in top:
        return {}
    settings = {file_key(setting): setting for setting in SETTINGS}
    values = _entries(path, top["spec"], allowed=settings)
    for key, node in values.items():
        if not isinstance(node, yaml.ScalarNode):
            raise _at(path, node, f"{key} takes a single value")
    return {settings[key]: str(node.value) for key, node in values.items()}


def _parse(path: Path) -> yaml.Node | None:
    try:
        root: yaml.Node | None = yaml.compose(
            path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader
        )
    except UnicodeDecodeError as error:
        reason = f"{path}: the configuration is not UTF-8 text: {error.reason}"
        raise ConfigError(reason) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = path if mark is None else f"{path}:{mark.line + 1}:{mark.column + 1}"
        problem = getattr(error, "problem", None) or getattr(error, "reason", error)
        reason = f"{place}: the configuration is not valid YAML: {problem}"
        raise ConfigError(reason) from error
    except RecursionError as error:
        reason = f"{path}: the configuration is nested too deep"
        raise ConfigError(reason) from error
    return root


def _entries(path: Path, node: yaml.Node, *, allowed: Iterable[str]) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise _at(path, node, "expected a mapping of keys to values")
    entries: dict[str, yaml.Node] = {}
    for key_node, value in node.value:
        key = str(key_node.value)
        if key not in allowed:
            raise _at(path, key_node, f"unknown key {key}{_nearest(key, allowed)}")
        if key in entries:
            raise _at(path, key_node, f"key {key} is given twice")
        entries[key] = value
    return entries


def _nearest(name: str, allowed: Iterable[str]) -> str:
    names = sorted(allowed)
    near = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(names)}"


def _at(path: Path, node: yaml.Node, reason: str) -> ConfigError:
    mark = node.start_mark
    return ConfigError(f"{path}:{mark.line + 1}:{mark.column + 1}: {reason}")
