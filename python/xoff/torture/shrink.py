"""Reduces a failing world as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

from xoff.torture.settings import Value, duration, quantity
from xoff.torture.worlds import Section, World, section_of

Fails = Callable[[World], bool]
Step = Callable[[World], None]

COUNTS = frozenset(
    {"leaves", "spines", "hosts_per_leaf", "hosts", "left_hosts", "right_hosts", "side_hosts"}
    | {"degree", "count", "flows", "flows_per_sender"}
)
# Never removed: without these the world is a different one, or takes forever.
KEPT = frozenset({"topology", "measure", "kind", "bytes", "period", "load"})


def shrink(world: World, fails: Fails, budget_s: float) -> World:
    """Return the smallest failing world found within the budget; at worst the world itself."""
    deadline = time.monotonic() + budget_s
    progress = True
    while progress:
        progress = False
        for step in list(_steps(world)):
            if time.monotonic() >= deadline:
                return world
            smaller = world.copy()
            try:
                step(smaller)
            except (KeyError, IndexError):
                continue  # an earlier step removed the target of this one
            if smaller != world and fails(smaller):
                world, progress = smaller, True
    return world


def _steps(world: World) -> Iterator[Step]:
    """Yield steps that remove or reduce parts, the most effective first."""
    if len(world.traffic) > 1:
        for number in reversed(range(len(world.traffic))):
            yield partial(_drop_source, number=number)
    for number in reversed(range(len(world.faults))):
        yield partial(_drop_fault, number=number)
    # Keep the section of the topology: without it the network would have its default size.
    topology = section_of(str(world.sections["network"]["topology"]))
    for section in world.sections:
        if section not in ("network", "run", topology):
            yield partial(_drop_section, section=section)
    for key in ("drain", "measure", "warmup"):
        for share in (4, 2):
            yield partial(_divide_time, key=key, by=share)
    for section, values in world.sections.items():
        for key, value in values.items():
            yield from _on_setting(partial(_section, name=section), key, value)
    for number, source in enumerate(world.traffic):
        for key, value in source.items():
            yield from _on_setting(partial(_source, number=number), key, value)
    for name in world.files:
        # Other files are not made of lines.
        if not name.endswith(".et"):
            yield partial(_halve_file, name=name)
    yield partial(_drop_setting, of=_top, key="name")
    yield partial(_set_seed, seed=1)


def _on_setting(of: Callable[[World], Section], key: str, value: Value) -> Iterator[Step]:
    if key in COUNTS and isinstance(value, int):
        yield partial(_reduce, of=of, key=key, by=lambda count: count // 2)
        yield partial(_reduce, of=of, key=key, by=lambda count: count - 1)
    elif key not in KEPT:
        yield partial(_drop_setting, of=of, key=key)


def _top(world: World) -> Section:
    return world.top


def _section(world: World, name: str) -> Section:
    return world.sections[name]


def _source(world: World, number: int) -> Section:
    return world.traffic[number]


def _drop_source(world: World, number: int) -> None:
    del world.traffic[number]


def _drop_fault(world: World, number: int) -> None:
    del world.faults[number]


def _drop_section(world: World, section: str) -> None:
    del world.sections[section]


def _drop_setting(world: World, of: Callable[[World], Section], key: str) -> None:
    del of(world)[key]


def _reduce(
    world: World, of: Callable[[World], Section], key: str, by: Callable[[int], int]
) -> None:
    section = of(world)
    section[key] = max(1, by(int(section[key])))


def _divide_time(world: World, key: str, by: int) -> None:
    run = world.sections["run"]
    run[key] = duration(quantity("duration", str(run[key])) / by)


def _halve_file(world: World, name: str) -> None:
    header, *rows = world.files[name].splitlines()
    world.files[name] = b"\n".join([header, *rows[: max(1, len(rows) // 2)]]) + b"\n"


def _set_seed(world: World, seed: int) -> None:
    world.top["seed"] = seed
