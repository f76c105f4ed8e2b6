"""Which hint wins, and whether a pod may start with it (S7.13 to S7.16).

The kubelet walks the cartesian product of all resources' hints and keeps the better of two merged
hints at every step. Being better is a total order over merged hints, so the product is folded
resource by resource into its distinct merged hints, and the best of those is taken: the same
answer, without the product.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.resources import ResourceName
from simulator.core.topology import Hints, TopologyHint

ProviderHints = Mapping[ResourceName, Hints] | None
"""One hint provider's answer; nothing means no preference (S7.13)."""

ANY_PREFERRED: Final = TopologyHint(None, preferred=True)
ANY_NOT_PREFERRED: Final = TopologyHint(None, preferred=False)

Rank = tuple[int, int, int, int, int]
"""A merged hint's place; the lowest wins. Its last element tells masks apart."""


@dataclass(frozen=True, slots=True)
class HintOrder:
    """The order of merged hints, the best first (S7.14).

    Preferred ones come first, the narrower the better. Of the others those as wide as `best_count`,
    then narrower ones, the widest first, then wider ones, the narrowest first; in 1.20.2 simply
    the narrower (1.20.2/DIFFERENCES 16). Among hints of one width the closest nodes if the option
    says so, then the mask with the smaller value.

    Attributes:
        best_count: `max_of_min_affinity_counts` of the merged resources.
    """

    best_count: int
    machine: Machine
    options: TopologyOptions
    behavior: Behavior

    def rank(self, hint: TopologyHint) -> Rank:
        """Return the place of a merged hint."""
        mask = hint.mask or 0
        width = mask.bit_count()
        distance = self.machine.total_distance(mask) if self._by_distance else 0
        if hint.preferred:
            return (0, 0, width, distance, mask)
        if width == self.best_count or not self.behavior.merge_needs_equal_masks:
            return (1, 0, width, distance, mask)
        if width < self.best_count:
            return (1, 1, -width, distance, mask)
        return (1, 2, width, distance, mask)

    def better(self, current: TopologyHint | None, candidate: TopologyHint) -> TopologyHint | None:
        """Return the better of two merged hints; a candidate without nodes never wins.

        Kubelet: compareHints.
        """
        if not candidate.mask:
            return current
        if current is None:
            return candidate
        return min(current, candidate, key=self.rank)

    @property
    def _by_distance(self) -> bool:
        options = self.options
        return (
            options.prefer_closest_numa_nodes
            and options.policy is not TopologyPolicy.SINGLE_NUMA_NODE
        )


@dataclass(frozen=True, slots=True)
class _Merged:
    """Hints of some resources merged: one of a fold's distinct intermediate results.

    Attributes:
        mask: The nodes common to all set masks and the machine.
        preferred: Whether all are preferred and, where that is asked for, have equal masks.
        shared: The one mask that all set masks are equal to; None before the first of them, and of
            no interest when not preferred.
    """

    mask: int
    preferred: bool = True
    shared: int | None = None

    def with_hint(self, hint: TopologyHint, *, needs_equal_masks: bool) -> _Merged:
        mask = self.mask if hint.mask is None else self.mask & hint.mask
        if not (self.preferred and hint.preferred):
            return _Merged(mask, preferred=False)
        if hint.mask is None or not needs_equal_masks:
            return _Merged(mask, shared=self.shared)
        if self.shared not in (None, hint.mask):
            return _Merged(mask, preferred=False)
        return _Merged(mask, shared=hint.mask)


def merge_hints(
    providers: Sequence[ProviderHints],
    *,
    machine: Machine,
    options: TopologyOptions,
    behavior: Behavior,
) -> TopologyHint:
    """Return the best hint that serves all resources of all providers (S7.14, S7.15).

    Without any combination the whole machine is the answer, not preferred. Under the policy `none`
    nobody asks for hints and any node is preferred.

    Kubelet: the Merge methods of topologymanager's policies.
    """
    if options.policy is TopologyPolicy.NONE:
        return ANY_PREFERRED
    resources = filtered_hints(providers, options.policy)
    candidates = _distinct_merges(resources, machine, behavior)
    best = TopologyHint(machine.mask, preferred=False)
    if candidates:
        best_count = max_of_min_affinity_counts(resources)
        best = min(candidates, key=HintOrder(best_count, machine, options, behavior).rank)
    if options.policy is TopologyPolicy.SINGLE_NUMA_NODE and best.mask == machine.mask:
        return TopologyHint(None, best.preferred)
    return best


def admits(policy: TopologyPolicy, hint: TopologyHint) -> bool:
    """Tell whether `policy` lets a container or pod start with the merged hint (S7.16)."""
    return policy in (TopologyPolicy.NONE, TopologyPolicy.BEST_EFFORT) or hint.preferred


def filtered_hints(
    providers: Iterable[ProviderHints], policy: TopologyPolicy
) -> list[tuple[TopologyHint, ...]]:
    """Return one list of hints for each resource of each provider (S7.13).

    Kubelet: filterProvidersHints, filterSingleNumaHints.
    """
    lists: list[tuple[TopologyHint, ...]] = []
    for provider in providers:
        lists += (
            [_normalized(hints) for hints in provider.values()] if provider else [(ANY_PREFERRED,)]
        )
    if policy is not TopologyPolicy.SINGLE_NUMA_NODE:
        return lists
    return [
        tuple(hint for hint in hints if hint.preferred and _width(hint) <= 1) for hints in lists
    ]


def _normalized(hints: Hints) -> tuple[TopologyHint, ...]:
    if hints is None:
        return (ANY_PREFERRED,)
    return hints or (ANY_NOT_PREFERRED,)


def _width(hint: TopologyHint) -> int:
    """Return the number of nodes of a hint; 0 for any node."""
    return 0 if hint.mask is None else hint.mask.bit_count()


def max_of_min_affinity_counts(resources: Iterable[Iterable[TopologyHint]]) -> int:
    """Return the width of the narrowest mask of that resource for which it is widest (S7.14.3).

    Kubelet: maxOfMinAffinityCounts.
    """
    return max((_narrowest(hints) for hints in resources), default=0)


def _narrowest(hints: Iterable[TopologyHint]) -> int:
    return min((_width(hint) for hint in hints if hint.mask is not None), default=0)


def _distinct_merges(
    resources: Iterable[Iterable[TopologyHint]], machine: Machine, behavior: Behavior
) -> list[TopologyHint]:
    """Return the distinct merged hints that have a node, in order of first appearance."""
    merges: dict[_Merged, None] = {_Merged(machine.mask): None}
    for hints in resources:
        merges = {
            merged: None
            for part in merges
            for hint in hints
            if (
                merged := part.with_hint(hint, needs_equal_masks=behavior.merge_needs_equal_masks)
            ).mask
        }
    return [TopologyHint(merged.mask, merged.preferred) for merged in merges if merged.mask]
