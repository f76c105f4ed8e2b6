"""Versions and ranges of expectations (details 19)."""

from __future__ import annotations

import pytest

from scenarios.versions import parse_selector


@pytest.mark.parametrize(
    ("selector", "version", "selected"),
    [
        ("1.27.2", "1.27.2", True),
        ("1.27.2", "1.27.20", False),
        ("1.27", "1.27.0", True),
        ("1.27", "1.27.9", True),
        ("1.27.2", "v1.27.2+k3s1", True),
        (">=1.25.10 <1.28", "1.25.9", False),
        (">=1.25.10 <1.28", "1.25.10", True),
        (">=1.25.10 <1.28", "1.27.16", True),
        (">=1.25.10 <1.28", "1.28.0", False),
        (">= 1.9, < 1.10", "1.9.11", True),
        ("!=1.24.0", "1.24.0", False),
        ("<=v1.24", "v1.24.0", True),
        ("==1.24.1", "1.24.1", True),
        (">1.24", "1.24.1", False),
        (">1.24.0", "1.24.1", True),
        (">=1.24.0", "1.24", True),
    ],
)
def test_a_selector_selects_by_number_not_by_text(
    selector: str, version: str, *, selected: bool
) -> None:
    assert parse_selector(selector).selects(version) is selected


@pytest.mark.parametrize("text", ["", "latest", ">=", "1", "1.2.3.4", "=>1.27", "~1.27", "2.0.0"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="kubelet version"):
        parse_selector(text)
