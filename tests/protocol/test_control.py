"""The table of the control service's methods."""

from __future__ import annotations

from simulator.protocol import control_services, rebind_control_pb2
from simulator.protocol.services import Method


def test_every_method_of_the_control_service_is_in_its_table() -> None:
    (service,) = rebind_control_pb2.DESCRIPTOR.services_by_name.values()
    table = [each for each in vars(control_services).values() if isinstance(each, Method)]

    assert {method.service for method in table} == {service.full_name}
    assert [method.name for method in table] == [method.name for method in service.methods]
    for method in table:
        descriptor = service.methods_by_name[method.name]
        assert method.request.DESCRIPTOR is descriptor.input_type
        assert method.response.DESCRIPTOR is descriptor.output_type
        assert method.streams is descriptor.server_streaming
