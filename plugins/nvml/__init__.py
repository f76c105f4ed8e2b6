"""Real NVIDIA GPUs as devices, read through NVML (pynvml).

    library     pynvml opened and closed; its errors in our words
    gpus        what a machine has, as values
    reading     values out of pynvml, /sys and /proc
    closeness   which GPUs are near each other, likewise
    profiles    how a MIG device is called
    resources   which resources and device ids that makes: MIG strategies, time-slicing replicas
    health      which devices are unhealthy, after which XIDs and which lost GPUs
    events      XID events and lost GPUs, as NVML tells them
    preference  which of the free devices go well together
    answers     what a container gets
    plugin      all that as a device plugin for each resource, which `plugins.serving` serves

Only `library`, `reading`, `closeness` and `events` call NVML; the others decide over values and
know neither pynvml nor gRPC. Everything is read, nothing is set: no GPU's mode, clock or partition
changes.
"""
