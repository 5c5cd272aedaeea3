"""Forms as they come from a browser: read whole, and no more than a form holds."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from orchestra.errors import InputInvalid

LONGEST = 1_000_000  # bytes
_MOST_FIELDS = 500


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that holds no files; of several with one name, the last. Raises `InputInvalid`.

    Line ends are line feeds: browsers send two characters for each, whatever a text had.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST:
            raise InputInvalid("the form is too long", cause=f"it has more than {LONGEST:,} bytes")
    try:
        fields = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise InputInvalid("the form cannot be read", cause=str(error)) from None
    return {name: value.replace("\r\n", "\n") for name, value in fields}
