"""`rebind diagnose`: what it prints, and how it answers what it cannot read."""

from __future__ import annotations

import io
import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from store.sql_store import SqlStore
from tests.cli.running import rebind

FILES = Path(__file__).parent / "files"
POD = str(FILES / "pod.yaml")
CHECKPOINT = str(FILES / "kubelet_internal_checkpoint")
MESSAGE = "requested number of devices unavailable for a.io/gpu. Requested: 2, Available: 1"


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_a_refused_pod_is_explained_in_blocks() -> None:
    finished = rebind("diagnose", "--pod", POD)

    lines = finished.stdout.splitlines()
    assert finished.code == 0
    assert lines[0] == "Pod research/trainer on n0: Failed, UnexpectedAdmissionError (uid pod-a)"
    assert "The pod's status says:" in lines
    labels = [line.split()[0] for line in lines if line[:2].isupper()]
    assert labels == ["MEANS", "DO", "WHY", "VERSIONS", "WHERE", "RULE", "REPORTS"]
    assert "RULE      S3 step D" in lines
    assert any(line.startswith("DO        1. ") for line in lines)
    assert "its ReplicaSet trainer-5d8f makes another" in " ".join(finished.stdout.split())
    assert max(map(len, lines)) <= 80


def test_a_checkpoint_is_searched_for_the_pod() -> None:
    text = rebind("diagnose", "--pod", POD, "--checkpoint", CHECKPOINT).stdout

    assert "Container main holds vendor.com/gpu: NUMA 0: gpu0." in text
    assert "registered with 3 healthy devices, 1 of them free" in text


def test_a_checkpoint_says_nothing_of_pods_of_other_nodes(tmp_path: Path) -> None:
    """`kubectl get pods -A` shows a cluster; the file is of one node."""
    here = yaml.safe_load(Path(POD).read_text(encoding="utf-8"))
    here["status"] = {"phase": "Running"}
    there = json.loads(json.dumps(here))
    there["metadata"] |= {"name": "other", "uid": "pod-z"}
    there["spec"]["nodeName"] = "n1"
    path = tmp_path / "pods.json"
    path.write_text(json.dumps({"kind": "List", "items": [here, there]}), encoding="utf-8")
    finished = rebind("diagnose", "--pod", str(path), "--checkpoint", CHECKPOINT)

    first, second = finished.stdout.split("Pod research/other on n1")
    assert "Container main holds vendor.com/gpu" in first
    assert "and holds 0" not in second
    assert "The checkpoint file" not in second
    assert finished.stderr == (
        "note: 1 pod of other nodes than the checkpoint's, which says nothing of it\n"
    )


def test_a_kubelet_is_asked_whether_it_would_say_it() -> None:
    text = rebind("diagnose", "--pod", POD, "--kubelet-version", "1.24").stdout

    assert "KUBELET   1.24 does not say this; it comes from" in text


def test_documents_say_the_same() -> None:
    arguments = ("diagnose", "--pod", POD, "--checkpoint", CHECKPOINT, "--kubelet-version", "1.36")
    document = json.loads(rebind(*arguments, "-o", "json").stdout)

    assert document["kind"] == "DiagnosisList"
    (item,) = document["items"]
    (finding,) = item["findings"]
    assert item["pod"]["reason"] == "UnexpectedAdmissionError"
    assert finding["key"] == "noHealthyDevices"
    assert finding["rules"] == ["S3 step D"]
    assert finding["saidBy"] == ["1.26.5 to 1.26.x", "1.27.2 and later"]
    assert finding["kubelet"]["says"] is True
    assert finding["reports"][0]["id"] == "R01"
    assert item["checkpoint"]["entries"] == [
        {
            "container": "main",
            "resource": "vendor.com/gpu",
            "devices": {"0": ["gpu0"]},
            "notHealthy": [],
            "alsoHeld": {},
        }
    ]
    assert item["checkpoint"]["resources"][0]["holders"] == {"pod-a": 1, "pod-b": 1}
    assert yaml.safe_load(rebind(*arguments, "-o", "yaml").stdout) == document


def test_a_message_needs_no_pod() -> None:
    finished = rebind("diagnose", "--message", MESSAGE)

    assert finished.code == 0
    assert "The container still needed 2 of a.io/gpu, and 1 were healthy" in finished.stdout


def test_a_made_up_message_is_called_unknown_and_the_command_fails() -> None:
    finished = rebind("diagnose", "--message", "the flux is low")

    assert finished.code == 1
    assert finished.stdout.splitlines()[0] == "The message says what is not known to diagnose:"


def test_stdin_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(f"{MESSAGE}\n".encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert rebind("diagnose", "--message", "-").code == 0
    twice = rebind("diagnose", "--message", "-", "--pod", "-")
    assert twice.code == 2
    assert "stdin (-) can be read once" in twice.stderr


def test_only_all_lines_of_a_pasted_message_together_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A terminal has broken it; lines that are known alone stay messages of their own."""

    class Stdin:
        buffer = io.BytesIO(f"{MESSAGE[:45]}\n{MESSAGE[45:]}\n".encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    finished = rebind("diagnose", "--message", "-", "-o", "json")
    (item,) = json.loads(finished.stdout)["items"]
    assert finished.code == 0
    assert [each["key"] for each in item["findings"]] == ["devicesUnavailable"]
    assert item["unknown"] == []


def test_a_description_is_read_without_what_is_normal_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`kubectl describe pod NAME | rebind diagnose --message -`."""

    class Stdin:
        buffer = io.BytesIO(
            "Name:  trainer\nEvents:\n"
            "  Type     Reason     Age   From               Message\n"
            "  Normal   Scheduled  3m    default-scheduler  Successfully assigned r/trainer to n0\n"
            f"  Warning  Failed     3m    kubelet            Error: {MESSAGE}\n".encode()
        )

    monkeypatch.setattr(sys, "stdin", Stdin)
    finished = rebind("diagnose", "--message", "-")
    assert finished.code == 0
    assert "Scheduled" not in finished.stdout
    assert "The container still needed 2 of a.io/gpu" in finished.stdout


@pytest.mark.parametrize("message", ["", " ", "\n"])
def test_a_message_without_words_is_refused(message: str) -> None:
    finished = rebind("diagnose", "--message", message)

    assert finished.code == 2
    assert finished.stderr.startswith("error: the message is empty")


def test_events_of_other_pods_say_nothing_about_this_one(tmp_path: Path) -> None:
    events = tmp_path / "events"
    events.write_text(
        "LAST SEEN   TYPE      REASON   OBJECT          MESSAGE\n"
        f"3m          Warning   Failed   pod/stranger    {MESSAGE}\n",
        encoding="utf-8",
    )

    assert "a.io/gpu" not in rebind("diagnose", "--pod", POD, "--events", str(events)).stdout


def test_of_a_long_log_only_the_beginning_of_what_is_not_known_is_shown(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [*(f"line {number} of nothing" for number in range(50)), MESSAGE]
    log.write_text("\n".join(lines), encoding="utf-8")
    finished = rebind("diagnose", "--events", str(log))

    assert finished.code == 0
    assert "MEANS" in finished.stdout
    assert "line 2 of nothing" in finished.stdout
    assert "line 3 of nothing" not in finished.stdout
    assert "47 more texts not known to diagnose; -o json names all.\n" in finished.stdout


@pytest.mark.parametrize("text", ["Name:         trainer\n", "\nNAME   READY\ntrainer   0/1\n"])
def test_text_for_people_in_place_of_the_pod_is_sent_to_its_option(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "pod.txt"
    path.write_text(text, encoding="utf-8")
    finished = rebind("diagnose", "--pod", str(path))

    assert finished.code == 2
    assert finished.stderr == (
        f"error: {path}: this is text for people, as kubectl describe prints it; give it with "
        "--events, and the pod as kubectl get pod NAME -o yaml prints it\n"
    )


def test_events_are_read_as_text_and_as_documents(tmp_path: Path) -> None:
    text = tmp_path / "events"
    text.write_text(f"  Warning  Failed  3m  kubelet  {MESSAGE}\n", encoding="utf-8")
    document = tmp_path / "events.yaml"
    document.write_text(
        f"kind: List\nitems:\n- {{kind: Event, type: Warning, message: '{MESSAGE}'}}\n",
        encoding="utf-8",
    )

    for path in (text, document):
        finished = rebind("diagnose", "--events", str(path), "-o", "json")
        (item,) = json.loads(finished.stdout)["items"]
        assert [each["key"] for each in item["findings"]] == ["devicesUnavailable"]


def test_a_damaged_checkpoint_is_told_and_the_pod_explained_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    for content in ("{", '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":1}'):
        path.write_text(content, encoding="utf-8")
        finished = rebind("diagnose", "--pod", POD, "--checkpoint", str(path))

        assert finished.code == 0
        assert "It is damaged:" in finished.stdout


def test_a_kubelet_that_cannot_read_the_file_is_told() -> None:
    text = rebind(
        *("diagnose", "--pod", POD, "--checkpoint", CHECKPOINT, "--kubelet-version", "1.19")
    ).stdout

    assert "Kubelet 1.19 cannot read it: json: cannot unmarshal object" in text


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        ((), 2, "nothing to explain; give --pod FILE, --events FILE or --message TEXT"),
        (("--message", "x", "--checkpoint", CHECKPOINT), 2, "--checkpoint is searched for a pod"),
        (("--message", ""), 2, "the message is empty"),
        (("--pod", "absent.yaml"), 3, "absent.yaml: No such file or directory"),
        (("--pod", CHECKPOINT), 2, 'the key "kind" is missing'),
        (("--message", "x", "--kubelet-version", "1.9"), 2, "older than 1.10"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], code: int, error: str) -> None:
    finished = rebind("diagnose", *arguments)

    assert finished.code == code
    assert error in finished.stderr
    assert finished.stderr.count("\n") == 1
    assert finished.stdout == ""


def test_what_rebind_says_about_its_own_database_is_known(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    url = f"sqlite:///{path}"
    with closing(SqlStore(url)):
        writing = rebind("db", "compact", "--db", url)
    path.write_bytes(b"no database")
    damaged = rebind("get", "nodes", "--db", url)

    for finished, key in ((writing, "databaseHasWriter"), (damaged, "databaseUnusable")):
        assert finished.code == 3
        answer = rebind("diagnose", "--message", finished.stderr, "-o", "json")
        (item,) = json.loads(answer.stdout)["items"]
        assert [each["key"] for each in item["findings"]] == [key]


def test_nothing_said_is_told_on_stderr(tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.touch()
    finished = rebind("diagnose", "--events", str(path))

    assert (finished.code, finished.stdout) == (0, "")
    assert finished.stderr == "no message to explain\n"


def test_a_kubelet_of_the_future_is_told_which_it_is_taken_for() -> None:
    assert "behaves like" in rebind("diagnose", "--pod", POD, "--kubelet-version", "1.99").stderr


def test_files_without_pods_binary_and_enormous_ones_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.yaml"
    empty.write_text("kind: List\nitems: []\n", encoding="utf-8")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(64 * 1024 * 1024 + 1)

    assert "there is no pod in it" in rebind("diagnose", "--pod", str(empty)).stderr
    assert "not UTF-8 text: byte 0" in rebind("diagnose", "--events", str(binary)).stderr
    assert "more than 67108864 bytes" in rebind("diagnose", "--events", str(large)).stderr
