"""`rebind checkpoint import` and `export`: a kubelet's file into the database and back."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Finished, rebind

FILES = Path(__file__).parent / "files"
GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "data").rglob("checkpoints/*.json"))
RECORDED = [path for path in GOLDEN if not path.name.endswith(".expect.json")]
V1 = [path for path in RECORDED if "v1" in path.parts]

PODS = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: trainer, namespace: ml, uid: pod-a}}
- {apiVersion: v1, kind: Pod, metadata: {name: server, uid: pod-b}, spec: {anything: [1]}}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for source in FILES.iterdir():
        shutil.copy(source, tmp_path)


def _import(*arguments: str, file: str = "kubelet_internal_checkpoint") -> Finished:
    return rebind("checkpoint", "import", file, "--node", "n0", *arguments)


def _export(*arguments: str) -> bytes:
    finished = rebind("checkpoint", "export", "--node", "n0", "--force", "out", *arguments)
    assert finished.code == 0, finished.stderr
    return Path("out").read_bytes()


def test_an_import_says_what_came_of_it_and_the_same_again_changes_nothing() -> None:
    first, again = _import(), _import()

    assert first.stdout == "node/n0 imported: 2 bindings of 2 pods, revision 1\n"
    assert again.stdout == "node/n0 unchanged: 2 bindings of 2 pods, revision 1\n"
    assert (first.code, again.code, first.stderr) == (0, 0, "")


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_export_after_import_gives_the_same_bytes(path: Path) -> None:
    assert rebind("checkpoint", "import", str(path), "--node", "n0").code in {0, 1}
    kept = rebind(
        "checkpoint", "import", str(path), "--node", "n0", "--on-conflict", "keep", "--replace"
    )

    assert kept.code == 0, kept.stderr
    assert _export() == path.read_bytes()


@pytest.mark.parametrize("path", V1, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_a_v1_file_is_exported_as_it_was_and_as_v2_it_verifies(path: Path) -> None:
    kept = rebind("checkpoint", "import", str(path), "--node", "n0", "--on-conflict", "keep")

    assert kept.code == 0, kept.stderr
    assert _export("--format", "v1") == path.read_bytes()
    _export("--kubelet-version", "1.36.2")
    again = rebind("checkpoint", "verify", "out", "-o", "json")

    assert again.code == 0
    assert json.loads(again.stdout)["format"] == "v2"


def test_there_are_recordings_of_both_formats_to_test_with() -> None:
    assert len(RECORDED) >= 10
    assert len(V1) >= 1


def test_ids_of_a_v1_file_go_to_numa_node_zero() -> None:
    """S4.15."""
    _import()
    _export("--format", "v1")
    _import("--replace", file="out")
    shown = rebind("checkpoint", "export", "--node", "n0", "--format", "v2").stdout

    assert '"DeviceIDs":{"0":["gpu1"]}' in shown


def test_a_dry_run_says_the_same_and_changes_nothing() -> None:
    assert _import("--dry-run").stdout == (
        "node/n0 imported (dry run): 2 bindings of 2 pods, revision 1\n"
    )
    assert not Path("rebind.db").exists()
    _import()

    assert _import("--dry-run").stdout.startswith("node/n0 unchanged (dry run)")
    assert _import("--dry-run", file="before.checkpoint").code == 1
    assert _import("--dry-run", "--replace", file="before.checkpoint").code == 0
    assert rebind("history", "pod", "pod-b").stdout.count("CheckpointImported") == 1


def test_other_state_is_refused_without_replace() -> None:
    _import()
    refused = _import(file="before.checkpoint")

    assert refused.code == 1
    assert refused.stderr == (
        "error: before.checkpoint is not imported: node n0 already has other state (2 pods, "
        "1 resource); import with --replace to drop it\n"
    )
    assert _import("--replace", file="before.checkpoint").code == 0
    assert _export() == Path("before.checkpoint").read_bytes()


def test_a_device_under_two_pods_is_refused_or_kept() -> None:
    twice = next(path for path in RECORDED if "device-in-two-pods" in path.name)
    refused = _import(file=str(twice))
    kept = _import("--on-conflict", "keep", file=str(twice))

    assert refused.code == 1
    assert "stands under pods" in refused.stderr
    assert "--on-conflict keep" in refused.stderr
    assert kept.code == 0


def test_names_come_from_manifests() -> None:
    Path("pods.yaml").write_text(PODS)
    _import()
    named = _import("-f", "pods.yaml")

    assert named.stdout == "node/n0 imported: 2 bindings of 2 pods, revision 2\n"
    shown = rebind("get", "pods", "-o", "name").stdout

    assert shown == "pod/ml/trainer\npod/default/server\n"
    assert _export() == Path("kubelet_internal_checkpoint").read_bytes()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: Service\n", "pods.yaml:1:7: Service is not a pod"),
        ("kind: Pod\nmetadata: {name: x}\n", "pods.yaml:2"),
        ("- 1\n", "pods.yaml:1:1"),
        ("{", "pods.yaml:"),
    ],
)
def test_a_file_that_names_no_pods_is_refused(text: str, said: str) -> None:
    Path("pods.yaml").write_text(text)
    refused = _import("-f", "pods.yaml")

    assert refused.code == 2
    assert said in refused.stderr
    assert not Path("rebind.db").exists()


def test_a_damaged_file_changes_nothing() -> None:
    Path("damaged").write_bytes(Path("kubelet_internal_checkpoint").read_bytes()[:-20])
    refused = _import(file="damaged")

    assert refused.code == 2
    assert refused.stderr.count("\n") == 1
    assert not Path("rebind.db").exists()


def test_a_missing_file_is_an_error_unless_it_may_be_missing() -> None:
    """R58: a kubelet writes it when it has something to keep."""
    normal = "nowhere does not exist, which is normal on a node that never had a device plugin"
    refused = _import(file="nowhere")
    forgiven = _import("--missing-ok", file="nowhere")

    assert (refused.code, refused.stdout) == (3, "")
    assert refused.stderr == f"error: {normal}; with --missing-ok it is no error\n"
    assert (forgiven.code, forgiven.stdout) == (0, "")
    assert forgiven.stderr == f"{normal}; nothing was imported\n"
    assert not Path("rebind.db").exists()


def test_left_over_bytes_and_a_wrong_checksum_are_refused_with_what_is_wrong() -> None:
    """R52, R56: nothing of such a file is taken, however good its beginning."""
    content = Path("kubelet_internal_checkpoint").read_bytes()
    Path("tail").write_bytes(content + content[-30:])
    found = json.loads(content)["Checksum"]
    Path("checksum").write_bytes(content.replace(b"%d}" % found, b"%d}" % (found + 1)))

    tail, checksum = _import(file="tail"), _import(file="checksum")

    shown = chr(content[-30])
    assert (tail.code, checksum.code) == (2, 2)
    assert tail.stderr == (
        f"error: tail: checkpoint is not JSON: invalid character '{shown}' after top-level value, "
        f"at byte {len(content)} of {len(content) + 30}\n"
    )
    assert checksum.stderr == (
        f"error: checksum: checkpoint is corrupted: the file states checksum {found + 1}, its "
        f"content has {found}; a kubelet would start without any record; "
        "--accept-bad-checksum takes what it says all the same\n"
    )
    assert not Path("rebind.db").exists()


def test_a_wrong_checksum_can_be_accepted_with_a_warning_and_is_not_handed_on() -> None:
    """R56: for files whose content is trusted; the original stays as evidence."""
    content = Path("kubelet_internal_checkpoint").read_bytes()
    bad = content.replace(b"1710597759", b"1710597758")
    assert bad != content
    Path("bad").write_bytes(bad)
    taken = _import("--accept-bad-checksum", file="bad")

    assert taken.code == 0
    assert taken.stdout == "node/n0 imported: 2 bindings of 2 pods, revision 1\n"
    assert taken.stderr == (
        "warning: bad states checksum 1710597758, its content has 1710597759: no kubelet would "
        "read it, and what it says may be damaged; an export will state the right one\n"
    )
    assert Path("bad").read_bytes() == bad
    assert _held("deviceIDs") == [("pod-a", ["gpu0"]), ("pod-b", ["gpu1"])]
    _export()
    assert rebind("checkpoint", "verify", "out").code == 0
    assert rebind("checkpoint", "diff", "out", "kubelet_internal_checkpoint").code == 0


def test_a_sound_file_is_imported_without_a_warning_whatever_is_accepted() -> None:
    assert _import("--accept-bad-checksum").stderr == ""
    assert _export() == Path("kubelet_internal_checkpoint").read_bytes()


def test_what_is_no_checkpoint_is_accepted_by_nothing() -> None:
    """R52: left-over bytes are no matter of the checksum."""
    content = Path("kubelet_internal_checkpoint").read_bytes()
    Path("tail").write_bytes(content + content[-30:])
    refused = _import("--accept-bad-checksum", file="tail")

    assert refused.code == 2
    assert "after top-level value" in refused.stderr
    assert not Path("rebind.db").exists()


def test_numa_nodes_of_the_old_format_are_assumed_and_the_import_says_so() -> None:
    """R54, S4.15: the old format has none."""
    _import()
    Path("old").write_bytes(_export("--format", "v1"))
    finished = _import("--replace", file="old")

    assert finished.stderr == (
        "note: format v1 names no NUMA nodes; node 0 is assumed for all devices, as the kubelets "
        "from 1.20.14 to 1.29 do that read such a file\n"
    )
    assert _held("numaNodes") == [("pod-a", [0]), ("pod-b", [0])]


def _held(devices: str) -> list[tuple[str, object]]:
    """Return pods with a field of their devices, as `get bindings` has them."""
    listed = json.loads(rebind("get", "bindings", "-o", "json").stdout)["items"]
    return [
        (binding["spec"]["podUID"], one[devices])
        for binding in listed
        for container in binding["spec"]["containers"]
        for one in container["devices"]
    ]


def test_numa_node_zero_is_written_out_and_no_node_is_none() -> None:
    """R101, R102: encoders of protobuf leave a 0 out, and `-1` is the kubelet's own."""
    _import()
    assert _held("numaNodes") == [("pod-a", [0]), ("pod-b", [1])]

    text = Path("kubelet_internal_checkpoint").read_text()
    data, _, _ = text.replace('{"1":["gpu1"]}', '{"-1":["gpu1"]}').rpartition(',"Checksum"')
    Path("unaligned").write_text(f'{data},"Checksum":1}}')
    computed = _import("--replace", file="unaligned").stderr.rpartition("has ")[2].split(";")[0]
    Path("unaligned").write_text(f'{data},"Checksum":{computed}}}')
    _import("--replace", file="unaligned")

    assert _held("numaNodes") == [("pod-a", [0]), ("pod-b", [])]


def test_a_file_exported_in_either_format_gives_the_same_bindings() -> None:
    """R55: readers of the one format and of the other are served; the old one has no NUMA nodes."""
    _import()
    v1, v2 = _export("--format", "v1"), _export("--format", "v2")
    assert v1 != v2
    bindings = []
    for content in (v1, v2):
        Path("out").write_bytes(content)
        _import("--replace", file="out")
        bindings.append(_held("deviceIDs"))

    assert bindings[0] == bindings[1] == [("pod-a", ["gpu0"]), ("pod-b", ["gpu1"])]


def test_an_entry_that_the_kubelet_cannot_decode_is_left_out_and_named() -> None:
    """S4.13."""
    content = Path("kubelet_internal_checkpoint").read_text()
    first_response = content.partition('"AllocResp":"')[2].partition('"')[0]
    bad = content.replace(first_response, "/w==")
    Path("bad").write_text(bad)
    verdict = json.loads(rebind("checkpoint", "verify", "bad", "-o", "json").stdout)
    Path("bad").write_text(bad.replace("1710597759", str(verdict["checksum"]["computed"])))
    finished = _import(file="bad")

    assert finished.stdout == "node/n0 imported: 1 binding of 1 pod, revision 1\n"
    assert finished.stderr == (
        "skipped: pod-a/main/vendor.com/gpu: a kubelet of version 1.36.2 cannot decode the "
        "plugin's response\n"
    )


def test_an_import_is_as_one_kubelet_reads_the_file() -> None:
    refused = _import("--kubelet-version", "1.24.0,1.36.2")

    assert refused.code == 2
    assert "'1.24.0,1.36.2' is not a kubelet version" in refused.stderr


def test_an_export_says_which_kubelets_read_it() -> None:
    """R55, S4.15: readers of the old format break on the new one, and the other way about."""
    _import()

    def told(form: str) -> str:
        return rebind("checkpoint", "export", "--node", "n0", "--format", form, form).stdout

    assert told("v1") == (
        "v1 written: format v1, read by kubelets 1.10 to 1.19, 1.20.14 to 1.20.x, "
        "1.21.8 to 1.21.x, 1.22.5 to 1.29\n"
    )
    assert told("v2") == "v2 written: format v2, read by kubelets 1.20 and later\n"


def test_export_never_overwrites_by_itself() -> None:
    _import()
    Path("out").write_text("mine")
    refused = rebind("checkpoint", "export", "--node", "n0", "out")

    assert refused.code == 3
    assert refused.stderr == "error: out exists already; use --force to overwrite it\n"
    assert Path("out").read_text() == "mine"
    for target in ("nowhere/out", "folder"):
        Path("folder").mkdir(exist_ok=True)
        failed = rebind("checkpoint", "export", "--node", "n0", "--force", target)

        assert failed.code == 3
        assert failed.stderr.startswith(f"error: {target}: ")
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["", "N0", "a b", "-a", "a" * 254, "ü"])
def test_a_node_must_have_a_name_that_kubernetes_allows(name: str) -> None:
    refused = rebind("checkpoint", "import", "kubelet_internal_checkpoint", f"--node={name}")

    assert refused.code == 2
    assert "is no name for a node" in refused.stderr
    assert not Path("rebind.db").exists()


def test_export_of_an_unknown_node_is_refused() -> None:
    _import()
    refused = rebind("checkpoint", "export", "--node", "n9")

    assert refused.code == 2
    assert refused.stderr == (
        "error: no node n9 is known; `rebind get nodes` shows those that are\n"
    )


def test_the_format_follows_the_kubelet_version() -> None:
    _import()

    assert b'"DeviceIDs":["gpu0"]' in _export("--kubelet-version", "1.19.0")
    assert b'"DeviceIDs":{"0":["gpu0"]}' in _export("--kubelet-version", "1.20.0")


def test_a_pipe_is_written_to_and_a_link_stays_a_link() -> None:
    """An export replaces regular files only: a device of that name must not become a file."""
    _import()
    os.mkfifo("pipe")
    Path("target").write_bytes(b"old")
    Path("link").symlink_to("target")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        for name in ("pipe", "link"):
            assert rebind("checkpoint", "export", "--node", "n0", "--force", name).code == 0
        content = os.read(reader, 2**16)
    finally:
        os.close(reader)

    assert Path("pipe").is_fifo()
    assert Path("link").is_symlink()
    assert content == Path("target").read_bytes() == _export()


def test_a_folder_is_no_file_to_export_to() -> None:
    _import()
    Path("folder").mkdir()
    refused = rebind("checkpoint", "export", "--node", "n0", "--force", "folder")

    assert (refused.code, refused.stderr.count("\n")) == (3, 1)
    assert "folder: Is a directory" in refused.stderr
