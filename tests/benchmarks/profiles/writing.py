"""A small valid churn profile as text, and edits of it."""

from __future__ import annotations

from benchmarks.profiles.loading import LoadedProfile, parse_profiles
from benchmarks.profiles.profile import Phase

PROFILE = """\
apiVersion: rebind.internal/v1alpha1
kind: ChurnProfile
metadata: {name: example}
spec:
  seed: 7
  nodes: {count: 100, numaNodes: 2}
  plugins: [{name: gpu, resourceName: example.com/gpu, devices: {count: 8}}]
  loads:
    fast-fill: {qpsLoad: {qps: 200}}
    steady: {poissonLoad: {expectedActionsPerSecond: 50}}
    burst: {steppedLoad: {burstSize: 40, stepDelay: 2s}}
  podTemplates:
    long: {limits: {example.com/gpu: 1}, lifetime: {constant: 1h}}
    short: {limits: {example.com/gpu: 1}, lifetime: {lognormal: {median: 30s, sigma: 0.8}, max: 5m}}
  phases:
  - {name: fill, load: fast-fill, pods: long, until: {utilization: 90%}, measure: false}
  - {name: churn, load: steady, pods: short, duration: 5m, warmup: 30s}
  - {name: storm, load: burst, pods: short, duration: 1m}
  matrix:
    persistence: [checkpoint, database]
"""


def edited(old: str, new: str) -> str:
    """Return the profile with the one place of `old` replaced."""
    assert PROFILE.count(old) == 1, old
    return PROFILE.replace(old, new)


def parse(text: str, **settings: str) -> LoadedProfile:
    """Read one profile from text."""
    [loaded] = parse_profiles(text.encode(), "example.yaml", settings)
    return loaded


def phase(loaded: LoadedProfile, name: str) -> Phase:
    """Return the phase of a name."""
    [found] = [one for one in loaded.profile.phases if one.name == name]
    return found
