"""Label selectors, as kubectl reads them."""

from __future__ import annotations

import pytest

from scenarios.selectors import parse_selector

LABELS = {"area": "reboot", "level": "regression"}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("area=reboot", True),
        ("area==reboot", True),
        ("area = reboot , level", True),
        ("area=restart", False),
        ("area!=restart", True),
        ("timing!=independent", True),
        ("level!=regression", False),
        ("timing", False),
        ("!timing", True),
        ("!area", False),
        ("area=reboot,timing", False),
        ("area=", False),
        ("area in (reboot,restart)", True),
    ],
)
def test_all_requirements_must_be_met(selector: str, selected: bool) -> None:  # noqa: FBT001 - given by name
    assert parse_selector(selector).matches(LABELS) is selected


@pytest.mark.parametrize("text", ["", "area=reboot,", "=x", "!area=reboot", "area=a b", "a in b"])
def test_what_is_no_requirement_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not a label selector; write key=value"):
        parse_selector(text)
