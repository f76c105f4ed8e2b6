"""The table of figures as Markdown, put into a page between two marks.

`make bench` writes the table to `out/bench.md`. `make bench-page`, or `python -m
benchmarks.figure_page [TABLE [PAGE]]`, puts it into `BENCHMARKS.md`; what people wrote around the
marks stays.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

TABLE: Final = Path("out/bench.md")
PAGE: Final = Path("BENCHMARKS.md")
BEGIN: Final = "<!-- figures: begin; made by `make bench-page` -->"
END: Final = "<!-- figures: end -->"


class PageError(Exception):
    """The table cannot be put into the page."""


def as_markdown(
    rows: Sequence[Sequence[str]], *, machine: Mapping[str, str], missed: Sequence[str], busy: bool
) -> str:
    """Return a table, its header first, with when and on what it was measured."""
    header, *figures = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    described = ", ".join(f"{name} {value}" for name, value in machine.items())
    lines = [f"Measured on: {described}.", f"Bars missed: {', '.join(missed) or 'none'}."]
    if busy:
        lines.append("Others used this machine at the same time.")
    lines += ["", f"| {header} |", "|" + " --- |" * len(rows[0])]
    return "\n".join([*lines, *(f"| {figure} |" for figure in figures), ""])


def put_into(page: str, table: str) -> str:
    """Return a page with the table between its marks.

    Raises:
        PageError: The page has not each mark once, the first one first.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in before + after:
        message = f"the page needs the lines {BEGIN!r} and {END!r}, once each and in this order"
        raise PageError(message)
    return f"{before}{BEGIN}\n{table.rstrip()}\n{END}{after}"


def update(table: Path, page: Path) -> None:
    """Put the table of one file into the page of another.

    Raises:
        PageError: One of them is missing, or the page has no place for it.
    """
    for path, remedy in ((table, "run `make bench` first"), (page, "it is kept in the repository")):
        if not path.is_file():
            message = f"there is no file {path}; {remedy}"
            raise PageError(message)
    made = put_into(page.read_text(encoding="utf-8"), table.read_text(encoding="utf-8"))
    page.write_text(made, encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Run as a program; a mistake is one line and exit code 1."""
    given = [Path(argument) for argument in arguments]
    table, page = (*given, *(TABLE, PAGE)[len(given) :])[:2]
    try:
        update(table, page)
    except PageError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
