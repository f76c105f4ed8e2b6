"""Pages in a real browser: no error, no request, and they can be used without a mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.results.page import benchmark_page
from simulator.reports.pages.holdings_page import holdings_page
from simulator.reports.pages.replay_page import replay_page
from tests.benchmarks.results.example import SETTINGS, example
from tests.reports.browser import CHROMIUM, Page, browser
from tests.reports.test_holdings import CHANGES, HELD
from tests.reports.test_replay_page import built_in, hostile

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def opened(page: Page, folder: Path, text: str, *, width: int = 1280) -> Page:
    file = folder / "page.html"
    file.write_text(text)
    page.requests.clear()
    page.problems.clear()
    page.open(file, width=width)
    assert page.requests == [file.as_uri()]
    return page


def test_a_page_can_be_used_without_error_request_or_mouse(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, replay_page(built_in("state-file-damaged")))

    assert page.evaluate("document.querySelectorAll('details.run[open] .lane').length") > 8
    page.evaluate("document.querySelector('.timeline [tabindex=\"0\"]').focus()")
    page.evaluate(
        "document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))"
    )
    shown = page.evaluate("document.getElementById('tip').textContent")
    assert shown == page.evaluate("document.activeElement.getAttribute('aria-label')").replace(
        "; ", ""
    )
    page.evaluate("document.querySelector('#s1e4r3 a').click()")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    assert page.evaluate("document.getElementById('s1r3').open") is True
    assert page.evaluate("document.querySelector('#s1r3 .cursor').hidden") is False
    page.evaluate("document.querySelector('#s1r3 details.records > summary').click()")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    assert page.evaluate("document.querySelectorAll('#s1r3 .records tbody tr').length") > 40
    page.evaluate("document.getElementById('theme').click()")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.problems == []


def test_a_page_of_holdings_is_drawn_without_error_or_request(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, holdings_page("Who held g0", "nobody", HELD, CHANGES), width=400)

    assert page.evaluate("document.querySelectorAll('.device .bar').length") == 2
    assert page.evaluate("document.querySelector('.axis .at').textContent") == (
        "2026-11-30T12:00:00Z"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") is True
    assert page.problems == []


def test_nothing_is_wider_than_a_telephone(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, replay_page(built_in("state-file-damaged")), width=400)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") is True


def test_hostile_texts_are_shown_and_not_run(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, replay_page([hostile()]))

    assert page.evaluate("document.images.length") == 0
    assert "<img src=x" in page.evaluate("document.querySelector('.timeline').textContent")
    assert page.problems == []


@pytest.mark.parametrize("width", [400, 1280])
def test_a_page_of_benchmarks_shows_its_plots_without_error_or_request(
    page: Page, tmp_path: Path, width: int
) -> None:
    run = example(settings=SETTINGS[:4], rates=(100, 900), repetitions=2)
    opened(page, tmp_path, benchmark_page([run]), width=width)
    shown = page.evaluate(
        "[...document.querySelectorAll('svg[role=img]')].filter(one => one.clientWidth).length"
    )
    sizes = page.evaluate(
        "[...document.querySelectorAll('svg[role=img] text')].filter(one => one.clientWidth !== 0)"
        ".map(one => one.getBoundingClientRect()).filter(box => box.width)"
        ".map(box => Math.round(box.height))"
    )

    assert shown == page.evaluate("document.querySelectorAll('figure').length") > 5
    assert min(sizes) >= 9
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") is True
    page.evaluate("document.getElementById('theme').click()")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.problems == []
