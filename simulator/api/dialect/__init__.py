"""What an API server of Kubernetes' dialect decides: pure functions over JSON documents, no I/O.

The server reads bytes and rows, calls these functions in this order, and writes what they return.
Time, uids and chance come in as `Fresh`; the revision is filled in by the store when it commits, so
the objects returned here carry the old `metadata.resourceVersion`, or none when they are new.

    documents       Json, Object = dict[str, Json]; text(), mapping(), items()
    statuses        StatusError(code, reason, message, details, headers) with .status() -> Object;
                    not_found(kind, name), already_exists, conflict, expired, bad_request, invalid,
                    unsupported_media_type, not_acceptable, method_not_allowed, unauthorized,
                    forbidden, too_large, server_timeout, unavailable; success(...) -> Object.
                    PathNotFoundError is plain text ("404 page not found"), no Status.
    kinds           Kind(group, version, kind, plural, ...); KINDS, one constant for each
    routes          find_resource(path) -> Route(kind, namespace, name, subresource)
                    verb_of(method, route, *, is_watch) -> Verb            405
    queries         read_list_query(pairs, route) -> ListQuery (limit, continue, labels, fields, watch,
                    revision, match, bookmarks, send_initial_events, timeout_seconds)
                    read_write_query(pairs) -> WriteQuery (dry_run, validation, manager, force)
                    Continue(revision, after) with encode(), decode(text)   400, 410
    negotiation     answer_form(accept) -> Form(AS_OBJECT | AS_TABLE | AS_PARTIAL, version)   406
    bodies          read_object(route, content_type, data) -> Object       400, 415, protobuf envelope
                    read_patch(route, content_type, data, *, force) -> Patch            400, 415
                    read_delete_options(content_type, data, query) -> DeleteOptions
    discovery       document_at(path, accept) -> Page(content_type, body: bytes) | None
                    (/api, /apis, /apis/G, /api/v1, /apis/G/V, /version, /openapi/v2, /openapi/v3/...)
    writing         Fresh(now: Instant, uid, suffix)
                    Written(object, changed, warnings, created)
                    created(route, body, fresh, *, validation) -> Written
                    updated(route, current, body, fresh, *, validation) -> Written      409, 422
                    patched(route, current | None, patch, fresh, *, validation) -> Written
                    (route.subresource "status" writes the status alone; anything else but it)
    deleting        deleted(route, current, options, fresh) -> Deleted(object, removed, changed)
                    deletion_answer(route, deleted) -> Object
                    namespace_deleted(namespace, contents, fresh) -> NamespaceDeleted
    binding         bound(route, pod, body, fresh) -> Written                (POST pods/NAME/binding)
                    devices_bound(route, pod, body, fresh, *, holder) -> Written
                                                                     (POST pods/NAME/resourcebinding)
                    bulk_items(body) -> tuple[BulkItem(namespace, name, body)]   (not Kubernetes)
                    evicted(route, pod, body) -> DeleteOptions              (POST pods/NAME/eviction)
                    holder: Callable[[node, resource, device id], str | None] = "namespace/name"
    selectors       read_selection(kind, labels, fields) -> Selection: matches(object) -> bool,
                    and the exact values that an index can use: name, namespace, node   400
    tables          table(kind, objects, now, page, *, include, columns) -> Object
                    partial(object), partial_list(...); listing(kind, objects, page) -> Object
                    Page(revision, continue, remaining); bookmark(kind, revision, *, initial)
    authorization   Identity(name, groups); read_tokens(text) -> Tokens; ADMIN, ANONYMOUS
                    authorize(identity, verb, route, selection) -> None                  403
                    restrict(identity, verb, route, current, body) -> None               403
    reviews         reviewed(kind, identity, body, fresh) -> Object  (kubectl auth can-i, whoami)

A request: `find_resource`, `verb_of`, `authorize`; reads: selection, store, form; writes: body,
`restrict` with what is stored, `created|updated|patched|deleted|bound`, commit (precondition: the
revision of what was read), answer. A `Written` with `changed` False is answered and not stored.
"""
