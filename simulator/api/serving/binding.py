"""Answers to orders: to a node, to devices, away; and to questions that only concern the caller."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from simulator.api.dialect import binding, bodies
from simulator.api.dialect.authorization import restrict
from simulator.api.dialect.documents import Object, text
from simulator.api.dialect.kinds import BINDINGS
from simulator.api.dialect.queries import Validation, read_write_query
from simulator.api.dialect.reviews import reviewed
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import StatusError, not_found, success
from simulator.api.dialect.writing import Fresh, Written
from simulator.api.serving.calls import Call, Reply
from simulator.api.serving.committing import CREATED, Committing, proposed
from simulator.api.serving.deletions import Deletions
from simulator.api.serving.exchange import BodyBudget
from simulator.api.serving.holders import Holders, Reserve
from simulator.api.serving.objects import Proposal
from simulator.api.serving.reads import key_of
from simulator.object_ports import ObjectKey


class Bindings:
    """What is ordered of pods.

    Args:
        committing: What commits.
        deletions: What evicts.
        budget: What all bodies share.
        holders: Which pods have devices, where none may be bound twice; None where that is open.
    """

    def __init__(
        self,
        committing: Committing,
        deletions: Deletions,
        budget: BodyBudget,
        holders: Holders | None = None,
    ) -> None:
        self._holders = holders
        self._committing = committing
        self._deletions = deletions
        self._budget = budget

    async def bind(self, call: Call) -> Reply:
        """POST pods/NAME/binding, pods/NAME/resourcebinding, or bindings."""
        route = call.route
        query = read_write_query(call.pairs)
        body = await self._body(call)
        if route.kind is BINDINGS:
            route = binding.pod_of(route, body)
        to_node = route.subresource == "binding"

        def decide(current: Object | None, fresh: Fresh) -> Written:
            if current is None:
                raise not_found(route.kind, route.name)
            restrict(call.identity, call.verb, route, current, body)
            if to_node:
                return binding.bound(route, current, body, fresh, query.validation)
            return self._devices_bound(route, current, body, reserve, query.validation)

        with self._reserving() as reserve:
            change = await self._committing.change(
                key_of(route), call.now, decide, dry_run=query.dry_run
            )
        revision = (
            self._committing.objects.revision if change.stored is None else (change.stored.revision)
        )
        return Reply(CREATED, binding.binding_answer(revision))

    async def bind_many(self, call: Call) -> Reply:
        """POST many resourcebindings, which is not Kubernetes: one commit, an answer for each."""
        objects = self._committing.objects
        items = binding.bulk_items(await self._body(call))
        keys = [key_of(item.route) for item in items]
        decided: list[StatusError | None] = []

        def decide() -> Sequence[Proposal]:
            pods: dict[ObjectKey, Written] = {}
            for item, key in zip(items, keys, strict=True):
                try:
                    before = pods.get(key)
                    stored = objects.get(key)
                    if stored is None:
                        raise not_found(item.route.kind, item.route.name)
                    pod = objects.document_of(stored) if before is None else before.object
                    restrict(call.identity, call.verb, item.route, pod, item.body)
                    written = self._devices_bound(item.route, pod, item.body, reserve)
                except StatusError as error:
                    decided.append(error)
                    continue
                decided.append(None)
                if written.changed:
                    pods[key] = written
            return [
                proposed(call.now, key, objects.get(key), written) for key, written in pods.items()
            ]

        with self._reserving() as reserve:
            await self._committing.together(keys, decide)
        answers = []
        for key, error in zip(keys, decided, strict=True):
            stored = objects.get(key)
            revision = objects.revision if stored is None else stored.revision
            answers.append(binding.binding_answer(revision) if error is None else error.status())
        return Reply(CREATED, binding.bulk_answer(answers))

    async def evict(self, call: Call) -> Reply:
        """POST pods/NAME/eviction: a deletion."""
        options = binding.evicted(call.route, await self._body(call))
        await self._deletions.deleted(call, call.route, options)
        return Reply(CREATED, success(code=CREATED))

    async def review(self, call: Call) -> Reply:
        """POST a question about the caller."""
        body = await self._body(call)
        fresh = self._committing.chance.fresh(call.now)
        return Reply(CREATED, reviewed(call.route.kind, call.identity, body, fresh))

    def _reserving(self) -> AbstractContextManager[Reserve]:
        return nullcontext(_ignore) if self._holders is None else self._holders.reserving()

    def _devices_bound(
        self,
        route: Route,
        pod: Object,
        body: Object,
        reserve: Reserve,
        validation: Validation = Validation.WARN,
    ) -> Written:
        node = text(pod, "spec", "nodeName")
        holder = None if self._holders is None else self._holders.on(node)
        written = binding.devices_bound(route, pod, body, holder=holder, validation=validation)
        reserve(written.object)
        return written

    async def _body(self, call: Call) -> Object:
        data = await call.exchange.body(self._budget)
        return bodies.read_object(call.route, call.content_type, data)


def _ignore(pod: Object) -> None:
    """Reserve nothing."""
    del pod
