"""One run of all checks, from the start of the plugin to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.conformance import giving, meeting, parting
from simulator.conformance.bench import Bench, Deadlines, Plugin
from simulator.conformance.findings import Finding
from simulator.conformance.health import change_health
from simulator.conformance.ledger import Ledger
from simulator.rig.kubelet import Kubelet
from simulator.rig.rig import Rig

Said = Callable[[str], None]
"""Told what is being asked, for those who watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be asked of which plugin.

    Attributes:
        launch: Starts the plugin beside a kubelet that has not started.
        resource: The resource that pods ask for; empty for the first one that is registered.
        deadlines: How long things may take.
        break_device, mend_device: Let a device break and be whole again; None where nobody can.
    """

    launch: Callable[[Kubelet], Plugin]
    resource: str = ""
    deadlines: Deadlines = field(default_factory=Deadlines)
    break_device: Callable[[], None] | None = None
    mend_device: Callable[[], None] | None = None


def conform(rig: Rig, request: Request, said: Said = lambda _: None) -> tuple[Finding, ...]:
    """Ask everything of a plugin.

    Args:
        rig: One node that has not started.
        request: What is to be asked.
        said: Told of every group of checks as it begins.

    Returns:
        A finding for every check, in the order of the catalog.

    Raises:
        OSError: The plugin cannot be run.
    """
    [kubelet] = rig.kubelets.values()
    kubelet.socket_dir.mkdir(0o750, parents=True, exist_ok=True)
    bench = Bench(
        rig, kubelet, request.launch(kubelet), request.deadlines, request.resource, disturbed=[]
    )
    ledger = Ledger()
    said("registration")
    meeting.meet(bench, ledger)
    if ledger.has_passed("register"):
        said("lists")
        meeting.judge_lists(bench, ledger)
        meeting.watch_quietly(bench, ledger)
        said("allocation")
        giving.give(bench, ledger)
        said("health")
        change_health(bench, ledger, request.break_device, request.mend_device)
        said("kubelet restarts")
        parting.restart_kubelet(bench, ledger)
        said("broken stream")
        parting.break_stream(bench, ledger)
        meeting.judge_streams(bench, ledger)
        said("termination")
        parting.terminate(bench, ledger)
    return ledger.findings()
