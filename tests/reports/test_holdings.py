"""Who held what over time: as a timeline and as a page."""

from __future__ import annotations

from dataclasses import replace

from simulator.core.devices import DeviceId
from simulator.core.instants import HOUR, SECOND, Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName, PodIdentity
from simulator.ports import Change, Holding
from simulator.reports.pages.holdings_page import holdings_page
from simulator.reports.timelines.holdings import holdings_timeline
from simulator.reports.timelines.lanes import LaneKind
from tests.reports.html import check_stands_alone, read

START = 1_796_040_000 * SECOND
"""2026-11-30T12:00:00Z."""
NODE = NodeName("n0")


def holding(
    pod: str, device: str, since: tuple[int, int], until: tuple[int, int] | None = None
) -> Holding:
    """Return a holding from and until a revision and seconds after the start."""
    return Holding(
        node=NODE,
        resource=ResourceName("example.com/gpu"),
        device=DeviceId(device),
        pod=PodIdentity(PodUid(f"uid-{pod}"), "default", pod),
        containers=(ContainerName("main"),),
        since_revision=since[0],
        since=Instant(START + since[1] * SECOND),
        until_revision=None if until is None else until[0],
        until=None if until is None else Instant(START + until[1] * SECOND),
        boot_id="boot-1",
        disputed=False,
    )


def change(revision: int, seconds: int, kind: str, detail: str = "") -> Change:
    return Change(revision, Instant(START + seconds * SECOND), NODE, kind, None, detail)


HELD = [
    holding("a", "g0", (3, 5), (5, 3_600)),
    holding("b", "g0", (6, 3_601)),
]
CHANGES = [
    change(1, 0, "NodeBooted", "boot boot-1"),
    change(3, 5, "PodAdmitted", "main example.com/gpu=g0"),
    change(5, 3_600, "PodsReleased", "uid-a"),
    change(6, 3_601, "PodAdmitted", "main example.com/gpu=g0"),
    change(8, 9_000, "NodeBooted", "boot boot-2"),
]


def test_a_device_has_a_bar_for_each_holding() -> None:
    node, device, changes = holdings_timeline(HELD, CHANGES).lanes

    assert [(bar.label, bar.since - START, bar.until) for bar in node.bars] == [
        ("boot boot-1", 0, Instant(START + 9_000 * SECOND)),
        ("boot boot-2", 9_000 * SECOND, None),
    ]
    assert (device.kind, device.name) == (LaneKind.DEVICE, "example.com/gpu g0")
    assert [(bar.label, bar.since - START, bar.row) for bar in device.bars] == [
        ("default/a/main", 5 * SECOND, 0),
        ("default/b/main", HOUR + SECOND, 0),
    ]
    assert [bar.until for bar in device.bars] == [Instant(START + HOUR), None]
    assert len(changes.ticks) == len(CHANGES)


def test_boots_are_marked() -> None:
    line = holdings_timeline(HELD, CHANGES)

    assert [(mark.label, line.entries[mark.record].type) for mark in line.marks] == [
        ("boot boot-1", "NodeBooted"),
        ("boot boot-2", "NodeBooted"),
    ]


def test_holders_of_a_disputed_device_stand_in_rows() -> None:
    disputed = [*HELD, replace(holding("c", "g0", (7, 4_000)), disputed=True)]
    [device] = holdings_timeline(disputed, []).lanes

    assert [bar.row for bar in device.bars] == [0, 0, 1]


def test_a_change_that_is_not_kept_any_more_is_told_from_the_holding() -> None:
    entries = holdings_timeline(HELD, CHANGES[2:]).entries

    assert [(entry.type, entry.text) for entry in entries][:2] == [
        (
            "HoldingBegan",
            "default/a example.com/gpu g0; the change itself is not kept any more",
        ),
        ("PodsReleased", "revision 5: uid-a"),
    ]


def test_a_page_says_who_holds_it_now_and_since_when() -> None:
    text = holdings_page("Who held g0", "nobody", HELD, CHANGES)
    page = read(text)
    sentences = [one.text for one in page.one("section", class_="finding").all("p")[:2]]

    assert sentences == [
        "default/b holds g0 on n0 since 2026-11-30T13:00:01Z.",
        "2 holdings of 1 device by 2 pods known, the first since 2026-11-30T12:00:05Z.",
    ]
    check_stands_alone(text)
    assert holdings_page("Who held g0", "nobody", HELD, CHANGES) == text


def test_a_page_of_several_holders_counts_them() -> None:
    disputed = replace(holding("c", "g0", (7, 4_000)), disputed=True)
    several = read(holdings_page("x", "nobody", [*HELD, disputed], []))
    same = read(holdings_page("x", "nobody", [HELD[1], holding("b", "g1", (7, 4_000))], []))

    assert several.one("p", class_="lead").text == "2 pods hold 2 devices now; 1 of them disputed."
    assert same.one("p", class_="lead").text == "default/b holds 2 devices now."
    assert "✗ disputed" in several.one("table").text


def test_hostile_names_stay_texts() -> None:
    odd = "</script><b>\x00"
    text = holdings_page(odd, odd, [holding(odd, odd, (1, 0))], [change(1, 0, odd, odd)])

    check_stands_alone(text)
    assert "</script><b>\\x00" in read(text).one("h1").text
