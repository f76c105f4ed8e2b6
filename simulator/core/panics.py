"""Where the real kubelet dereferences nil and exits (S3.14, S7.7)."""

from __future__ import annotations

from simulator.core.records import KubeletPanicked


class KubeletPanic(Exception):  # noqa: N818  the kubelet's word: the process ends, nobody recovers
    """The kubelet of this version crashes at this point; its driver starts it again.

    Attributes:
        record: What to tell, with the rule id.
    """

    def __init__(self, record: KubeletPanicked) -> None:
        self.record = record
        super().__init__(f"{record.rule}: {record.detail}")
