"""`rebind bench`."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from benchmarks.churn import ChurnLoad, ChurnResult, churn
from benchmarks.nodes import MeasuredNode
from benchmarks.writers import Writers
from tests.cli.running import rebind

SHORT = ("bench", "run", "quick", "--nodes", "3", "--seconds", "0.05")


def test_the_presets_are_listed_with_their_length() -> None:
    finished = rebind("bench", "list", "-o", "json")
    (quick,) = json.loads(finished.stdout)["items"]

    assert quick["name"] == "quick"
    assert quick["runs"] == 8
    assert quick["seconds"] <= 60


def test_a_run_prints_a_row_for_each_combination_with_its_durability() -> None:
    finished = rebind(*SHORT, "-o", "json")
    items = json.loads(finished.stdout)["items"]

    assert finished.code == 0
    assert [(item["persistence"], item["commitBatch"], item["addedFsync"]) for item in items] == [
        (persistence, batch, added)
        for added in ("0ms", "1ms")
        for persistence, batch in (
            ("checkpoint", None),
            ("database", 1),
            ("database", 8),
            ("database", 64),
        )
    ]
    assert {item["durability"] for item in items} == {"full"}


def test_an_interrupted_run_prints_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[ChurnLoad] = []

    def interrupted(
        load: ChurnLoad, nodes: Sequence[MeasuredNode], writers: Writers
    ) -> ChurnResult:
        loads.append(load)
        if len(loads) == 3:
            raise KeyboardInterrupt
        return churn(load, nodes, writers)

    monkeypatch.setattr("benchmarks.presets.churn", interrupted)
    finished = rebind(*SHORT, "--no-headers")

    assert finished.code == 130
    assert len(finished.stdout.splitlines()) == 2
    assert finished.stderr.endswith("interrupted\n")


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    finished = rebind("bench", "run", "slow")

    assert finished.code == 2
    assert "'quick'" in finished.stderr
