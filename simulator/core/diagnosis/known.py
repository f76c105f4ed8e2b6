"""One entry of the catalogue: what is known about a text, or about a state that a pod is in."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.diagnosis.surroundings import Surroundings
from simulator.core.diagnosis.texts import Said
from simulator.core.releases import Statement


@dataclass(frozen=True, slots=True)
class Point:
    """Something about the versions that the words alone do not tell.

    Attributes:
        text: What holds, to be followed by the versions.
        holds: For which kubelets.
    """

    text: str
    holds: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known about a text or a state.

    `{resource}` and the like in sentences are blanks of the texts, filled when one was found.

    Attributes:
        key: Its name in documents.
        rules: Rules of kubelet-behaviour, the governing one first.
        place: Which step of which component it belongs to.
        texts: By what it is recognized; none for a state.
        means: What is the case.
        why: How that comes about.
        versions: What to say where no switch governs it; else empty, and the texts' own versions
            are said.
        points: What else depends on the version.
        advice: What to do, in order.
        reports: Public reports, the most fitting first.
        surroundings: Beside which other words its texts are known.
    """

    key: str
    rules: tuple[str, ...]
    place: str
    texts: tuple[Said, ...] = ()
    means: str
    why: str
    versions: str = ""
    points: tuple[Point, ...] = ()
    advice: tuple[str, ...]
    reports: tuple[str, ...] = ()
    surroundings: Surroundings = Surroundings.ANYWHERE
    general: bool = False
    """Whether it says nothing more when it stands inside another text that is known."""
