"""The steps of a composite skill: what is wrong with them, what they wait for, and those that code can write itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from orchestra.errors import CallCycleDetected, SkillInvalid
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.replies import Decomposition, Step

Dependencies = Mapping[str, Sequence[str]]


def numbered(names: Sequence[str], dependencies: Dependencies) -> dict[str, int]:
    """The number of each sub-skill's step, from 1, dependencies first: the same whichever of them are needed.

    Raises `CallCycleDetected`.
    """
    return {name: number for number, name in enumerate(in_dependency_order(names, dependencies), start=1)}


def fixed_plan(
    names: Sequence[str], dependencies: Dependencies, numbers: Mapping[str, int] | None = None
) -> tuple[Step, ...]:
    """One step for each sub-skill, dependencies first: what needs no decomposer. Raises `CallCycleDetected`.

    `numbers` are those of all sub-skills where `names` are some of them.
    """
    numbers = numbers or numbered(names, dependencies)
    ordered = in_dependency_order(names, dependencies)
    known = {name: numbers[name] for name in ordered}
    return tuple(
        Step(step=known[name], sub_skill=name, depends_on=tuple(sorted(_numbers(dependencies.get(name, ()), known))))
        for name in sorted(ordered, key=lambda name: known[name])
    )


def _numbers(names: Iterable[str], numbers: Mapping[str, int]) -> set[int]:
    return {numbers[fold_name(name)] for name in names if fold_name(name) in numbers}


def startable(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps so ordered that each stands behind those that it waits for. Raises `CallCycleDetected`."""
    left, ordered = list(steps), list[Step]()
    while left:
        waiting = {step.step for step in left}
        ready = next((step for step in left if not waiting & set(step.depends_on)), None)
        if ready is None:
            cycle = find_cycle({str(step.step): [str(number) for number in step.depends_on] for step in left})
            raise CallCycleDetected("steps wait for one another", cause=" → ".join(f"step {each}" for each in cycle))
        left.remove(ready)
        ordered.append(ready)
    return tuple(ordered)


def with_dependencies(chosen: Iterable[str], names: Sequence[str], dependencies: Dependencies) -> tuple[str, ...]:
    """`chosen` and all that they depend on, in the order of `names`, folded."""
    wanted: set[str] = set()
    pending = [fold_name(name) for name in chosen]
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending.extend(map(fold_name, dependencies.get(name, ())))
    return tuple(name for name in map(fold_name, names) if name in wanted)


def in_dependency_order(names: Sequence[str], dependencies: Dependencies) -> tuple[str, ...]:
    """`names` folded, in their own order as far as each one's dependencies stand before it.

    Dependencies outside of `names` are left out. Raises `CallCycleDetected` with the cycle's path.
    """
    wanted = list(dict.fromkeys(fold_name(name) for name in names))
    needs = {
        name: [fold_name(each) for each in dependencies.get(name, ()) if fold_name(each) in wanted] for name in wanted
    }
    cycle = find_cycle(needs)
    if cycle:
        raise CallCycleDetected("sub-skills wait for one another", cause=" → ".join(cycle))
    ordered: dict[str, None] = {}
    stack = list(reversed(wanted))
    while stack:
        name = stack.pop()
        missing = [each for each in needs[name] if each not in ordered]
        if name in ordered:
            continue
        if missing:
            stack.extend((name, *reversed(missing)))
        else:
            ordered[name] = None
    return tuple(ordered)


def find_cycle(needs: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The first cycle in the order of the keys, its first name again at its end; empty when there is none."""
    done: set[str] = set()
    for start in needs:
        path: dict[str, None] = {}
        stack: list[tuple[str, bool]] = [(start, True)]
        while stack:
            name, is_entering = stack.pop()
            if not is_entering:
                path.pop(name)
                done.add(name)
            elif name in path:
                names = list(path)
                return (*names[names.index(name) :], name)
            elif name not in done:
                path[name] = None
                stack.append((name, False))
                stack.extend((each, True) for each in reversed(list(needs.get(name, ()))))
    return ()


def checked(decomposition: Decomposition, known: Sequence[str], dependencies: Dependencies) -> Decomposition:
    """A decomposition that can be carried out: names folded, and the skill's own dependencies put in.

    Raises `SkillInvalid` for a number used twice, a sub-skill that does not exist or a step that waits for one that
    does not, `CallCycleDetected` for steps that wait for one another. A decomposer is told, and asked again.
    """
    names = {fold_name(name): name for name in known}
    numbers = [step.step for step in decomposition.execution_plan]
    if len(set(numbers)) != len(numbers):
        raise SkillInvalid("two steps have the same number", suggestion="Number the steps 1, 2, 3, ...")
    for step in decomposition.execution_plan:
        if fold_name(step.sub_skill) not in names:
            listed = ", ".join(names)
            raise SkillInvalid(f"step {step.step} names {step.sub_skill!r}", cause=f"the sub-skills are {listed}")
        unknown = [number for number in step.depends_on if number not in numbers]
        if unknown:
            raise SkillInvalid(f"step {step.step} waits for step {unknown[0]}", cause="there is no such step")
    steps = tuple(
        _with_dependencies(step, decomposition.execution_plan, dependencies) for step in decomposition.execution_plan
    )
    startable(steps)
    return decomposition.model_copy(update={"execution_plan": steps})


def _with_dependencies(step: Step, steps: Sequence[Step], dependencies: Dependencies) -> Step:
    """The step waits for every step of a sub-skill that its own one depends on."""
    name = fold_name(step.sub_skill)
    needed = {fold_name(each) for each in dependencies.get(name, ())}
    before = {other.step for other in steps if fold_name(other.sub_skill) in needed and other.step != step.step}
    return step.model_copy(update={"sub_skill": name, "depends_on": tuple(sorted({*step.depends_on, *before}))})


def waves(steps: Sequence[Step]) -> tuple[tuple[int, ...], ...]:
    """Numbers of the steps that may run at once, wave after wave: for people to look at."""
    left = {step.step: set(step.depends_on) for step in steps}
    found: list[tuple[int, ...]] = []
    while left:
        ready = tuple(number for number, needed in left.items() if not needed & left.keys())
        if not ready:
            raise CallCycleDetected("steps wait for one another", cause=", ".join(map(str, left)))
        found.append(ready)
        left = {number: needed for number, needed in left.items() if number not in ready}
    return tuple(found)
