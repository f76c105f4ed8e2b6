"""`get`, `who-holds`, `history` and `db`: what a database is asked."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.instants import HOUR, SECOND, Instant
from simulator.core.resources import ResourceName
from simulator.core.transitions import DevicesReported
from store.sql_store import SqlStore
from tests.cli.running import rebind
from tests.reports.html import check_stands_alone, read
from tests.store.world import (
    GPU,
    NODE,
    admits_one,
    booted,
    device,
    rejected,
    released,
    removed,
    reported,
)

PHYSICAL = "GPU-6f1c2d3e"


@pytest.fixture(autouse=True)
def _database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply(
            [
                booted("boot-1"),
                reported(device("g0"), device("g1", topology=(0, 1)), device("g2", "Unhealthy")),
                admits_one("a", "g0", at=5 * SECOND),
                admits_one("b", "g1", at=6 * SECOND),
                released("a", at=HOUR),
                admits_one("c", "g0", at=HOUR + SECOND),
                rejected("d"),
            ]
        )


def test_nodes_are_shown_by_resource() -> None:
    assert rebind("get", "nodes").stdout.splitlines() == [
        "NODE   RESOURCE          CAPACITY   ALLOCATABLE   ALLOCATED   ENDPOINT     PODS",
        "n0     example.com/gpu   3          2             2           registered   2",
    ]


def test_devices_are_shown_with_health_and_holder() -> None:
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply([reported(device("g1", topology=(0, 1)), device("g2", "Unhealthy"))])
        store.apply([admits_one("e", "g7")])
    found = rebind("get", "devices", "--no-headers").stdout.splitlines()

    assert [line.split() for line in found] == [
        ["n0", "example.com/gpu", "g1", "Healthy", "0,1", "default/b"],
        ["n0", "example.com/gpu", "g2", "Unhealthy", "-", "-"],
        ["n0", "example.com/gpu", "g0", "Gone", "-", "default/c"],
        ["n0", "example.com/gpu", "g7", "Unknown", "-", "default/e"],
    ]
    assert rebind("get", "devices", "--resource", "example.com/nic").stderr == "no devices\n"


def test_pods_are_shown_as_they_stand() -> None:
    found = rebind("get", "pods", "-o", "csv").stdout.splitlines()

    assert found == [
        "NODE,POD,STANDING,DEVICES,REASON,UID,MESSAGE",
        "n0,default/a,Released,0,-,uid-a,-",
        "n0,default/b,Admitted,1,-,uid-b,-",
        "n0,default/c,Admitted,1,-,uid-c,-",
        "n0,default/d,Rejected,0,UnexpectedAdmissionError,uid-d,no healthy devices present",
    ]


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (("po", "-A"), ("pods",)),
        (("pod", "b"), ("pods", "b")),
        (("pods/b",), ("pods", "b")),
        (("no",), ("nodes",)),
        (("Device",), ("devices",)),
        (("devicebindings.rebind.internal",), ("bindings",)),
    ],
)
def test_a_kind_has_the_words_that_kubectl_has_for_it(
    words: tuple[str, ...], same: tuple[str, ...]
) -> None:
    found = rebind("get", *words)

    assert found.code == 0
    assert found.stdout == rebind("get", *same).stdout != ""


def test_other_words_and_contradictions_are_refused() -> None:
    for arguments, told in (
        (
            ("deploy",),
            "'deploy' is no kind that is shown here; there are: bindings, devices, events",
        ),
        (("pods", "-A", "-n", "x"), "-A shows all namespaces, and -n x one: leave one of them out"),
    ):
        refused = rebind("get", *arguments)

        assert (refused.code, refused.stdout) == (2, "")
        assert told in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_without_a_server_it_says_that_none_was_asked(tmp_path: Path) -> None:
    socket = "rebind-run/rebind.sock"
    empty = rebind("get", "pods", "-n", "nowhere").stderr
    assert empty == f"no pods; no server runs on {socket}, so the database was asked\n"
    meant = rebind("get", "pods", "-n", "nowhere", "--db", "sqlite:///rebind.db").stderr
    assert meant == "no pods\n"
    (tmp_path / "rebind.db").unlink()
    nothing = rebind("get", "pods")
    assert nothing.code == 3
    assert nothing.stderr == (
        f"error: no server runs on {socket}, and database rebind.db does not exist; start "
        "`rebind serve`, import a checkpoint, or name another with --db\n"
    )


def test_bindings_are_lines_for_people_and_objects_for_programs() -> None:
    lines = rebind("get", "bindings").stdout.splitlines()
    document = json.loads(rebind("get", "bindings", "-o", "json").stdout)

    assert lines[1:] == [
        "n0     default/b   main        example.com/gpu   0      g1",
        "n0     default/c   main        example.com/gpu   0      g0",
    ]
    assert document["kind"] == "DeviceBindingList"
    assert document["items"][0] == {
        "kind": "DeviceBinding",
        "metadata": {"namespace": "default", "name": "b"},
        "spec": {
            "podUID": "uid-b",
            "nodeName": "n0",
            "containers": [
                {
                    "name": "main",
                    "devices": [
                        {"resourceName": GPU, "deviceIDs": ["g1"], "numaNodes": [0]},
                    ],
                }
            ],
        },
    }
    assert rebind("get", "bindings", "-o", "name").stdout == (
        "devicebinding/default/b\ndevicebinding/default/c\n"
    )
    assert rebind("get", "bindings", "--node", "n7").stderr == "no container holds devices\n"


def test_who_holds_names_the_pod() -> None:
    found = rebind("who-holds", "g0", "-o", "json")
    (item,) = json.loads(found.stdout)["items"]

    assert item["pod"] == {"uid": "uid-c", "namespace": "default", "name": "c"}
    assert item["since"] == {"revision": 6, "at": "1h0m1s"}
    assert (item["until"], item["disputed"], item["bootID"]) == (None, False, "boot-1")


def test_holdings_have_short_times_and_an_end_where_there_is_one() -> None:
    real = Instant(1_796_040_000 * SECOND + 123_456_789)
    uuid = "GPU-6f1c2d3e"
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply([admits_one("z", uuid, at=real), released("z", at=real + HOUR)])
        store.apply([admits_one("y", uuid, at=real + HOUR)])
    now = rebind("who-holds", uuid).stdout.splitlines()
    ever = rebind("history", "device", uuid).stdout.splitlines()

    assert now[0].split() == ["NODE", "RESOURCE", "DEVICE", "POD", "CONTAINERS", "SINCE"]
    assert now[1].endswith("   2026-11-30 13:00:00Z")
    assert ever[0].split()[-2:] == ["SINCE", "UNTIL"]
    assert ever[1].endswith("   2026-11-30 12:00:00Z   2026-11-30 13:00:00Z")
    assert max(map(len, now)) <= 100
    assert "2026-11-30T13:00:00.123456789Z" in rebind("who-holds", uuid, "-o", "wide").stdout


def test_nobody_holding_it_is_said_on_stderr() -> None:
    found = rebind("who-holds", "g2")

    assert (found.code, found.stdout, found.stderr) == (0, "", "nobody holds g2\n")
    assert rebind("who-holds", "\x07").stderr == "nobody holds \\x07\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("history", "pod", "a", "--revision", str(2**63)),
        ("history", "pod", "a", "--at", "2562048h"),
        ("db", "compact", "--keep", str(2**63)),
    ],
)
def test_a_number_that_no_database_can_hold_is_wrong_use(arguments: tuple[str, ...]) -> None:
    finished = rebind(*arguments)

    assert (finished.code, finished.stdout) == (2, "")
    assert finished.stderr.startswith(f"error: Invalid value for '{arguments[-2]}': ")


def test_a_physical_device_finds_its_replicas_and_partitions() -> None:
    ids = [f"{PHYSICAL}::0", f"MIG-{PHYSICAL}/1/0", f"MIG-{PHYSICAL}/2/0::3", "GPU-other::0"]
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply([admits_one(f"s{index}", id_) for index, id_ in enumerate(ids)])
    whole = rebind("who-holds", PHYSICAL, "-o", "name").stdout.split()
    partition = rebind("who-holds", f"MIG-{PHYSICAL}/2/0", "-o", "name").stdout.split()

    assert whole == [f"device/n0/example.com/gpu/{id_}" for id_ in ids[:3]]
    assert partition == [f"device/n0/example.com/gpu/{ids[2]}"]


def test_the_history_of_a_device_can_be_asked_as_of_a_time_or_a_change() -> None:
    def holders(*arguments: str) -> list[str]:
        shown = rebind("history", "device", "g0", "--no-headers", *arguments).stdout
        return [line.split()[3] for line in shown.splitlines()]

    assert holders() == ["default/a", "default/c"]
    assert holders("--at", "30s") == ["default/a"]
    assert holders("--at", "1h") == []
    assert holders("--at", "1h0m1s") == ["default/c"]
    assert holders("--revision", "4") == ["default/a"]
    assert holders("--revision", "5") == []
    assert holders("--node", "n7") == []
    assert holders("--resource", "example.com/nic") == []


def test_the_history_of_a_pod_is_found_by_name_namespace_or_uid() -> None:
    by_name = rebind("history", "pod", "a", "-o", "csv").stdout

    assert by_name.splitlines() == [
        "REVISION,TIME,NODE,CHANGE,DETAIL",
        "3,5s,n0,PodAdmitted,main example.com/gpu=g0",
        "5,1h0m0s,n0,PodsReleased,uid-a",
    ]
    assert rebind("history", "pod", "default/a", "-o", "csv").stdout == by_name
    assert rebind("history", "pod", "uid-a", "-o", "csv").stdout == by_name
    assert rebind("history", "pod", "a", "--revision", "4", "-o", "name").stdout == "change/3\n"
    assert rebind("history", "pod", "a", "--at", "10s", "-o", "name").stdout == "change/3\n"
    nobody = rebind("history", "device", "g9", "--revision", "1").stderr
    assert nobody == "nobody is known to have held g9 then\n"
    assert rebind("history", "pod", "z").stderr == "nothing is known of pod z\n"


def test_a_page_shows_who_held_a_device_over_time() -> None:
    finished = rebind("history", "device", "g0", "-o", "html")
    page = read(finished.stdout)

    assert (finished.code, finished.stderr) == (0, "")
    assert page.one("h1").text == "Who held g0"
    assert page.one("p", class_="lead").text == "default/c holds g0 on n0 since 1h0m1s."
    rows = page.one("table", class_="holdings").one("tbody").all("tr")
    assert [row.text for row in rows] == [
        f"g0 {GPU} on n0 default/a main 5s revision 3 1h0m0s revision 5, after 59m55s boot-1",
        "g0 example.com/gpu on n0 default/c main 1h0m1s revision 6 ✓ now boot-1",
    ]
    check_stands_alone(finished.stdout)


def test_who_holds_a_device_shows_who_held_it_before_on_its_page() -> None:
    page = read(rebind("who-holds", "g0", "-o", "html").stdout)

    assert page.one("h1").text == "Who holds g0"
    assert len(page.one("table", class_="holdings").one("tbody").all("tr")) == 2


def test_the_page_of_a_pod_shows_its_changes_and_what_it_held() -> None:
    page = read(rebind("history", "pod", "a", "-o", "html").stdout)
    data = json.loads(page.one("script", id="data").text)
    records = [
        " ".join(data["texts"][part] for part in record[2:])
        for record in data["timelines"][0]["records"]
    ]

    assert page.one("p", class_="lead").text == "Nothing of this is held now."
    assert records == [
        "PodAdmitted revision 3: main example.com/gpu=g0",
        "PodsReleased revision 5: uid-a",
    ]
    until = read(rebind("history", "pod", "a", "-o", "html", "--revision", "2").stdout)
    assert until.one("p", class_="lead").text == "Nothing is known of pod a."


def test_a_page_says_when_nothing_is_known() -> None:
    finished = rebind("who-holds", "<g9>", "-o", "html")

    assert read(finished.stdout).one("p", class_="lead").text == "Nobody holds <g9>."
    check_stands_alone(finished.stdout)


def test_real_times_are_shown_and_read_as_rfc_3339() -> None:
    noon = Instant(1_796_040_000 * SECOND + 250_000_000)
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply([admits_one("z", "g9", at=noon)])
    shown = rebind("history", "device", "g9", "-o", "json").stdout

    assert json.loads(shown)["items"][0]["since"]["at"] == "2026-11-30T12:00:00.25Z"
    after = rebind("history", "device", "g9", "--at", "2026-11-30T13:00:00.25+01:00", "-o", "name")
    before = rebind("history", "device", "g9", "--at", "2026-11-30T12:00:00.2Z", "-o", "name")

    assert (after.stdout, before.stdout) == ("device/n0/example.com/gpu/g9\n", "")
    assert rebind("history", "device", "g9", "--at", "noon").code == 2


def test_a_node_without_resources_is_shown() -> None:
    with closing(SqlStore("sqlite:///other.db")) as store:
        store.apply([booted("b")])
    found = rebind("get", "nodes", "--db", "sqlite:///other.db", "-o", "json").stdout

    assert json.loads(found)["items"] == [
        {"kind": "Node", "node": "n0", "revision": 1, "bootID": "b", "pods": 0}
    ]
    assert "n0     -          -" in rebind("get", "nodes", "--db", "sqlite:///other.db").stdout


def test_a_resource_that_went_is_shown_without_endpoint() -> None:
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply([removed()])
    (row,) = json.loads(rebind("get", "nodes", "-o", "json").stdout)["items"]

    assert (row["capacity"], row["allocated"], row["registered"]) == (0, 2, False)


def test_a_database_that_is_not_there_is_named() -> None:
    missing = rebind("get", "nodes", "--db", "sqlite:///nowhere.db")

    assert missing.code == 3
    assert missing.stderr == (
        "error: database nowhere.db does not exist; start `rebind serve`, import a checkpoint, or "
        "name another with --db\n"
    )
    assert not Path("nowhere.db").exists()


def test_a_database_of_an_older_schema_is_refused_until_it_is_upgraded() -> None:
    assert rebind("db", "current").stdout == "schema 0004\n"
    assert rebind("db", "downgrade", "0001").stdout == "schema 0001\n"
    assert rebind("db", "current").stdout == "schema 0001 (needed: 0004)\n"
    refused = rebind("get", "nodes")

    assert refused.code == 3
    assert "run: rebind db upgrade --db sqlite:///rebind.db" in refused.stderr
    assert rebind("db", "check").code == 1
    assert rebind("db", "upgrade").stdout == "schema 0004\n"
    assert rebind("get", "nodes").code == 0
    assert rebind("db", "downgrade", "base").stdout == "schema none\n"


def test_an_upgrade_makes_a_database_that_is_not_there() -> None:
    assert rebind("db", "upgrade", "--db", "sqlite:///new.db").stdout == "schema 0004\n"
    assert rebind("db", "check", "--db", "sqlite:///new.db").code == 0
    unknown = rebind("db", "upgrade", "4711")
    assert unknown.code == 2
    assert unknown.stderr == (
        "error: there is no schema '4711'; known are base, 0001, 0002, 0003, 0004 and head\n"
    )
    assert rebind("db", "upgrade", "--db", "sqlite://").code == 3


def test_a_sound_database_passes_the_check_also_while_it_is_written() -> None:
    with closing(SqlStore("sqlite:///rebind.db")):
        found = rebind("db", "check", "-o", "json")

    items = {item["check"]: item for item in json.loads(found.stdout)["items"]}
    assert found.code == 0
    assert list(items) == ["schema", "integrity", "references", "log"]
    assert items["log"]["seen"].startswith("not looked at: database rebind.db is being written by")


def test_an_unsound_database_fails_the_check() -> None:
    with closing(sqlite3.connect("rebind.db")) as plain:
        plain.execute("DELETE FROM node")
        plain.commit()
    found = rebind("db", "check")

    assert found.code == 1
    assert "names a missing node" in found.stdout


def test_recover_changes_nothing_in_a_sound_database() -> None:
    before = rebind("get", "bindings").stdout

    assert rebind("db", "recover").stdout.startswith("recovered; 0 commits")
    assert rebind("get", "bindings").stdout == before
    assert rebind("db", "recover", "--db", "sqlite:///nowhere.db").code == 3
    assert not Path("nowhere.db").exists()


def test_several_resources_are_listed_by_name() -> None:
    nic = DevicesReported(
        NODE,
        Instant(9),
        ResourceName("example.com/aaa"),
        (Device(DeviceId("x"), topology=(NumaNode(3),)),),
    )
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply([nic])
    found = rebind("get", "nodes", "--no-headers").stdout.splitlines()

    assert [line.split()[1] for line in found] == ["example.com/aaa", "example.com/gpu"]
