"""How bindings are kept: one module per strategy, all with the protocol of `protocol`.

    choosing            the strategies by name, and their options
    defaults            what a strategy does where it says nothing
    checkpoint          the file
    database            rows
    dual_write          both, while a node is migrated
    pod_status          the file, shown in the status of pods
    checkpoint_api      the file, copied into the specs of pods
    api_only            what the two below have in common
    bind_resource       the specs of pods, and no file
    binding_object      an object of its own for each pod, and no file
    orphans             those of pods that are gone
    spec_devices        what specs say of devices

A new strategy is a module here and a line in `choosing`.
"""
