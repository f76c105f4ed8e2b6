"""Pages to look at: texts can be read, and nothing that a timeline tells is left without a form.

A text has a contrast of at least 4.5 to its ground (WCAG 2.2, 1.4.3).
"""

from __future__ import annotations

import re
from importlib import resources

import pytest

from simulator.reports.timelines.lanes import State, TickKind
from simulator.reports.timelines.timeline import MarkKind

ASSETS = resources.files("simulator.reports.pages").joinpath("assets")
STYLE = ASSETS.joinpath("report.css").read_text()
SCRIPT = ASSETS.joinpath("report.js").read_text()
COLORS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLE
    )
}
GROUNDS = ("bg", "panel", "raised")
PAIRS = [
    *((text, ground) for text in ("ink", "muted", "accent", "good", "bad") for ground in GROUNDS),
    *(("on-color", f"p{number}") for number in range(8)),
    *((name, f"{name}-bg") for name in ("good", "bad", "warn", "other")),
    ("ink", "idle"),
    ("muted", "idle"),
    ("ink", "other-bg"),
    ("ink", "warn-bg"),
]


def luminance(color: str) -> float:
    """Return the relative luminance of `#rrggbb`."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_a_text_can_be_read_on_its_ground(text: str, ground: str, theme: int) -> None:
    first, second = sorted(luminance(COLORS[name][theme]) for name in (text, ground))

    assert (second + 0.05) / (first + 0.05) >= 4.5


def test_every_state_tick_and_mark_has_a_form_of_its_own() -> None:
    [table] = re.findall(r"const STATE_CLASS = \{(.*?)\};", SCRIPT, re.DOTALL)
    classes = dict(re.findall(r'"([^"]+)": "([^"]+)"', table))

    assert set(classes) == {state.value for state in State}
    assert [name for name in classes.values() if f".bar.{name}" not in STYLE] == []
    assert [kind for kind in MarkKind if f".{kind.value} {{ --mark" not in STYLE] == []
    assert [
        kind for kind in (TickKind.FAILED, TickKind.WAITS) if f".tick.{kind.value}" not in STYLE
    ] == []
