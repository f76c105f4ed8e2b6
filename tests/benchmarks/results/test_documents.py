"""The file of a run."""

from __future__ import annotations

import json

import pytest

from benchmarks.results.documents import SIZE_MAX, ResultFileError, read_result, result_text
from tests.benchmarks.results.example import BATCHED, BIND, FLUSHED, example

RESULT = example(settings=(BATCHED, BIND, FLUSHED), rates=(100,), repetitions=2)
TEXT = result_text(RESULT)


def test_a_result_comes_back_as_it_was() -> None:
    assert read_result(TEXT.encode(), "run.json") == RESULT


def test_the_document_is_made_for_other_programs_too() -> None:
    document = json.loads(TEXT)
    row = document["result"]["rows"][2]

    assert document["apiVersion"] == "rebind.internal/v1alpha1"
    assert document["kind"] == "BenchmarkResult"
    assert row["setting"]["flushPeriod"] == "1s"
    assert row["setting"]["durability"] == "full"
    assert row["latencies"]["admission"]["count"] == 200
    assert set(row["latencies"]["admission"]) == {
        *("count", "p50", "p90", "p99", "p99.9", "max", "histogram")
    }


def test_the_same_seed_gives_the_same_bytes() -> None:
    again = example(settings=(BATCHED, BIND, FLUSHED), rates=(100,), repetitions=2)

    assert result_text(again) == TEXT


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "run.json:1:1: damaged, or no JSON"),
        (TEXT[: len(TEXT) // 2], "damaged, or no JSON"),
        ("[]", "run.json: not the result of a benchmark"),
        ('{"kind": "Pod"}', 'of kind "Pod", not BenchmarkResult'),
        (
            TEXT.replace("v1alpha1", "v0", 1),
            'of apiVersion "rebind.internal/v0", and rebind.internal/v1alpha1 is what is read',
        ),
        (
            TEXT.replace('"offered": 500', '"offered": -1'),
            "result.rows[0].offered: Input should be",
        ),
        (TEXT.replace('"offered": 500', '"offered": NaN'), "damaged: NaN is no number"),
        (TEXT.replace('"offered": 500', '"offered": 1e999'), "result.rows[0].offered: "),
        (TEXT.replace('"served"', '"serviced"'), "result.rows[0].served: Field required"),
        (TEXT.replace('"flushPeriod": "1s"', '"flushPeriod": 1'), "a duration is a text"),
        (TEXT.replace('"count": 200', '"count": 7'), "count is 7, and the histogram holds 200"),
        (TEXT.replace('"histogram": "HIST', '"histogram": "XXXX'), "no latencies of Rebind"),
        ("[" * 100_000, "damaged: maximum recursion depth"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line_that_names_the_file(
    content: str, reason: str
) -> None:
    with pytest.raises(ResultFileError) as refused:
        read_result(content.encode(), "run.json")

    message = str(refused.value)
    assert reason in message
    assert message.startswith("run.json:")
    assert "\n" not in message
    assert message.endswith("; give a file that this version of `rebind bench run` wrote")


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ResultFileError, match="damaged: not UTF-8 at byte 1"):
        read_result(b"{\xff", "run.json")


def test_a_file_that_is_too_long_is_refused() -> None:
    with pytest.raises(ResultFileError, match="more than 64 MiB"):
        read_result(b" " * (SIZE_MAX + 1), "run.json")
