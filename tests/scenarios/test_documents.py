"""YAML and JSON to documents with places (conventions 1.2)."""

from __future__ import annotations

import json

import pytest

from scenarios.files.documents import DEPTH_MAX, FILE_SIZE_MAX, Document, Plain, read_documents
from simulator.errors import ManifestError, ScenarioError


def documents(text: str) -> list[Document]:
    return read_documents(text.encode(), "file.yaml")


def value(text: str) -> Plain:
    [document] = documents(text)
    return document.plain()


def error(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        documents(text)
    return str(caught.value)


def test_only_true_false_null_and_decimal_numbers_are_anything_but_text() -> None:
    text = "[true, False, ~, null, 7, -3, 1.24, 1e3, 1.24.0, no, on, 0644, 0x1f, 2024-01-01, '7']"

    expected = [True, False, None, None, 7, -3, 1.24, 1000.0]
    expected_text = ["1.24.0", "no", "on", "0644", "0x1f", "2024-01-01", "7"]
    assert value(text) == [*expected, *expected_text]


def test_a_number_too_long_for_any_counter_stays_text() -> None:
    assert value("9" * 5000) == "9" * 5000


def test_json_is_read_as_it_stands() -> None:
    written = {"a": [1, {"b": "x: y"}], "c": None, "d": 'tab\tquote"'}

    assert value(json.dumps(written, indent="\t")) == written
    assert value(json.dumps(written, separators=(",", ":"))) == written


def test_a_file_may_hold_several_documents_and_empty_ones_do_not_count() -> None:
    found = documents("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n")

    assert [document.plain() for document in found] == [{"a": 1}, {"b": 2}]


def test_a_byte_order_mark_is_ignored() -> None:
    [document] = read_documents(b"\xef\xbb\xbfa: 1\n", "file.yaml")

    assert document.plain() == {"a": 1}


def test_every_value_knows_its_place() -> None:
    [document] = documents("a: 1\nlist:\n- {b: x,  c: y}\n")

    place = document.place(("list", 0, "c"))
    key = document.place(("list", 0, "c"), key=True)
    assert (place.line, place.column) == (3, 14)
    assert (key.line, key.column) == (3, 11)


def test_a_path_that_leads_nowhere_has_the_place_of_what_is_above() -> None:
    [document] = documents("a: 1\nlist:\n- {b: x}\n")

    place = document.place(("list", 0, "missing", 7))
    assert (place.line, place.column) == (3, 3)
    assert document.find(("list", 0, "missing")) is None


def test_an_alias_stands_for_the_same_value() -> None:
    assert value("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", 'file.yaml:3:1: duplicate key "a", first given on line 1'),
        ('{"a": 1,\n "a": 2}', 'file.yaml:2:2: duplicate key "a", first given on line 1'),
        ("? [1, 2]\n: x\n", "file.yaml:1:3: a key must be text, not a list or a map"),
        ("a: *x\n", "file.yaml:1:4: *x stands for no value before it"),
        ("a: &x [*x]\n", "file.yaml:1:8: *x stands for no value before it"),
        (
            "a: &x {b: 1}\nc:\n  <<: *x\n",
            "file.yaml:3:3: merge keys (<<) are not supported; write the keys out",
        ),
        (
            "a: !!python/object:os.system ls\n",
            (
                "file.yaml:1:4: the tag tag:yaml.org,2002:python/object:os.system "
                "is not supported; leave it out"
            ),
        ),
    ],
)
def test_what_is_not_supported_is_an_error_at_its_place(text: str, expected: str) -> None:
    assert error(text) == expected


def test_what_is_not_yaml_is_an_error_with_line_and_column() -> None:
    assert error("a: [1, 2\nb: 3\n").startswith("file.yaml:2:2: this is not YAML or JSON: ")
    assert error("é: \x01\n") == (
        "file.yaml:1:4: the character \\x01 cannot stand in a file; write an escape"
    )


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a: 1\nb: \xff\n", "2:4: the file is not UTF-8: byte 8 cannot be read"),
        (b"\xef\xbb\xbf\xc3\xa9: \xe9", "1:4: the file is not UTF-8: byte 7 cannot be read"),
        ("a".encode("utf-16"), "1:1: the file is not UTF-8: byte 0 cannot be read"),
    ],
)
def test_what_is_not_utf8_is_an_error_at_its_place(content: bytes, place: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_documents(content, "file.yaml")

    assert str(caught.value) == f"file.yaml:{place}"


def test_a_file_that_is_too_big_is_not_parsed() -> None:
    with pytest.raises(ScenarioError, match=f"at most {FILE_SIZE_MAX} are read"):
        read_documents(b"#" * (FILE_SIZE_MAX + 1), "file.yaml")


def test_nesting_has_a_limit() -> None:
    deepest, too_deep, far_too_deep = DEPTH_MAX, DEPTH_MAX + 2, 100_000

    assert value("[" * deepest + "]" * deepest) is not None
    assert f"nested deeper than {DEPTH_MAX} levels" in error("[" * too_deep + "]" * too_deep)
    assert "nest" in error("[" * far_too_deep + "]" * far_too_deep)


def test_aliases_cannot_make_a_small_file_big() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    assert "the file holds more than 100000 values" in error("\n".join(lines))


def test_aliases_cannot_pass_the_depth_limit() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 60))]

    assert f"nested deeper than {DEPTH_MAX} levels" in error("\n".join(lines))


def test_a_manifest_raises_its_own_kind_of_error() -> None:
    with pytest.raises(ManifestError):
        read_documents(b"a: [", "pod.yaml", error=ManifestError)


def test_what_a_cluster_prints_has_no_parameters() -> None:
    [document] = read_documents(b"args: ['${HOME}', '$${x']", "pods.yaml")

    assert document.plain() == {"args": ["${HOME}", "$${x"]}


def test_a_larger_file_may_be_read_where_that_is_said() -> None:
    text = b"[" + b"1," * 120_000 + b"1]" + b" " * FILE_SIZE_MAX

    [document] = read_documents(text, "pods.yaml", size_max=2 * FILE_SIZE_MAX)
    assert document.plain() == [1] * 120_001
    with pytest.raises(ScenarioError, match="more than 100000 values"):
        read_documents(b"[" + b"1," * 120_000 + b"1]", "pods.yaml")
