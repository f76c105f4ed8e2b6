"""Label selectors of the command line: those of the API, with our words for what is none."""

from __future__ import annotations

from scenarios.files.phrases import found
from simulator.api.dialect.label_selectors import LabelSelector, parse_labels

Selector = LabelSelector
"""Requirements that must all be met; none selects everything."""


def parse_selector(text: str) -> Selector:
    """Read a selector such as `area=reboot,level!=scale,timing,kind in (a,b)`.

    Raises:
        ValueError: A part of it is no requirement, or there is none.
    """
    reason = (
        f"{found(text)} is not a label selector; write key=value, key!=value, key or !key, "
        "several with commas"
    )
    try:
        selector = parse_labels(text)
    except ValueError as cause:
        raise ValueError(reason) from cause
    if not selector.requirements:
        raise ValueError(reason)
    return selector
