"""Collective operations from a scenario to tables and the printed summary."""

import pytest

import xoff
from xoff import summary

pytestmark = pytest.mark.real_engine

SCENARIO = """
scheme = "dctcp"
network.topology = "star"
star.hosts = 4
run = { warmup = "0us", measure = "10us", drain = "20ms" }
[[traffic]]
kind = "collective"
bytes = "400KB"
rounds = 2
compute = "20us"
"""


def test_a_job_has_rounds_and_steps_and_a_line_in_the_summary():
    result = xoff.run(SCENARIO, progress=False)
    rounds = result.rounds.to_pylist()
    assert [row["round"] for row in rounds] == [0, 1]
    assert rounds[0]["begin_ps"] == 20_000_000
    assert rounds[1]["begin_ps"] >= rounds[0]["begin_ps"] + 20_000_000
    steps = result.steps.to_pylist()
    # A ring of four has six stages, of four messages each.
    assert [(row["round"], row["step"]) for row in steps] == [
        (round_, step) for round_ in (0, 1) for step in range(6)
    ]
    assert {row["messages"] for row in steps} == {4}
    flows = {row["flow"]: row for row in result.flows.to_pylist()}
    assert len(flows) == 48
    for row in steps:
        last = flows[row["last"]]
        assert last["start_ps"] + last["rx_fct_ps"] == row["end_ps"]
    # All messages begin after the measured time, which is as long as a user likes.
    assert result.summary["load"]["payload"] == 0
    (job,) = result.summary["jobs"]
    assert job["finished"] == 2
    assert job["bus_gbytes_per_s"] == pytest.approx(1.5 * job["algorithm_gbytes_per_s"])
    shown = " ".join(summary.render(result).split())
    assert "bus bandwidth collective 4 2 of 2" in shown


def test_a_round_that_does_not_end_is_said():
    result = xoff.run(SCENARIO, set=["run.drain=20us", "traffic.0.compute=0us"], progress=False)
    text = summary.render(result)
    assert "0 of 2" in text
    assert "the job of class collective finished 0 of 2 rounds within the drain time" in text
    with pytest.raises(xoff.UsageError, match="recorded no rounds"):
        _ = result.rounds


def test_an_operation_without_such_an_algorithm_names_those_that_fit():
    with pytest.raises(xoff.ScenarioError, match=r'use "direct", "pairwise" or "hierarchical"'):
        xoff.check(SCENARIO, set=["traffic.0.operation=all-to-all"])
