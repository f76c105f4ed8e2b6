"""One call to a plugin out of a decision: yielded, unless its endpoint has stopped."""

from __future__ import annotations

from typing import TypeVar

from simulator.core.calls import (
    AllocateReply,
    CallFailed,
    Decision,
    PluginCall,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerReply,
    Reply,
)
from simulator.core.manager_state import ManagerState
from simulator.core.records import PluginCalled
from simulator.core.refusals import stopped_endpoint_text

R = TypeVar("R", AllocateReply, PreferredAllocationReply, PreStartContainerReply)


def call_plugin(state: ManagerState, call: PluginCall, kind: type[R]) -> Decision[R | CallFailed]:
    """Make a call and return its reply; a stopped endpoint fails it without sending (S1.27).

    Raises:
        TypeError: The driver answered with a reply of another kind of call.
    """
    reply: Reply
    if state.inventory.endpoints[call.resource].is_stopped:
        reply = CallFailed(stopped_endpoint_text(call.resource))
    else:
        reply = yield call
    if not isinstance(reply, kind | CallFailed):
        message = f"{call} cannot be answered with {reply}"
        raise TypeError(message)
    state.records.append(
        PluginCalled(
            rpc=call.rpc,
            resource=call.resource,
            pod=call.pod,
            container=call.container,
            devices=call.must_include
            if isinstance(call, PreferredAllocationCall)
            else call.devices,
            error=reply.message if isinstance(reply, CallFailed) else "",
        )
    )
    return reply
