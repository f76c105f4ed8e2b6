"""Checks of a node's state: what was looked at, how it stands, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Result(Enum):
    """How something stands."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        subject: What it is, e.g. `checkpoint`.
        seen: What was found, in one line.
        advice: What to do; empty when nothing is to be done.
    """

    subject: str
    result: Result
    seen: str
    advice: str = ""


def ok(subject: str, seen: str, advice: str = "") -> Check:
    """Return a check that found nothing wrong."""
    return Check(subject, Result.OK, seen, advice)


def warning(subject: str, seen: str, advice: str) -> Check:
    """Return a check that found something odd."""
    return Check(subject, Result.WARNING, seen, advice)


def problem(subject: str, seen: str, advice: str) -> Check:
    """Return a check that found something that loses or mixes up devices, or stops work."""
    return Check(subject, Result.PROBLEM, seen, advice)
