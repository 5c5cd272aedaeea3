"""Bytes to text."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document.decode import decode, normalise
from orchestra.errors import DocumentUnreadable


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"plain", "plain"),
        ("naïve €".encode(), "naïve €"),
        (codecs.BOM_UTF8 + b"marked", "marked"),
        ("marked \u20ac".encode("utf-16"), "marked \u20ac"),
        (codecs.BOM_UTF16_BE + "big".encode("utf-16-be"), "big"),
        ("marked".encode("utf-32"), "marked"),
        (b"a\r\nb\rc\nd", "a\nb\nc\nd"),
        (b"form\ffeed\tand\x1b[0m escape", "form\ffeed\tand\x1b[0m escape"),
    ],
)
def test_text_is_decoded_without_a_warning(data: bytes, text: str) -> None:
    assert decode(data) == (text, ())


@pytest.mark.parametrize(
    ("data", "text", "warning"),
    [
        (b"a\0b\0", "a\ufffdb\ufffd", "2 NUL characters with U+FFFD"),
        (
            b"one\ntwo \xff\n\xfe",
            "one\ntwo \ufffd\n\ufffd",
            "2 invalid UTF-8 sequences with U+FFFD, the first on line 2",
        ),
        (b"one\r\r\ntwo \xff", "one\n\ntwo \ufffd", "1 invalid UTF-8 sequence with U+FFFD, the first on line 3"),
        (
            "kept \ufffd".encode() + b" \xff",
            "kept \ufffd \ufffd",
            "1 invalid UTF-8 sequence with U+FFFD, the first on line 1",
        ),
        (b"\xff\xfea\0\0\xd8b\0", "a\ufffdb", "1 invalid UTF-16 sequence with U+FFFD, the first on line 1"),
    ],
)
def test_what_cannot_be_kept_is_replaced_and_counted(data: bytes, text: str, warning: str) -> None:
    assert decode(data) == (text, (f"replaced {warning}",))


@pytest.mark.parametrize("data", [bytes(range(256)) * 40, b"\0" * 100, b"text then\n" * 20 + b"\0\1\2\3" * 20])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(DocumentUnreadable, match="no text"):
        decode(data)


def test_text_in_another_encoding_is_refused_with_what_to_do() -> None:
    data = "Гавань открыта каждый день недели".encode("koi8-r")

    with pytest.raises(DocumentUnreadable, match="save it as UTF-8"):
        decode(data)


def test_a_latin_1_letter_costs_only_itself() -> None:
    data = "The café by the harbour is open.".encode("latin-1")

    text, _ = decode(data)

    assert text == "The caf\ufffd by the harbour is open."


def test_lone_surrogates_of_a_text_are_replaced() -> None:
    text, warnings = normalise("a\ud800b\r\n")

    assert text == "a\ufffdb\n"
    assert warnings == ("replaced 1 lone surrogate with U+FFFD",)


@given(st.text())
def test_normalising_is_idempotent_and_always_encodable(text: str) -> None:
    once, _ = normalise(text)

    assert once.encode("utf-8", "strict").decode() == once
    assert normalise(once) == (once, ())


@given(st.text(st.characters(exclude_characters="\r\0\ufeff", exclude_categories=["Cs"])))
def test_clean_text_survives_its_own_encoding(text: str) -> None:
    decoded, warnings = decode(text.encode())

    assert (decoded, warnings) == (text, ())


@given(st.binary(max_size=200))
def test_any_bytes_give_clean_text_or_the_one_error(data: bytes) -> None:
    try:
        text, _ = decode(data)
    except DocumentUnreadable:
        return

    assert "\r" not in text
    assert "\0" not in text
