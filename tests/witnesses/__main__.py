"""Prints the witness of every flip, or finds scenarios that could be one.

python -m tests.witnesses
python -m tests.witnesses find hintNodes     in which versions of which scenarios a flip shows
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from scenarios.builtin import builtin_names, find_file
from scenarios.loading.loaded import load_scenarios
from simulator.core.switch_rows.row import Switch
from simulator.core.switches import SWITCHES, behavior_for, profiles
from simulator.errors import ScenarioError
from simulator.reports.switch_words import switch_name, value_text
from tests.witnesses.everywhere import HIDDEN
from tests.witnesses.flipping import Behaviors, Flip, observe_scenario, values_of
from tests.witnesses.listed import WITNESSES
from tests.witnesses.owed import OWED

_BY_NAME = {switch_name(switch): switch for switch in SWITCHES}


def main(arguments: Sequence[str]) -> int:
    """Print what is asked for, and return the exit code."""
    if not arguments:
        _print_witnesses()
    elif arguments[0] == "find" and set(arguments[1:]) <= set(_BY_NAME):
        for name in arguments[1:]:
            _find(_BY_NAME[name])
    else:
        sys.stderr.write(__doc__ or "")
        return 2
    return 0


def _print_witnesses() -> None:
    lines: list[tuple[str, ...]] = [("SWITCH", "PROFILE", "VALUE", "FLIPPED TO", "WITNESS")]
    for name, switch in _BY_NAME.items():
        for one in WITNESSES:
            flip = one.flip
            if flip.switch == switch.name:
                values = (value_text(switch, value) for value in (flip.value, flip.other))
                lines.append((name, flip.version, *values, one.name))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        sys.stdout.write("   ".join(cells).rstrip() + "\n")
    sys.stdout.write("\nWithout effect in some profiles, where another switch hides them:\n")
    for name, switch in _BY_NAME.items():
        if switch.name in HIDDEN:
            versions = [
                one for one in profiles().values() if HIDDEN[switch.name](behavior_for(one))
            ]
            sys.stdout.write(f"{name.ljust(widths[0])}   {' '.join(versions)}\n")
    sys.stdout.write("\nOwed, since nothing can show them yet:\n")
    for name, switch in _BY_NAME.items():
        if switch.name in OWED:
            sys.stdout.write(f"{name.ljust(widths[0])}   {OWED[switch.name]}\n")


def _find(switch: Switch) -> None:
    """Print the scenarios that notice a flip, in the versions in which they run."""
    for scenario in builtin_names():
        for loaded in load_scenarios(find_file(scenario), {}):
            for version in loaded.scenario.spec.kubelet_versions:
                seen = _seen(scenario, version, behavior_for)
                for other in values_of(switch.name):
                    flip = Flip(switch.name, version, other)
                    if other != flip.value and _seen(scenario, version, flip.behaviors) != seen:
                        change = f"{value_text(switch, flip.value)} → {value_text(switch, other)}"
                        sys.stdout.write(f"{scenario}   {version}   {change}\n")


def _seen(scenario: str, version: str, behaviors: Behaviors) -> object:
    try:
        return observe_scenario(scenario, version, behaviors)
    except ScenarioError as error:
        return error.reason


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
