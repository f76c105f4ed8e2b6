"""The decisions of the kubelet's device manager, pure and deterministic.

Nothing here reads a clock, draws a random number, opens a file or logs. Functions take facts and
`now`; where the kubelet would call a plugin or write a file in the middle of a decision, the core
yields a `simulator.core.calls` value and is resumed with the reply. What does not belong here:
anything that knows how a reply is obtained.

Begin with `device_manager`, which names every entry and where it leads.

    manager_state, facts                        all that is known while something is decided
    inventory, device_pool, slot_set, endpoints     what plugins have, and which of them are there
    pod_devices, choices                        who holds what; what the kubelet leaves to chance
    restoring, reporting, releasing             a start, a plugin's message, the end of pods
    admission, allocation, recording            a pod is admitted: choose, ask the plugin, record
    hinting, topology, numa_masks, affinity, topology_policies      the same, NUMA nodes aligned
    container_start, run_options, recalling     a container starts
    calls, plugin_calls, api_calls              what leaves the core, and the replies
    refusals, api_refusals, panics, records     what comes of it
    api_backing, persistence                    how bindings are kept, one module per strategy
    checkpoint, migration, transitions          the file, the rows, and the way between them
    invariants, invariant_names, snapshot       all of it, looked at and recounted

    devices, pods, resources, instants, machine, quantities, plurals    the words for it
    behavior, switches, switch_rows, releases, kubelet_version      what differs between kubelets
    registration, plugin_registry, plugin_answers, physical_ids     plugins
    allocate_response, plain_response, response_messages, protobuf_wire     their answers as bytes
    pod_resources, resource_health, node_resources, kubelet_counts      what others are told
    resource_bindings, preconditions, resource_requests     what an API server accepts
    token_bucket                                how much of it a kubelet may ask
    diagnosis                                   what a message or a state means

Another version of the kubelet differs: a row in `switch_rows`, and a look at `Behavior` where the
decision is made. Another way to keep bindings: a module in `persistence`, and its line in
`persistence.choosing`. Another cause to refuse a pod: a value in `refusals`. Another thing to tell:
a value in `records`, and its words in `simulator.reports.wording`.
"""
