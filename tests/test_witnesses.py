"""Somebody notices each flip of a switch; `python -m tests.witnesses` lists who."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.core.behavior import Behavior
from simulator.core.switches import SWITCHES, TRUST_CHECKPOINT, behavior_for, profiles
from simulator.reports.switch_words import value_text
from tests.witnesses.everywhere import Onlookers, flips_of, is_hidden
from tests.witnesses.flipping import Flip, pairs_of
from tests.witnesses.listed import WITNESSES, Witness
from tests.witnesses.owed import OWED

ROOT = Path(__file__).parents[1]
NAMES = [switch.name for switch in SWITCHES]


def label(witness: Witness) -> str:
    flip = witness.flip
    switch = next(switch for switch in SWITCHES if switch.name == flip.switch)
    other = value_text(switch, flip.other)
    return f"{flip.switch}-{flip.version}-{other}-{witness.name.split()[-1]}"


@pytest.mark.parametrize("witness", WITNESSES, ids=label)
def test_a_witness_notices_the_flip(witness: Witness) -> None:
    flip = witness.flip

    assert flip.value != flip.other
    assert witness.observe(behavior_for) == witness.observe(behavior_for)
    assert witness.observe(behavior_for) != witness.observe(flip.behaviors)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OWED])
def test_every_pair_of_values_has_a_witness(name: str) -> None:
    pairs = set(pairs_of(name))
    witnessed = {(one.flip.value, one.flip.other) for one in WITNESSES if one.flip.switch == name}

    assert pairs
    assert witnessed == pairs


@pytest.mark.parametrize("version", [*profiles().values(), TRUST_CHECKPOINT])
def test_every_flip_of_every_profile_is_noticed_where_it_can_have_an_effect(version: str) -> None:
    onlookers = Onlookers(version)
    silent = {(flip.switch, flip.other) for flip in flips_of(version) if not onlookers.notice(flip)}
    hidden = {(flip.switch, flip.other) for flip in flips_of(version) if is_hidden(flip)}

    assert silent == hidden


def test_what_is_owed_is_read_by_no_code_yet() -> None:
    """As soon as something depends on a switch, a witness is due; a diagnosis only tells of it."""
    sources = [
        path.read_text(encoding="utf-8")
        for folder in ("simulator", "scenarios", "store", "plugins")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if ROOT / "simulator/core/diagnosis" not in path.parents
    ]

    assert set(OWED) <= set(NAMES)
    assert [name for name in OWED if any(f".{name}" in text for text in sources)] == []


def test_a_flip_changes_one_switch_of_one_profile() -> None:
    flip = Flip("registered_options_used", "1.24.0", other=False)

    assert flip.behaviors("1.36.2") == Behavior()
    assert flip.behaviors("1.24.0") != behavior_for("1.24.0")
    assert flip.behaviors("1.24.0").register_asynchronous
    assert not flip.behaviors("1.24.0").registered_options_used
