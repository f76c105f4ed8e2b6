"""The page of a replay: what stands in it, where its links lead, and that nothing breaks it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

from scenarios.builtin import builtin_names, find_file
from scenarios.loading.loaded import load_scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import replay
from simulator.assembly.worlds import simulated
from simulator.core.instants import Instant
from simulator.core.pods import PodUid
from simulator.core.records import PodPhaseChanged, Stamped, StepDone
from simulator.core.transitions import NodeName
from simulator.reports.pages.replay_page import replay_page
from simulator.reports.results import Cell, Column, Fact, Row, RunResult, ScenarioResult, Verdict
from tests.reports.html import Element, check_stands_alone, read
from tests.reports.results import (
    ALIKE,
    BY_PERSISTENCE,
    BY_VERSION,
    MESSAGE,
    RUNNING,
    UNHELD,
    result,
)

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'\u2028{{ 7 * 7 }}"


@cache
def built_in(name: str) -> tuple[ScenarioResult, ...]:
    everywhere = Narrowing(None, None, None)
    loaded = load_scenarios(find_file(name), {})
    return tuple(replay(one, everywhere, simulated) for one in loaded)


def table(page: Element) -> Element:
    return page.one("table", class_="verdicts")


def test_the_finding_stands_on_top_in_two_sentences() -> None:
    page = read(replay_page([result(ALIKE, BY_VERSION, BY_PERSISTENCE)]))

    assert page.one("title").text == "example - Rebind replay"
    assert page.one("h1").text == "example"
    first, second = page.all("p", class_="lead")
    assert first.text.startswith("1 of 3 outcomes differs between checkpoint and database")
    assert second.text.startswith("The other 2 outcomes are alike")


def test_a_run_tells_when_an_expectation_was_judged_but_not_twice() -> None:
    at_40s = replace(RUNNING, at=Instant(40_000_000_000))
    named = Row("at 40s: pod trainer", (at_40s,) * 4)
    other = Row("after reboot within 5s: pod trainer", (at_40s,) * 4)
    page = read(replay_page([result(named, other)]))

    first, second = page.all("ol", class_="expectations")[0].all("li")
    assert first.text.startswith("held at 40s: pod trainer: Running")
    assert second.text.startswith("held at 40s, after reboot within 5s: pod trainer: Running")


def test_what_does_not_speak_for_itself_is_explained() -> None:
    left = Cell(Verdict.HELD, (Fact("sameDevices", "left", meaning="it went away."),))
    page = read(replay_page([result(Row("at 1s: pod trainer", (left,) * 4))]))

    assert "left: it went away." in [each.text for each in page.all("li")]


def test_the_table_has_a_row_for_each_expectation_and_a_column_for_each_combination() -> None:
    page = read(replay_page([result(ALIKE, BY_VERSION, UNHELD)]))
    head, body = table(page).one("thead"), table(page).one("tbody")

    assert [cell.text for cell in head.all("th", class_="version")] == ["1.24.0", "1.36.2"]
    assert [link.text for link in head.all("a")] == ["checkpoint", "database"] * 2
    assert [row.text for row in body.all("th")] == [
        "after admit: pod trainer", "after reboot: pod trainer", "always: pod trainer",
    ]  # fmt: skip
    verdicts = [
        [cell.attributes["class"].split()[0] for cell in row.all("td")[:-1]]
        for row in body.all("tr")
    ]
    assert verdicts == [["held"] * 4, ["held"] * 4, ["held", "broken", "held", "broken"]]


def test_a_cell_says_its_verdict_in_words_and_what_was_expected() -> None:
    page = read(replay_page([result(UNHELD)]))
    [row] = table(page).one("tbody").all("tr")
    cells = [cell.text for cell in row.all("td")]

    assert cells[0] == "held: Running"
    assert cells[1] == "broken: ≠ Pending expected phase Running"
    assert cells[3] == "broken: ≠ broken a"
    assert page.one("div", id="s1na").text == 'a the step "x" was never done'


def test_differences_are_marked_in_text() -> None:
    page = read(replay_page([result(ALIKE, BY_PERSISTENCE, BY_VERSION)]))
    alike, by_persistence, by_version = table(page).one("tbody").all("tr")

    assert alike.one("td", class_="by").text == ""
    assert [len(cell.all("abbr")) for cell in by_persistence.all("td")] == [0, 1, 0, 1, 0]
    assert by_persistence.one("td", class_="by").text == "persistence"
    assert by_version.one("td", class_="by").text == "version"


def test_a_long_text_stands_below_the_table_once() -> None:
    page = read(replay_page([result(BY_VERSION)]))

    assert page.one("dl", class_="notes").text == f"a {MESSAGE}"
    assert [note.attributes["href"] for note in page.all("a", class_="note")] == ["#s1na"] * 2


def test_a_cell_leads_to_its_place_in_the_run_and_back() -> None:
    page = read(replay_page([result(ALIKE, UNHELD)]))
    cells = [cell for row in table(page).one("tbody").all("tr") for cell in row.all("td")[:-1]]

    for cell in cells:
        place = page.one("li", id=cell.all("a")[0].attributes["href"][1:])
        assert place.one("a", class_="back").attributes["href"] == f"#{cell.attributes['id']}"
    runs = page.all("details", class_="run")
    assert [len(run.one("ol").all("li")) for run in runs] == [2, 2, 2, 2]


def test_only_one_run_of_a_single_scenario_is_open_a_broken_one_if_there_is_one() -> None:
    broken = read(replay_page([result(UNHELD)])).all("details", class_="run")
    one = read(replay_page([result(ALIKE)])).all("details", class_="run")
    two = read(replay_page([result(ALIKE), result(ALIKE, name="b")])).all("details", class_="run")

    assert ["open" in run.attributes for run in one] == [True, False, False, False]
    assert ["open" in run.attributes for run in broken] == [False, True, False, False]
    assert not any("open" in run.attributes for run in two)


def test_several_scenarios_have_an_overview_that_leads_to_each() -> None:
    page = read(replay_page([result(ALIKE), result(UNHELD, name="other")]))
    overview = page.one("table", class_="overview")

    assert [link.text for link in overview.all("a")] == ["example", "other"]
    assert [len(page.all("section", id=f"s{number}")) for number in (1, 2)] == [1, 1]
    assert [cell.text for cell in overview.all("td")][:5] == ["4", "4", "0", "0 of 1", "0 of 1"]


def test_links_resolve_and_nothing_is_loaded_from_elsewhere() -> None:
    check_stands_alone(replay_page([result(ALIKE, BY_VERSION, BY_PERSISTENCE, UNHELD), result()]))
    check_stands_alone(replay_page(built_in("state-file-damaged")))


def test_the_timelines_hold_every_record_in_words() -> None:
    [found] = built_in("reboot-pod-before-plugin")
    page = read(replay_page([found]))
    data = json.loads(page.one("script", id="s1data").text)
    texts, first = data["texts"], data["timelines"][0]

    assert len(data["timelines"]) == len(found.runs)
    assert len(first["records"]) == len(found.runs[0].records)
    said = [" ".join(texts[part] for part in record[1:]) for record in first["records"]]
    assert "node-a DevicesAllocated trainer/main example.com/gpu numa 0: gpu-0 gpu-2" in said
    assert [stop[0] for stop in first["stops"]] == sorted(stop[0] for stop in first["stops"])


def hostile() -> ScenarioResult:
    fact = Fact("phase", HOSTILE, HOSTILE, holds=False, detail=HOSTILE)
    stamped = (
        Stamped(Instant(0), NodeName(HOSTILE), PodPhaseChanged(PodUid("u"), HOSTILE, HOSTILE)),
        Stamped(Instant(1), NodeName(""), StepDone(HOSTILE)),
    )
    run = RunResult(Column("1.36.2", HOSTILE, HOSTILE), 0, stamped)
    row = Row(HOSTILE, (Cell(Verdict.BROKEN, (fact,)),))
    return ScenarioResult(HOSTILE, HOSTILE, HOSTILE, f"javascript:{HOSTILE}", (run,), (row,))


def test_hostile_texts_stay_texts() -> None:
    text = replay_page([hostile()])
    page = read(text)

    check_stands_alone(text)
    assert len(page.all("script")) == len(read(replay_page([result(ALIKE)])).all("script"))
    assert page.one("h1").text.startswith("</script><script>alert(1)</script><img src=x")
    assert "{{ 7 * 7 }}" in page.one("h1").text
    data = json.loads(page.one("script", id="s1data").text)
    assert any(text.startswith("</script>") for text in data["texts"])
    assert not any(one.attributes["href"].startswith("javascript") for one in page.all("a"))


def test_control_characters_are_shown_and_not_sent() -> None:
    text = replay_page([replace(result(ALIKE), description="a\x00b\x1b[31m")])

    assert "a\\x00b\\x1b[31m" in text
    assert "\x00" not in text


def test_the_same_results_give_the_same_bytes() -> None:
    first = replay_page(built_in("power-cut-at-rename"))
    built_in.cache_clear()

    assert replay_page(built_in("power-cut-at-rename")) == first


def test_a_page_of_many_scenarios_stays_small() -> None:
    names = [name for name in builtin_names() if "storm" not in name][:6]
    results = [one for name in names for one in built_in(name)]
    runs = sum(len(one.runs) for one in results)

    assert len(replay_page(results)) < 60_000 + 20_000 * runs
