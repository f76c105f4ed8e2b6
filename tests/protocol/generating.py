"""Generate the protobuf modules of `simulator.protocol` from its `.proto` files.

protoc's code makes its messages known to the whole process. Ours must not
(`simulator.protocol.pool`), so the generated text is changed in those places; and its stubs leave
out type arguments, which mypy's strict mode wants.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PROTOCOL: Final = ROOT / "simulator" / "protocol"

_IN_MODULES: Final = (
    (
        r"from google\.protobuf import descriptor_pool as _descriptor_pool\n",
        "from simulator.protocol import pool as _pool\n",
    ),
    (r"from google\.protobuf import symbol_database as _symbol_database\n", ""),
    (r"_sym_db = _symbol_database\.Default\(\)\n", ""),
    (r"_descriptor_pool\.Default\(\)", "_pool.POOL"),
    (
        r"_builder\.BuildTopDescriptorsAndMessages\(DESCRIPTOR, '[\w.]+', _globals\)",
        "_pool.add_message_classes(DESCRIPTOR, _globals)",
    ),
)
"""What is replaced, and by what; each stands in a module once."""

_BARE_MAPPING: Final = re.compile(r"\b_Mapping\b(?![\[\n])")


def generated() -> Mapping[Path, str]:
    """Return what the `.proto` files generate: each module and stub with its text."""
    protos = sorted(path.relative_to(ROOT).as_posix() for path in PROTOCOL.glob("*.proto"))
    with tempfile.TemporaryDirectory(prefix="rebind-protoc-") as folder:
        outputs = (f"--python_out={folder}", f"--pyi_out={folder}")
        command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", *outputs, *protos]
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - our own files
        made = Path(folder)
        return {
            ROOT / path.relative_to(made): _adapted(path)
            for path in sorted(made.rglob("*_pb2.py*"))
        }


def committed() -> Mapping[Path, str]:
    """Return the generated modules and stubs that stand in the checkout."""
    return {path: path.read_text("utf-8") for path in sorted(PROTOCOL.glob("*_pb2.py*"))}


def _adapted(path: Path) -> str:
    text = path.read_text("utf-8")
    if path.suffix == ".pyi":
        return _BARE_MAPPING.sub("_Mapping[str, object]", text)
    for pattern, replacement in _IN_MODULES:
        text, found = re.subn(pattern, replacement, text)
        if found != 1:
            message = f"{path.name}: {pattern} stands {found} times in protoc's code, not 1"
            raise ValueError(message)
    return text
