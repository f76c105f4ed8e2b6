"""Generated protobuf code of the device plugin and PodResources APIs."""
