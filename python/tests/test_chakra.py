"""The Chakra trace of scenarios/training.toml is what this file says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import xoff
from xoff.torture import chakra

SCENARIOS = Path(__file__).parents[2] / "scenarios"
STAGE = 4
"""Ranks of a stage of the pipeline; there are two."""


def _rank(rank: int) -> bytes:
    """Return the file of a rank: two micro-batches of one step, then an all-reduce of gradients."""
    first = rank < STAGE
    other = rank + STAGE if first else rank - STAGE
    nodes: list[bytes] = []

    def add(kind: int, name: str, *after: int, micros: int = 0, **attributes: int | str) -> int:
        number = len(nodes) + 1
        nodes.append(chakra.node(number, kind, name, after, micros, attributes))
        return number

    backward: list[int] = []
    for batch in (1, 2):
        tags = {"comm_size": 4_000_000, "comm_tag": batch}
        if first:
            forward = add(chakra.COMP, "forward", *backward, micros=150)
            add(chakra.SEND, "activations", forward, comm_dst=other, **tags)
            got = add(chakra.RECV, "gradients", comm_src=other, **tags)
            backward = [add(chakra.COMP, "backward", got, forward, micros=300)]
        else:
            got = add(chakra.RECV, "activations", comm_src=other, **tags)
            both = add(chakra.COMP, "forward and backward", got, *backward, micros=450)
            add(chakra.SEND, "gradients", both, comm_dst=other, **tags)
            backward = [both]
    group = "1" if first else "2"
    reduce = {"comm_type": chakra.ALL_REDUCE, "comm_size": 40_000_000, "pg_name": group}
    add(chakra.COLLECTIVE, "all-reduce of gradients", *backward, **reduce)
    return chakra.file(nodes)


def test_the_example_is_what_this_file_says() -> None:
    for rank in range(2 * STAGE):
        path = SCENARIOS / f"training.{rank}.et"
        assert path.read_bytes() == _rank(rank), path


def test_the_groups_are_the_stages() -> None:
    groups = json.loads((SCENARIOS / "training.groups.json").read_text(encoding="utf-8"))
    assert groups == {"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]}


@pytest.mark.real_engine
def test_the_example_runs() -> None:
    result = xoff.run(SCENARIOS / "training.toml", progress=False)
    classes = {row["class"] for row in result.flows.to_pylist()}
    assert classes == {"chakra"}
    # Two messages in each direction per pair of ranks. By halving and doubling, an all-reduce of
    # four ranks has four steps in which each of them sends.
    assert result.flows.num_rows == 2 * 2 * STAGE + 2 * 4 * STAGE
    [row] = result.rounds.to_pylist()
    # The first stage computes two backward passes after one forward pass each.
    assert row["end_ps"] > 2 * (150 + 300) * 1_000_000


if __name__ == "__main__":
    for number in range(2 * STAGE):
        (SCENARIOS / f"training.{number}.et").write_bytes(_rank(number))
