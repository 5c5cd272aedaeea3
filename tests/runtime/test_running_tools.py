"""Tools at work: on threads that are left behind, as coroutines that are cancelled, in processes that are ended."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import tools_for_tests

from orchestra.errors import InputInvalid, NodeTimeout, PermissionDenied, RunCancelled, ToolFailed
from orchestra.models.deadline import Deadline
from orchestra.runtime.tools.results import MOST_RESULT_TOKENS
from orchestra.runtime.tools.running import run_tool
from orchestra.runtime.tools.tool import Tool

LONG_S = 60.0


def here(function, **fields):
    return Tool.of(function, **fields)


def apart(function, **fields):
    return Tool.of(function, runs_apart=True, **fields)


WAYS = pytest.mark.parametrize("way", [here, apart])


@WAYS
def test_a_tool_gives_its_result_as_text(way):
    assert run_tool(way(tools_for_tests.add), {"one": 2, "other": 3}, Deadline(LONG_S)) == '{"sum":5}'
    assert run_tool(way(tools_for_tests.add), {"one": 2}, Deadline(LONG_S)) == '{"sum":3}'


@WAYS
def test_an_async_function_is_awaited(way):
    assert run_tool(way(tools_for_tests.add_later), {"one": 2, "other": 3}, Deadline(LONG_S)) == "5"


@WAYS
def test_what_a_tool_raises_is_told_in_a_line(way):
    with pytest.raises(ToolFailed, match="fail raised ValueError: no such city"):
        run_tool(way(tools_for_tests.fail), {"words": "no such city"}, Deadline(LONG_S))


@WAYS
def test_a_long_result_is_cut(way):
    text = run_tool(way(tools_for_tests.big), {}, Deadline(LONG_S))

    assert text.startswith("many words\n")
    assert "[cut: the first" in text.splitlines()[-1]
    assert len(text) < 16 * MOST_RESULT_TOKENS


def test_an_error_of_our_own_tree_is_told_as_it_is():
    def refuse() -> None:
        raise PermissionDenied("not this one")

    with pytest.raises(PermissionDenied, match="not this one"):
        run_tool(here(refuse), {}, Deadline(LONG_S))


def test_a_function_that_ignores_its_deadline_is_left_behind():
    release, ended = threading.Event(), threading.Event()

    def wait() -> None:
        release.wait()
        ended.set()

    with pytest.raises(NodeTimeout) as caught:
        run_tool(here(wait), {}, Deadline(0.05))
    release.set()

    assert "left behind" in caught.value.cause
    assert ended.wait(LONG_S)


def test_a_coroutine_is_cancelled_at_its_deadline():
    cancelled = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.sleep(LONG_S)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(NodeTimeout):
        run_tool(here(wait), {}, Deadline(0.05))

    assert cancelled.wait(LONG_S)


def test_a_timeout_of_the_tools_own_is_a_failure_and_not_ours():
    async def give_up() -> None:
        raise TimeoutError("the other side")

    with pytest.raises(ToolFailed, match="TimeoutError: the other side"):
        run_tool(here(give_up), {}, Deadline(LONG_S))


@pytest.mark.parametrize("is_async", [False, True])
def test_cancelling_ends_the_waiting_at_once(is_async):
    began, release, deadline = threading.Event(), threading.Event(), Deadline(LONG_S)

    def wait() -> None:
        began.set()
        release.wait()

    async def wait_async() -> None:
        began.set()
        await asyncio.sleep(LONG_S)

    threading.Thread(target=lambda: (began.wait(), deadline.cancel())).start()
    with pytest.raises(RunCancelled):
        run_tool(here(wait_async if is_async else wait, name="wait"), {}, deadline)
    release.set()


def ended(pid: int) -> bool:
    """Whether a process is gone, or dead and only not yet fetched by whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_ended(*pids: int) -> bool:
    ticks = threading.Event()
    for _ in range(500):
        if all(map(ended, pids)):
            return True
        ticks.wait(0.01)
    return False


def noted(path: Path) -> list[int]:
    ticks = threading.Event()
    for _ in range(3000):
        if path.exists():
            return [int(pid) for pid in path.read_text().split()]
        ticks.wait(0.01)
    raise AssertionError("the tool did not start")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="asks /proc who lives")
def test_a_process_that_will_not_stop_is_ended_with_all_that_it_started(tmp_path):
    notes, deadline = tmp_path / "pids", Deadline(LONG_S)
    threading.Thread(target=lambda: (noted(notes), deadline.cancel())).start()

    with pytest.raises(RunCancelled):
        run_tool(apart(tools_for_tests.hang), {"notes": str(notes)}, deadline)

    assert wait_until_ended(*noted(notes))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="asks /proc who lives")
def test_a_process_is_ended_at_its_deadline(tmp_path):
    notes = tmp_path / "pids"

    with pytest.raises(NodeTimeout, match="hang did not end within 3 s") as caught:
        run_tool(apart(tools_for_tests.hang), {"notes": str(notes)}, Deadline(3))

    assert "process was ended" in caught.value.cause
    assert not notes.exists() or wait_until_ended(*noted(notes))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="asks /proc who lives")
def test_a_process_ends_when_whoever_started_it_is_killed(tmp_path):
    notes = tmp_path / "pids"
    code = (
        "import sys; sys.path[:0] = [sys.argv[1]]\n"
        "import tools_for_tests\n"
        "from orchestra.models.deadline import Deadline\n"
        "from orchestra.runtime.tools.running import run_tool\n"
        "from orchestra.runtime.tools.tool import Tool\n"
        "run_tool(Tool.of(tools_for_tests.hang, runs_apart=True), {'notes': sys.argv[2]}, Deadline(600))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(Path(tools_for_tests.__file__).parent), str(notes)])
    pids = noted(notes)

    parent.kill()
    parent.wait()

    assert wait_until_ended(*pids)


def test_a_process_that_dies_without_a_word_is_a_failure():
    with pytest.raises(ToolFailed) as caught:
        run_tool(apart(tools_for_tests.leave), {}, Deadline(LONG_S))

    assert "status 7" in caught.value.cause


def test_what_a_tool_prints_and_reads_is_apart_from_the_answer():
    assert run_tool(apart(tools_for_tests.say_nothing_useful), {}, Deadline(LONG_S)) == "done"


def test_a_function_of_a_script_runs_apart_too(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from orchestra.models.deadline import Deadline\n"
        "from orchestra.runtime.tools.running import run_tool\n"
        "from orchestra.runtime.tools.tool import Tool\n"
        "def twice(n: int) -> int:\n    return 2 * n\n"
        "if __name__ == '__main__':\n"
        "    print(run_tool(Tool.of(twice, runs_apart=True), {'n': 21}, Deadline(60)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, env=environment)

    assert done.stdout == "42\n"


def test_what_cannot_be_sent_to_a_process_is_refused_when_it_is_registered():
    def local() -> None: ...

    with pytest.raises(InputInvalid, match="cannot run in a process of its own"):
        apart(local)
    with pytest.raises(InputInvalid, match="cannot run in a process of its own"):
        Tool("pick", "Pick.", {}, lambda: None, runs_apart=True)
