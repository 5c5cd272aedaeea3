"""Files that a browser sends: read as they come, onto disk, and no more of them than is allowed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from orchestra.errors import InputInvalid
from orchestra.panel.shelves.kept_files import too_large

MOST_FILES = 50
"""Of one upload."""

_OVERHEAD = 64 * 1024  # bytes of a request beside its files: boundaries, headers, small fields
_LONGEST_LENGTH = 18  # digits
_DRAINED = 4  # times the limit: so much is read of what is refused, for a browser hears the answer only then


@asynccontextmanager
async def uploaded_files(request: Request, limit: int) -> AsyncIterator[list[UploadFile]]:
    """The files of a request, each on disk once it is large, all together at most `limit` bytes; gone with the block.

    `InputInvalid` for more, by what the request says of its length or by what comes, and for what is no upload.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InputInvalid("this is no upload", suggestion="Choose one or more files, and send them.")
    counted = _Counted(request, limit)
    try:
        counted.check(request.headers.get("content-length", ""))
        form = await MultiPartParser(request.headers, counted.stream(), max_files=MOST_FILES, max_fields=10).parse()
    except MultiPartException as error:
        await counted.drain()
        raise InputInvalid(
            "the upload cannot be read", cause=error.message, suggestion="Send fewer files at once, or try again."
        ) from None
    except InputInvalid:
        await counted.drain()
        raise
    except ClientDisconnect:
        raise InputInvalid("the upload broke off", suggestion="Send it again.") from None
    try:
        yield [file for _, file in form.multi_items() if isinstance(file, UploadFile) and file.filename]
    finally:
        await form.close()


class _Counted:
    """The body of a request, which ends with an error where it becomes too long."""

    def __init__(self, request: Request, limit: int) -> None:
        self._limit = limit
        self._received = 0
        self._body = request.stream()

    def check(self, length: str) -> None:
        if length.isascii() and length.isdecimal() and int(length[:_LONGEST_LENGTH]) > self._limit + _OVERHEAD:
            raise self._too_large()

    async def stream(self) -> AsyncGenerator[bytes, None]:
        async for block in self._body:
            self._received += len(block)
            if self._received > self._limit + _OVERHEAD:
                raise self._too_large()
            yield block

    async def drain(self) -> None:
        """Read on for a while, and keep nothing."""
        try:
            async for block in self._body:
                self._received += len(block)
                if self._received > self._limit * _DRAINED + _OVERHEAD:
                    return
        except ClientDisconnect:
            return

    def _too_large(self) -> InputInvalid:
        return too_large("the upload", self._limit)
