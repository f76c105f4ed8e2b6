"""A token bucket as Go's `rate.Limiter` keeps it: it starts full and refills steadily.

Kept as credit in nanoseconds, so nothing is rounded and nobody has to ask a clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator.core.instants import SECOND, Duration, Instant


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """How many calls are still allowed, as of an instant.

    Attributes:
        interval: The time in which one token comes back.
        burst: How many tokens there are at most.
        credit: What has been saved up at `at`, in time; `interval` is one token. It is negative
            while tokens are reserved that are still to come.
        at: When that was.
    """

    interval: Duration
    burst: int
    credit: Duration
    at: Instant

    @classmethod
    def full(cls, *, per_second: int, burst: int, now: Instant) -> TokenBucket:
        """Return a bucket with all of its tokens."""
        interval = Duration(SECOND // per_second)
        return cls(interval, burst, Duration(burst * interval), now)

    def take(self, now: Instant) -> tuple[bool, TokenBucket]:
        """Take one token, if there is one.

        Args:
            now: Not before the last call; an earlier instant counts as that one.

        Returns:
            Whether there was one, and the bucket afterwards.
        """
        passed = max(0, now - self.at)
        credit = min(self.burst * self.interval, self.credit + passed)
        allowed = credit >= self.interval
        left = Duration(credit - self.interval if allowed else credit)
        return allowed, replace(self, credit=left, at=Instant(self.at + passed))

    def reserve(self, now: Instant) -> tuple[Duration, TokenBucket]:
        """Take one token, perhaps one that comes back only later.

        Who reserves first waits less, so calls go out in the order in which they were made. Go:
        `Limiter.Wait`, by which client-go holds its calls back (S12.1).

        Args:
            now: As for `take`.

        Returns:
            How long to wait for it, and the bucket afterwards.
        """
        passed = max(0, now - self.at)
        credit = min(self.burst * self.interval, self.credit + passed) - self.interval
        left = replace(self, credit=Duration(credit), at=Instant(self.at + passed))
        return Duration(max(0, -credit)), left
