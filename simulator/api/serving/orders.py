"""Which handler answers what, of all that writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from simulator.api.dialect import kinds
from simulator.api.serving.binding import Bindings
from simulator.api.serving.calls import Call, Reply
from simulator.api.serving.committing import Committing
from simulator.api.serving.deletions import Deletions
from simulator.api.serving.exchange import BodyBudget
from simulator.api.serving.holders import Holders
from simulator.api.serving.writes import Writes

Handler = Callable[[Call], Awaitable[Reply]]


class Orders:
    """Finds the handler of a request.

    Args:
        committing: What commits.
        budget: What all bodies share.
        unique_devices: Whether no two pods of a node may be bound to one device.
    """

    def __init__(
        self, committing: Committing, budget: BodyBudget, *, unique_devices: bool = False
    ) -> None:
        writes = Writes(committing, budget)
        deletions = Deletions(committing, budget)
        holders = Holders(committing.objects) if unique_devices else None
        self._bindings = Bindings(committing, deletions, budget, holders)
        self._by_verb: dict[str, Handler] = {
            kinds.CREATE: writes.create,
            kinds.UPDATE: writes.update,
            kinds.PATCH: writes.patch,
            kinds.DELETE: deletions.delete,
            kinds.DELETE_COLLECTION: deletions.delete_all,
        }
        self._by_subresource: dict[str, Handler] = {
            "binding": self._bindings.bind,
            "resourcebinding": self._bindings.bind,
            "eviction": self._bindings.evict,
        }

    def handler(self, call: Call) -> Handler:
        """Return what does what a request orders.

        Its errors: `StatusError`, it is refused; `ClientGoneError`, it does not come to its end.
        """
        route = call.route
        if route.subresource:
            return self._by_subresource.get(route.subresource) or self._by_verb[call.verb]
        if route.kind.stored:
            return self._by_verb[call.verb]
        if route.kind is kinds.BULK_RESOURCE_BINDINGS:
            return self._bindings.bind_many
        if route.kind is kinds.BINDINGS:
            return self._bindings.bind
        return self._bindings.review
