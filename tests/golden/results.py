"""What checking recordings gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override


@dataclass(frozen=True, slots=True)
class TraceResult:
    """What replaying one trace gave.

    Attributes:
        steps: Steps that were replayed and compared.
        differences: One line each: step, what was recorded, what came out.
    """

    steps: int
    differences: tuple[str, ...] = ()


@dataclass(slots=True)
class Count:
    """How many recordings of one kind were found, and how many of them had no difference."""

    good: int = 0
    found: int = 0

    def add(self, *, good: bool) -> None:
        """Count one recording."""
        self.found += 1
        self.good += good

    @override
    def __str__(self) -> str:
        return f"{self.good}/{self.found}"


@dataclass(slots=True)
class Tally:
    """The sums of a run."""

    checkpoints: Count = field(default_factory=Count)
    corrupt: Count = field(default_factory=Count)
    traces: Count = field(default_factory=Count)
    steps: int = 0
    differences: int = 0

    def summary(self) -> str:
        """Return the last line of a run."""
        return (
            f"checkpoints {self.checkpoints}  corrupt {self.corrupt}  traces {self.traces}  "
            f"steps {self.steps}  differences {self.differences}"
        )
