"""Typed access to the values of a document that has no schema of ours, with faults in place."""

from __future__ import annotations

from collections.abc import Sequence

from scenarios.files.documents import Document, ListNode, MapNode, Path, ScalarNode, plain
from scenarios.files.phrases import found, nearest
from simulator.errors import InputError


class Values:
    """Reads maps, lists, text and numbers at paths of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @property
    def document(self) -> Document:
        """The document."""
        return self._document

    def fault(self, path: Path, reason: str, *, key: bool = False) -> InputError:
        """Return the error that says `reason` about the value, or the key, at `path`."""
        return self._document.fault(path, reason, key=key)

    def has(self, path: Path) -> bool:
        """Tell whether there is a value that is not null."""
        node = self._document.find(path)
        return node is not None and not (isinstance(node, ScalarNode) and node.value() is None)

    def keys(self, path: Path, allowed: Sequence[str] | None = None) -> list[str]:
        """Return the keys of the map at `path`; with `allowed`, no others may be in it."""
        node = self._document.find(path)
        if not isinstance(node, MapNode):
            raise self._wrong(path, "a map")
        for key in node.items:
            if allowed is not None and key not in allowed:
                reason = f'unknown key "{key[:60]}"{nearest(key, allowed)}'
                raise self.fault((*path, key), reason, key=True)
        return list(node.items)

    def items(self, path: Path) -> list[Path]:
        """Return the paths of the items of the list at `path`; none when it is absent."""
        if not self.has(path):
            return []
        node = self._document.find(path)
        if not isinstance(node, ListNode):
            raise self._wrong(path, "a list")
        return [(*path, index) for index in range(len(node.items))]

    def text(self, path: Path, *, default: str | None = None) -> str:
        """Return the text at `path`, or `default` when it is absent."""
        if default is not None and not self.has(path):
            return default
        node = self._document.find(path)
        value = node.value() if isinstance(node, ScalarNode) else None
        if not isinstance(value, str):
            raise self._wrong(path, "text")
        return value

    def whole(self, path: Path, *, default: int, most: int) -> int:
        """Return the number at `path`, from 0 to `most`, or `default` when it is absent."""
        if not self.has(path):
            return default
        node = self._document.find(path)
        value = node.value() if isinstance(node, ScalarNode) else None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise self._wrong(path, f"a whole number from 0 to {most}")
        return value

    def raw(self, path: Path) -> str:
        """Return the text of a scalar as it is written, numbers included."""
        node = self._document.find(path)
        if not isinstance(node, ScalarNode):
            raise self._wrong(path, "a quantity")
        return node.text

    def _wrong(self, path: Path, wanted: str) -> InputError:
        node = self._document.find(path)
        name = ".".join(str(part) for part in path) or "the document"
        if node is None:
            return self.fault(path, f'the key "{path[-1]}" is missing')
        return self.fault(path, f"{name} wants {wanted}, found {found(plain(node))}")
