"""Nodes and their cluster in time: kubelet process, pods, runtime, API objects.

What a node is made of (time, disk, database, sockets, plugins) comes through `ports`, from one of
two drivers: `simulator.engine.virtual` has models of them in virtual time, `simulator.live` the
real ones. Everything else is the same code under both.

Begin with `world`, which drivers and scenarios hold, and go on with `node` and `kubelet`.

    world, cluster, spec, spec_check, initial_state     a cluster, and what it starts from
    actions, performer                          what can be done to it
    observation, observer, records_kept         what can be seen of it
    invariants, invariant_checks, authority     what must hold
    node, power, host, runtime, node_phase, migration       a machine and what runs on it
    faults, injection, storage_faults, cut_points       what goes wrong on it, and when
    ports, storage_ports, plugin_ports          what drivers supply
    timeline, event_queue, latencies, streams   time and chance

    kubelet, kubelet_parts, kubelet_settings    a kubelet process, and how it starts
    decisions                                   its decisions, resumed with replies
    plugin_connections, plugin_answers, call_counts    its plugins
    sync_loop, local_pods                       its loop, and the pods that it knows
    pod_admission, refused_pods, pod_requests   pods are admitted or refused
    pod_workers, housekeeping, termination      pods start and end
    status_manager, node_status                 what it reports
    kubelet_api, api_requests, api_upkeep       what it asks of the API server, and how often

    api, api_objects, api_devices               the API server in memory
    modelled_api, lossy_api, reachability       the way there, and what is wrong with it
    api_copy, pod_writer                        the same as a copy of a real one
    api_bindings                                what it says of devices
    pod_factory, controllers, scheduler         who makes, replaces and places pods
"""
