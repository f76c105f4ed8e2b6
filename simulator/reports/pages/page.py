"""HTML pages that stand alone: one file, nothing is loaded, every text from outside is escaped.

A page is plain ASCII, so that no terminal, redirection or server can spoil its characters, and it
is the same, byte for byte, for the same input.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from simulator.reports.documents import Json
from simulator.reports.text import printable

_PACKAGE: Final = "simulator.reports.pages"
_ENVIRONMENT: Final = Environment(
    loader=PackageLoader(_PACKAGE, "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["printable"] = printable


def page(
    template: str, *, title: str, view: object, styles: Sequence[str] = ("report.css",)
) -> str:
    """Return a page.

    Args:
        template: Its template's file name.
        title: Of the window.
        view: What the template shows.
        styles: File names of its styles.
    """
    html = _ENVIRONMENT.get_template(template).render(
        title=printable(title),
        view=view,
        style=Markup("".join(map(_asset, styles))),  # noqa: S704 - our own files
        script=Markup(_asset("report.js")),  # noqa: S704 - our own file
    )
    return html.encode("ascii", "xmlcharrefreplace").decode("ascii")


def embedded(document: Json) -> Markup:
    """Return a document to stand inside a `script` element: no text in it can end the element."""
    text = json.dumps(document, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - nothing is left in it that HTML would read


def _asset(name: str) -> str:
    return resources.files(_PACKAGE).joinpath("assets", name).read_text(encoding="ascii")
