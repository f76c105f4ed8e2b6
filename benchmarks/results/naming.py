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
        own: Whether it means something only beside its persistence, so that it is named only where
            one persistence has several.
        is_batch: Whether tables show it in the one column `BATCH`.
        has_none: Whether no words are a value too, and not that it does not apply.
    """

    header: str
    value: Callable[[Setting], str | int]
    words: Callable[[Setting], str]
    always: bool = False
    usual: str = ""
    own: bool = False
    is_batch: bool = False
    has_none: bool = False


def batching(setting: Setting) -> str:
    """Return how writes are gathered: `64 flush 1s`, `bulk 16`; `-` where they are not."""
    parts = []
    if setting.commit_batch is not None:
        parts.append(str(setting.commit_batch))
    if setting.flush_period:
        parts.append(f"flush {format_duration(setting.flush_period)}")
    if (setting.bulk_bind or 1) > 1:
        parts.append(f"bulk {setting.bulk_bind}")
    return " ".join(parts) or NONE


def client_limits(setting: Setting) -> str:
    """Return the limits of the API client, `5/10`; `-` without any."""
    if setting.qps is None:
        return NONE
    return number(setting.qps) + ("" if setting.burst is None else f"/{setting.burst}")


def options_words(setting: Setting) -> str:
    """Return the variant of a persistence, `perContainer=true`; empty without any."""
    return ",".join(f"{name}={value}" for name, value in setting.options)


def _limits_words(setting: Setting) -> str:
    return "" if setting.qps is None else f"QPS {client_limits(setting)}"


def _clock_words(setting: Setting) -> str:
    return f"{setting.clock.value} time"


KNOBS: Final = (
    Knob("PERSISTENCE", lambda one: one.persistence, lambda one: one.persistence, always=True),
    Knob("STORE", lambda one: one.store.value, lambda one: f"on {one.store.value}", own=True),
    Knob(
        "OPTIONS",
        lambda one: options_words(one) or NONE,
        options_words,
        own=True,
        has_none=True,
    ),
    Knob(
        "COMMIT-BATCH",
        lambda one: NONE if one.commit_batch is None else one.commit_batch,
        lambda one: "" if one.commit_batch is None else f"commitBatch {one.commit_batch}",
        own=True,
        is_batch=True,
    ),
    Knob(
        "FLUSH-PERIOD",
        lambda one: NONE if one.flush_period is None else format_duration(one.flush_period),
        lambda one: (
            "" if one.flush_period is None else f"flushPeriod {format_duration(one.flush_period)}"
        ),
        own=True,
        is_batch=True,
    ),
    Knob(
        "BULK-BIND",
        lambda one: NONE if one.bulk_bind is None else one.bulk_bind,
        lambda one: "" if one.bulk_bind is None else f"bulkBind {one.bulk_bind}",
        own=True,
        is_batch=True,
    ),
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
        lambda one: NONE if one.clients is None else one.clients,
        lambda one: "any clients" if one.clients is None else counted(one.clients, "client"),
        usual="any clients",
    ),
    Knob("CLOCK", lambda one: one.clock.value, _clock_words),
)
"""Everything that a setting sets, in the order in which it is printed."""

_PERSISTENCE, *_OTHERS = KNOBS


class Naming:
    """Names for settings that are shown together."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        self._settings = tuple(dict.fromkeys(settings))
        self._varying = tuple(knob for knob in KNOBS if self._varies(knob))

    def name(self, setting: Setting) -> str:
        """Return what tells a setting from the others, its persistence first."""
        told = [
            knob.words(setting)
            for knob in self._varying
            if knob is not _PERSISTENCE and self._is_told(knob, setting)
        ]
        return ", ".join(word for word in (_PERSISTENCE.words(setting), *told) if word)

    def shared(self) -> str:
        """Return what all settings have in common, e.g. `durability full, 200 nodes, real time`."""
        found: list[str] = []
        for knob in _OTHERS:
            words = self._words(knob)
            words.pop(knob.usual, None)
            if knob not in self._varying and not knob.own:
                found += words
        return ", ".join(found)

    def common(self, some: Iterable[Setting]) -> str:
        """Return what some settings have in common and not all have, e.g. `fsync +0s`.

        A setting to which a knob does not apply is no exception, as in `shared`.
        """
        here = Naming(some)
        told = []
        for knob in self._varying:
            words = list(here._words(knob))
            if knob is not _PERSISTENCE and len(words) == 1:
                told += words
        return ", ".join(filter(None, told))

    def columns(self) -> list[Knob]:
        """Return the columns of a table: what varies, and what stands beside every number."""
        shown = [knob for knob in KNOBS if not knob.is_batch and self._is_column(knob)]
        at = next(place for place, knob in enumerate(shown) if knob.header == "QPS")
        return [*shown[:at], BATCH, *shown[at:]]

    def _is_column(self, knob: Knob) -> bool:
        return knob.always or knob in self._varying

    def _varies(self, knob: Knob) -> bool:
        if knob.own:
            return any(self._is_told(knob, setting) for setting in self._settings)
        return len(self._words(knob)) > 1

    def _is_told(self, knob: Knob, setting: Setting) -> bool:
        """Tell whether a knob tells a setting from others."""
        return not knob.own or len(self._words(knob, setting.persistence)) > 1

    def _words(self, knob: Knob, persistence: str | None = None) -> dict[str, None]:
        """Return what settings say of a knob, those of one persistence or all."""
        words = dict.fromkeys(
            knob.words(setting)
            for setting in self._settings
            if persistence in {None, setting.persistence}
        )
        if not knob.has_none:
            words.pop("", None)
        return words


BATCH: Final = Knob("BATCH", batching, lambda _: "")
"""How writes are gathered, in one column."""
