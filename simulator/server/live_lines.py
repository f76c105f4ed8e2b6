"""Which lines of a journal still say something: it is written anew with these when it has grown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

from simulator.reports.documents import Json

Line = dict[str, Json]
"""What it says, and of what: `what` and `is`."""

TOGETHER: Final = "all of"
"""A line that holds several, which count all or not at all."""


class LiveLines:
    """The lines of what is there, and of how it stands."""

    def __init__(self) -> None:
        self._lines: dict[str, list[Line]] = {}

    def __iter__(self) -> Iterator[Line]:
        """Iterate in the order in which things came to be there."""
        return (line for lines in self._lines.values() for line in lines)

    def follow(self, line: Line) -> None:
        """Take a line into account that was written."""
        what, content = line["what"], cast("Mapping[str, Json]", line["is"])
        if what == TOGETHER:
            for each in cast("list[Line]", content["lines"]):
                self.follow(each)
        elif what == "pod":
            self._lines[f"pod/{content['uid']}"] = [line]
        elif what == "status":
            said = self._lines.get(f"pod/{content['uid']}")
            if said is not None:
                said[1:] = [line]
        elif what == "gone":
            self._lines.pop(f"pod/{content['uid']}", None)
        elif what == "workload":
            namespace, resource, name = content["namespace"], content["resource"], content["name"]
            key = workload_key(str(namespace), str(resource), str(name))
            self._lines[f"workload/{key}"] = [line]
        else:
            self._lines.pop(f"workload/{content['key']}", None)


def workload_key(namespace: str, resource: str, name: str) -> str:
    """Return what a workload is called in a line."""
    return f"{namespace}/{resource}/{name}"
