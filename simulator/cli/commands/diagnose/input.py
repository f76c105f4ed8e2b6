"""What `rebind diagnose` reads: pods, events, messages, and what a checkpoint says of a pod."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scenarios.kubernetes.node_pods import POD_FILE_SIZE_MAX
from scenarios.kubernetes.observed_pods import Observed, read_event_lines, read_observed
from simulator.cli.checkpoint_files import read_checkpoint
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.parse import parse
from simulator.core.diagnosis.diagnosis import Message
from simulator.core.diagnosis.holdings import PodHoldings, holdings_of
from simulator.core.diagnosis.observed import ObservedEvent, ObservedPod
from simulator.core.diagnosis.recognition import recognize
from simulator.core.pods import PodUid
from simulator.errors import (
    CheckpointError,
    CheckpointSyntaxError,
    CheckpointTypeError,
    InputError,
)

STDIN: Final = "-"
_DOCUMENT: Final = re.compile(r"\s*(?:\{|(?:---|apiVersion:|kind:|items:))")
_FOR_PEOPLE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:Name:|NAME|NAMESPACE)\s")


@dataclass(slots=True)
class Given:
    """What was given to explain."""

    pods: list[ObservedPod] = field(default_factory=list)
    events: list[ObservedEvent] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)


def read_given(pods: str | None, events: str | None, messages: Iterable[str]) -> Given:
    """Read what the options name.

    Args:
        pods: A file, or `-`.
        events: A file, or `-`.
        messages: Texts; `-` stands for stdin.

    Raises:
        InputError: A file is not what is expected of it.
        OSError: A file cannot be read.
    """
    given = Given()
    if pods is not None:
        observed = _pods(_content(pods), _shown(pods))
        given.pods, given.events = observed.pods, observed.events
    if events is not None:
        given.events += _events(_content(events), _shown(events))
    for text in messages:
        if text == STDIN:
            given.messages += _messages(_decoded(_content(STDIN), _shown(STDIN)))
        else:
            given.messages.append(Message("message", text, matters=True))
    return given


def _messages(text: str) -> list[Message]:
    """Read one message a line; or a single one, if only all lines together are known."""
    messages = [
        Message("message", event.message, event.reason, matters=True)
        for event in read_event_lines(text)
        if event.severity != "Normal"
    ]
    if len(messages) > 1 and not any(recognize(each.text) for each in messages) and recognize(text):
        return [Message("message", text.strip(), matters=True)]
    return messages


def _pods(content: bytes, path: str) -> Observed:
    if _FOR_PEOPLE.match(content):
        reason = (
            "this is text for people, as kubectl describe prints it; give it with --events, and "
            "the pod as kubectl get pod NAME -o yaml prints it"
        )
        raise InputError(reason, path=path)
    observed = read_observed(content, path)
    if not observed.pods:
        reason = "there is no pod in it; write it with: kubectl get pod NAME -o yaml"
        raise InputError(reason, path=path)
    return observed


def _events(content: bytes, path: str) -> list[ObservedEvent]:
    text = _decoded(content, path)
    return read_observed(content, path).events if _DOCUMENT.match(text) else read_event_lines(text)


def _content(name: str) -> bytes:
    if name == STDIN:
        content = sys.stdin.buffer.read(POD_FILE_SIZE_MAX + 1)
    else:
        with Path(name).open("rb") as stream:
            content = stream.read(POD_FILE_SIZE_MAX + 1)
    if len(content) > POD_FILE_SIZE_MAX:
        reason = f"more than {POD_FILE_SIZE_MAX} bytes; give fewer pods or lines"
        raise InputError(reason, path=_shown(name))
    return content


def _decoded(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 text: byte {error.start} cannot be read"
        raise InputError(reason, path=path) from error


def _shown(name: str) -> str:
    return "<stdin>" if name == STDIN else name


@dataclass(frozen=True, slots=True)
class CheckpointView:
    """What a checkpoint file says about a pod.

    Attributes:
        damage: Why nobody can read it; empty when somebody can.
        unread: Why the kubelet in question cannot read it; empty when it can.
        holdings: None for a damaged file.
    """

    path: str
    damage: str = ""
    unread: str = ""
    holdings: PodHoldings | None = None

    @property
    def has_entries(self) -> bool:
        """Whether the file has entries of the pod."""
        return self.holdings is not None and bool(self.holdings.records)


Views = dict[PodUid, CheckpointView]
"""What a checkpoint file says about pods."""


def read_views(
    path: Path, pods: Collection[ObservedPod], kubelet: Behavior | None, *, max_size: int
) -> Views:
    """Look pods up in a checkpoint file.

    A file is of one node: where it has entries of some of the pods, those of other nodes, of which
    it can say nothing, are left out.

    Raises:
        CheckpointError: It is no device-manager checkpoint, or too large.
        OSError: It cannot be read.
    """
    views = {pod.uid: _view(path, pod, kubelet, max_size=max_size) for pod in pods}
    nodes = {pod.node for pod in pods if views[pod.uid].has_entries}
    return {pod.uid: views[pod.uid] for pod in pods if not nodes or pod.node in nodes}


def _view(
    path: Path, pod: ObservedPod, kubelet: Behavior | None, *, max_size: int
) -> CheckpointView:
    """Look a pod up in a checkpoint file.

    Raises:
        CheckpointError: It is no device-manager checkpoint, or too large.
        OSError: It cannot be read.
    """
    try:
        file = read_checkpoint(path, max_size=max_size)
    except (CheckpointSyntaxError, CheckpointTypeError) as error:
        return CheckpointView(str(path), damage=str(error))
    damage = file.damage()
    if damage is not None:
        return CheckpointView(str(path), damage=str(damage))
    unread = ""
    if kubelet is not None:
        try:
            parse(file.content, kubelet.checkpoints_read)
        except CheckpointError as error:
            unread = str(error)
    lenient = kubelet is None or kubelet.lenient_allocate_responses
    holdings = holdings_of(pod, file.inspection.checkpoint, lenient=lenient)
    return CheckpointView(str(path), unread=unread, holdings=holdings)
