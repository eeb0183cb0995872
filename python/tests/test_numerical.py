"""Numerical runs through the same commands as runs with packets."""

import json
import math

import numpy as np
import pytest

import xoff
from xoff import _native, figure, reproduce_report, summary
from xoff.errors import ScenarioError
from xoff.experiment import load_experiment
from xoff.reproduce import reproduce

pytestmark = [
    pytest.mark.real_engine,
    pytest.mark.skipif(not hasattr(_native, "Allocator"), reason="the engine is not built"),
]

FLUID = """
name = "small"
engine = "fluid"
[leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
[fluid]
warmup = "100us"
measure = "500us"
[[traffic]]
kind = "open-loop"
load = 0.5
load_on = "hosts"
"""

EXPERIMENT = """
title = "Two kinds"
scenario = "fluid.toml"
set = ["fluid.optimum_every=1"]
[[case]]
name = "NED"
[case.sweep]
key = "traffic.0.load"
values = [0.3, 0.6]
[[case]]
name = "none"
set = ["allocator.normalizer=none"]
[[plot]]
kind = "curve"
cases = ["NED"]
path = "optimum.f_norm.mean"
[[plot]]
kind = "series"
column = "over_capacity_gbps"
"""


def test_a_run_directory_holds_all_that_memory_does(tmp_path):
    kept = xoff.run(FLUID, out=tmp_path / "run", set=["fluid.optimum_every=5"])
    quick = xoff.run(FLUID, set=["fluid.optimum_every=5"])
    assert kept.digest == quick.digest
    assert kept.summary == quick.summary
    assert kept.flows.equals(quick.flows)
    for name in kept.samples.column_names:
        np.testing.assert_array_equal(kept.samples[name], quick.samples[name])
    assert kept.ports.num_rows == quick.ports.num_rows == 0
    assert kept.samples.num_rows == kept.summary["steps"] == 50
    shares = np.asarray(kept.samples["optimum_share"])
    assert np.isfinite(shares).sum() == kept.summary["optimum"]["samples"] == 10
    assert math.isclose(np.nanmean(shares), kept.summary["optimum"]["share"]["mean"])
    assert kept.flows.num_rows == len(set(kept.flows["flow"].to_pylist()))


def test_the_summary_is_told_in_words():
    told = summary.render(xoff.run(FLUID))
    assert "small: engine fluid, seed 1" in told
    assert "over capacity (Gb/s)" in told
    assert "FCT" not in told


def test_convergence_has_a_row_for_each_iteration():
    text = 'engine = "convergence"\n[convergence]\nnetworks = 4\niterations = 120\n'
    result = xoff.run(text)
    assert result.samples.column_names[0] == "iteration"
    assert result.samples["iteration"].to_pylist() == list(range(1, 121))
    assert result.summary["networks"] == 4
    assert result.summary["converged"] == result.samples["within"].to_pylist()[-1]
    assert "engine convergence" in summary.render(result)


def test_mistakes_are_shown_where_they_are():
    with pytest.raises(ScenarioError, match='unknown key "stepp"') as refused:
        xoff.check(FLUID, set=["fluid.stepp=1us"])
    assert "did you mean" in str(refused.value)


def test_an_experiment_of_numerical_runs(tmp_path):
    folder = tmp_path / "papers" / "demo" / "fig"
    folder.mkdir(parents=True)
    (folder / "fluid.toml").write_text(FLUID)
    (folder / "experiment.toml").write_text(EXPERIMENT)
    (folder.parent / "claims.toml").write_text(
        '[[claim]]\nid = "D-1"\nwhere = "1"\ntext = "none"\nexperiment = "fig"\n'
        'metric = "order"\ncases = ["NED@0.3", "none"]\npath = "over_capacity.mean_gbps"\n'
    )
    outcome = reproduce("demo/fig", out=tmp_path / "out", check=True, root=tmp_path / "papers")
    assert [verdict.holds for verdict in outcome.verdicts] == [True]
    table = reproduce_report.table_text(outcome.experiment, outcome.results)
    assert "by F-NORM" in table
    assert "NED@0.6" in table
    assert json.dumps(reproduce_report.as_json(outcome))
    experiment = load_experiment(folder, "demo/fig", "quick")
    drawn = figure.build(experiment, outcome.results)
    lines = [line for ax in drawn.axes for line in ax.get_lines()]
    assert [len(line.get_xdata()) for line in lines] == [2, 21, 21, 21]
