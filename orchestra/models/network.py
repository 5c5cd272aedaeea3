"""The sockets below httpx, held to the deadline of the call that uses them.

httpx knows a timeout per read, so a server that sends a byte a second holds a thread for ever. Here every
blocking step (name lookup, connect, TLS, write, read) gets at most what is left of the thread's current call,
and a cancelled call's socket is shut down from outside, which makes a blocked read return at once.
"""

from __future__ import annotations

import contextlib
import ipaddress
import queue
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import httpcore
import httpx

from orchestra.models.deadline import Deadline

Address = tuple[Any, ...]


class Call:
    """One request on one thread: when it ends, and how to wake whatever it blocks on."""

    def __init__(self, deadline: Deadline | None) -> None:
        remaining = deadline.remaining_s() if deadline else None
        self.ends_at = None if remaining is None else time.monotonic() + remaining
        self.is_cancelled = False
        self._wake: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._unregister = deadline.on_cancel(self._cancel) if deadline else _nothing

    def finish(self) -> None:
        self._unregister()
        self.let_go()

    def hurry(self, seconds: float) -> None:
        """From now on wait at most `seconds` in all."""
        soon = time.monotonic() + seconds
        self.ends_at = soon if self.ends_at is None else min(self.ends_at, soon)

    def blocks_on(self, wake: Callable[[], None]) -> None:
        """`wake` is what ends the waiting that follows, should the call be cancelled."""
        with self._lock:
            self._wake = wake

    def let_go(self) -> None:
        """A later cancellation must not touch what the call used: another call may own it by then."""
        with self._lock:
            self._wake = None

    def allowed_s(self, timeout: float | None) -> float | None:
        """How long the next step may block. Raises TimeoutError when that is no time at all."""
        if self.is_cancelled:
            raise TimeoutError("cancelled")
        if self.ends_at is None:
            return timeout
        remaining = self.ends_at - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("the deadline has passed")
        return remaining if timeout is None else min(timeout, remaining)

    def _cancel(self) -> None:
        self.is_cancelled = True
        with self._lock:
            if self._wake is not None:
                self._wake()


class NoCookies(httpx.Cookies):
    """Keeps none, and does not look at a response for them: that takes longer than sending the request."""

    def extract_cookies(self, response: httpx.Response) -> None:
        return None


class CurrentCall(threading.local):
    """Which call the running thread works for; None outside of one."""

    call: Call | None = None


class DeadlineStream(httpcore.NetworkStream):
    """A TCP connection whose reads and writes end with the call that makes them."""

    def __init__(self, connected: socket.socket, current: CurrentCall) -> None:
        self._socket = connected
        self._current = current
        self._owner: Call | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._socket.settimeout(self._begin(timeout))
            received = self._socket.recv(max_bytes)
            if not received and self._owner is not None and self._owner.is_cancelled:
                raise ConnectionAbortedError("cancelled")  # or a body that ends with its connection would look whole
            return received
        except TimeoutError as error:
            raise httpcore.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        try:
            while rest:
                self._socket.settimeout(self._begin(timeout))
                rest = rest[self._socket.send(rest) :]
        except TimeoutError as error:
            raise httpcore.WriteTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return TlsStream.over(self, ssl_context, server_hostname, timeout)

    def close(self) -> None:
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return _is_readable(self._socket)
        if info == "socket":
            return self._socket
        if info == "client_addr":
            return self._socket.getsockname()
        if info == "server_addr":
            return self._socket.getpeername()
        return None

    def _begin(self, timeout: float | None) -> float | None:
        """Make the thread's call the owner of this connection, and say how long it may block."""
        call = self._current.call
        if call is None:
            return timeout
        if self._owner is not call:
            if self._owner is not None:
                self._owner.let_go()
            self._owner = call
            call.blocks_on(partial(_shut, self._socket))
        return call.allowed_s(timeout)


class TlsStream(httpcore.NetworkStream):
    """TLS over another stream, so that its steps, the handshake's too, keep to that stream's deadline."""

    RECORD_BYTES = 1 << 16

    def __init__(self, lower: httpcore.NetworkStream, context: ssl.SSLContext, server_hostname: str | None) -> None:
        self._lower = lower
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_hostname)

    @classmethod
    def over(
        cls, lower: httpcore.NetworkStream, context: ssl.SSLContext, server_hostname: str | None, timeout: float | None
    ) -> TlsStream:
        try:
            stream = cls(lower, context, server_hostname)
            stream._perform(stream._tls.do_handshake, timeout)
        except httpcore.TimeoutException as error:
            lower.close()
            raise httpcore.ConnectTimeout(str(error)) from error
        except (httpcore.NetworkError, OSError) as error:
            lower.close()
            raise httpcore.ConnectError(str(error)) from error
        return stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return self._perform(partial(self._tls.read, max_bytes), timeout)
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""
        except ssl.SSLError as error:
            raise httpcore.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        try:
            while rest:
                rest = rest[self._perform(partial(self._tls.write, rest[: self.RECORD_BYTES]), timeout) :]
        except ssl.SSLError as error:
            raise httpcore.WriteError(str(error)) from error

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return TlsStream.over(self, ssl_context, server_hostname, timeout)

    def close(self) -> None:
        self._lower.close()

    def get_extra_info(self, info: str) -> Any:
        return self._tls if info == "ssl_object" else self._lower.get_extra_info(info)

    def _perform(self, step: Callable[[], Any], timeout: float | None) -> Any:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush(timeout)
                received = self._lower.read(self.RECORD_BYTES, timeout)
                self._incoming.write(received) if received else self._incoming.write_eof()
                continue
            self._flush(timeout)
            return result

    def _flush(self, timeout: float | None) -> None:
        if self._outgoing.pending:
            self._lower.write(self._outgoing.read(), timeout)


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections that keep to the deadlines of the calls that use them."""

    def __init__(self, current: CurrentCall) -> None:
        self._current = current

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        call = self._current.call or Call(None)
        try:
            allowed = call.allowed_s(timeout)
            ends_at = None if allowed is None else time.monotonic() + allowed
            connected = _connect_any(_look_up(host, port, call, allowed), call, ends_at)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        for option in socket_options or ():
            connected.setsockopt(*option)
        return DeadlineStream(connected, self._current)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        raise httpcore.UnsupportedProtocol("models are reached over TCP")


def _connect_any(addresses: list[Address], call: Call, ends_at: float | None) -> socket.socket:
    """A connection to the first address that accepts one; each may use its share of the time left."""
    failure: OSError = OSError("the name has no address")
    for position, (family, kind, protocol, _, address) in enumerate(addresses):
        opened = socket.socket(family, kind, protocol)
        try:
            call.blocks_on(partial(_shut, opened))
            call.allowed_s(None)
            share = None if ends_at is None else (ends_at - time.monotonic()) / (len(addresses) - position)
            if share is not None and share <= 0:
                raise TimeoutError("timed out")
            opened.settimeout(share)
            opened.connect(address)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return opened
        except OSError as error:
            opened.close()
            failure = error
        finally:
            call.let_go()
    raise failure


def _look_up(host: str, port: int, call: Call, allowed_s: float | None) -> list[Address]:
    """The addresses of `host`. The resolver knows no timeout, so a thread of its own waits for it."""
    if _is_address(host):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    answers: queue.SimpleQueue[list[Address] | OSError | None] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error if isinstance(error, OSError) else OSError(f"{host!r} is no host name"))

    call.blocks_on(partial(answers.put, None))
    threading.Thread(target=ask, name="orchestra-name-lookup", daemon=True).start()
    try:
        answer = answers.get(timeout=allowed_s)
    except queue.Empty:
        raise TimeoutError(f"looking up {host!r} took too long") from None
    finally:
        call.let_go()
    if answer is None:
        raise TimeoutError("cancelled")
    if isinstance(answer, OSError):
        raise answer
    return answer


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_readable(connected: socket.socket) -> bool:
    """Whether a read would not block: of an idle connection, that the server has closed it."""
    if connected.fileno() < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([connected], [], [], 0)[0])
    poll = select.poll()
    poll.register(connected, select.POLLIN)
    return bool(poll.poll(0))


def _shut(connected: socket.socket) -> None:
    """Wake whoever blocks on the socket; closing it would not, and would free its number for another file."""
    with contextlib.suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _nothing() -> None:
    return None
