"""What strategies without a file have in common: the node keeps nothing, so a start finds nothing.

Devices are known again when the pods are listed, and only their ids: the plugin is asked once more
before a container starts with them. A static pod, whose object in the API is a mirror, is admitted
before that and leaves no record at all (persistence-designs 3.3).
"""

from __future__ import annotations

from typing_extensions import override

from simulator.core.calls import StoreDecision
from simulator.core.persistence.defaults import PersistenceDefaults
from simulator.core.persistence.protocol import ManagerView, Restored


class ApiOnlyPersistence(PersistenceDefaults):
    """Keeps nothing on the node.

    No step of a decision waits for a write: the API is kept out of the admission, in which pods are
    served one after the other, and does not know what devices a node has.
    """

    @property
    @override
    def recalls_ids_only(self) -> bool:
        return True

    @override
    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Find nothing; what the API has comes with the first LIST."""
        yield from ()
        return Restored(source="nothing")
