"""Lists of what another version made of files (`READ-*.json`, golden/README)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from simulator.core.allocate_response import decode, rewritten
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.dump import checksum, dump
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.switches import behavior_for
from simulator.errors import CheckpointError
from tests.golden.comparing import compare
from tests.golden.described import Described
from tests.golden.kinds import NONE, error_kind
from tests.golden.profiles import V1_KUBELET, version_folder_of, version_of

_FROM_VERSION: Final = re.compile(r"-FROM-v?(\d+\.\d+\.\d+)")
_BY_V1: Final = "-BY-V1"
_ERROR_KEYS: Final = ("get_checkpoint_error", "read_checkpoint_error")
_GO_TYPE_KEY: Final = "get_checkpoint_error_go_type"
_FOLDERS: Final = ("", "checkpoints", "corrupt", "v1/checkpoints")


def check_read_list(path: Path, items: Sequence[Described]) -> list[str]:
    """Return what differs from a list; files that are not there are passed over.

    Args:
        path: The list. Its name says who wrote the files (`FROM-1.36.2`, else the version whose
            folder it lies in) and who read them (`BY-V1`, else that version).
        items: One object for each file.
    """
    reader = V1_KUBELET if _BY_V1 in path.stem else behavior_for(version_of(path))
    differences = []
    for item in items:
        file = next(_candidates(path, item), None)
        if file is not None:
            differences += [f"{item['file']}: {line}" for line in _check(file, item, reader)]
    return differences


def _candidates(path: Path, item: Described) -> Iterator[Path]:
    """Yield the files that an item may mean."""
    version_folder = version_folder_of(path)
    writers = [path.resolve().parent] if version_folder is None else [version_folder]
    named = _FROM_VERSION.search(path.stem)
    if named is not None and version_folder is not None:
        writers = [version_folder.parent / named[1]]
    for writer in writers:
        for folder in _FOLDERS:
            file = writer / folder / str(item["file"])
            if file.is_file() and _is_meant(file, item):
                yield file


def _is_meant(file: Path, item: Described) -> bool:
    digest = item.get("file_sha256")
    return digest is None or sha256(file.read_bytes()).hexdigest() == digest


def _check(file: Path, item: Described, reader: Behavior) -> list[str]:
    content = file.read_bytes()
    found: dict[str, object] = {"file_sha256": sha256(content).hexdigest()}
    kind = NONE
    try:
        found |= {"accepted": True, **_after_read(parse(content, reader.checkpoints_read), reader)}
    except CheckpointError as error:
        kind = error_kind(str(error))
        found["accepted"] = False
    found |= dict.fromkeys(_ERROR_KEYS, kind)
    go_type = str(item.get(_GO_TYPE_KEY, ""))
    recorded = {
        key: error_kind(str(value), go_type) if key in _ERROR_KEYS else value
        for key, value in item.items()
        if key != _GO_TYPE_KEY
    }
    return compare(recorded, found)


def _after_read(checkpoint: Checkpoint, reader: Behavior) -> Described:
    """Describe the state after an accepted file, and what the next write would change in it."""
    read = read_bindings(checkpoint, lenient=reader.lenient_allocate_responses)
    responses = [binding.response or b"" for binding in read.bindings]
    before = [decode(response) for response in responses]
    after = [
        decode(
            rewritten(
                response,
                lenient=reader.lenient_allocate_responses,
                cdi_devices=reader.cdi_devices_known,
            )
        )
        for response in responses
    ]
    lost = [one.cdi_devices != other.cdi_devices for one, other in zip(before, after, strict=True)]
    return {
        "checksum_in_file": checksum(dump(checkpoint)),
        "state_after_read_equals_file": not read.skipped and not read.repeated,
        "entries_whose_alloc_resp_has_cdi_devices_lost_by_read_and_write": sum(lost),
        "every_alloc_resp_unchanged_by_read_and_write_up_to_field_order": before == after,
    }
