"""What a server answers is on the disk by then: pods that were applied, and their deletion."""

from __future__ import annotations

from typing import Final

import pytest

from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.server.journal import Journal
from simulator.wire.control_client import connected
from tests.server.running import running_server, short_folder
from tests.server.test_service import a_pod, apply

POD: Final = control.ObjectName(kind="pod", name="kept")


def test_apply_and_delete_are_answered_when_they_are_durable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    synced: list[str] = []
    sync = Journal.sync

    def counted(journal: Journal) -> None:
        sync(journal)
        synced.append(journal.path.name)

    monkeypatch.setattr(Journal, "sync", counted)
    with short_folder() as root, running_server(root) as socket, connected(socket) as client:
        apply(client, a_pod("kept"))
        assert synced == ["objects.jsonl"]

        client.call(methods.DELETE, control.DeleteRequest(objects=[POD], force=True))
        assert synced == ["objects.jsonl"] * 2
