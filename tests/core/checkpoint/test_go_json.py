"""JSON as Go's `encoding/json` reads it: what it accepts, what it makes of it, and its errors."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.core.checkpoint.go_json import loads
from simulator.core.checkpoint.go_scanner import scan
from simulator.core.checkpoint.json_values import NESTING_MAX, JsonNumber, JsonValue, too_deep
from simulator.errors import CheckpointSyntaxError

READERS = [loads, scan]


def outcome(content: bytes, *, by_scanner: bool) -> JsonValue:
    """Return the value, or the error's text."""
    try:
        return scan(content) if by_scanner else loads(content)
    except CheckpointSyntaxError as error:
        return f"error: {error}"


@pytest.mark.parametrize("by_scanner", [False, True])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' \t\r\n{"a" : [1 , -0, 2.5E+3, 1e400] , "a":null}\n', None),
        ("[]", []),
        ("[ ]", []),
        ("{}", ()),
        ("{ }", ()),
        ('[true,false,null,""]', [True, False, None, ""]),
        (r'"\"\\\/\b\f\n\r\t\u0041\u00e9"', '"\\/\b\f\n\r\tAé'),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d"', "\ufffd"),
        (r'"\ude00\ud83d"', "\ufffd\ufffd"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'"\ud83dx\ude00"', "\ufffdx\ufffd"),
        (r'"\uD83D\u0041"', "\ufffdA"),
    ],
)
def test_a_text_that_go_reads(text: str, value: JsonValue, *, by_scanner: bool) -> None:
    expected: JsonValue = value
    if value is None:
        numbers: list[JsonValue] = [JsonNumber(each) for each in ("1", "-0", "2.5E+3", "1e400")]
        expected = (("a", numbers), ("a", None))

    assert outcome(text.encode(), by_scanner=by_scanner) == expected


@pytest.mark.parametrize("by_scanner", [False, True])
@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'"\xff\xfe"', "\ufffd\ufffd"),
        (b'"\xe2\x82x"', "\ufffd\ufffdx"),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (b'"\xc3\xa9\xc3"', "é\ufffd"),
        (b'"\xf4\x90\x80\x80"', "\ufffd\ufffd\ufffd\ufffd"),
    ],
)
def test_every_byte_that_is_not_utf8_becomes_one_replacement(
    content: bytes, value: str, *, by_scanner: bool
) -> None:
    """Recording "corrupt/38": written by the real code, read back as U+FFFD for each byte."""
    assert outcome(content, by_scanner=by_scanner) == value


@pytest.mark.parametrize("by_scanner", [False, True])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unexpected end of JSON input"),
        (" \n", "unexpected end of JSON input"),
        ("[1", "unexpected end of JSON input"),
        ('{"a"', "unexpected end of JSON input"),
        ('{"a":', "unexpected end of JSON input"),
        ('{"a":1,', "unexpected end of JSON input"),
        ('"a', "unexpected end of JSON input"),
        ('"a\\', "unexpected end of JSON input"),
        ('"a\\u12', "unexpected end of JSON input"),
        ("tru", "unexpected end of JSON input"),
        ("-", "unexpected end of JSON input"),
        ("1.", "unexpected end of JSON input"),
        ("1e", "unexpected end of JSON input"),
        ("1e+", "unexpected end of JSON input"),
        ("x", "invalid character 'x' looking for beginning of value"),
        ("[,", "invalid character ',' looking for beginning of value"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("\ufeff{}", "invalid character 'ï' looking for beginning of value"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
        ("Infinity", "invalid character 'I' looking for beginning of value"),
        ("'a'", "invalid character '\\'' looking for beginning of value"),
        ("\\", "invalid character '\\\\' looking for beginning of value"),
        ("\x7f", "invalid character '\\x7f' looking for beginning of value"),
        ("\x80", "invalid character 'Â' looking for beginning of value"),
        ("-Infinity", "invalid character 'I' in numeric literal"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("1E-x", "invalid character 'x' in exponent of numeric literal"),
        ("01", "invalid character '1' after top-level value"),
        ("1.5.5", "invalid character '.' after top-level value"),
        ("1e5e5", "invalid character 'e' after top-level value"),
        ("1e5.5", "invalid character '.' after top-level value"),
        ("true1", "invalid character '1' after top-level value"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ("fals\n", "invalid character '\\n' in literal false (expecting 'e')"),
        ("nil", "invalid character 'i' in literal null (expecting 'u')"),
        ("{1", "invalid character '1' looking for beginning of object key string"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ('{"a" 1', "invalid character '1' after object key"),
        ('{"a":1 "b"', "invalid character '\"' after object key:value pair"),
        ('{"a":1]', "invalid character ']' after object key:value pair"),
        ("[1 2", "invalid character '2' after array element"),
        ("[1}", "invalid character '}' after array element"),
        ('"a\nb"', "invalid character '\\n' in string literal"),
        ('"a\x01b"', "invalid character '\\x01' in string literal"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"),
        ("[1]]", "invalid character ']' after top-level value"),
        ("{}\0", "invalid character '\\x00' after top-level value"),
    ],
)
def test_a_text_that_go_refuses_gets_gos_error(text: str, reason: str, *, by_scanner: bool) -> None:
    assert outcome(text.encode(), by_scanner=by_scanner) == f"error: {reason}"


@pytest.mark.parametrize("by_scanner", [False, True])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_ten_thousand_levels_are_read_and_one_more_is_not(
    opening: str, closing: str, *, by_scanner: bool
) -> None:
    inside = "" if closing == "]" else "1"

    deepest = opening * NESTING_MAX + inside + closing * NESTING_MAX
    deeper = opening + deepest + closing

    assert isinstance(outcome(deepest.encode(), by_scanner=by_scanner), list | tuple)
    assert outcome(deeper.encode(), by_scanner=by_scanner) == (
        f"error: invalid character '{opening[0]}' exceeded max depth"
    )


def test_a_number_of_any_length_is_only_a_text() -> None:
    digits = "1" * 10_000

    assert loads(digits.encode()) == JsonNumber(digits)


@pytest.mark.parametrize(("levels", "expected"), [(NESTING_MAX, False), (NESTING_MAX + 1, True)])
def test_depth_is_counted_from_the_outside(levels: int, *, expected: bool) -> None:
    value: JsonValue = "leaf"
    for level in range(levels - 2):
        value = [value] if level % 2 else (("a", value),)

    assert too_deep(value, inside=2) is expected


json_texts = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=10,
).map(lambda value: json.dumps(value, allow_nan=False))


@given(json_texts)
@example('{"a":1,"a":2}')
def test_the_scanner_reads_what_the_quick_reader_reads(text: str) -> None:
    assert scan(text.encode()) == loads(text.encode())


@given(json_texts, st.data())
def test_both_readers_agree_on_damaged_text(text: str, data: st.DataObject) -> None:
    content = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        junk = data.draw(
            st.sampled_from([b"", b"\\", b'"', b"{", b"}", b",", b"e", b".", b"\xff", b"1"])
        )
        content[at : at + data.draw(st.integers(0, 2))] = junk

    assert outcome(bytes(content), by_scanner=True) == outcome(bytes(content), by_scanner=False)
