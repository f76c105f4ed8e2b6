"""There and back at 1, 110 and 5,000 pods, killed before and after every effect.

After each kill: what a kubelet would restore is every binding, once; the status is what is there;
and the way can be gone to its end, or taken back. Where nothing changed the file is the same, bit
for bit.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli.commands.migrate.texts import contradiction
from simulator.core.migration.phases import Phase, route
from store.sql_store import SqlStore
from tests.migration.stopped import NODE, Bench, Cut, believed, checkpoint_file, held, of_file


def _ways(bench: Bench) -> tuple[int, int]:
    """Return the number of effects there and back."""
    return bench.go(Phase.DATABASE), bench.go(Phase.CHECKPOINT)


def _check(bench: Bench, pods: int) -> None:
    """Nothing is lost or doubled, and what the phase says is so, or said not to be."""
    found = bench.look()

    assert believed(found) == of_file(pods)
    assert (found.rows.phase or Phase.CHECKPOINT) is found.phase
    file_is_whole = bench.files.path.exists() and held(found.file.bindings) == of_file(pods)
    rows_are_whole = held(found.rows.bindings) == of_file(pods)
    if not contradiction(found):
        regime = found.regime
        assert file_is_whole or not regime.writes_file
        assert rows_are_whole or not regime.writes_rows
        assert regime.writes_file or not bench.files.path.exists()
    else:
        assert file_is_whole or rows_are_whole


def _killed_everywhere(bench: Bench, pods: int, numbers: tuple[range, range]) -> None:
    """Kill each way after these effects, end it and go back, or take it back and go again.

    After an effect is before the next one: nothing else is kept. Number 0 is before the first.
    """
    ways = ((Phase.CHECKPOINT, Phase.DATABASE), (Phase.DATABASE, Phase.CHECKPOINT))
    for (start, end), effects in zip(ways, numbers, strict=True):
        bench.go(start)
        for number in effects:
            bench.kill(end, Cut(max(number, 1), after=number > 0))
            _check(bench, pods)
            if number % 2:
                bench.go(end)
                _check(bench, pods)
            bench.go(start)
    bench.go(Phase.CHECKPOINT)

    assert bench.files.path.read_bytes() == bench.content


@pytest.mark.parametrize("pods", [1, pytest.param(110, marks=pytest.mark.soak)])
def test_a_kill_at_any_effect_costs_nothing(tmp_path: Path, database_url: str, pods: int) -> None:
    bench = Bench(tmp_path, database_url, checkpoint_file(pods))
    there, back = _ways(bench)

    assert bench.files.path.read_bytes() == bench.content
    _killed_everywhere(bench, pods, (range(there + 1), range(back + 1)))


def test_110_pods_are_killed_where_the_two_sides_change_places(
    tmp_path: Path, database_url: str
) -> None:
    bench = Bench(tmp_path, database_url, checkpoint_file(110))
    there, _ = _ways(bench)
    _killed_everywhere(bench, 110, (range(there - 1, there), range(1, 3)))


def test_5000_pods_go_there_and_back_with_a_kill_on_each_way(
    tmp_path: Path, database_url: str
) -> None:
    """Killed when the file is set aside and the phase is not changed yet, and the other way."""
    bench = Bench(tmp_path, database_url, checkpoint_file(5_000))
    bench.kill(Phase.DATABASE, Cut(5, after=True))

    assert not bench.files.path.exists()
    _check(bench, 5_000)
    bench.go(Phase.DATABASE)
    bench.kill(Phase.CHECKPOINT, Cut(1, after=True))
    _check(bench, 5_000)
    bench.go(Phase.CHECKPOINT)

    assert bench.files.path.read_bytes() == bench.content


def test_every_phase_on_the_way_is_reached_and_can_be_left_either_way(
    tmp_path: Path, database_url: str
) -> None:
    bench = Bench(tmp_path, database_url, checkpoint_file(3))
    for phase in (
        *route(Phase.CHECKPOINT, Phase.DATABASE),
        *route(Phase.DATABASE, Phase.CHECKPOINT),
    ):
        bench.go(phase)
        _check(bench, 3)

        assert contradiction(bench.look()) == ""
    store = SqlStore(database_url)
    kinds = [change.detail for change in store.history(node=NODE) if change.kind == "PhaseChanged"]
    store.close()

    assert kinds == [
        "phase databasePrimary",
        "phase database",
        "phase databasePrimary",
        "phase dualWrite",
        "phase imported",
        "phase checkpoint",
    ]


def test_a_file_of_format_v1_goes_there_and_back_for_the_kubelet_that_wrote_it(
    tmp_path: Path, database_url: str
) -> None:
    """S4.3: a kubelet up to 1.19 has flat lists of ids."""
    content = checkpoint_file(3, "1.19.16")
    bench = Bench(tmp_path, database_url, content, "1.19.16")
    _ways(bench)

    assert b'"DeviceIDs":["gpu-0"]' in content
    assert bench.files.path.read_bytes() == content


def test_a_newer_kubelet_gets_the_file_in_its_own_format(tmp_path: Path, database_url: str) -> None:
    """S4.2, S4.15: ids of format V1 stand under NUMA node 0."""
    bench = Bench(tmp_path, database_url, checkpoint_file(3, "1.19.16"), "1.19.16")
    bench.go(Phase.DATABASE)
    bench.version = "1.36.2"
    bench.go(Phase.CHECKPOINT)

    assert b'"DeviceIDs":{"0":["gpu-0"]}' in bench.files.path.read_bytes()
    _check(bench, 3)


def test_a_file_that_is_damaged_while_both_are_written_is_mended_from_the_rows(
    tmp_path: Path, database_url: str
) -> None:
    bench = Bench(tmp_path, database_url, checkpoint_file(3))
    bench.go(Phase.DUAL_WRITE)
    bench.files.path.write_bytes(bench.content[:50])

    assert "they differ" in contradiction(bench.look())
    _check(bench, 3)
    bench.go(Phase.DATABASE)
    bench.go(Phase.CHECKPOINT)

    assert bench.files.path.read_bytes() == bench.content
