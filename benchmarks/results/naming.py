"""Settings in words: what tells them apart is named in each, what all share is said once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from benchmarks.results.quantities import number
from benchmarks.results.rows import Setting
from simulator.core.instants import format_duration
from simulator.core.plurals import counted

NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class Knob:
    """One thing that a setting sets.

    Attributes:
        header: In tables.
        value: Its cell; `-` where it does not apply.
        words: In sentences and legends; empty where it does not apply.
        always: Whether tables show it even where all settings have the same.
        usual: Words that go without saying where all settings share them.
    """

    header: str
    value: Callable[[Setting], str | int]
    words: Callable[[Setting], str]
    always: bool = False
    usual: str = ""


def batching(setting: Setting) -> str:
    """Return how writes are gathered: `64`, `flush 1s`, `bulk 16`; `-` where they are not."""
    parts = []
    if setting.commit_batch is not None:
        parts.append(str(setting.commit_batch))
    if setting.flush_period:
        parts.append(f"flush {format_duration(setting.flush_period)}")
    if setting.bulk_bind is not None:
        parts.append(f"bulk {setting.bulk_bind}")
    return " ".join(parts) or NONE


def client_limits(setting: Setting) -> str:
    """Return the limits of the API client, `5/10`; `-` without any."""
    if setting.qps is None:
        return NONE
    return number(setting.qps) + ("" if setting.burst is None else f"/{setting.burst}")


def _batching_words(setting: Setting) -> str:
    parts = []
    if setting.commit_batch is not None:
        parts.append(f"commitBatch {setting.commit_batch}")
    if setting.flush_period is not None:
        parts.append(f"flushPeriod {format_duration(setting.flush_period)}")
    if setting.bulk_bind is not None:
        parts.append(f"bulkBind {setting.bulk_bind}")
    return ", ".join(parts)


def _options(setting: Setting) -> str:
    return ",".join(f"{name}={value}" for name, value in setting.options)


def _limits_words(setting: Setting) -> str:
    return "" if setting.qps is None else f"QPS {client_limits(setting)}"


def _clock_words(setting: Setting) -> str:
    return f"{setting.clock.value} time"


KNOBS: Final = (
    Knob("PERSISTENCE", lambda one: one.persistence, lambda one: one.persistence, always=True),
    Knob("STORE", lambda one: one.store.value, lambda one: f"on {one.store.value}"),
    Knob("OPTIONS", lambda one: _options(one) or NONE, _options),
    Knob("BATCH", batching, _batching_words, always=True),
    Knob("QPS", client_limits, _limits_words, always=True),
    Knob(
        "DURABILITY",
        lambda one: one.durability.value,
        lambda one: f"durability {one.durability.value}",
        always=True,
    ),
    Knob(
        "ADDED-FSYNC",
        lambda one: format_duration(one.added_fsync),
        lambda one: f"fsync +{format_duration(one.added_fsync)}",
        usual="fsync +0s",
    ),
    Knob(
        "EXISTING",
        lambda one: one.existing,
        lambda one: f"{one.existing} existing",
        usual="0 existing",
    ),
    Knob("NODES", lambda one: one.nodes, lambda one: counted(one.nodes, "node")),
    Knob(
        "CLIENTS",
        lambda one: one.clients,
        lambda one: counted(one.clients, "client"),
        usual="1 client",
    ),
    Knob("CLOCK", lambda one: one.clock.value, _clock_words),
)
"""Everything that a setting sets, in the order in which it is printed."""

_PERSISTENCE, _STORE, *_OTHERS = KNOBS


class Naming:
    """Names for settings that are shown together."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        self._settings = tuple(dict.fromkeys(settings))
        self.varying: Final = tuple(knob for knob in KNOBS if self._varies(knob))

    def name(self, setting: Setting) -> str:
        """Return what tells a setting from the others, its persistence first."""
        words = [_PERSISTENCE.words(setting)]
        words += [knob.words(setting) for knob in self.varying if knob is not _PERSISTENCE]
        return ", ".join(word for word in words if word)

    def shared(self) -> str:
        """Return what all settings have in common, e.g. `durability full, 200 nodes, real time`."""
        found: list[str] = []
        for knob in _OTHERS:
            words = dict.fromkeys(knob.words(setting) for setting in self._settings)
            words.pop("", None)
            words.pop(knob.usual, None)
            if knob not in self.varying and knob.header not in _UNSAID:
                found += words
        return ", ".join(found)

    def _varies(self, knob: Knob) -> bool:
        """Tell whether settings differ in a knob; the store only within one persistence."""
        if knob is _STORE:
            pairs = {(setting.persistence, setting.store) for setting in self._settings}
            return len(pairs) > len({setting.persistence for setting in self._settings})
        return len({knob.words(setting) for setting in self._settings} - {""}) > 1


_UNSAID: Final = frozenset({"BATCH"})
"""Stands in every table, and means nothing without its persistence."""
