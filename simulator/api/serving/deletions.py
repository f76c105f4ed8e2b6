"""Answers to delete and deletecollection."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.api.dialect import bodies, tables
from simulator.api.dialect.authorization import restrict
from simulator.api.dialect.bodies import DeleteOptions
from simulator.api.dialect.deleting import deleted, deletion_answer
from simulator.api.dialect.documents import Object
from simulator.api.dialect.kinds import NAMESPACES
from simulator.api.dialect.queries import read_list_query
from simulator.api.dialect.routes import Route
from simulator.api.dialect.selectors import read_selection
from simulator.api.dialect.statuses import not_found
from simulator.api.dialect.tables import Page
from simulator.api.dialect.writing import Fresh, Written
from simulator.api.serving.calls import Call, Reply
from simulator.api.serving.committing import OK, Change, Committing, proposed
from simulator.api.serving.exchange import BodyBudget
from simulator.api.serving.objects import Proposal
from simulator.api.serving.reads import key_of, listed
from simulator.object_ports import ObjectKey


class Deletions:
    """What clients delete.

    Args:
        committing: What commits.
        budget: What all bodies share.
    """

    def __init__(self, committing: Committing, budget: BodyBudget) -> None:
        self._committing = committing
        self._budget = budget

    async def delete(self, call: Call) -> Reply:
        """DELETE an object."""
        data = await call.exchange.body(self._budget)
        options = bodies.read_delete_options(call.content_type, data, call.pairs)
        change = await self.deleted(call, call.route, options)
        answer = deletion_answer(call.route, change.written)
        if answer is change.written.object and change.stored is not None:
            return Reply(OK, change.stored)
        return Reply(OK, answer)

    async def deleted(self, call: Call, route: Route, options: DeleteOptions) -> Change:
        """Delete an object, and what is in it if it is a namespace."""

        def decide(current: Object | None, fresh: Fresh) -> Written:
            if current is None:
                raise not_found(route.kind, route.name)
            restrict(call.identity, call.verb, route, current, None)
            return deleted(route, current, options, fresh)

        change = await self._committing.change(
            key_of(route), call.now, decide, dry_run=options.dry_run
        )
        if route.kind is NAMESPACES and not options.dry_run:
            await self._committing.empty_ending(route.name, call.now)
        return change

    async def delete_all(self, call: Call) -> Reply:
        """DELETE a collection, or a selection of it."""
        objects, route = self._committing.objects, call.route
        data = await call.exchange.body(self._budget)
        options = bodies.read_delete_options(call.content_type, data, call.pairs)
        query = read_list_query(call.pairs)
        selection = read_selection(route.kind, query.labels, query.fields)
        stored, page = await listed(objects, route, query, selection)
        keys = [ObjectKey(route.kind.resource, each.namespace, each.name) for each in stored]
        answers: list[Object] = []

        def decide() -> Sequence[Proposal]:
            proposals = []
            fresh = self._committing.chance.fresh(call.now)
            for key in keys:
                present = objects.get(key)
                if present is None:
                    continue
                current = objects.document_of(present)
                of_one = Route(route.kind, key.namespace, key.name)
                restrict(call.identity, call.verb, of_one, current, None)
                written = deleted(of_one, current, options, fresh)
                answers.append(written.object)
                if not options.dry_run and (written.changed or written.removed):
                    proposals.append(proposed(call.now, key, present, written))
            return proposals

        await self._committing.together(keys, decide)
        for namespace in sorted({key.namespace for key in keys}):
            await self._committing.empty_ending(namespace, call.now)
        return Reply(OK, tables.listing(route.kind, answers, Page(objects.revision, page.token)))
