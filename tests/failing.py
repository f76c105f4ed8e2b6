"""Where a failing history is put down, as a scenario file, and what the failed test says of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from scenarios.exploring.editing import ScenarioDocument, copied
from scenarios.schema.writing import scenario_text

FOLDER_VARIABLE = "REBIND_FAILURES"
FOLDER = "failures"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def written_failure(document: ScenarioDocument, name: str, reason: str) -> str:
    """Write a scenario as `NAME.yaml` and return the message of the test.

    A later and shorter history of the same name takes the place of an earlier one.
    """
    named = copied(document)
    slug = _NOT_IN_NAMES.sub("-", name.lower()).strip("-")
    named["metadata"] = {"name": slug}
    folder = Path(os.environ.get(FOLDER_VARIABLE, FOLDER))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{slug}.yaml"
    path.write_text(scenario_text([named]), encoding="utf-8")
    return f"{reason}; the history is in {path}, see `rebind replay {path}`"
