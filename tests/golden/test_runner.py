"""The runner itself: it finds recordings wherever they lie, and it notices what differs."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.__main__ import DIFFERENT, FINE, NOTHING_FOUND, main
from tests.golden.kinds import error_kind

CHECKPOINT = (
    '{"Data":{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c",'
    '"ResourceName":"example.com/gpu","DeviceIDs":{"-1":["g0"]},"AllocResp":null}],'
    '"RegisteredDevices":{"example.com/gpu":["g0","g1"]}},"Checksum":2923935316}'
)
CHECKPOINT_EXPECTED: dict[str, object] = {
    "note": "vector A5",
    "checksum": 2923935316,
    "entries_in_file_order": [
        {
            "pod_uid": "u1",
            "container": "c",
            "resource": "example.com/gpu",
            "device_ids_by_numa": {"-1": ["g0"]},
            "devices": ["g0"],
            "alloc_resp": None,
            "alloc_resp_base64": None,
        }
    ],
    "registered_devices": {"example.com/gpu": ["g0", "g1"]},
    "allocated_devices_after_read": {"example.com/gpu": ["g0"]},
    "read_error": "",
    "roundtrip_pod_devices_equal": True,
}
CORRUPT_EXPECTED: dict[str, object] = {
    "file": "torn.json",
    "get_checkpoint_error": "unexpected end of JSON input",
    "get_checkpoint_error_go_type": "*json.SyntaxError",
    "is_corrupt_checkpoint_error": False,
    "read_checkpoint_error": "unexpected end of JSON input",
    "accepted": False,
    "pod_uids_after_read": [],
    "allocated_devices_after_read": {},
    "registered_resources_after_read": [],
    "bindings_after_read": {},
}
ABSENT_EXPECTED: dict[str, object] = {
    **CORRUPT_EXPECTED,
    "file": "",
    "get_checkpoint_error": "checkpoint is not found",
    "get_checkpoint_error_go_type": "*errors.errorString",
    "read_checkpoint_error": "",
}
DIRECTORY_EXPECTED: dict[str, object] = {
    **CORRUPT_EXPECTED,
    "file": "",
    "get_checkpoint_error": "read a-folder/kubelet_internal_checkpoint: is a directory",
    "get_checkpoint_error_go_type": "*fs.PathError",
    "read_checkpoint_error": "read a-folder/kubelet_internal_checkpoint: is a directory",
}


def record(folder: Path, name: str, expect: object, content: str | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.expect.json").write_text(json.dumps(expect), encoding="utf-8")
    if content is not None:
        (folder / f"{name}.json").write_text(content, encoding="utf-8")


def run(*paths: Path) -> tuple[int, list[str]]:
    output = io.StringIO()
    code = main([str(path) for path in paths], output)
    return code, output.getvalue().splitlines()


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded" / "1.36.2"
    record(folder / "some", "vector", CHECKPOINT_EXPECTED, CHECKPOINT)
    record(folder / "other", "torn", CORRUPT_EXPECTED, CHECKPOINT[:-1])
    record(folder / "other", "absent", ABSENT_EXPECTED)
    record(folder / "other", "a-directory", DIRECTORY_EXPECTED)
    return folder


def test_recordings_are_found_by_what_they_hold(golden: Path) -> None:
    code, lines = run(golden)

    assert lines == ["checkpoints 1/1  corrupt 3/3  traces 0/0  steps 0  differences 0"]
    assert code == FINE


def test_a_recording_below_two_paths_counts_once(golden: Path) -> None:
    assert run(golden, golden / "other")[1] == run(golden)[1]


def test_any_subset_can_be_checked(golden: Path) -> None:
    code, lines = run(golden / "some")

    assert lines == ["checkpoints 1/1  corrupt 0/0  traces 0/0  steps 0  differences 0"]
    assert code == FINE


def test_nothing_found_is_not_success(tmp_path: Path) -> None:
    code, lines = run(tmp_path)

    assert lines == ["checkpoints 0/0  corrupt 0/0  traces 0/0  steps 0  differences 0"]
    assert code == NOTHING_FOUND


def _set(key: str, value: object) -> Callable[[dict[str, object]], None]:
    return lambda expect: expect.update({key: value})


@pytest.mark.parametrize(
    ("recording", "edit"),
    [
        ("some/vector", _set("checksum", 1)),
        ("some/vector", _set("file_bytes", 1)),
        ("some/vector", _set("hashed_string", "")),
        ("some/vector", _set("registered_devices", {"example.com/gpu": ["g1", "g0"]})),
        ("some/vector", _set("entries_in_file_order", [])),
        ("some/vector", _set("allocated_devices_after_read", {})),
        ("some/vector", _set("read_error", "unexpected end of JSON input")),
        ("some/vector", _set("roundtrip_pod_devices_equal", False)),  # noqa: FBT003 - a recorded value
        ("some/vector", _set("something_else", 1)),
        ("other/torn", _set("accepted", True)),  # noqa: FBT003 - a recorded value
        ("other/torn", _set("get_checkpoint_error", "checkpoint is corrupted")),
        ("other/torn", _set("is_corrupt_checkpoint_error", True)),  # noqa: FBT003 - a recorded value
        ("other/torn", _set("checksum_in_file", 0)),
        ("other/torn", _set("pod_uids_after_read", ["u1"])),
        ("other/torn", _set("bindings_after_read", {"u1|c|r": {"0": ["g0"]}})),
        ("other/torn", _set("registered_resources_after_read", ["r"])),
        ("other/absent", _set("read_checkpoint_error", "checkpoint is not found")),
        ("other/a-directory", _set("read_checkpoint_error", "")),
    ],
)
def test_a_different_value_is_a_difference(
    golden: Path, recording: str, edit: Callable[[dict[str, object]], None]
) -> None:
    path = golden / f"{recording}.expect.json"
    expect = json.loads(path.read_text(encoding="utf-8"))
    edit(expect)
    path.write_text(json.dumps(expect), encoding="utf-8")

    code, lines = run(golden)

    assert code == DIFFERENT
    assert all(line.startswith(f"{path}: ") for line in lines[:-1])
    assert lines[-1].endswith(f"differences {len(lines) - 1}")
    assert len(lines) > 1


def test_a_file_that_is_not_written_back_byte_for_byte_is_a_difference(golden: Path) -> None:
    (golden / "some" / "vector.json").write_text(f"{CHECKPOINT}\n", encoding="utf-8")

    code, lines = run(golden / "some")

    assert code == DIFFERENT
    assert "written back: at byte" in lines[0]


def test_the_nearest_folder_named_like_a_version_decides(golden: Path) -> None:
    """Backspace has a long escape before 1.30 (1.20.2/DIFFERENCES 24)."""
    data = '{"PodDeviceEntries":null,"RegisteredDevices":{"\\u0008":[]}}'
    content = f'{{"Data":{data},"Checksum":1802356139}}'
    record(golden / "1.20.2" / "checkpoints", "old", {"read_error": ""}, content)
    record(golden, "new", {"read_error": ""}, content)

    _, lines = run(golden)

    assert [line.partition(": ")[0] for line in lines[:-1]] == [str(golden / "new.expect.json")]


def test_a_list_of_what_another_version_read_is_checked(golden: Path) -> None:
    """1.20.2/DIFFERENCES 26: V1 entries cannot be read as V2, V1's reader can."""
    v1 = (
        '{"Data":{"PodDeviceEntries":[{"PodUID":"pod-a","ContainerName":"main",'
        '"ResourceName":"vendor.com/gpu","DeviceIDs":[],"AllocResp":""}],'
        '"RegisteredDevices":{"vendor.com/gpu":["gpu0","gpu1","gpu2"]}},"Checksum":1882682073}'
    )
    folder = golden.parent / "1.20.2"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints" / "v1.json").write_text(v1, encoding="utf-8")
    read = [{"file": "v1.json", "accepted": True, "get_checkpoint_error": ""}]
    refused = [{"file": "v1.json", "accepted": False, "get_checkpoint_error": "json: cannot x"}]
    absent = [{"file": "elsewhere.json", "accepted": True}]

    (folder / "READ-V1-BY-V1.json").write_text(json.dumps(read), encoding="utf-8")
    (golden / "READ-V1-FROM-1.20.2.json").write_text(json.dumps(refused + absent), encoding="utf-8")

    assert run(golden.parent)[0] == FINE

    (golden / "READ-V1-FROM-1.20.2.json").write_text(json.dumps(read), encoding="utf-8")

    assert run(golden.parent)[0] == DIFFERENT


def test_names_of_folders_above_the_version_say_nothing(golden: Path, tmp_path: Path) -> None:
    copy = tmp_path / "v1" / "1.36.2"
    shutil.copytree(golden, copy)

    assert run(copy)[1] == run(golden)[1]


def test_links_are_followed_and_a_loop_ends(golden: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "some").symlink_to(golden / "some")
    (golden / "some" / "back").symlink_to(golden)

    assert run(linked) == run(golden)


def test_v1_files_are_told_by_their_description_wherever_they_lie(tmp_path: Path) -> None:
    """golden/README: the descriptions of V1 files have `device_ids_in_file_order`."""
    data = Path(__file__).parent / "data" / "1.20.2" / "v1" / "checkpoints"
    shutil.copytree(data, tmp_path / "1.20.2" / "checkpoints")

    assert run(tmp_path)[1] == run(data)[1]


def test_what_cannot_be_checked_is_a_difference_and_the_others_are_checked(golden: Path) -> None:
    record(golden / "some", "a-lost-file", CHECKPOINT_EXPECTED)
    (golden / "some" / "b.expect.json").write_text("{", encoding="utf-8")
    (golden / "some" / "c.expect.json").write_text("[]", encoding="utf-8")
    (golden / "some" / "d.jsonl").write_text("{}\n{}", encoding="utf-8")
    (golden / "some" / "e.jsonl").write_text("", encoding="utf-8")

    code, lines = run(golden)

    assert code == DIFFERENT
    assert [Path(line.partition(": ")[0]).name for line in lines[:-1]] == [
        "a-lost-file.expect.json",
        "b.expect.json",
        "c.expect.json",
        "d.jsonl",
        "e.jsonl",
    ]
    assert lines[-1] == "checkpoints 1/2  corrupt 3/3  traces 0/2  steps 0  differences 5"


def test_a_copy_elsewhere_gives_the_same_verdict(golden: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copied"
    shutil.copytree(golden, copy)

    assert run(copy)[1] == run(golden)[1]


@pytest.mark.parametrize(
    ("text", "go_type", "kind"),
    [
        ("", "", "none"),
        ("checkpoint is corrupted", "*errors.errorString", "checksum"),
        ("checkpoint is not found", "*errors.errorString", "absent"),
        ("illegal base64 data at input byte 0", "base64.CorruptInputError", "type"),
        ("json: cannot unmarshal number -1 into Go ...", "", "type"),
        ("invalid character 'x' after top-level value", "", "syntax"),
        ("unexpected end of JSON input", "*json.SyntaxError", "syntax"),
        ("read a: is a directory", "*fs.PathError", "file"),
    ],
)
def test_errors_are_compared_by_kind(text: str, go_type: str, kind: str) -> None:
    assert error_kind(text, go_type) == kind
