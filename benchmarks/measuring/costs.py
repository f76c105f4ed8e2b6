"""What a target has spent, and the instruments that tell, read together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.measuring.footprints import FootprintMeter
from benchmarks.measuring.instruments import ProcessMeter, Usage
from store.scratch import LogCosts


@dataclass(frozen=True, slots=True)
class Costs:
    """What was spent so far, by whom.

    Attributes:
        at_ns: When this was so, on the driver's clock.
        fsyncs, written: Of all who keep bindings; None where they are not counted.
        cpu_client_s, cpu_server_s: As in `benchmarks.results.rows.Row`.
        calls: API calls by verb and kind.
        lost: Replies that were lost; None where none is.
        bound: Devices that were bound durably.
    """

    at_ns: int = 0
    fsyncs: int | None = None
    written: int | None = None
    cpu_client_s: float | None = None
    cpu_server_s: float | None = None
    calls: Counter[str] = field(default_factory=Counter)
    lost: int | None = None
    bound: int = 0


@dataclass(slots=True)
class Instruments:
    """What counts on a target.

    Attributes:
        fsyncs: Returns how many there were so far; None where they are not counted.
        client: Of the process that offers load; None in virtual time, where nothing is used up.
        server: Of the process that serves; None where that is the same one.
        log: Returns what a database server has done for its log so far; None without one.
        lost: Returns how many replies were lost so far; None where none is.
        calls: API calls by verb and kind.
        footprint: Reads what is taken up; None in virtual time, where nothing is.
    """

    fsyncs: Callable[[], int | None] = lambda: None
    client: ProcessMeter | None = None
    server: ProcessMeter | None = None
    log: Callable[[], LogCosts] | None = None
    lost: Callable[[], int | None] = lambda: None
    calls: Counter[str] = field(default_factory=Counter)
    footprint: FootprintMeter | None = None

    def read(self, bound: int, *, at_ns: int = 0) -> Costs:
        """Return what was spent so far."""
        nothing = Usage(None, None, None)
        client = nothing if self.client is None else self.client.read()
        server = nothing if self.server is None else self.server.read()
        log = LogCosts(0, 0) if self.log is None else self.log()
        served = 0 if self.server is None else server.written
        return Costs(
            at_ns=at_ns,
            fsyncs=_sum(self.fsyncs(), log.syncs),
            written=_sum(client.written, served, log.written),
            cpu_client_s=client.cpu_s,
            cpu_server_s=server.cpu_s,
            calls=self.calls.copy(),
            lost=self.lost(),
            bound=bound,
        )

    def forget_peak(self) -> None:
        """Let the peak of memory begin anew."""
        for meter in (self.client, self.server):
            if meter is not None:
                meter.forget_peak()

    def memory_peak(self) -> int | None:
        """Return the most memory that was used since, by the process that serves."""
        meter = self.server or self.client
        return None if meter is None else meter.read().memory_peak


def _sum(*counts: int | None) -> int | None:
    """Add up what is counted, if everything is."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
