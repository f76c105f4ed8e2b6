"""`rebind diagnose`: what happened to a pod, in which kubelets, and what to do."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.cli.checkpoint_files import FileName, max_size_option
from simulator.cli.commands.diagnose.input import STDIN, Given, Views, read_given, read_views
from simulator.cli.commands.diagnose.text import Answer, answer_document, show_answer
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED
from simulator.cli.lists import Read
from simulator.cli.output import OutputOptions, emit_document, output_options
from simulator.cli.version_warnings import warn_of_unknown
from simulator.core.behavior import Behavior
from simulator.core.diagnosis.diagnosis import diagnose as diagnose_pod
from simulator.core.diagnosis.observed import ObservedPod
from simulator.core.plurals import counted
from simulator.core.switches import behavior_for

_FILE = FileName(path_type=Path, allow_dash=True)


@click.command(
    epilog=example(
        "rebind diagnose --pod pod.yaml --checkpoint kubelet_internal_checkpoint",
        'rebind diagnose --message "checkpoint is not found" --kubelet-version 1.27.2',
    )
)
@click.option(
    "--pod",
    "pods",
    type=_FILE,
    metavar="FILE",
    help="What `kubectl get pod NAME -o yaml` prints, or `kubectl get pod,events`; - is stdin.",
)
@click.option(
    "--events",
    type=_FILE,
    metavar="FILE",
    help="Events as `kubectl describe` or `kubectl get` prints them, or lines of a log.",
)
@click.option(
    "--message",
    "messages",
    multiple=True,
    metavar="TEXT",
    help="A message; - reads stdin: a message, lines of a log, or what `kubectl describe` prints.",
)
@click.option(
    "--checkpoint",
    type=FileName(path_type=Path),
    metavar="FILE",
    help="The node's checkpoint file, to be searched for the pod.",
)
@click.option(
    "--kubelet-version",
    type=Read("VERSION", behavior_for),
    help="Say what this kubelet does, beside which kubelets do it.",
)
@max_size_option
@output_options("table", "json", "yaml")
@click.pass_context
def diagnose(  # noqa: PLR0913 - one parameter for each option
    context: click.Context,
    *,
    pods: Path | None,
    events: Path | None,
    messages: tuple[str, ...],
    checkpoint: Path | None,
    kubelet_version: Behavior | None,
    max_size: int,
    output: OutputOptions,
) -> None:
    """Explain a pod's state and the kubelet's messages about devices.

    For every message: what it means, why it came about, which step and rule of the kubelet it
    belongs to, which kubelet versions say it, what to do, and public reports of it. A message that
    is not known is called so; nothing is guessed.

    A document (-o json, yaml) is a DiagnosisList: items of pod, findings (key, rules, where,
    message, means, why, saidBy, versions, advice, reports, kubelet), unknown (source, text) and
    checkpoint (file, damage, unread, entries, resources).

    Exit codes: 0 explained, 1 the pod's or a given message is not known, 2 not a pod or not a
    checkpoint, 3 a file is missing.
    """
    if pods is None and events is None and not messages:
        reason = "nothing to explain; give --pod FILE, --events FILE or --message TEXT"
        raise click.UsageError(reason, context)
    if checkpoint is not None and pods is None:
        reason = "--checkpoint is searched for a pod; give --pod FILE too"
        raise click.UsageError(reason, context)
    pod_file, event_file = (None if each is None else str(each) for each in (pods, events))
    if [pod_file, event_file, *messages].count(STDIN) > 1:
        reason = "stdin (-) can be read once"
        raise click.UsageError(reason, context)
    if not all(each.strip() for each in messages):
        reason = "the message is empty"
        raise click.UsageError(reason, context)
    if kubelet_version is not None:
        warn_of_unknown(kubelet_version)
    given = read_given(pod_file, event_file, messages)
    views = _views(checkpoint, given, kubelet_version, max_size=max_size)
    subjects: list[ObservedPod | None] = [*given.pods] or [None]
    answers = [_answer(pod, given, views) for pod in subjects]
    if not any(answer.diagnosis.findings or answer.diagnosis.unknown for answer in answers):
        click.echo("no message to explain", err=True)
    if output.format == "table":
        for answer in answers:
            show_answer(answer, kubelet_version)
    else:
        items = [answer_document(answer, kubelet_version) for answer in answers]
        emit_document("DiagnosisList", {"items": items}, output)
    if not all(answer.diagnosis.is_complete for answer in answers):
        context.exit(CHECK_FAILED)


def _views(
    checkpoint: Path | None, given: Given, kubelet: Behavior | None, *, max_size: int
) -> Views:
    """Return what the file says of the pods; tell how many pods it says nothing of."""
    if checkpoint is None:
        return {}
    views = read_views(checkpoint, given.pods, kubelet, max_size=max_size)
    elsewhere = len(given.pods) - len(views)
    if elsewhere:
        click.echo(
            f"note: {counted(elsewhere, 'pod')} of other nodes than the checkpoint's, which says "
            f"nothing of {'it' if elsewhere == 1 else 'them'}",
            err=True,
        )
    return views


def _answer(pod: ObservedPod | None, given: Given, views: Views) -> Answer:
    view = views.get(pod.uid) if pod is not None else None
    held = None if view is None or view.holdings is None else view.holdings.counts()
    return Answer(pod, diagnose_pod(pod, given.messages, given.events, held), view)
