"""Hypothesis profiles: `dev` by default, `ci` in `make test`, `soak` in `make soak`."""

from __future__ import annotations

import os
from datetime import timedelta

from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, print_blob=True, database=None
)
settings.register_profile(
    "soak",
    max_examples=5_000,
    deadline=timedelta(minutes=1),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
