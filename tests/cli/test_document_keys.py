"""The keys of documents that programs read: these ones, and all of them in the command's help."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import rebind

FILES = Path(__file__).parent / "files"
CHECKPOINT = str(FILES / "kubelet_internal_checkpoint")
KUBELET = ("--kubelet-version", "1.30")

VERIFICATION = (
    "file valid format checksum entries registeredResources kubelets warnings version error "
    "restored skipped lost numaAssumed refusesRunningPods refusesAfterReboot writes nextStart"
)
DIAGNOSIS = (
    "items pod findings unknown checkpoint key rules where message means why saidBy versions "
    "advice reports kubelet file damage unread entries resources"
)


@pytest.mark.parametrize(
    ("command", "arguments", "kind", "keys"),
    [
        (
            ("diagnose",),
            ("--pod", str(FILES / "pod.yaml"), "--checkpoint", CHECKPOINT, *KUBELET),
            "DiagnosisList",
            DIAGNOSIS,
        ),
        (
            ("checkpoint", "verify"),
            (CHECKPOINT,),
            "CheckpointVerification",
            VERIFICATION,
        ),
        (
            ("doctor",),
            ("--root-dir", str(FILES)),
            "NodeExamination",
            "checks check result seen advice",
        ),
    ],
)
def test_the_keys_of_a_document_stand_in_the_commands_help(
    command: tuple[str, ...], arguments: tuple[str, ...], kind: str, keys: str
) -> None:
    document = json.loads(rebind(*command, *arguments, "-o", "json").stdout)
    text = rebind(*command, "--help").stdout

    assert document.pop("kind") == kind
    assert document.pop("apiVersion") == "rebind.internal/v1alpha1"
    assert keys_of(document) >= set(keys.split()) - {"error"}
    for key in keys.split():
        assert re.search(rf"\b{key}\b", text), key


def keys_of(value: object) -> set[str]:
    """Return all keys of a document, at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    return set()
