"""An API server over a database, with the parts that an extra installs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.assembly.stores import opened_store
from simulator.errors import ServerError
from simulator.ports import Durability, Store
from store import maintenance
from store.committer import COMMIT_BATCH, Committer

API_RETENTION: Final = 65_536
"""Changes of each kind that watches of an API server may go back."""


@dataclass(frozen=True, slots=True)
class ApiServing:
    """How an API server is to be.

    Attributes:
        http: `ADDRESS:PORT` where it listens; port 0 is a free one.
        db: The database.
        token_file: Who has which token; None for loopback, where everybody may do everything.
        retention: Changes of each kind that watches may go back.
        unique_devices: Whether no two pods of a node may be bound to one device.
    """

    http: str
    db: str
    durability: Durability = Durability.FULL
    commit_batch: int = COMMIT_BATCH
    token_file: Path | None = None
    retention: int = API_RETENTION
    unique_devices: bool = False

    @property
    def shown_db(self) -> str:
        """The database for people: without a password."""
        return maintenance.shown_name(self.db)


def api_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes the loop on which an API server is fastest.

    Raises:
        ServerError: The extra `api` is not installed.
    """
    with extra_api():
        # Only who serves an API needs what the extra installs.
        from simulator.api.serving import setup as api  # noqa: PLC0415
    return api.new_loop


@asynccontextmanager
async def served_api(serving: ApiServing, *, kubeconfig: Path | None = None) -> AsyncIterator[str]:
    """Run an API server on this loop, over a database that nobody else writes.

    Args:
        serving: How it is to be.
        kubeconfig: Where a kubeconfig for its clients is written, if anywhere.

    Returns:
        Its URL.

    Raises:
        RebindError: It cannot be started.
        OSError: As above.
    """
    with extra_api():
        # As in `api_loop`.
        from simulator.api.serving import setup as api  # noqa: PLC0415
    setup = api.set_up(
        serving.http,
        serving.token_file,
        retention=serving.retention,
        unique_devices=serving.unique_devices,
        kubeconfig_file=kubeconfig,
    )
    with (
        opened_store(serving.db, durability=serving.durability) as store,
        closing(committer_here(store, serving.commit_batch)) as committer,
    ):
        async with api.running(setup, store.objects, committer, kubeconfig) as url:
            yield url


def committer_here(store: Store, commit_batch: int) -> Committer:
    """Return a committer that gives its answers on this loop.

    There is one wake-up of the loop for all whose writes were committed together.
    """
    loop = asyncio.get_running_loop()
    return Committer(
        store,
        commit_batch=commit_batch,
        deliver=lambda answers: _deliver_to(loop, answers),
    )


def _deliver_to(loop: asyncio.AbstractEventLoop, answers: Sequence[Callable[[], None]]) -> None:
    loop.call_soon_threadsafe(_give_all, answers)


def _give_all(answers: Sequence[Callable[[], None]]) -> None:
    for answer in answers:
        answer()


@contextmanager
def extra_api() -> Iterator[None]:
    """Say what is missing if what is imported here is not installed.

    Raises:
        ServerError: The extra `api` is not installed.
    """
    try:
        yield
    except ImportError as error:
        reason = (
            f"the API server needs {error.name}, which is not installed: pip install 'rebind[api]'"
        )
        raise ServerError(reason) from error
