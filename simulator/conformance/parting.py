"""The checks of how a plugin gets over the end of its kubelet, of its stream, and its own."""

from __future__ import annotations

import stat
from contextlib import suppress
from typing import Final

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.conformance.bench import SETTLE_S, Bench, is_refused
from simulator.conformance.giving import give_again
from simulator.conformance.ledger import Ledger
from simulator.engine.actions import CrashKubelet, When
from simulator.rig.outcomes import NotInTimeError, PodRefusedError

RESTARTS: Final = 3


def restart_kubelet(bench: Bench, ledger: Ledger) -> None:
    """Restart the kubelet in several ways, and see whether the plugin comes back (S1.9, S1.10)."""
    if ledger.applies("kubelet-restart"):
        fault = ""
        for number in range(1, RESTARTS + 1):
            bench.kubelet.restart(SETTLE_S)
            problem = bench.until_back()
            if problem:
                fault = f"after restart {number} of {RESTARTS}: {problem}"
                break
        _judge(bench, ledger, "kubelet-restart", fault, f"it came back {RESTARTS} times")
    if ledger.applies("allocate-after-restart"):
        ledger.judge("allocate-after-restart", give_again(bench), "a container has its device")
    for name, away in (
        ("kubelet-crash", _crash),
        ("slow-kubelet", _stay_away),
        ("socket-wipe", _wipe),
    ):
        if ledger.applies(name):
            away(bench)
            fault = bench.until_back(strict=name == "slow-kubelet")
            _judge(bench, ledger, name, fault, "it came back")


def break_stream(bench: Bench, ledger: Ledger) -> None:
    """End the stream from the kubelet's side (R17, R18, R26)."""
    if not ledger.applies("stream-broken"):
        ledger.applies("reachable")
        return
    before = len(bench.registrations())
    sockets = bench.sockets()
    bench.kubelet.break_stream()
    fault = bench.until_back(after=before)
    ledger.judge("stream-broken", fault, "it came back")
    dead = [path.name for path in sockets if is_refused(path)]
    unreachable = f"plugin unreachable: {', '.join(dead)} exists, but connecting to it is refused"
    is_alive = bench.plugin.code is None
    ledger.judge("reachable", unreachable if dead and is_alive else "", "its socket answers")
    if fault:
        bench.start_afresh()


def terminate(bench: Bench, ledger: Ledger) -> None:
    """End the plugin as a node does: SIGTERM, and SIGKILL when it has not exited in time."""
    if not ledger.applies("termination"):
        return
    sockets = bench.sockets()
    bench.note_disturbance()
    if bench.plugin.code is not None:
        bench.plugin.start()
        bench.until_back()
    bench.plugin.terminate()
    code = bench.plugin.wait(bench.deadlines.answer)
    left = [path.name for path in sockets if path.exists() and stat.S_ISSOCK(path.stat().st_mode)]
    fault = ""
    if code is None:
        fault = f"it still runs {bench.deadlines.answer:g}s after SIGTERM"
    elif left:
        fault = f"it leaves {', '.join(left)} behind (exit code {code})"
    ledger.judge("termination", fault, f"it exits with {code}")


def _judge(bench: Bench, ledger: Ledger, name: str, fault: str, detail: str) -> None:
    ledger.judge(name, fault, detail)
    if fault:
        bench.start_afresh()


def _crash(bench: Bench) -> None:
    """Let the kubelet die when the plugin has answered Allocate."""
    bench.kubelet.plan(CrashKubelet(bench.kubelet.name, effect="allocate", when=When.AFTER))
    pod = "crashing"
    with suppress(PodRefusedError, NotInTimeError):
        bench.kubelet.allocate(bench.resource, 1, pod=pod, timeout=bench.deadlines.answer)
    bench.kubelet.delete(pod, force=True)


def _stay_away(bench: Bench) -> None:
    """Delete the sockets, as a kubelet start does, and bind the kubelet's a good while later."""

    def delete() -> None:
        for path in bench.kubelet.socket_dir.iterdir():
            if path.is_socket():
                path.unlink(missing_ok=True)

    bench.kubelet.restart(bench.deadlines.absent, meanwhile=delete)


def _wipe(bench: Bench) -> None:
    """Delete every file but the kubelet's own, as kubelets before 1.36 do (S1.9)."""

    def delete() -> None:
        for path in bench.kubelet.socket_dir.iterdir():
            if path.name != CHECKPOINT_FILE_NAME and not path.is_dir():
                path.unlink(missing_ok=True)

    bench.kubelet.restart(SETTLE_S, meanwhile=delete)
