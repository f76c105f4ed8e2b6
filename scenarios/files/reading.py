"""Files from the disk, and what is the same for every kind of document in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from scenarios.files.documents import Document, MapNode, Path, ScalarNode
from scenarios.files.phrases import found


def read_content(path: FilePath, size_max: int) -> bytes:
    """Read a file, one byte more than it may have at most.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        return file.read(size_max + 1)


def check_kind(document: Document, kind: str, purpose: str) -> None:
    """Check that a document is of a kind, where it has any.

    Args:
        document: A map, or something else that the schema will refuse.
        kind: The only one that will do.
        purpose: What for, e.g. `can be replayed`.

    Raises:
        InputError: It is of another kind.
    """
    node = document.find(("kind",))
    value = node.value() if isinstance(node, ScalarNode) else None
    if isinstance(document.root, MapNode) and node is not None and value != kind:
        reason = f"kind: {found(value)} is not a kind that {purpose}; write kind: {kind}"
        raise document.fault(("kind",), reason)


def check_names(documents: Sequence[Document], names: Sequence[str], noun: str) -> None:
    """Check that no two documents of a file have the same name.

    Raises:
        InputError: Two have.
    """
    for index, name in enumerate(names):
        if name in names[:index]:
            where: Path = ("metadata", "name")
            reason = f'metadata.name: a second {noun} of the name "{name}" in this file'
            raise documents[index].fault(where, reason)
