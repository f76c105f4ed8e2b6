"""Statements about versions, read off the switch table."""

from __future__ import annotations

import pytest

from simulator.core.behavior import Behavior, CheckpointFormat, ReadmissionHealthCheck
from simulator.core.kubelet_version import KubeletVersion
from simulator.core.releases import EVERY, NONE, Span, spans, spans_text, turning_points, variants


def test_the_releases_that_kill_running_pods_at_a_restart() -> None:
    """S5.4: 1.25.10-1.25.13, 1.26.5-1.26.8, 1.27.2-1.27.5."""

    def kills(behavior: Behavior) -> bool:
        return behavior.readmission_health_check is ReadmissionHealthCheck.WITHOUT_RUNNING_CHECK

    assert spans_text(spans(kills)) == "1.25.10 to 1.25.13, 1.26.5 to 1.26.8, 1.27.2 to 1.27.5"


def test_the_releases_that_read_v1_files() -> None:
    """S4.15: with the back-ports of November 2021, until 1.29."""

    def reads_v1(behavior: Behavior) -> bool:
        return CheckpointFormat.V1 in behavior.checkpoints_read

    assert spans_text(spans(reads_v1)) == (
        "1.10 to 1.19, 1.20.14 to 1.20.x, 1.21.8 to 1.21.x, 1.22.5 to 1.29"
    )


def test_what_holds_always_and_never_is_said_so() -> None:
    assert spans_text(spans(lambda _: True)) == EVERY == "every kubelet since 1.10"
    assert spans_text(spans(lambda _: False)) == NONE


@pytest.mark.parametrize(
    ("first", "after", "text"),
    [
        ((23, 0), (24, 0), "1.23"),
        ((10, 0), (25, 0), "1.10 to 1.24"),
        ((27, 0), (27, 1), "1.27.0"),
        ((27, 0), (27, 2), "1.27.0 to 1.27.1"),
        ((25, 10), (26, 0), "1.25.10 to 1.25.x"),
        ((25, 10), (27, 0), "1.25.10 to 1.26"),
        ((34, 7), None, "1.34.7 and later"),
        ((28, 0), None, "1.28 and later"),
    ],
)
def test_a_span_is_written_as_people_write_it(
    first: tuple[int, int], after: tuple[int, int] | None, text: str
) -> None:
    following = None if after is None else KubeletVersion(*after)

    assert str(Span(KubeletVersion(*first), following)) == text


def test_the_prefixes_of_a_status_are_those_of_the_table() -> None:
    """S5.9."""
    assert variants(lambda behavior: behavior.rejected_status_prefix) == (
        "Pod ",
        "Pod was rejected: ",
    )


def test_turning_points_are_in_order_and_begin_with_the_oldest() -> None:
    versions = [version for version, _ in turning_points()]

    assert versions == sorted(versions)
    assert versions[0] == KubeletVersion(10, 0)
    assert KubeletVersion(25, 10) in versions
