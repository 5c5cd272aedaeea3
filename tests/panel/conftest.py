"""A panel that really serves, and a browser that looks at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

from orchestra.panel.desk import Desk, open_desk
from orchestra.panel.security import Gate
from orchestra.panel.server import PanelServer
from orchestra.store import Store

CHROMIUM = os.environ.get("ORCHESTRA_TEST_CHROMIUM") or shutil.which("chromium") or ""
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REPLACED = ("htmx:sendAbort", "htmx:afterRequest")  # what htmx logs of a request that a newer one took the place of


@dataclass(frozen=True)
class Panel:
    """A panel under test. `client` is let in, and sends the token that forms need."""

    desk: Desk
    store: Store
    url: str
    link: str
    gate: Gate
    client: httpx.Client


@pytest.fixture
def start_panel(tmp_path: Path) -> Iterator[Callable[..., Panel]]:
    """`start_panel(**options of open_desk)` serves a panel on a free port, with a new store unless one is given."""
    with ExitStack() as stack:

        def start(store: Store | None = None, **options: Any) -> Panel:
            if store is None:
                store = stack.enter_context(Store.open(tmp_path / f"runs-{len(os.listdir(tmp_path))}.db"))
            return stack.enter_context(panel_over(store, **options))

        yield start


@contextmanager
def panel_over(store: Store, **options: Any) -> Iterator[Panel]:
    desk = open_desk(store, **options)
    server = PanelServer(desk)
    gate = Gate(desk.secret, "127.0.0.1", server.port)
    with (
        server.running(),
        httpx.Client(
            base_url=server.url,
            cookies={gate.cookie_name: gate.cookie},
            headers={"X-Token": gate.token, "Origin": server.url},
            timeout=30,
        ) as client,
    ):
        yield Panel(desk, store, server.url, server.link, gate, client)


@pytest.fixture
def panel(start_panel: Callable[..., Panel]) -> Panel:
    """A panel over an empty store."""
    return start_panel()


@pytest.fixture(scope="module")
def patient() -> Iterator[None]:
    """What is expected of a page may take long: a busy machine is slow, not wrong."""
    expect.set_options(timeout=15_000)
    yield
    expect.set_options(timeout=5_000)


class Launched:
    """One Chromium for the tests that come one after another and look at pages.

    As long as it lives, its event loop counts as running on this thread, and other tests need theirs.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._browser: Browser | None = None

    def browser(self) -> Browser:
        if self._browser is None:
            playwright = self._stack.enter_context(sync_playwright())
            self._browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
            self._stack.callback(self._browser.close)
        return self._browser

    def end(self) -> None:
        self._browser = None
        self._stack.close()


launched = Launched()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that look at pages come last, one after another."""
    items.sort(key=_looks_at_pages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None]:
    try:
        return (yield)
    finally:
        if nextitem is None or not _looks_at_pages(nextitem):
            launched.end()


def _looks_at_pages(item: pytest.Item) -> bool:
    return "browser" in getattr(item, "fixturenames", ())


@pytest.fixture
def browser() -> Browser:
    if not CHROMIUM:
        pytest.skip("Chromium is not installed: apt-get install chromium, or name one in ORCHESTRA_TEST_CHROMIUM")
    return launched.browser()


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`look(panel)` is a page that was let in by the panel's link.

    The test fails when a page logs an error, breaks the content security policy, or asks another host for anything.
    """
    faults: list[str] = []
    with ExitStack() as stack:

        def looked(panel: Panel, *, expects: tuple[str, ...] = (), **options: Any) -> Page:
            context = browser.new_context(**options)
            stack.callback(context.close)
            page = _watched(context, panel, faults, expects)
            page.goto(panel.link)
            page.wait_for_url(lambda url: url.startswith((f"{panel.url}/sessions/", f"{panel.url}/runs/")))
            page.wait_for_load_state("domcontentloaded")
            return page

        yield looked
    assert not faults, faults


@pytest.fixture
def page(look: Callable[..., Page], panel: Panel) -> Page:
    """A page of `panel`."""
    return look(panel)


def _watched(context: BrowserContext, panel: Panel, faults: list[str], expects: tuple[str, ...]) -> Page:
    """A page whose faults are noted, but for those whose text holds one of `expects`."""

    def note(what: str) -> None:
        if not any(each in what for each in (*REPLACED, *expects)):
            faults.append(what)

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            note(f"console: {message.text} ({message.location.get('url', '')})")

    def on_request(request: Request) -> None:
        if not request.url.startswith((f"{panel.url}/", "data:", "about:", "blob:")):
            note(f"asks another host: {request.url}")

    context.on("request", on_request)
    page = context.new_page()
    page.set_default_timeout(15_000)  # a busy machine is slow, not wrong
    expect.set_options(timeout=15_000)
    page.on("console", on_console)
    page.on("pageerror", lambda error: note(f"script: {error}"))
    return page
