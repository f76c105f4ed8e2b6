"""Names of pods, read from what a cluster prints."""

from __future__ import annotations

from scenarios.kubernetes.pod_identities import read_pod_identities
from simulator.core.pods import PodUid
from simulator.core.transitions import PodIdentity


def test_a_shell_variable_in_a_pods_command_is_the_pods_own() -> None:
    content = b"""kind: Pod
metadata: {name: a, uid: u1}
spec: {containers: [{name: c, command: [sh, -c, "echo ${HOME}"]}]}
"""

    assert read_pod_identities(content, "pod.yaml") == [
        PodIdentity(uid=PodUid("u1"), namespace="default", name="a")
    ]


def test_private_use_characters_are_text_like_any_other() -> None:
    content = 'kind: Pod\nmetadata: {name: "\ue000\ue100", uid: u1}\n'.encode()

    assert read_pod_identities(content, "pod.yaml")[0].name == "\ue000\ue100"
