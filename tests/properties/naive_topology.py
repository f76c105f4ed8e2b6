"""Hints and their merge written as the rules are, with sets and the whole cartesian product.

Slow and plain on purpose: the product's code is compared with this.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from simulator.core.devices import Device, DeviceId

Nodes = frozenset[int]
Hint = tuple[Nodes | None, bool]
"""Nodes, or None for any; and whether it is preferred."""


def subsets(nodes: Sequence[int]) -> Iterator[Nodes]:
    for size in range(1, len(nodes) + 1):
        yield from (frozenset(chosen) for chosen in combinations(nodes, size))


def touches(device: Device, nodes: Nodes) -> bool:
    return any(node in nodes for node in device.topology or ())


def generate_hints(
    devices: dict[DeviceId, Device],
    *,
    candidates: Sequence[int],
    available: Sequence[DeviceId],
    reusable: Sequence[DeviceId],
    requested: int,
) -> list[Hint]:
    """S7.6, a to d, for ids that are all listed."""
    smallest = len(candidates)
    kept: list[Nodes] = []
    for nodes in subsets(candidates):
        if sum(touches(one, nodes) for one in devices.values()) >= requested:
            smallest = min(smallest, len(nodes))
        bound = [devices[one] for one in reusable if devices[one].topology is not None]
        if not all(touches(one, nodes) for one in bound):
            continue
        if len(bound) + sum(touches(devices[one], nodes) for one in available) >= requested:
            kept.append(nodes)
    return [(nodes, len(nodes) == smallest) for nodes in kept]


def value(nodes: Nodes) -> int:
    return sum(2**node for node in nodes)


def average_distance(nodes: Nodes, distances: Sequence[Sequence[int]]) -> float:
    pairs = [distances[one][other] for one in nodes for other in nodes]
    return sum(pairs) / len(pairs)


def narrower(current: Nodes, candidate: Nodes, distances: Sequence[Sequence[int]] | None) -> Nodes:
    """S7.14.2: by width, with prefer-closest then by average distance, then by value."""
    if len(current) != len(candidate):
        return min(current, candidate, key=len)
    if distances is not None:
        near, far = average_distance(candidate, distances), average_distance(current, distances)
        if near != far:
            return candidate if near < far else current
    return candidate if value(candidate) < value(current) else current


def choose(
    current: tuple[Nodes, bool],
    candidate: tuple[Nodes, bool],
    best_count: int,
    distances: Sequence[Sequence[int]] | None,
) -> tuple[Nodes, bool]:
    """S7.14, items 1 to 3, case by case."""
    if current[1] != candidate[1]:
        return current if current[1] else candidate
    preferred = current[1]
    winner = narrower(current[0], candidate[0], distances)
    if preferred or len(current[0]) > best_count:
        return (winner, preferred)
    if len(current[0]) == best_count:
        return (winner, False) if len(candidate[0]) == best_count else current
    if len(candidate[0]) > best_count:
        return current
    if len(candidate[0]) == best_count or len(candidate[0]) > len(current[0]):
        return candidate
    return (winner, False) if len(candidate[0]) == len(current[0]) else current


def merge(
    resources: Sequence[Sequence[Hint]],
    machine: Nodes,
    distances: Sequence[Sequence[int]] | None,
) -> tuple[Nodes, bool]:
    """S7.14 over the whole product; `resources` are normalized lists."""
    narrowest = [[len(nodes) for nodes, _ in hints if nodes is not None] for hints in resources]
    best_count = max((min(widths) for widths in narrowest if widths), default=0)
    best: tuple[Nodes, bool] | None = None
    for combination in product(*resources):
        masks = [nodes for nodes, _ in combination if nodes is not None]
        merged = machine.intersection(*masks)
        if not merged:
            continue
        same = all(mask == masks[0] for mask in masks)
        candidate = (merged, same and all(preferred for _, preferred in combination))
        best = candidate if best is None else choose(best, candidate, best_count, distances)
    return best or (machine, False)
