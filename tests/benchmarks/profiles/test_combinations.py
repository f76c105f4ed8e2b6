"""Which combinations of a matrix are run: those that make sense, and not too many."""

from __future__ import annotations

import pytest

from benchmarks.profiles.combinations import KEEPERS, Combination, Keeper, Target
from benchmarks.results.rows import Store, TimeSource
from simulator.core.instants import MILLISECOND, SECOND
from simulator.core.persistence.choosing import STRATEGIES
from simulator.ports import Durability
from tests.benchmarks.profiles.writing import edited, parse

WHOLE = """\
    persistence: [checkpoint, database, bind-resource, checkpoint+api]
    store: [sqlite, postgresql]
    durability: [full, normal]
    commitBatch: [1, 8, 64, 512]
    flushPeriod: [0ms, 1s, 10s]
    bulkBind: [1, 16]
    kubeAPI: [{qps: 5, burst: 10}, {qps: 50, burst: 100}]
    addedFsync: [0ms, 1ms]
"""


def combinations(
    matrix: str, more: str = "", *, whole: bool = True, postgresql: bool = True
) -> tuple[Combination, ...]:
    """Return what the example runs with another matrix."""
    text = edited("    persistence: [checkpoint, database]\n", matrix) + more
    return parse(text).profile.combinations(whole_matrix=whole, postgresql=postgresql)


def test_knobs_that_a_persistence_does_not_have_are_not_turned() -> None:
    """Counted by hand.

    A file: 2 fsyncs; a database: 2 stores, 2 durabilities, 4 batches and 2 fsyncs; an API server as
    many and 2 limits; bind-resource also 2 bulks, checkpoint+api 3 periods.
    """
    found = combinations(WHOLE)
    counts = dict.fromkeys(("checkpoint", "database", "bind-resource", "checkpoint+api"), 0)
    for one in found:
        counts[one.persistence.name] += 1

    assert counts == {
        "checkpoint": 2,
        "database": 32,
        "bind-resource": 128,
        "checkpoint+api": 192,
    }
    assert len(set(found)) == len(found)


def test_a_file_has_no_database_no_batches_and_no_limits() -> None:
    file, slow = (one for one in combinations(WHOLE) if one.persistence.name == "checkpoint")

    assert (file.store, file.durability, file.commit_batch) == (None, None, None)
    assert (file.flush_period, file.bulk_bind, file.kube_api, file.clients) == (None,) * 4
    assert (file.added_fsync, slow.added_fsync) == (0, MILLISECOND)


def test_without_a_server_the_combinations_with_postgresql_are_left_out() -> None:
    found = combinations(WHOLE, postgresql=False)

    assert {one.store for one in found} == {None, Store.SQLITE}


def test_in_virtual_time_status_updates_are_limited_under_every_persistence() -> None:
    found = combinations(
        "    persistence: [checkpoint]\n    clock: virtual\n"
        "    kubeAPI: [{qps: 5, burst: 10}, {qps: 50, burst: 100}]\n"
    )

    assert [one.kube_api and one.kube_api.qps for one in found] == [5, 50]


def test_virtual_time_has_neither_plugin_sockets_nor_postgresql_nor_batches() -> None:
    found = combinations(
        "    persistence: [database]\n    store: [sqlite, postgresql]\n    commitBatch: [1, 64]\n"
        "    target: [inProcess, pluginSocket]\n    clock: [real, virtual]\n"
    )
    virtual = [one for one in found if one.clock is TimeSource.VIRTUAL]

    assert len(found) == 9
    assert [(one.store, one.target, one.commit_batch) for one in virtual] == [
        (Store.SQLITE, Target.IN_PROCESS, None)
    ]


def test_at_most_twelve_are_run_of_every_persistence_some() -> None:
    """Details 25."""
    found = combinations(WHOLE, whole=False)
    names = [one.persistence.name for one in found]

    assert len(found) == 12
    assert {name: names.count(name) for name in names} == {
        "checkpoint": 2,
        "database": 4,
        "bind-resource": 3,
        "checkpoint+api": 3,
    }


def test_those_that_are_run_differ_in_one_knob_from_the_first() -> None:
    found = [one for one in combinations(WHOLE, whole=False) if one.persistence.name == "database"]
    first = found[0]

    assert (first.store, first.durability, first.commit_batch) == (Store.SQLITE, Durability.FULL, 1)
    for one in found[1:]:
        same = [getattr(one, name) == getattr(first, name) for name in Combination.__slots__]
        assert same.count(False) == 1


def test_a_profile_may_want_fewer() -> None:
    assert len(combinations(WHOLE, "  combinations: 5\n", whole=False)) == 5


def test_slices_narrow_the_matrix_and_may_go_beyond_it() -> None:
    slices = """\
  combinations:
  - {persistence: database, store: sqlite, durability: full, commitBatch: [1, 64], addedFsync: 0ms}
  - {persistence: bind-resource, store: sqlite, durability: full, commitBatch: 1, bulkBind: 4,
     kubeAPI: {qps: 7, burst: 9}, addedFsync: 0ms}
"""
    found = combinations(WHOLE, slices, whole=False)

    assert [(one.persistence.name, one.commit_batch, one.bulk_bind) for one in found] == [
        ("database", 1, None),
        ("database", 64, None),
        ("bind-resource", 1, 4),
    ]
    assert len(combinations(WHOLE, slices)) == 354


def test_slices_that_overlap_run_once() -> None:
    again = "  combinations: [{persistence: checkpoint}, {persistence: [database, checkpoint]}]\n"
    found = combinations("    persistence: [checkpoint, database]\n", again, whole=False)

    assert [one.persistence.name for one in found] == ["checkpoint", "database"]


def test_what_a_matrix_leaves_out_has_its_default() -> None:
    [one] = combinations("    persistence: [checkpoint+api]\n")

    assert (one.store, one.durability, one.commit_batch) == (Store.SQLITE, Durability.FULL, 512)
    assert (one.flush_period, one.kube_api, one.clients) == (SECOND, None, None)
    assert (one.nodes, one.existing, one.kubelet_version) == (100, 0, "1.36.2")


def test_options_of_a_persistence_are_a_map() -> None:
    """Details 22."""
    variant = "{bind-resource: {perContainer: true, waitForEcho: true}}"
    [one] = combinations(f"    persistence: [{variant}]\n")

    assert one.setting.options == (("perContainer", "true"), ("waitForEcho", "true"))
    assert one.setting.store is Store.API


@pytest.mark.parametrize(
    ("persistence", "store"),
    [("checkpoint", Store.FILE), ("database", Store.SQLITE), ("pod-status", Store.API)],
)
def test_rows_name_where_bindings_are_kept(persistence: str, store: Store) -> None:
    [one] = combinations(f"    persistence: {persistence}\n    kubeletVersion: 1.26.5\n")

    assert one.setting.store is store
    assert one.setting.options == (("kubeletVersion", "1.26.5"),)


def test_rows_name_the_server_behind_an_api_and_how_plugins_are_asked() -> None:
    *_, one = combinations(
        "    persistence: bind-resource\n    store: postgresql\n    target: pluginSocket\n"
    )

    assert one.setting.store is Store.API
    assert one.setting.options == (("apiStore", "postgresql"), ("target", "pluginSocket"))


@pytest.mark.parametrize(
    ("matrix", "options"),
    [
        (
            "{bind-resource: {perContainer: true}}\n    bulkBind: 16",
            (("bulkBind", True), ("perContainer", True)),
        ),
        ("bind-resource\n    bulkBind: 1", (("bulkBind", False),)),
        ("checkpoint+api\n    flushPeriod: 10s", (("flushPeriod", 10 * SECOND),)),
        ("{checkpoint: {dirFsync: true}}", (("dirFsync", True),)),
    ],
)
def test_strategies_are_made_with_their_options_and_those_of_the_knobs(
    matrix: str, options: tuple[tuple[str, bool | int], ...]
) -> None:
    [one] = combinations(f"    persistence: {matrix}\n")

    assert one.persistence_options == options


def test_every_strategy_can_be_measured_and_keeps_bindings_where_it_says() -> None:
    """The statuses of `pod-status` are read back by nobody, yet they go to the API (details 22)."""
    assert KEEPERS.keys() == STRATEGIES.keys()
    for name, kept in STRATEGIES.items():
        assert (Keeper.FILE in KEEPERS[name]) == kept.in_file
        assert (Keeper.DATABASE in KEEPERS[name]) == kept.in_rows
        assert (Keeper.API in KEEPERS[name]) == (kept.in_api or name == "pod-status")
