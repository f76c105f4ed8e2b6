"""What an API server of Kubernetes' dialect decides: pure functions over JSON documents, no I/O.

The server reads bytes and rows, calls these functions in this order, and writes what they return.
Time, uids and chance come in as `Fresh`; the revision is filled in by the store when it commits, so
the objects returned here carry the old `metadata.resourceVersion`, or none when they are new.

documents
    `Json`, `Object` (a dict of Json); `text`, `mapping`, `items`: looking into them.
statuses
    `StatusError(code, reason, message, details, headers)` with `status()`; one function for each
    refusal: `not_found(kind, name)`, `already_exists`, `conflict`, `expired`, `too_old`,
    `bad_request`, `invalid`, `unsupported_media_type`, `not_acceptable`, `method_not_allowed`,
    `unauthorized`, `forbidden`, `too_large`, `internal_error`, `unavailable`; and `success`.
    `PathNotFoundError` is answered in plain text (`404 page not found`), without a Status.
kinds
    `Kind(group, version, kind, plural, ...)`; `KINDS`, and a constant for each.
routes
    `find_resource(path) -> Route(kind, namespace, name, subresource)`;
    `verb_of(method, route, is_watch=...)`: one of the verbs of `kinds`, or 405.
queries
    `read_list_query(pairs) -> ListQuery`, `read_write_query(pairs, applies=...) -> WriteQuery`,
    `Continue(revision, after).encode()`, `read_continue(token)`.
negotiation
    `answer_form(accept) -> Form(shape, version, content_type)`, or 406.
bodies
    `read_object(route, content_type, data, validation) -> Object` (also the tiny protobuf bodies of
    new kubectl), `read_patch(route, content_type, data) -> Patch`,
    `read_delete_options(content_type, data, pairs) -> DeleteOptions`; 400, 413, 415.
discovery
    `document_at(path, accept) -> Page(content_type, body) | None`: /api, /apis, /apis/G, /api/v1,
    /apis/G/V, /version, /openapi/v2, /openapi/v3 and below.
writing
    `Fresh(now, uid, suffix)`; `Written(object, changed, created, removed, warnings)`;
    `created(route, body, fresh, validation=...)`, `updated(route, current, body, validation)`,
    `patched(route, current or None, patch, fresh, ...)`. With `route.subresource == "status"` the
    status alone is written, else everything but it. 400, 409, 422.
deleting
    `deleted(route, current, options, fresh) -> Written`, `deletion_answer(route, written)`,
    `namespace_emptied(namespace, contents, fresh)`.
binding
    `bound(route, pod, body, fresh, validation)` (POST pods/NAME/binding), `pod_of(route, body)`
    (POST bindings: the body names the pod), `devices_bound(route, pod, body, holder=...)` (POST
    pods/NAME/resourcebinding), `bulk_items(body)` (POST resourcebindings, not Kubernetes),
    `binding_answer`, `bulk_answer`, `evicted(route, body) -> DeleteOptions`. `holder` is a function
    (node, resource, device id) -> "namespace/name" of the pod that has it, or None.
selectors
    `read_selection(kind, labels, fields) -> Selection`: `matches(object)`, and the exact values
    that an index can use: `name`, `namespace`, `node`.
custom_definition
    `device_binding_definition()`: the CustomResourceDefinition for a real cluster.
tables
    `table(kind, objects, now, ...)`, `partial`, `partial_list`, `listing`, `bookmark`.
authorization
    `Identity(name, groups)`, `ADMIN`, `ANONYMOUS`, `read_tokens(text)`;
    `authorize(identity, verb, route, selection)` before anything is read, and
    `restrict(identity, verb, route, current, body)` when it is known: 403.
reviews
    `reviewed(kind, identity, body, fresh) -> Object` (kubectl auth can-i, whoami).

A request: `find_resource`, `verb_of`, `authorize`. Reads: selection, store, form. Writes: body,
`restrict`, `created | updated | patched | deleted | bound`, commit on the revision that was read,
answer. A `Written` with `changed` False is answered and not stored; with `removed` True the object
goes away, and `object` is what the DELETED event shows.
"""
