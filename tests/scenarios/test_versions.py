"""Versions and ranges of expectations (details 19)."""

from __future__ import annotations

import pytest

from scenarios.schema.versions import parse_selector


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
        ("1.24.0", "1.24", True),
        ("!=1.24.0", "1.24", False),
        ("1.36.2", "1.36", True),
        ("1.27.2", "1.27", False),
        ("!=1.27.2", "1.27", True),
        ("<=1.27.6", "1.27", True),
        (">1.24.0", "1.24", True),
        ("1.9.1", "1.9", False),
        ("trust-checkpoint", "trust-checkpoint", True),
        ("trust-checkpoint", "1.36.2", False),
        (">=1.28", "trust-checkpoint", False),
    ],
)
def test_a_selector_selects_by_number_not_by_text(
    selector: str, version: str, *, selected: bool
) -> None:
    assert parse_selector(selector).selects(version) is selected


def test_a_minor_version_alone_is_meant_by_rows_for_a_patch_that_behaves_like_its_newest() -> None:
    """Nothing changed within 1.24; within 1.27, PR 116376 and PR 118635 did (table 5.4)."""
    assert parse_selector("1.24.0").selects("1.24")
    assert [patch for patch in range(10) if parse_selector(f"1.27.{patch}").selects("1.27")] == [
        6,
        7,
        8,
        9,
    ]


@pytest.mark.parametrize("text", ["", "latest", ">=", "1", "1.2.3.4", "=>1.27", "~1.27", "2.0.0"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="kubelet version"):
        parse_selector(text)
