"""A tree of skills whose process is killed in the middle of a step, and that goes on in another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from killable_tree import STEPS, Script
from trees_for_tests import below, write_skill

from orchestra.pipeline import resume


@pytest.mark.parametrize("step", [1, 3])
def test_after_a_kill_no_finished_step_is_sent_again(serve, monkeypatch, tmp_path: Path, step: int):
    place = write_skill(
        tmp_path / "skills",
        "office",
        type="composite",
        sub_skills=[f"part-{number}" for number in range(1, STEPS + 1)],
        routing={"strategy": "sequential"},
    )
    for number in range(1, STEPS + 1):
        below(place, f"part-{number}")
    script = Script(hold=f"part-{step}")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{serve(script).url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    program = Path(__file__).with_name("killable_tree.py")
    command = [sys.executable, str(program), str(tmp_path / "skills"), store]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        run_id = process.stdout.readline().strip()
        assert script.held.wait(30)
        process.kill()
    script.go_on.set()

    result = resume(run_id, store=store)

    assert result.status == "completed"
    assert [each.output for each in result.subtasks[0].steps] == [f"part-{n} done" for n in range(1, STEPS + 1)]
    counts = {f"part-{number}": 2 if number == step else 1 for number in range(1, STEPS + 1)}
    assert {name: script.asked.count(name) for name in counts} == counts
    assert result.usage.subtasks.calls == STEPS
