"""What a simulated plugin answers, and after how long: a function of its spec and the call alone.

The same ids give the same bytes, before and after a restart.
"""

from __future__ import annotations

from simulator.core.allocate_response import encode
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    PluginCall,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerReply,
)
from simulator.core.instants import Duration
from simulator.core.plugin_answers import AnswerParts, first_offered, granted
from simulator.engine.spec import PluginSpec


def answer_of(spec: PluginSpec, call: PluginCall) -> PluginReply:
    """Return the reply to `call`."""
    if isinstance(call, AllocateCall):
        if spec.fail_allocate:
            return _failure(spec.fail_allocate)
        if spec.empty_allocate:
            return AllocateReply(None)
        return AllocateReply(allocate_answer(call, with_envs=spec.response_envs))
    if isinstance(call, PreferredAllocationCall):
        return _preference(spec, call)
    return _failure(spec.fail_pre_start) if spec.fail_pre_start else PreStartContainerReply()


def _preference(spec: PluginSpec, call: PreferredAllocationCall) -> PluginReply:
    if spec.fail_preferred:
        return _failure(spec.fail_preferred)
    if spec.preferred is not None:
        return PreferredAllocationReply(spec.preferred)
    return PreferredAllocationReply(first_offered(call.available, call.must_include, call.size))


def latency_of(spec: PluginSpec, call: PluginCall) -> Duration:
    """Return how long the answer takes."""
    if isinstance(call, AllocateCall):
        return spec.latency.allocate
    if isinstance(call, PreferredAllocationCall):
        return spec.latency.preferred_allocation
    return spec.latency.pre_start


def allocate_answer(call: AllocateCall, *, with_envs: bool) -> bytes:
    """Return a serialized ContainerAllocateResponse that grants the devices of `call`."""
    return encode(granted(call.resource, call.devices, AnswerParts(envs=with_envs)))


def _failure(text: str) -> CallFailed:
    return CallFailed(f"rpc error: code = Unknown desc = {text}")
