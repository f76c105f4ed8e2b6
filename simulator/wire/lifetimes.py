"""What runs from `start` to `stop`, as a context manager within an `async with`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Startable(ABC):
    """Something that can be started and stopped."""

    @abstractmethod
    async def start(self) -> None:
        """Start."""

    @abstractmethod
    async def stop(self) -> None:
        """Stop."""

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.stop()
