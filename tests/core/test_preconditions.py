"""What a write requires of an API object: preconditions and texts as Kubernetes has them."""

from __future__ import annotations

import pytest

from simulator.core.preconditions import (
    Unmet,
    already_exists_text,
    conflict_text,
    not_found_text,
    precondition_text,
    unmet_by,
)

THERE = (7, "uid-a")


@pytest.mark.parametrize(
    ("revision", "uid", "unmet"),
    [
        (None, None, None),
        (7, None, None),
        (7, "uid-a", None),
        (6, None, Unmet.IS_CHANGED),
        (6, "uid-a", Unmet.IS_CHANGED),
        (7, "uid-b", Unmet.IS_ANOTHER),
        (6, "uid-b", Unmet.IS_ANOTHER),
    ],
)
def test_the_uid_is_looked_at_before_the_revision(
    revision: int | None, uid: str | None, unmet: Unmet | None
) -> None:
    assert unmet_by(THERE, revision=revision, uid=uid) is unmet


def test_a_refusal_is_said_in_the_words_of_kubernetes() -> None:
    """apimachinery/pkg/api/errors, apiserver/pkg/storage."""
    why = precondition_text("UID", required="uid-b", found="uid-a")

    assert not_found_text("pods", "a") == 'pods "a" not found'
    assert already_exists_text("pods", "a") == 'pods "a" already exists'
    assert conflict_text("pods", "a") == (
        'Operation cannot be fulfilled on pods "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert conflict_text("pods", "a", f"Precondition failed: {why}") == (
        'Operation cannot be fulfilled on pods "a": Precondition failed: '
        "UID in precondition: uid-b, UID in object meta: uid-a"
    )
