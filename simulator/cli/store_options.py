"""Options of the commands that use a database."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click
from typing_extensions import override

from simulator.cli.checkpoint_files import FileName
from simulator.config import DEFAULT_DATABASE_URL
from simulator.core.transitions import NodeName, OnConflict
from simulator.ports import Durability

F = TypeVar("F", bound=Callable[..., object])

COUNT_MAX: Final = 2**63 - 1
"""Largest number that a database can hold."""
COMMIT_BATCH_MAX: Final = 512

_NODE_NAME_MAX: Final = 253
_NODE_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)


class NewNodeName(click.ParamType[NodeName]):
    """The name of a node that may be made: a DNS-1123 name, as Kubernetes demands."""

    name = "node"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> NodeName:
        text = str(value)
        if len(text) > _NODE_NAME_MAX or not _NODE_NAME.fullmatch(text):
            reason = (
                f"{text[:_NODE_NAME_MAX]!r} is no name for a node; write lower-case letters, "
                "digits, '-' and '.', e.g. n0"
            )
            self.fail(reason, param, ctx)
        return NodeName(text)


def db_option(command: F) -> F:
    """Add `--db` to a command, which gets it as `db`."""
    return click.option(
        "--db",
        default=DEFAULT_DATABASE_URL,
        show_default=True,
        metavar="URL",
        help="The database; postgresql://USER@HOST/NAME with the extra `postgres`.",
    )(command)


def committing_options(command: F) -> F:
    """Add the options of who commits: `--db`, `--durability` and `--commit-batch`."""
    batch = click.option(
        "--commit-batch",
        type=click.IntRange(min=1, max=COMMIT_BATCH_MAX),
        default=COMMIT_BATCH_MAX,
        show_default=True,
        metavar="N",
        help="Most writes that are committed at once; 1 is no group commit.",
    )
    durability = click.option(
        "--durability",
        type=click.Choice([each.value for each in Durability]),
        default=Durability.FULL.value,
        show_default=True,
        help="What a power cut may take of the database.",
    )
    return db_option(durability(batch(command)))


def node_option(command: F) -> F:
    """Add `--node`, which narrows what is shown, to a command, which gets it as `node`."""
    return click.option("--node", metavar="NODE", help="Only this node.")(command)


def resource_option(command: F) -> F:
    """Add `--resource`, which narrows what is shown, to a command, which gets it as `resource`."""
    return click.option("--resource", metavar="RESOURCE", help="Only this resource.")(command)


def conflict_option(command: F) -> F:
    """Add `--on-conflict` to a command that imports a file, which gets it as `on_conflict`."""
    return click.option(
        "--on-conflict",
        type=click.Choice([choice.value for choice in OnConflict]),
        default=OnConflict.REFUSE.value,
        show_default=True,
        help="What to do when one device stands under two pods.",
    )(command)


def pod_names_option(command: F) -> F:
    """Add `-f` to a command that imports a file, which gets the manifests as `pods`."""
    return click.option(
        "-f",
        "--filename",
        "pods",
        type=FileName(path_type=Path),
        multiple=True,
        metavar="PODS.yaml",
        help="Manifests that give names to the file's uids.",
    )(command)
