"""Reads a page as a browser would: elements with their attributes, texts, and what they lead to."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from typing_extensions import override

VOID = {"meta", "link", "br", "input"}


@dataclass
class Element:
    """One element.

    Attributes:
        children: Elements and texts, in order.
    """

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts below the element, with single spaces."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join(" ".join(parts).split())

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """Return all elements below with this tag and these attributes (`class_`: one of them)."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if child.matches(tag, attributes):
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def one(self, tag: str = "", **attributes: str) -> Element:
        """Return the only such element."""
        [found] = self.all(tag, **attributes)
        return found

    def matches(self, tag: str, attributes: dict[str, str]) -> bool:
        """Tell whether this is such an element."""
        own = self.attributes
        return tag in {"", self.tag} and all(
            value in own.get("class", "").split() if name == "class_" else own.get(name) == value
            for name, value in attributes.items()
        )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
        self.open.pop()

    @override
    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str) -> Element:
    """Return the root of a page; every element that is opened must be closed in order."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


def check_stands_alone(page: str) -> None:
    """Check that links lead to places of the page, ids are unique, and nothing is loaded."""
    root = read(page)
    ids = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in root.all():
        assert not {"src", "srcset", "action", "poster", "onclick"} & set(element.attributes)
        target = element.attributes.get("href", "")
        if target.startswith("#"):
            assert target[1:] in ids, target
        elif target:
            assert element.tag == "a" or target == "data:,", target
    assert {element.tag for element in root.all()} & {"iframe", "img", "object", "embed"} == set()
    styles = "".join(style.text for style in root.all("style"))
    assert "@import" not in styles
    assert "url(" not in styles
    scripts = [one.text for one in root.all("script") if "type" not in one.attributes]
    assert not any(word in script for script in scripts for word in ("http:", "https:", "fetch("))
    assert page.isascii()
