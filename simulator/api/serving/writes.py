"""Answers to create, update and patch."""

from __future__ import annotations

from typing import Final

from simulator.api.dialect import bodies, writing
from simulator.api.dialect.authorization import restrict, restrict_to_own_pods
from simulator.api.dialect.documents import Object, text
from simulator.api.dialect.kinds import DEVICE_BINDINGS, PODS
from simulator.api.dialect.patches import PatchType
from simulator.api.dialect.queries import WriteQuery, read_write_query
from simulator.api.dialect.statuses import not_found
from simulator.api.dialect.writing import Fresh, Written
from simulator.api.serving.calls import Call, Reply
from simulator.api.serving.committing import CREATED, OK, Committing
from simulator.api.serving.exchange import BodyBudget
from simulator.api.serving.reads import key_of
from simulator.object_ports import ObjectKey

_PLAIN: Final = WriteQuery()


class Writes:
    """What clients write as whole objects, statuses or patches of them.

    Args:
        committing: What commits.
        budget: What all bodies share.
    """

    def __init__(self, committing: Committing, budget: BodyBudget) -> None:
        self._committing = committing
        self._budget = budget

    async def create(self, call: Call) -> Reply:
        """POST to a collection."""
        route = call.route
        query = read_write_query(call.pairs) if call.pairs else _PLAIN
        data = await call.exchange.body(self._budget)
        body = bodies.read_object(route, call.content_type, data, query.validation)
        self._restrict(call, None, body)
        self._committing.check_namespace(route)
        fresh = self._committing.chance.fresh(call.now)
        written = writing.created(route, body, fresh, query.validation)
        change = await self._committing.create(route, call.now, written, dry_run=query.dry_run)
        return Reply(CREATED, change.content, written.warnings)

    async def update(self, call: Call) -> Reply:
        """PUT an object, or its status."""
        route = call.route
        query = read_write_query(call.pairs) if call.pairs else _PLAIN
        data = await call.exchange.body(self._budget)
        body = bodies.read_object(route, call.content_type, data, query.validation)

        def decide(current: Object | None, fresh: Fresh) -> Written:
            del fresh
            if current is None:
                raise not_found(route.kind, route.name)
            self._restrict(call, current, body)
            return writing.updated(route, current, body, query.validation)

        change = await self._committing.change(
            key_of(route), call.now, decide, dry_run=query.dry_run
        )
        return Reply(OK, change.content, change.written.warnings)

    async def patch(self, call: Call) -> Reply:
        """PATCH an object, or its status; a server-side apply may make it."""
        route = call.route
        data = await call.exchange.body(self._budget)
        patch = bodies.read_patch(route, call.content_type, data)
        query = read_write_query(call.pairs, applies=patch.type is PatchType.APPLY)

        def decide(current: Object | None, fresh: Fresh) -> Written:
            if current is None:
                self._committing.check_namespace(route)
            else:  # Else its tests would tell what is in objects that are somebody else's.
                restrict(call.identity, call.verb, route, current, current)
            written = writing.patched(route, current, patch, fresh, query.validation)
            self._restrict(call, current, written.object)
            return written

        change = await self._committing.change(
            key_of(route), call.now, decide, dry_run=query.dry_run
        )
        code = CREATED if change.written.created else OK
        return Reply(code, change.content, change.written.warnings)

    def _restrict(self, call: Call, current: Object | None, body: Object) -> None:
        """Check that a node writes only what is its own.

        Raises:
            StatusError: 403.
        """
        identity, route = call.identity, call.route
        restrict(identity, call.verb, route, current, body)
        if identity.node and route.kind is DEVICE_BINDINGS and not route.subresource:
            objects = self._committing.objects
            name = route.name or text(body, "metadata", "name")
            stored = objects.get(ObjectKey(PODS.resource, route.namespace, name))
            pod = None if stored is None else objects.document_of(stored)
            restrict_to_own_pods(identity, route, current, body, pod)
