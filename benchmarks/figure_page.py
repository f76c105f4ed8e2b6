"""The table of figures as Markdown, put into the pages that show it, between two marks.

`make bench` writes the table to `out/bench.md`. `make bench-page`, or `python -m
benchmarks.figure_page [FOLDER]`, puts it into `BENCHMARKS.md`, and those of its rows that say most
into `README.md`; what people wrote around the marks stays.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.bars import BARS_BY_KEY, HEADLINES

TABLE: Final = Path("out/bench.md")
PAGE: Final = Path("BENCHMARKS.md")
SHORT_PAGE: Final = Path("README.md")
BEGIN: Final = "<!-- figures: begin; made by `make bench-page` -->"
END: Final = "<!-- figures: end -->"
_MEASURED: Final = "Measured on:"
_SHOWN: Final = 4
"""Columns of the short table: figure, bar, measured, met."""


class PageError(Exception):
    """The table cannot be put into the page."""


def as_markdown(
    rows: Sequence[Sequence[str]], *, machine: Mapping[str, str], missed: Sequence[str], busy: bool
) -> str:
    """Return a table, its header first, with when and on what it was measured."""
    header, *figures = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    described = ", ".join(f"{name} {value}" for name, value in machine.items())
    lines = [f"{_MEASURED} {described}.", f"Bars missed: {', '.join(missed) or 'none'}."]
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


def shortened(table: str) -> str:
    """Return a table with the rows that say most, and without where its figures come from.

    Raises:
        PageError: One of those rows is not in the table.
    """
    lines = table.splitlines()
    cells = {row[0]: row for row in (_cells(line) for line in lines if line.startswith("| "))}
    wanted = ["FIGURE", *(BARS_BY_KEY[key].what for key in HEADLINES)]
    missing = [what for what in wanted if what not in cells]
    if missing:
        message = f"the table has no row {missing[0]!r}; run the whole of `make bench`"
        raise PageError(message)
    header, *rows = ["| " + " | ".join(cells[what][:_SHOWN]) + " |" for what in wanted]
    described = next(line for line in lines if line.startswith(_MEASURED))
    return "\n".join([described, "", header, "|" + " --- |" * _SHOWN, *rows])


def _cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def update(table: Path, page: Path, short_page: Path) -> None:
    """Put the table of a file into a page, and what says most into another; both or neither.

    Raises:
        PageError: One of them is missing, or a page has no place for it.
    """
    kept = "it is kept in the repository"
    for path, remedy in ((table, "run `make bench` first"), (page, kept), (short_page, kept)):
        if not path.is_file():
            message = f"there is no file {path}; {remedy}"
            raise PageError(message)
    figures = table.read_text(encoding="utf-8")
    made = {
        path: put_into(path.read_text(encoding="utf-8"), text)
        for path, text in ((page, figures), (short_page, shortened(figures)))
    }
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Run as a program; a mistake is one line and exit code 1."""
    folder = Path(arguments[0] if arguments else "")
    try:
        update(folder / TABLE, folder / PAGE, folder / SHORT_PAGE)
    except PageError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
