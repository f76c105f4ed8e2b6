"""The rules of a container's limits and requests, where several are wrong at once."""

from __future__ import annotations

from simulator.core.resource_requests import request_faults


def test_a_limit_that_is_no_quantity_is_told_once_and_not_compared() -> None:
    found = list(request_faults({"example.com/gpu": "many"}, {"example.com/gpu": "1"}))

    assert [(one.section, one.name, one.value) for one in found] == [
        ("limits", "example.com/gpu", "many")
    ]


def test_a_request_without_its_limit_and_another_than_its_limit_are_each_told() -> None:
    """Kubernetes: extended resources cannot be overcommitted, so limits equal requests."""
    missing, other = (
        list(request_faults(limits, {"example.com/gpu": "1"}))
        for limits in ({}, {"example.com/gpu": "2"})
    )

    assert [one.message for one in missing] == [
        "Required value: Limit must be set for non overcommitable resources"
    ]
    assert [one.message for one in other] == [
        'Invalid value: "1": must be equal to example.com/gpu limit of 2'
    ]
