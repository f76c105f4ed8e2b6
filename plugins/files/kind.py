"""The options of `files` plugins, and the plugins that they make."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from plugins.conduct import Conduct
from plugins.files.patterns import by_resource, read_pattern
from plugins.files.plugin import FilesPlugin
from plugins.kinds import Kind, Plan, Setting
from plugins.options import Chosen, Option, number_between, read_period
from simulator.errors import ConfigError

DEVICE: Final = Option(
    name="device",
    read=read_pattern,
    metavar="PATH=RESOURCE",
    is_repeated=True,
    help="File that is a device of a resource; the path may have *, ? and [...]",
)
SHARES: Final = Option(
    name="shares",
    read=number_between(1, 10_000),
    default="1",
    metavar="N",
    help="As how many devices each file is offered; ids end in ::N then",
)
POLL: Final = Option(
    name="poll",
    read=read_period,
    default="2s",
    metavar="DURATION",
    help="How often it is looked whether the files are there",
)


def _read_permissions(text: str) -> str:
    if not text or set(text) - set("rwm") or len(set(text)) != len(text):
        reason = f"{text!r} is not made of r, w and m"
        raise ValueError(reason)
    return text


PERMISSIONS: Final = Option(
    name="permissions",
    read=_read_permissions,
    default="rw",
    metavar="[r][w][m]",
    help="What a container may do with a device node: read, write, mknod",
)
OPTIONS: Final[tuple[Option[Any], ...]] = (DEVICE, PERMISSIONS, SHARES, POLL)


def _open(chosen: Chosen, setting: Setting, _: Conduct) -> AbstractContextManager[Sequence[Plan]]:
    patterns = chosen.all(DEVICE)
    if not patterns:
        reason = "a files plugin has no file; name one with --device PATH=RESOURCE"
        raise ConfigError(reason)
    return nullcontext(
        [
            Plan(
                model=FilesPlugin(
                    resource,
                    group,
                    permissions=chosen.one(PERMISSIONS),
                    shares=chosen.one(SHARES),
                    poll=chosen.one(POLL),
                    sleep=setting.sleep,
                )
            )
            for resource, group in by_resource(patterns).items()
        ]
    )


FILES: Final = Kind(
    name="files",
    summary="Device nodes and other files, by path",
    text=(
        "A file is healthy while it is there. A path that is written out is a device from the "
        "start; what a pattern finds becomes one when it is found, and stays one. Device nodes are "
        "passed to containers with --permissions; other files and folders are mounted, read-only "
        "without w."
    ),
    example="--device '/dev/null=example.com/null' --permissions r",
    options=OPTIONS,
    open=_open,
)
