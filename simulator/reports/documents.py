"""Results as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Sequence

from simulator.config import API_VERSION
from simulator.core.instants import format_duration
from simulator.reports.results import Cell, Column, ScenarioResult, Verdict

Json = str | int | float | bool | None | Sequence["Json"] | dict[str, "Json"]


def json_report(results: Sequence[ScenarioResult]) -> str:
    """Return all results as one JSON document."""
    document: Json = {
        "apiVersion": API_VERSION,
        "kind": "ReplayReport",
        "items": [_scenario(result) for result in results],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _scenario(result: ScenarioResult) -> Json:
    return {
        "scenario": result.name,
        "description": result.description,
        "source": result.source,
        "held": result.held,
        "broken": result.broken,
        "skipped": result.skipped,
        "runs": [_run(run.column, run.seed) for run in result.runs],
        "expectations": [
            {
                "title": row.title,
                "differsBy": [
                    by
                    for by in ("version", "persistence", "readmission")
                    if row.differs(result.columns, by)
                ],
                "cells": [
                    _cell(column, cell)
                    for column, cell in zip(result.columns, row.cells, strict=True)
                ],
            }
            for row in result.rows
        ],
    }


def _run(column: Column, seed: int) -> dict[str, Json]:
    return {
        "kubeletVersion": column.version,
        "persistence": column.persistence,
        "readmission": column.readmission or "upstream",
        "seed": seed,
    }


def _cell(column: Column, cell: Cell) -> Json:
    return {
        "kubeletVersion": column.version,
        "persistence": column.persistence,
        "readmission": column.readmission or "upstream",
        "verdict": "observed" if cell.verdict is Verdict.NOT_MEANT else cell.verdict.value,
        "at": format_duration(cell.at),
        "problem": cell.problem,
        "facts": [
            {
                "key": fact.key,
                "observed": fact.detail or fact.observed,
                "expected": fact.expected,
                "holds": fact.holds,
            }
            for fact in cell.facts
        ],
    }
