"""Lists of whole collections, page by page, all of one revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.api.client.http import Answer, HttpClient
from simulator.api.dialect.documents import Object, items, text

PAGE: Final = 500
"""Objects of one page of a list."""
_GONE: Final = 410


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server has listed.

    Attributes:
        answer: The last answer: that of the last page, or the refusal.
        objects: All objects; empty when the server refuses.
    """

    answer: Answer
    objects: tuple[Object, ...] = ()

    @property
    def revision(self) -> str:
        """The resourceVersion from which a watch goes on; empty for none."""
        return text(self.answer.document, "metadata", "resourceVersion")


async def list_whole(
    client: HttpClient, path: str, query: Mapping[str, str] | None = None
) -> Listing:
    """List a collection.

    When the server forgets the revision of the first page before the last one is asked for (410),
    everything is asked for at once, as client-go does.

    Args:
        client: Of the server.
        path: The collection.
        query: Which of it: selectors.

    Raises:
        ApiUnreachableError: There was no answer.
    """
    chosen = dict(query or {})
    paged = {**chosen, "limit": str(PAGE)}
    objects: list[Object] = []
    while True:
        answer = await client.ask("GET", path, query=paged)
        if answer.code == _GONE and "limit" in paged:
            objects.clear()
            paged = dict(chosen)
            continue
        if answer.is_refused:
            return Listing(answer)
        objects += items(answer.document, "items")
        token = text(answer.document, "metadata", "continue")
        if not token:
            return Listing(answer, tuple(objects))
        paged["continue"] = token
