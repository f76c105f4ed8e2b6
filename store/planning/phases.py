"""Rows for a node that goes on with its migration between file and database."""

from __future__ import annotations

from simulator.core.migration.phases import Phase
from simulator.core.transitions import PhaseChanged
from simulator.ports import Committed
from store.changes import PHASES
from store.node_entries import NodeEntry
from store.planning.plan import Plan
from store.queries import imported_by, phase_by


def plan_phase(plan: Plan, changed: PhaseChanged) -> Committed:
    """Take a phase for the node's; its file, while it is the node's own, stays that."""
    node = plan.node_or_new(changed.node)
    plan.let_read(node)
    kept = imported_by(plan.connection, changed.node)
    own = kept.content if kept is not None and kept.revision == node.revision else None
    content = own if changed.content is None else changed.content
    if phase_by(plan.connection, changed.node) is changed.phase and content == own:
        return Committed(node.revision)
    revision = plan.next_revision(node, changed.at)
    if content is not None:
        keep_file(plan, node, content)
    keep_phase(plan, node, changed.phase)
    return plan.record(node, revision, changed, ())


def keep_phase(plan: Plan, node: NodeEntry, phase: Phase) -> None:
    """Write a phase, with the node's present revision."""
    plan.writes.phase_deletes.append((node.id,))
    plan.writes.phases.append((node.id, PHASES[phase], node.revision))


def keep_file(plan: Plan, node: NodeEntry, content: bytes) -> None:
    """Write the file that the node has at its present revision."""
    plan.writes.checkpoint_deletes.append((node.id,))
    plan.writes.checkpoints.append((node.id, node.revision, content))
