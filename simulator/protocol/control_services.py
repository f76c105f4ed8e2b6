"""The methods of the control service, as values (`simulator.protocol.services`)."""

from __future__ import annotations

from typing import Final

from simulator.protocol import rebind_control_pb2 as control
from simulator.protocol.services import Method

CONTROL: Final = "rebind.control.v1.Control"
"""Served by `rebind serve` on ROOT/rebind.sock."""

INFO: Final = Method(CONTROL, "Info", control.InfoRequest, control.InfoResponse)
APPLY: Final = Method(CONTROL, "Apply", control.ApplyRequest, control.ApplyResponse)
GET: Final = Method(CONTROL, "Get", control.GetRequest, control.GetResponse)
WATCH: Final = Method(CONTROL, "Watch", control.GetRequest, control.WatchEvent, streams=True)
DESCRIBE: Final = Method(CONTROL, "Describe", control.DescribeRequest, control.DescribeResponse)
DELETE: Final = Method(CONTROL, "Delete", control.DeleteRequest, control.DeleteResponse)
READ: Final = Method(CONTROL, "Read", control.ReadRequest, control.ReadResponse)
RECORDS: Final = Method(
    CONTROL, "Records", control.RecordsRequest, control.RecordsResponse, streams=True
)
RESTART_KUBELET: Final = Method(
    CONTROL, "RestartKubelet", control.RestartKubeletRequest, control.RestartKubeletResponse
)
REBOOT_NODE: Final = Method(
    CONTROL, "RebootNode", control.RebootNodeRequest, control.RebootNodeResponse
)
START_PLUGIN: Final = Method(
    CONTROL, "StartPlugin", control.StartPluginRequest, control.StartPluginResponse
)
STOP_PLUGIN: Final = Method(
    CONTROL, "StopPlugin", control.StopPluginRequest, control.StopPluginResponse
)
