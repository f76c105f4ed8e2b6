"""`rebind checkpoint show|verify|diff`: what they print, and how they answer bad files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from simulator.cli.checkpoint_texts import listed
from tests.cli.running import rebind

FILES = Path(__file__).parent / "files"
CURRENT = str(FILES / "kubelet_internal_checkpoint")
BEFORE = str(FILES / "before.checkpoint")

A6 = (
    '{"Data":{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c",'
    '"ResourceName":"example.com/gpu","DeviceIDs":{"0":["g0","g2"],"1":["g1"],"10":["g10"]},'
    '"AllocResp":"Cg0KB1ZJU0lCTEUSAmcwGhYKBy9kZXYvZzASBy9kZXYvZzAaAnJ3"}],'
    '"RegisteredDevices":{"example.com/gpu":["g0","g1"]}},"Checksum":1380764232}'
)
V1 = (
    '{"Data":{"PodDeviceEntries":[{"PodUID":"pod-a","ContainerName":"main",'
    '"ResourceName":"vendor.com/gpu","DeviceIDs":["gpu0"],'
    '"AllocResp":"ChYKDlZFTkRPUl9DT01fR1BVEgRncHUwGhoKCS9kZXYvZ3B1MBIJL2Rldi9ncHUwGgJydw=="}],'
    '"RegisteredDevices":{"vendor.com/gpu":["gpu0","gpu1","gpu2"]}},"Checksum":1723419137}'
)
BARE = (
    '{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c","ResourceName":"example.com/gpu",'
    '"DeviceIDs":["g1","g0"],"AllocResp":""}],"RegisteredDevices":{"example.com/gpu":["g0"]}}'
)


@pytest.fixture
def a6(tmp_path: Path) -> Path:
    return written(tmp_path, A6)


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "checkpoint"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_show_lists_devices_by_container_with_what_the_plugin_answered(a6: Path) -> None:
    lines = rebind("checkpoint", "show", str(a6)).stdout.splitlines()

    assert lines[0].split() == [
        *("POD", "CONTAINER", "RESOURCE", "NUMA", "DEVICES"),
        *("ENV", "MOUNTS", "DEVICE-NODES", "CDI"),
    ]
    assert lines[1].split()[:6] == ["u1", "c", "example.com/gpu", "0,1,10", "g0,g1,g10", "+1"]
    assert "VISIBLE=g0" in lines[1]
    assert "/dev/g0:/dev/g0:rw" in lines[1]
    assert lines[3:] == [
        "REGISTERED        HEALTHY   DEVICES",
        "example.com/gpu   2         g0,g1",
    ]


def test_show_wide_names_every_device_with_its_node(a6: Path) -> None:
    assert "0:g0,g2 1:g1 10:g10" in rebind("checkpoint", "show", str(a6), "-o", "wide").stdout


def test_show_cuts_a_variable_that_lists_the_ids_of_a_whole_node_and_wide_does_not() -> None:
    variable = "VISIBLE=" + ",".join(f"gpu-{number}" for number in range(64))

    assert listed([variable], short=True) == f"{variable[:63]}…"
    assert listed([variable], short=False) == variable


def test_show_writes_json_and_yaml_alike(a6: Path) -> None:
    document = json.loads(rebind("checkpoint", "show", str(a6), "-o", "json").stdout)

    assert document["format"] == "v2"
    assert document["checksum"] == 1380764232
    assert document["entries"] == [
        {
            "podUID": "u1",
            "container": "c",
            "resource": "example.com/gpu",
            "devices": {"0": ["g0", "g2"], "1": ["g1"], "10": ["g10"]},
            "response": {
                "envs": {"VISIBLE": "g0"},
                "mounts": [],
                "devices": [
                    {"containerPath": "/dev/g0", "hostPath": "/dev/g0", "permissions": "rw"}
                ],
                "annotations": {},
                "cdiDevices": [],
                "base64": "Cg0KB1ZJU0lCTEUSAmcwGhYKBy9kZXYvZzASBy9kZXYvZzAaAnJ3",
            },
        }
    ]
    assert document["registeredDevices"] == {"example.com/gpu": ["g0", "g1"]}
    assert yaml.safe_load(rebind("checkpoint", "show", str(a6), "-o", "yaml").stdout) == document


def test_show_keeps_null_apart_in_documents(tmp_path: Path) -> None:
    """S4.8."""
    nothing = written(
        tmp_path,
        '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":null},"Checksum":1944006890}',
    )

    document = json.loads(rebind("checkpoint", "show", str(nothing), "-o", "json").stdout)
    bare = BARE.replace('["g1","g0"],"AllocResp":""', 'null,"AllocResp":null')
    entry = json.loads(
        rebind("checkpoint", "show", str(written(tmp_path, bare)), "-o", "json").stdout
    )["entries"][0]

    assert (entry["devices"], entry["response"]) == (None, None)
    assert document["entries"] is None
    assert document["registeredDevices"] is None


def test_show_of_a_file_without_entries_says_so_on_stderr(tmp_path: Path) -> None:
    empty = written(
        tmp_path, '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}'
    )

    finished = rebind("checkpoint", "show", str(empty))

    assert (finished.code, finished.stdout) == (0, "")
    assert finished.stderr == "no container holds devices\n"


@pytest.mark.parametrize("text", [V1, BARE])
def test_show_reads_the_older_formats(tmp_path: Path, text: str) -> None:
    finished = rebind("checkpoint", "show", str(written(tmp_path, text)), "-o", "wide")

    assert finished.code == 0
    assert "gpu0" in finished.stdout or "g0,g1" in finished.stdout


def test_show_says_when_a_response_cannot_be_decoded(tmp_path: Path) -> None:
    text = (
        '{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c","ResourceName":"example.com/gpu",'
        '"DeviceIDs":null,"AllocResp":"Cv//"}],"RegisteredDevices":{}}'
    )
    path = str(written(tmp_path, text))

    assert "undecodable" in rebind("checkpoint", "show", path).stdout
    document = json.loads(rebind("checkpoint", "show", path, "-o", "json").stdout)
    assert document["entries"][0]["response"] == {"base64": "Cv//", "decodable": False}


@pytest.mark.parametrize(
    ("text", "format_shown", "checksum_shown"),
    [
        (A6, "V2 (kubelet 1.20 and later)", "1380764232 found, 1380764232 computed"),
        (V1, "V1 (kubelet 1.10 to 1.19)", "1723419137 found, 1723419137 computed"),
        (BARE, "bare (kubelet 1.9 and before)", "-"),
    ],
)
def test_verify_names_format_and_checksum_of_a_valid_file(
    tmp_path: Path, text: str, format_shown: str, checksum_shown: str
) -> None:
    """Details 18: bare and V1 are valid."""
    finished = rebind("checkpoint", "verify", str(written(tmp_path, text)))

    assert finished.code == 0
    assert f"FORMAT           {format_shown}\n" in finished.stdout
    assert f"CHECKSUM         {checksum_shown}\n" in finished.stdout


def test_verify_warns_of_odd_things_and_still_says_valid(a6: Path) -> None:
    finished = rebind("checkpoint", "verify", str(a6))
    document = json.loads(rebind("checkpoint", "verify", str(a6), "-o", "json").stdout)

    assert finished.code == 0
    assert (
        "held, but not among the healthy devices of example.com/gpu: g10, g2\n" in finished.stdout
    )
    assert document["valid"] is True
    assert document["checksum"] == {"found": 1380764232, "computed": 1380764232}
    assert [each["kind"] for each in document["warnings"]] == ["deviceNotHealthy"]


def test_verify_tells_what_kubelets_make_of_a_file(tmp_path: Path) -> None:
    """S4.15: V1 is read up to 1.19, and again from 1.23 to 1.29."""
    path = str(written(tmp_path, V1))

    finished = rebind("checkpoint", "verify", path, "--kubelet-version", "1.19,1.23.0,1.30.0")
    document = json.loads(rebind("checkpoint", "verify", path, "-o", "json").stdout)

    refused = "cannot read it and starts without any record: json: cannot unmarshal array into Go "
    assert "KUBELET 1.19     restores 1 entry\n" in finished.stdout
    assert "KUBELET 1.23.0   restores 1 entry\n" in finished.stdout
    assert f"KUBELET 1.30.0 {refused}" in " ".join(finished.stdout.split())
    assert max(map(len, finished.stdout.splitlines()[1:])) <= 100
    assert document["kubelets"][0]["version"] == "1.36.2"
    assert document["kubelets"][0]["restored"] == 0
    assert "DevicesPerNUMA" in document["kubelets"][0]["error"]


def test_verify_counts_what_a_kubelet_leaves_out(tmp_path: Path) -> None:
    """Recording 27: an entry whose response is no protobuf is skipped."""
    text = (
        '{"Data":{"PodDeviceEntries":[{"PodUID":"pod-a","ContainerName":"main",'
        '"ResourceName":"vendor.com/gpu","DeviceIDs":{"0":["gpu0"]},"AllocResp":"Cv//"},'
        '{"PodUID":"pod-b","ContainerName":"main","ResourceName":"vendor.com/gpu",'
        '"DeviceIDs":{"0":["gpu1"]},"AllocResp":""}],'
        '"RegisteredDevices":{"vendor.com/gpu":["gpu0","gpu1"]}},"Checksum":262109730}'
    )

    finished = rebind("checkpoint", "verify", str(written(tmp_path, text)))

    assert "restores 1 entry, leaves 1 out\n" in finished.stdout


def test_verify_refuses_a_version_that_is_none(a6: Path) -> None:
    finished = rebind("checkpoint", "verify", str(a6), "--kubelet-version", "newest")

    assert finished.code == 2
    assert finished.stderr.count("\n") == 1


DAMAGED = {
    "checksum": (A6.replace("1380764232", "1"), "checkpoint is corrupted"),
    "truncated": (A6[:100], "unexpected end of JSON input"),
    "not json": ("this is not json", "invalid character 'h' in literal true (expecting 'r')"),
    "wrong type": (A6.replace('"u1"', "7"), "json: cannot unmarshal number"),
    "empty file": ("", "unexpected end of JSON input"),
    "zeros": ("\0" * 4096, "invalid character '\\x00' looking for beginning of value"),
    "empty object": ("{}", "checkpoint is corrupted"),
    "null": ("null", "checkpoint is corrupted"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_gets_one_clear_line(tmp_path: Path, name: str) -> None:
    text, reason = DAMAGED[name]
    path = str(written(tmp_path, text))

    verified = rebind("checkpoint", "verify", path)
    shown = rebind("checkpoint", "show", path)
    compared = rebind("checkpoint", "diff", CURRENT, path)
    document = json.loads(rebind("checkpoint", "verify", path, "-o", "json").stdout)

    assert verified.code == 1
    line, *after = verified.stdout.splitlines(keepends=True)
    assert after[:2] == ["\n", "Kubelet 1.36.2 at its next start with this file:\n"]
    assert reason in line
    assert path in line
    for finished in (shown, compared):
        assert finished.code == 2
        assert finished.stdout == ""
        assert finished.stderr == f"error: {line}"
    assert document["valid"] is False
    assert reason in document["error"]


FOREIGN = {
    "cpu_manager_state": '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
    "memory_manager_state": '{"policyName":"None","machineState":{},"checksum":4228137540}',
    "dra_manager_state": '{"version":"v1","entries":[],"checksum":1}',
    "the DRA manager's state": '{"Data":"{\\"kind\\":\\"DRACheckpoint\\"}","Checksum":1}',
    "pod_status_manager_state": '{"data":"{\\"allocationEntries\\":{}}","checksum":1}',
    "graceful_node_shutdown_state": '{"startTime":null,"endTime":null}',
    "a dockershim sandbox": '{"version":"v1","name":"a","namespace":"b","data":{},"checksum":1}',
    "a single pod": '{"Pod":{},"Checksum":1}',
    "JSON with other keys (a, b, c)": '{"d":1,"c":1,"b":1,"a":1}',
    "a list": "[]",
    "a single value": "7",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_the_file_of_another_component_is_named(tmp_path: Path, name: str) -> None:
    path = str(written(tmp_path, FOREIGN[name]))

    for arguments in (("verify", path), ("show", path), ("diff", path, CURRENT)):
        finished = rebind("checkpoint", *arguments)

        assert finished.code == 2
        assert finished.stdout == ""
        assert finished.stderr.startswith(f"error: {path}: not a device-manager checkpoint but ")
        assert name in finished.stderr
        assert finished.stderr.count("\n") == 1


@pytest.mark.parametrize("what", ["absent", "dangling", "folder"])
def test_a_missing_file_exits_3(tmp_path: Path, what: str) -> None:
    path = tmp_path / what
    if what == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    if what == "folder":
        path.mkdir()

    for arguments in (("verify", path), ("show", path), ("diff", CURRENT, path)):
        finished = rebind("checkpoint", *map(str, arguments))

        assert finished.code == 3
        assert finished.stderr.startswith(f"error: {path}: ")


def test_a_file_over_the_limit_is_not_read(a6: Path) -> None:
    size = len(A6)

    refused = rebind("checkpoint", "verify", str(a6), "--max-size", str(size - 1))

    assert refused.code == 2
    assert f"larger than {size - 1} bytes" in refused.stderr
    assert rebind("checkpoint", "verify", str(a6), "--max-size", f"{size}B").code == 0
    assert rebind("checkpoint", "verify", str(a6), "--max-size", "1Ki").code == 0
    assert rebind("checkpoint", "verify", str(a6), "--max-size", "999999999999Gi").code == 0


def test_a_size_that_is_none_is_a_usage_error(a6: Path) -> None:
    finished = rebind("checkpoint", "verify", str(a6), "--max-size", "big")

    assert finished.code == 2
    assert "'big' is not a size" in finished.stderr


def test_the_same_content_in_another_order_is_no_difference(tmp_path: Path) -> None:
    """S4.5: the order of entries and ids is Go's map order. Golden 21, with its real checksum."""
    current = Path(CURRENT).read_text(encoding="utf-8")
    head, first, second, tail = (
        current[: current.index('{"PodUID":"pod-a"')],
        current[current.index('{"PodUID":"pod-a"') : current.index(',{"PodUID":"pod-b"')],
        current[current.index('{"PodUID":"pod-b"') : current.index('],"Registered')],
        current[current.index('],"Registered') :],
    )
    swapped = f"{head}{second},{first}{tail}".replace("1710597759", "3175195215")

    finished = rebind("checkpoint", "diff", CURRENT, str(written(tmp_path, swapped)))

    assert (finished.code, finished.stdout) == (0, "")
    assert finished.stderr == "no differences\n"


def test_diff_shows_what_is_added_removed_and_changed() -> None:
    finished = rebind("checkpoint", "diff", BEFORE, CURRENT, "--no-headers")

    assert finished.code == 1
    assert [line.split()[:2] for line in finished.stdout.splitlines()] == [
        ["removed", "entry"],
        ["added", "entry"],
        ["added", "entry"],
        ["changed", "registered"],
    ]


def test_diff_tells_devices_and_response_apart(tmp_path: Path) -> None:
    other = BARE.replace('["g1","g0"]', '["g1"]').replace('"AllocResp":""', '"AllocResp":"EgA="')
    (tmp_path / "other").write_text(other, encoding="utf-8")

    finished = rebind(
        "checkpoint", "diff", str(written(tmp_path, BARE)), str(tmp_path / "other"), "-o", "json"
    )

    rows = json.loads(finished.stdout)["items"]
    assert [(row["what"], row["before"], row["after"]) for row in rows] == [
        ("devices", "g0,g1", "g1"),
        ("response", "-", "mounts=:"),
    ]
    assert finished.code == 1


def test_diff_of_two_formats_compares_devices_without_nodes(tmp_path: Path) -> None:
    v1 = written(tmp_path, V1)

    finished = rebind("checkpoint", "diff", str(v1), CURRENT, "--no-headers")

    assert [line.split() for line in finished.stdout.splitlines()] == [
        ["changed", "format", "-", "-", "-", "v1", "v2"],
        ["added", "entry", "pod-b", "main", "vendor.com/gpu", "-", "1:gpu1"],
    ]


def test_an_empty_name_is_wrong_usage_and_not_the_current_folder() -> None:
    finished = rebind("checkpoint", "show", "")

    assert finished.code == 2
    assert finished.stderr.startswith("error: Invalid value for 'FILE': the name is empty; see ")
