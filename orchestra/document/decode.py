"""Bytes to text: which encoding, which line ends, and what had to be replaced."""

from __future__ import annotations

import codecs
import re

from orchestra.errors import DocumentUnreadable

REPLACEMENT = "\ufffd"

# UTF-32's mark begins with UTF-16's, so it is asked for first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")

_SAMPLE_BYTES = 65_536
_FEW = 16  # odd bytes that a text of any length may hold
_CONTROL_SHARE = 0.02
_INVALID_SHARE = 0.3
# Tab, line feed, vertical tab, form feed, carriage return, backspace and escape occur in logs and listings.
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\b\x1b")


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of `data`, and a warning for each kind of thing that was replaced.

    UTF-8, or UTF-16 or UTF-32 that begins with a byte order mark. Line ends become LF; NUL and invalid
    sequences become U+FFFD. Binary data raises `DocumentUnreadable`: control bytes above 2 % or, after decoding,
    replacements above 30 % (and more than 16 of them).
    """
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    body = data[len(mark) :] if mark else data
    if encoding == "utf-8":
        _refuse_binary(body)
    try:
        text, invalid = body.decode(encoding), ()
    except UnicodeDecodeError as error:
        text, invalid = _decode_damaged(body, encoding, error)
    clean, replaced = _tidy(text)
    return clean, invalid + replaced


def normalise(text: str) -> tuple[str, tuple[str, ...]]:
    """A text as `decode` gives it: LF line ends, no byte order mark, U+FFFD for NUL and for lone surrogates."""
    clean, warnings = _tidy(text)
    if clean.isascii() or not _SURROGATE.search(clean):
        return clean, warnings
    clean, count = _SURROGATE.subn(REPLACEMENT, clean)
    return clean, (*warnings, f"replaced {_counted(count, 'lone surrogate')} with U+FFFD")


def _refuse_binary(data: bytes) -> None:
    sample = data[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls <= max(_FEW, len(sample) * _CONTROL_SHARE) and data.count(0) <= max(_FEW, len(data) * _CONTROL_SHARE):
        return
    raise DocumentUnreadable(
        "the data is no text", cause=f"{controls} of its first {len(sample)} bytes are control codes or NUL"
    )


def _decode_damaged(data: bytes, encoding: str, error: UnicodeDecodeError) -> tuple[str, tuple[str, ...]]:
    text = data.decode(encoding, "replace")
    count = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode(encoding))
    if count > max(_FEW, len(text) * _INVALID_SHARE):
        raise DocumentUnreadable(
            "the data is no UTF-8 text",
            cause=f"{count} of its {len(text)} characters could not be decoded",
            suggestion="If it is text in another encoding, save it as UTF-8 first.",
        ) from error
    line = _line_ends(data[: error.start].decode(encoding, "replace")) + 1
    name = encoding.removesuffix("-le").removesuffix("-be").upper()
    what = _counted(count, f"invalid {name} sequence")
    return text, (f"replaced {what} with U+FFFD, the first on line {line}",)


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _tidy(text: str) -> tuple[str, tuple[str, ...]]:
    text = text.lstrip("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = text.replace("\r", "\n")
    nuls = text.count("\0")
    if not nuls:
        return text, ()
    return text.replace("\0", REPLACEMENT), (f"replaced {_counted(nuls, 'NUL character')} with U+FFFD",)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
