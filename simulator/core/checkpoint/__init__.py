"""The kubelet's checkpoint file: bytes to values and back, exactly.

`values` holds what a file says, `parse` reads it as a kubelet of a given version does, `render`
writes it, `dump` makes the text that is hashed, `incremental` renders again and again at the cost
of what changed, `bindings` turns entries into `DeviceBinding`s and back, `recognition` tells what a
file is when nobody says. Nothing here opens a file; nothing knows a version number.

Kubelet: devicemanager/checkpoint, checkpointmanager, Go's encoding/json and spew (S4).
"""
