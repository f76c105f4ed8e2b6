"""The flips of one profile: who notices each in this profile, and what hides the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from simulator.core.behavior import Behavior, CheckpointFormat, ReadmissionHealthCheck
from simulator.core.switches import SWITCHES, behavior_for
from simulator.errors import ScenarioError
from tests.witnesses.flipping import Behaviors, Flip, observe_scenario, pairs_of
from tests.witnesses.listed import CORE, WITNESSES, InScenario, Witness
from tests.witnesses.owed import OWED

Hidden = Callable[[Behavior], bool]


def _nobody_asks_what_runs(behavior: Behavior) -> bool:
    return behavior.readmission_health_check is not ReadmissionHealthCheck.AFTER_RUNNING_CHECK


def _topology_is_unknown(behavior: Behavior) -> bool:
    return not behavior.device_topology_known


def _running_check_is_not_made(behavior: Behavior) -> bool:
    return _nobody_asks_what_runs(behavior) or behavior.trusts_checkpoint


def _nodes_are_not_recorded(behavior: Behavior) -> bool:
    return behavior.checkpoint_written is CheckpointFormat.V1


def _only_the_first_version_is_served(behavior: Behavior) -> bool:
    return "v1" not in behavior.pod_resources_versions


HIDDEN: Final[dict[str, Hidden]] = {
    "running_check": _running_check_is_not_made,
    "trusts_checkpoint": _nobody_asks_what_runs,
    "rebuild_during_preference_crashes": lambda behavior: not behavior.preferred_allocation_known,
    "cdi_devices_passed": lambda behavior: not behavior.cdi_devices_known,
    "health_updates_by_resource": lambda behavior: not behavior.resource_health_in_status,
    "recorded_devices_hinted": _topology_is_unknown,
    "empty_topology_counts": _topology_is_unknown,
    "hint_nodes": _topology_is_unknown,
    "sidecars_in_pod_request": _topology_is_unknown,
    "merge_needs_equal_masks": _topology_is_unknown,
    "pod_resources_entry_per_device": _nodes_are_not_recorded,
    "pod_resources_allocatable_served": _only_the_first_version_is_served,
    "pod_resources_get_served": _only_the_first_version_is_served,
}
"""Where a switch has no effect, since another one of the same profile keeps it from being asked."""


def flips_of(version: str) -> Iterator[Flip]:
    """Yield every flip of a profile, but those that are owed."""
    behavior = behavior_for(version)
    for switch in SWITCHES:
        if switch.name not in OWED:
            for value, other in pairs_of(switch.name):
                if value == getattr(behavior, switch.name):
                    yield Flip(switch.name, version, other)


def is_hidden(flip: Flip) -> bool:
    """Tell whether a flip can have no effect."""
    return flip.switch in HIDDEN and HIDDEN[flip.switch](behavior_for(flip.version))


class Onlookers:
    """The witnesses in one profile; each looks at the profile itself only once."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._unflipped: dict[str, object] = {}

    def notice(self, flip: Flip) -> bool:
        """Tell whether one of the switch's witnesses notices the flip, the quick ones first."""
        if flip.switch in CORE:
            run = CORE[flip.switch]
            if run(behavior_for(self._version)) != run(flip.behaviors(self._version)):
                return True
        return any(self._notices(scenario, flip) for scenario in _scenarios(flip.switch))

    def _notices(self, scenario: str, flip: Flip) -> bool:
        if scenario not in self._unflipped:
            self._unflipped[scenario] = self._look(scenario, behavior_for)
        return self._look(scenario, flip.behaviors) != self._unflipped[scenario]

    def _look(self, scenario: str, behaviors: Behaviors) -> object:
        try:
            return observe_scenario(scenario, self._version, behaviors)
        except ScenarioError as error:
            return error.reason


def _scenarios(switch: str) -> list[str]:
    found: list[Witness] = [one for one in WITNESSES if one.flip.switch == switch]
    return list(dict.fromkeys(one.scenario for one in found if isinstance(one, InScenario)))
