"""The folder in which the examples of the help texts are run.

It holds what the examples name:

    kubelet_internal_checkpoint   two pods hold devices
    before.checkpoint             an older file of the same node, one pod
    pod.yaml                      one of the pods, refused after a kubelet restart
    rebind.db                     node n0, imported from kubelet_internal_checkpoint
    rebind-run/n0                 the folder of node n0
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.running import rebind

FILES = Path(__file__).parent / "files"


def furnish(folder: Path) -> None:
    """Put the files into `folder`, which must be the current one."""
    for source in sorted(FILES.iterdir()):
        shutil.copy(source, folder)
    imported = rebind("checkpoint", "import", "kubelet_internal_checkpoint", "--node", "n0")
    assert imported.code == 0, imported.stderr
    (folder / "rebind-run" / "n0" / "device-plugins").mkdir(parents=True)
