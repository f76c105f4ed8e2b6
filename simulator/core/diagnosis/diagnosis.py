"""A diagnosis: what is known about each message of a pod, and about the state it is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.diagnosis import pod_facts
from simulator.core.diagnosis.container_entries import CREATE_FAILED
from simulator.core.diagnosis.field_reports import FIELD_REPORTS, FieldReport
from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.observed import ObservedEvent, ObservedPod
from simulator.core.diagnosis.pod_states import Held, states
from simulator.core.diagnosis.recognition import UNEXPECTED, Recognized, is_wrapped, recognize
from simulator.core.diagnosis.state_entries import RESIZE_PENDING
from simulator.core.diagnosis.surroundings import FOREIGN_REASONS
from simulator.core.releases import Statement, spans, spans_text

_RESIZE: Final = "resize"
_RUNTIME_REASONS: Final = ("CreateContainerError", "RunContainerError", "StartError")
_DEVICES: Final = re.compile(r"/dev/(?!shm|null|std)|device(?! is busy|s cgroup)|nvidia|\bCDI\b")


@dataclass(frozen=True, slots=True)
class Message:
    """A text that wants an explanation.

    Attributes:
        source: Where it stands, e.g. `status`, `event`, `container app`.
        matters: Whether the diagnosis fails when it is not known.
    """

    source: str
    text: str
    reason: str = ""
    matters: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is known.

    Attributes:
        message: The text it explains; None for a state.
        known: The entry of the catalogue.
        means, why: The entry's sentences, filled; `why` goes on with what this pod shows.
        says: Which kubelets say the text; None for a state.
    """

    known: Known
    means: str
    why: tuple[str, ...]
    advice: tuple[str, ...]
    message: Message | None = None
    says: Statement | None = None

    def versions(self) -> tuple[str, ...]:
        """Return sentences about kubelet versions, read off the switch table."""
        lines = []
        if self.known.versions:
            lines.append(f"{_capital(self.known.versions)}.")
        elif self.says is not None:
            lines.append(f"Said in these words by: {spans_text(spans(self.says))}.")
        lines += [
            f"{_capital(point.text)}: {spans_text(spans(point.holds))}."
            for point in self.known.points
        ]
        return tuple(lines)

    def verdict(self, kubelet: Behavior) -> str:
        """Return whether this kubelet would say it, and what else holds for it."""
        holds = [point.text for point in self.known.points if point.holds(kubelet)]
        parts = []
        if self.says is not None and not self.known.versions:
            does = "says" if self.says(kubelet) else "does not say"
            others = "" if self.says(kubelet) else f"; it comes from {spans_text(spans(self.says))}"
            parts.append(f"{kubelet.version} {does} this{others}.")
        parts += [f"For {kubelet.version} it holds: {text}." for text in holds]
        return " ".join(parts) or f"For {kubelet.version} nothing else is known about it."

    def reports(self) -> tuple[tuple[str, FieldReport], ...]:
        """Return the public reports by their ids."""
        return tuple((name, FIELD_REPORTS[name]) for name in self.known.reports)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that is known, and what is not.

    Attributes:
        findings: Messages first, in the order in which they stand; then states.
        unknown: Messages that no entry fits.
    """

    findings: tuple[Finding, ...]
    unknown: tuple[Message, ...]

    @property
    def is_complete(self) -> bool:
        """Whether something is known, if anything was said, and every message that matters."""
        known = bool(self.findings) or not self.unknown
        return known and not any(each.matters for each in self.unknown)


def diagnose(
    pod: ObservedPod | None,
    messages: Sequence[Message] = (),
    events: Sequence[ObservedEvent] = (),
    held: Held | None = None,
) -> Diagnosis:
    """Explain a pod, or messages without one.

    Args:
        pod: None when there are only messages.
        messages: Texts given beside the pod.
        events: Its events; those of other pods are left out.
        held: What the checkpoint file says that the pod holds; None without a file.
    """
    texts = [*messages, *(_of_pod(pod) if pod is not None else ()), *_of_events(pod, events)]
    findings: dict[tuple[str, tuple[tuple[str, str], ...]], Finding] = {}
    unknown: dict[str, Message] = {}
    for message in texts:
        recognized = _recognized(pod, message)
        if not recognized and (message.matters or message.text):
            unknown.setdefault(message.text, message)
        for each in recognized:
            key = (each.known.key, tuple(sorted(each.values.items())))
            findings.setdefault(key, _finding(each, pod, message))
        if any(each.known is UNEXPECTED for each in recognized):
            unknown.setdefault(message.text, message)
    told = list(findings.values())
    if pod is not None:
        refused = any(each.message is not None for each in told) or bool(unknown)
        told += [
            Finding(known, known.means, (known.why, *facts), known.advice)
            for known, facts in states(pod, held, explained=refused)
        ]
    return Diagnosis(tuple(told), tuple(unknown.values()))


def _recognized(pod: ObservedPod | None, message: Message) -> tuple[Recognized, ...]:
    without_devices = pod is not None and not pod.wants_devices()
    found = tuple(
        each
        for each in recognize(message.text, foreign=message.reason in FOREIGN_REASONS)
        if not (without_devices and each.known is CREATE_FAILED)
    )
    if found:
        return found
    if is_wrapped(message.text):
        return (Recognized(UNEXPECTED, 0, 0, {}, lambda _: True),)
    wants = pod is not None and pod.wants_devices()
    about_devices = _DEVICES.search(message.text) is not None
    if wants and about_devices and message.reason in _RUNTIME_REASONS:
        return (Recognized(CREATE_FAILED, 0, 0, {}, lambda _: True),)
    return ()


def _of_pod(pod: ObservedPod) -> Iterator[Message]:
    if pod.reason or pod.message:
        text = pod.message or pod.reason
        yield Message("status", text, pod.reason, matters=pod.phase == "Failed")
    if pod.unscheduled:
        yield Message("scheduling", pod.unscheduled)
    if pod.resize_pending:
        yield Message(_RESIZE, pod.resize_pending)
    for container in pod.containers:
        if container.message and container.state in {"waiting", "terminated"}:
            source = f"container {container.name} ({container.state}, {container.reason})"
            yield Message(source, container.message, container.reason)
        if container.last_message:
            source = f"container {container.name} (ended before, {container.last_reason})"
            yield Message(source, container.last_message, container.last_reason)


def _of_events(pod: ObservedPod | None, events: Iterable[ObservedEvent]) -> Iterator[Message]:
    for event in events:
        about = pod is None or event.subject in {"", pod.uid, pod.name, pod.node}
        if about and event.severity != "Normal":
            yield Message(f"event {event.reason}".strip(), event.message, event.reason)


def _finding(recognized: Recognized, pod: ObservedPod | None, message: Message) -> Finding:
    known, values = recognized.known, recognized.values
    facts = () if pod is None else pod_facts.about(pod, values.get("resource", ""), message.source)
    return Finding(
        known,
        known.means.format_map(values),
        (known.why.format_map(values), *facts),
        # A resize that waits ends nothing (S13.6); what is advised for a refused pod would.
        RESIZE_PENDING.advice
        if message.source == _RESIZE
        else tuple(each.format_map(values) for each in known.advice),
        message,
        recognized.says,
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
