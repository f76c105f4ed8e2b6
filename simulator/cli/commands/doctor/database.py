"""What a database shows about a node, and where it disagrees with the checkpoint file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from simulator.assembly.stores import opened_store
from simulator.cli.checkpoint_files import CheckpointFile
from simulator.cli.commands.doctor.checks import Check, ok, problem, warning
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.bindings import checkpoint_of, read_bindings
from simulator.core.checkpoint.differences import Differences, differences
from simulator.core.devices import HEALTHY
from simulator.core.migration.phases import Phase, meaning_of, regime_of
from simulator.core.plurals import counted
from simulator.core.transitions import NodeName, NodeState
from simulator.errors import StoreError
from simulator.ports import StoreReader
from simulator.reports.text import named
from store import maintenance
from store.databases import database_at
from store.sqlite.database import SqliteDatabase
from store.sqlite.untouched import untouched_copy, writer_of

_LOG_SIZE_MAX: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class DatabaseSeen:
    """What was found.

    Attributes:
        exists: Whether there is a database.
        nodes: The nodes in it.
        state: Of the node in question; None when it has none, or cannot be read.
    """

    exists: bool
    checks: list[Check] = field(default_factory=list)
    nodes: tuple[NodeName, ...] = ()
    state: NodeState | None = None


def look_at_database(url: str, node: str | None) -> DatabaseSeen:
    """Look at a database and, in it, at a node: the named one, or the only one.

    Raises:
        ConfigError: The URL names no database that can be used.
    """
    database = database_at(url)
    if not isinstance(database, SqliteDatabase):
        seen = DatabaseSeen(exists=True)
        _look_inside(seen, url, node)
        return seen
    path = database.file
    if path is None or not path.exists():
        return DatabaseSeen(exists=False)
    seen = DatabaseSeen(exists=True)
    try:
        with untouched_copy(path) as copy:
            _look_inside(seen, f"sqlite:///{copy}", node)
            seen.checks = [_said_of(path, copy, check) for check in seen.checks]
    except StoreError as error:
        seen.checks.append(_unusable(error))
    seen.checks += _writer(path)
    return seen


def _look_inside(seen: DatabaseSeen, url: str, node: str | None) -> None:
    try:
        findings = maintenance.examine(url)
        seen.checks += [_of_finding(each, database_at(url).name) for each in findings]
        if any(each.problems for each in findings):
            return
        with opened_store(url, read_only=True) as store:
            _look_at_nodes(seen, store, node)
    except StoreError as error:
        seen.checks.append(_unusable(error))


def _unusable(error: StoreError) -> Check:
    return problem(
        "database", str(error), "see that it is there and may be read; --db names another"
    )


def _said_of(path: Path, copy: Path, check: Check) -> Check:
    """Name the database in place of the copy that was looked at."""
    names = (str(copy), str(path))
    return replace(check, seen=check.seen.replace(*names), advice=check.advice.replace(*names))


def _of_finding(finding: maintenance.Finding, name: str) -> Check:
    subject = f"database {finding.subject}"
    if not finding.problems:
        return ok(subject, finding.note or "ok")
    is_newer = any("newer" in each for each in finding.problems)
    advice = {
        "schema": "use the Rebind that wrote it; this one changes nothing in it"
        if is_newer
        else f"rebind db upgrade --db {name}",
        "log": f"rebind db recover --db {name}, or restore a copy",
    }
    return problem(
        subject,
        "; ".join(finding.problems),
        advice.get(finding.subject, "restore it from a copy"),
    )


def _writer(path: Path) -> Iterator[Check]:
    """Say who writes the database, and how long its log is (R93)."""
    writer = writer_of(path)
    if writer.is_writing:
        yield ok("database writer", f"{writer.holder or 'a process'} is writing it")
    elif writer.is_writing is None:
        yield ok("database writer", f"last written by {writer.holder}; maybe still")
    else:
        yield ok("database writer", "nobody is writing it")
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LOG_SIZE_MAX:
        yield warning(
            "database log",
            f"{log.name} has {size} bytes",
            "a reader that never ends keeps it from being emptied; end it, then start the writer",
        )


def _look_at_nodes(seen: DatabaseSeen, store: StoreReader, node: str | None) -> None:
    seen.nodes = tuple(summary.node for summary in store.nodes())
    chosen = _chosen(seen, node)
    if chosen is None:
        return
    seen.state = store.load(chosen)
    bindings = seen.state.bindings
    pods = len({binding.pod for binding in bindings})
    seen.checks.append(
        ok("node", f"{chosen}: {counted(len(bindings), 'binding')} of {counted(pods, 'pod')}")
    )
    phase = seen.state.phase
    if phase is not None:
        seen.checks.append(ok("migration", f"phase {phase.value}: {meaning_of(phase)}"))
    disputed = sorted({each.device for each in store.holders(node=chosen) if each.disputed})
    if disputed:
        seen.checks.append(
            problem(
                "held twice",
                f"{named(disputed)}: held by two pods since an import",
                "end one of the pods: both use the device (R79)",
            )
        )
    gone = [
        f"{each.device} of {each.resource}"
        for each in store.devices(node=chosen)
        if each.holders and each.health is not None and not _is_usable(each.listed, each.health)
    ]
    if gone:
        seen.checks.append(
            warning(
                "held, not healthy",
                f"{named(gone)}: held, but not among the plugin's healthy devices",
                "see the plugin's log; replace the pods that hold them",
            )
        )
    registered = frozenset(seen.state.registered)
    orphaned = sorted({binding.resource for binding in bindings} - registered)
    if orphaned:
        seen.checks.append(
            warning(
                "not registered",
                f"{named(orphaned)}: held, but no plugin has it registered",
                "restart its plugin: containers cannot be started again without it",
            )
        )


def _is_usable(listed: bool, health: str) -> bool:  # noqa: FBT001 - two columns of a device
    return listed and health == HEALTHY


def _chosen(seen: DatabaseSeen, node: str | None) -> NodeName | None:
    if node is not None:
        if node in seen.nodes:
            return NodeName(node)
        there = named(seen.nodes) or "none"
        seen.checks.append(
            warning("node", f"{node} is not in the database; there: {there}", "see --node")
        )
        return None
    if len(seen.nodes) == 1:
        return seen.nodes[0]
    if seen.nodes:
        seen.checks.append(
            ok("node", f"{len(seen.nodes)} nodes: {named(seen.nodes)}; name one with --node")
        )
    else:
        seen.checks.append(ok("node", "no node in the database"))
    return None


def compare(file: CheckpointFile, state: NodeState, kubelet: Behavior) -> Iterator[Check]:
    """Compare the bindings of the file and of the database, by how far the migration is."""
    phase = state.phase
    checkpoint = file.inspection.checkpoint
    ours = read_bindings(checkpoint, lenient=kubelet.lenient_allocate_responses).bindings
    form = checkpoint.format
    found = differences(checkpoint_of(ours, (), form), checkpoint_of(state.bindings, (), form))
    subject = "file and database"
    if not found.entries:
        yield ok(subject, f"the same {counted(len(ours), 'binding')}")
    elif phase is Phase.CHECKPOINT and not state.bindings:
        yield ok(subject, "the file alone; the database's bindings ended when the node went back")
    elif phase is None:
        yield problem(
            subject,
            _in_words(found),
            "find out which one the kubelet uses; then import the file (--replace) or export the "
            "node",
        )
    elif regime_of(phase).writes_both:
        yield problem(
            subject,
            _in_words(found),
            f"both are written in this phase; rebind migrate status --node {state.node}",
        )
    else:
        yield warning(
            subject,
            _in_words(found),
            f"only one of them counts; the other is of before: rebind migrate status --node "
            f"{state.node}",
        )


def _in_words(found: Differences) -> str:
    only_file = [each for each in found.entries if each.after is None]
    only_rows = [each for each in found.entries if each.before is None]
    both = len(found.entries) - len(only_file) - len(only_rows)
    parts = [
        f"{counted(len(entries), 'binding')} only in the {where} "
        f"({named([f'{each.pod}/{each.container} {each.resource}' for each in entries])})"
        for entries, where in ((only_file, "file"), (only_rows, "database"))
        if entries
    ]
    if both:
        parts.append(f"{counted(both, 'binding')} not the same")
    return "; ".join(parts)
