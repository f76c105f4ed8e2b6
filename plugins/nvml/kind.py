"""The kind `nvml`: its options, and how they become plugins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from plugins.conduct import Conduct
from plugins.kinds import RESOURCE_NAME, Kind, Plan, Setting
from plugins.nvml.answers import CDI_KIND, AnswerOptions, Strategy
from plugins.nvml.health import APPLICATION_XIDS
from plugins.nvml.plugin import NvmlOptions, nvml_plugins
from plugins.nvml.resources import DOMAIN, REPLICAS_MAX, MigStrategy, Naming
from plugins.options import (
    Chosen,
    Option,
    number_between,
    one_of,
    read_switch,
    read_text,
    some_of,
)

_XID_MAX: Final = 9_999
_CDI_KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*/[A-Za-z][A-Za-z0-9_.-]*", re.ASCII)

_read_strategy_names: Final = some_of([strategy.value for strategy in Strategy])
_read_mig_strategy_name: Final = one_of([strategy.value for strategy in MigStrategy])
_read_xid: Final = number_between(0, _XID_MAX)


def _read_strategies(text: str) -> tuple[Strategy, ...]:
    return tuple(Strategy(name) for name in _read_strategy_names(text))


def _read_mig_strategy(text: str) -> MigStrategy:
    return MigStrategy(_read_mig_strategy_name(text))


def _read_xids(text: str) -> tuple[int, ...]:
    return () if text == "none" else tuple(_read_xid(part) for part in text.split(","))


def _read_cdi_kind(text: str) -> str:
    if _CDI_KIND.fullmatch(text) is None:
        reason = f"{text!r} is no CDI kind; it has the form vendor/class, such as {CDI_KIND}"
        raise ValueError(reason)
    return text


def _read_host_root(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        reason = f"there is no folder {text}"
        raise ValueError(reason)
    return path


ONLY: Final = Option(
    name=RESOURCE_NAME.name,
    read=read_text,
    metavar="NAME",
    is_repeated=True,
    help="Offer only this one of the resources that the machine's GPUs make",
)
MIG_STRATEGY: Final = Option(
    name="mig-strategy",
    read=_read_mig_strategy,
    default=MigStrategy.NONE.value,
    metavar="|".join(strategy.value for strategy in MigStrategy),
    help="What becomes of GPUs in MIG mode; see above",
)
REPLICAS: Final = Option(
    name="replicas",
    read=number_between(1, REPLICAS_MAX),
    default="1",
    metavar="N",
    help="Offer each device that many times, as GPU-…::0, GPU-…::1 and so on (time slicing)",
)
RENAME_SHARED: Final = Option(
    name="rename-shared",
    read=read_switch,
    default="false",
    is_flag=True,
    help="Let the names of resources with replicas end in .shared",
)
ONE_SHARE_EACH: Final = Option(
    name="one-share-each",
    read=read_switch,
    default="false",
    is_flag=True,
    help="Refuse containers that ask for several replicas: they get no more of a GPU",
)
RESOURCE_DOMAIN: Final = Option(
    name="resource-domain",
    read=read_text,
    default=DOMAIN,
    metavar="DOMAIN",
    help="What stands before the / of the resource names",
)
DEVICE_LIST: Final = Option(
    name="device-list",
    read=_read_strategies,
    default="envvar,device-specs",
    metavar="WAY,...",
    help="What containers get to come to their GPUs; see above",
)
CDI_KIND_OPTION: Final = Option(
    name="cdi-kind",
    read=_read_cdi_kind,
    default=CDI_KIND,
    metavar="VENDOR/CLASS",
    help="The kind of the CDI names",
)
IGNORE_XIDS: Final = Option(
    name="ignore-xids",
    read=_read_xids,
    default=",".join(map(str, APPLICATION_XIDS)),
    metavar="XID,...",
    help="Errors that leave a GPU healthy; see above; none for no such error",
)
NO_HEALTH: Final = Option(
    name="no-health",
    read=read_switch,
    default="false",
    is_flag=True,
    help="Do not watch for errors and lost GPUs",
)
NO_PREFERENCE: Final = Option(
    name="no-preference",
    read=read_switch,
    default="false",
    is_flag=True,
    help="Do not let the kubelet ask which GPUs go well together",
)
HOST_ROOT: Final = Option(
    name="host-root",
    read=_read_host_root,
    default="/",
    metavar="DIR",
    help="Where the host's /dev, /proc and /sys are seen, for a plugin inside a container",
)


@contextmanager
def _open(chosen: Chosen, setting: Setting, conduct: Conduct) -> Iterator[Sequence[Plan]]:
    del setting, conduct  # Hardware follows the real clock, wherever its plugin runs.
    options = NvmlOptions(
        naming=Naming(
            mig_strategy=chosen.one(MIG_STRATEGY),
            replicas=chosen.one(REPLICAS),
            rename_shared=chosen.one(RENAME_SHARED),
            domain=chosen.one(RESOURCE_DOMAIN),
            only=chosen.all(ONLY),
        ),
        answers=AnswerOptions(
            strategies=chosen.one(DEVICE_LIST),
            cdi_kind=chosen.one(CDI_KIND_OPTION),
            one_share_each=chosen.one(ONE_SHARE_EACH),
        ),
        ignored_xids=chosen.one(IGNORE_XIDS),
        watches_health=not chosen.one(NO_HEALTH),
        prefers=not chosen.one(NO_PREFERENCE),
        host_root=chosen.one(HOST_ROOT),
    )
    with nvml_plugins(options) as plugins:
        yield tuple(Plan(model=plugin) for plugin in plugins)


_TERMS: Final = (
    ("MIG none", "every GPU is offered whole, as nvidia.com/gpu"),
    ("MIG single", "MIG devices, all of one profile, are offered as nvidia.com/gpu"),
    ("MIG mixed", "MIG devices are offered by profile, as nvidia.com/mig-1g.5gb and so on"),
    ("envvar", "NVIDIA_VISIBLE_DEVICES with UUIDs, for NVIDIA's container runtime"),
    ("device-specs", "device nodes: /dev/nvidiaN, those of MIG, nvidiactl, nvidia-uvm"),
    ("cdi-cri", "CDI names in the answer, for kubelets from 1.28 on"),
    ("cdi-annotations", "CDI names in an annotation"),
    *((f"XID {xid}", meaning) for xid, meaning in APPLICATION_XIDS.items()),
)


NVML: Final = Kind(
    name="nvml",
    summary="The NVIDIA GPUs of this machine, read through the driver's library",
    text=(
        "GPUs are known by their UUIDs, MIG devices by theirs; resources are named as the NVIDIA "
        "device plugin names them. A GPU that is lost, or "
        "has had an error that no application causes, is Unhealthy; after an error it stays so "
        "until the plugin is started anew, which is also when changed GPUs and MIG devices are "
        "seen. Nothing on a GPU is changed. Without driver or library the plugin says so and ends "
        "with exit code 3."
    ),
    example="--mig-strategy mixed --replicas 4 --rename-shared",
    options=(
        ONLY,
        MIG_STRATEGY,
        REPLICAS,
        RENAME_SHARED,
        ONE_SHARE_EACH,
        RESOURCE_DOMAIN,
        DEVICE_LIST,
        CDI_KIND_OPTION,
        IGNORE_XIDS,
        NO_HEALTH,
        NO_PREFERENCE,
        HOST_ROOT,
    ),
    terms=_TERMS,
    open=_open,
)
