"""How a diagnosis is printed: as prose, and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click

from simulator.cli.blocks import show_block, show_indented
from simulator.cli.commands.diagnose.input import CheckpointView
from simulator.cli.output import JsonValue
from simulator.core.behavior import Behavior
from simulator.core.diagnosis.diagnosis import Diagnosis, Finding, Message
from simulator.core.diagnosis.holdings import HeldRecord, ResourceAccount, sentences
from simulator.core.diagnosis.observed import ObservedPod
from simulator.core.plurals import counted
from simulator.core.releases import spans
from simulator.reports.text import printable

_UNASKED_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """One pod, or the messages given without one, and what is known about it."""

    pod: ObservedPod | None
    diagnosis: Diagnosis
    checkpoint: CheckpointView | None


def show_answer(answer: Answer, kubelet: Behavior | None) -> None:
    """Print an answer as prose."""
    if answer.pod is not None:
        click.echo(printable(_heading(answer.pod)))
        click.echo()
    said: Message | None = None
    for finding in answer.diagnosis.findings:
        if finding.message is not None and finding.message != said:
            said = finding.message
            click.echo(printable(f"{_said_by(said)}:"))
            show_indented(said.text, indent=4)
            click.echo()
        _show_finding(finding, kubelet)
        click.echo()
    told = {each.message.text for each in answer.diagnosis.findings if each.message is not None}
    _show_unknown([each for each in answer.diagnosis.unknown if each.text not in told])
    if answer.checkpoint is not None:
        _show_checkpoint(answer.checkpoint, kubelet)
        click.echo()


def _show_unknown(messages: Sequence[Message]) -> None:
    """Print what is not known: all that was asked about, and of what came along the beginning."""
    shown = [message for message in messages if message.matters]
    others = [message for message in messages if not message.matters]
    for message in (*shown, *others[:_UNASKED_MAX]):
        click.echo(printable(f"{_said_by(message)} what is not known to diagnose:"))
        show_indented(message.text, indent=4)
        click.echo()
    more = len(others) - _UNASKED_MAX
    if more > 0:
        click.echo(f"{counted(more, 'more text')} not known to diagnose; -o json names all.")
        click.echo()


def _heading(pod: ObservedPod) -> str:
    where = f" on {pod.node}" if pod.node else ""
    state = ", ".join(part for part in (pod.phase or "no phase", pod.reason) if part)
    uid = f" (uid {pod.uid})" if pod.uid else ""
    return f"Pod {pod.namespace}/{pod.name}{where}: {state}{uid}"


def _said_by(message: Message) -> str:
    subject = {
        "message": "The message",
        "status": "The pod's status",
        "scheduling": "The pod's condition PodScheduled",
        "resize": "The pod's condition PodResizePending",
    }.get(message.source)
    return f"{subject or f'The {message.source}'} says"


def _show_finding(finding: Finding, kubelet: Behavior | None) -> None:
    show_block("MEANS", [finding.means])
    steps = [f"{number}. {text}" for number, text in enumerate(finding.advice, 1)]
    show_block("DO", steps, hang=3)
    show_block("WHY", finding.why)
    if kubelet is not None:
        show_block("KUBELET", [finding.verdict(kubelet)])
    show_block("VERSIONS", finding.versions(), hang=2)
    show_block("WHERE", [f"{finding.known.place[:1].upper()}{finding.known.place[1:]}."])
    show_block("RULE", [", ".join(finding.known.rules)])
    show_block(
        "REPORTS",
        [f"{name} {one.reference}: {one.subject}" for name, one in finding.reports()],
        hang=4,
    )


def _show_checkpoint(view: CheckpointView, kubelet: Behavior | None) -> None:
    click.echo(printable(f"The checkpoint file {view.path}:"))
    if view.damage:
        show_indented(f"It is damaged: {view.damage}", indent=4)
    if view.unread and kubelet is not None:
        show_indented(f"Kubelet {kubelet.version} cannot read it: {view.unread}.", indent=4)
    if view.holdings is not None:
        for sentence in sentences(view.holdings):
            show_indented(sentence, indent=4)


def answer_document(answer: Answer, kubelet: Behavior | None) -> dict[str, JsonValue]:
    """Return an answer as a document."""
    document: dict[str, JsonValue] = {}
    if answer.pod is not None:
        pod = answer.pod
        document["pod"] = {
            "uid": pod.uid,
            "namespace": pod.namespace,
            "name": pod.name,
            "node": pod.node,
            "phase": pod.phase,
            "reason": pod.reason,
        }
    document["findings"] = [_finding(each, kubelet) for each in answer.diagnosis.findings]
    document["unknown"] = [
        {"source": each.source, "text": each.text} for each in answer.diagnosis.unknown
    ]
    if answer.checkpoint is not None:
        document["checkpoint"] = _checkpoint(answer.checkpoint)
    return document


def _finding(finding: Finding, kubelet: Behavior | None) -> dict[str, JsonValue]:
    known, message = finding.known, finding.message
    document: dict[str, JsonValue] = {
        "key": known.key,
        "rules": list(known.rules),
        "where": known.place,
        "message": None
        if message is None
        else {"source": message.source, "reason": message.reason, "text": message.text},
        "means": finding.means,
        "why": list(finding.why),
        "saidBy": None
        if finding.says is None or known.versions
        else [str(span) for span in spans(finding.says)],
        "versions": list(finding.versions()),
        "advice": list(finding.advice),
        "reports": [
            {"id": name, "reference": one.reference, "subject": one.subject}
            for name, one in finding.reports()
        ],
    }
    if kubelet is not None:
        says = None if finding.says is None or known.versions else finding.says(kubelet)
        document["kubelet"] = {
            "version": kubelet.version,
            "says": says,
            "verdict": finding.verdict(kubelet),
        }
    return document


def _checkpoint(view: CheckpointView) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {
        "file": view.path,
        "damage": view.damage,
        "unread": view.unread,
    }
    if view.holdings is not None:
        document["entries"] = [_record(each) for each in view.holdings.records]
        document["resources"] = [_account(each) for each in view.holdings.accounts]
    return document


def _record(record: HeldRecord) -> dict[str, JsonValue]:
    devices: dict[str, Sequence[JsonValue]] = {
        str(node): list(ids) for node, ids in sorted(record.devices.items())
    }
    return {
        "container": record.container,
        "resource": record.resource,
        "devices": devices,
        "notHealthy": list(record.not_healthy),
        "alsoHeld": {device: list(pods) for device, pods in record.also_held.items()},
    }


def _account(account: ResourceAccount) -> dict[str, JsonValue]:
    return {
        "resource": account.resource,
        "healthy": account.healthy,
        "holders": {str(uid): count for uid, count in account.holders.items()},
        "free": account.free,
    }
