"""The command that migrates a node, as a process of its own; the node's kubelet is stopped."""

from __future__ import annotations

from collections.abc import Callable

from simulator.core.api_calls import ApiCall, ApiReply, ApiUnavailable
from simulator.core.behavior import Behavior
from simulator.core.migration.phases import Phase
from simulator.core.migration.steps import migrate
from simulator.core.migration.survey import Migration, MigrationRefused, Survey
from simulator.core.panics import KubeletPanic
from simulator.core.records import MigrationStep
from simulator.core.resources import ResourceName
from simulator.core.transitions import PodIdentity
from simulator.engine.decisions import DecisionDriver
from simulator.engine.host import Host
from simulator.engine.plugin_ports import PluginStream
from simulator.engine.timeline import Process


class MigrationProcess:
    """One migration; a crash or loss of power at any of its effects breaks it off.

    Args:
        host: The node's parts.
        behavior: The kubelet version of the node.
        to: The phase to be reached.
        ended: Told the phase in the end, when it was not broken off; None for an unusable database.
    """

    def __init__(
        self, host: Host, behavior: Behavior, to: Phase, ended: Callable[[Phase | None], None]
    ) -> None:
        self.process = Process(host.timeline)
        self._host = host
        self._to = to
        self._ended = ended
        pods = (api.pod for api in host.api.pods(host.name))
        self._job = Migration(
            node=host.name,
            now=host.timeline.now(),
            behavior=behavior,
            unless_told=host.phase.unless_told,
            missing_ok=True,
            pods=tuple(PodIdentity(pod.uid, pod.namespace, pod.name) for pod in pods),
        )
        self._driver = DecisionDriver(host, self.process, self._job, self)

    def start(self) -> None:
        """Begin."""
        self._driver.run_store(migrate(self._job, self._to), self._done)

    def break_off(self) -> None:
        """End in the middle of whatever it does."""
        self.process.kill()
        self._host.emit(MigrationStep(self._to.value, "", "broken off"))

    def _done(self, found: Survey | MigrationRefused) -> None:
        phase = found.phase if isinstance(found, Survey) else None
        self._ended(phase)

    def stream_of(self, resource: ResourceName) -> PluginStream | None:
        """Return nothing: no plugin is called."""
        del resource
        return None

    def ask(self, call: ApiCall, resume: Callable[[ApiReply], None]) -> None:
        """Answer that there is no API server: a migration is between file and database."""
        del call
        resume(ApiUnavailable("a migration does not ask the API server"))

    def drain(self) -> None:
        """Emit what happened."""
        records, self._job.records = self._job.records, []
        for record in records:
            self._host.emit(record)

    def panicked(self, panic: KubeletPanic) -> None:
        """Let it through: no device manager runs here."""
        raise panic
