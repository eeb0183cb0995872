"""Experiments made from another one."""

import pytest

from xoff import UsageError
from xoff.experiment import load_experiment

DERIVED = """
like = "../fig1"
title = "Without the cause"
cases = ["BFC", "HPCC"]
set = ["run.degree=30"]
[[case]]
name = "DCTCP"
set = ["scheme=dctcp"]
"""


def derived(paper, text=DERIVED):
    folder = paper / "demo" / "derived"
    folder.mkdir()
    (folder / "experiment.toml").write_text(text)
    return load_experiment(folder, "demo/derived", "quick")


def test_it_has_the_others_cases_and_its_own_settings_last(paper):
    found = derived(paper)
    assert [point.title for point in found.points] == [
        *("BFC", "HPCC seed 1", "HPCC seed 2", "DCTCP")
    ]
    assert found.points[1].overrides == (
        *("run.slices=2", "scheme=hpcc", "run.degree=30", "seed=1"),
    )
    assert (found.title, found.source) == ("Without the cause", "Fig. 1")
    assert all(point.scenario.is_file() for point in found.points)


def test_plots_of_cases_that_are_gone_are_left_out(paper):
    kinds = [plot.kind for plot in derived(paper).plots]
    assert "bars" in kinds
    assert "curve" not in kinds


def test_mistakes_are_named(paper):
    with pytest.raises(UsageError, match="has no case `Homa`"):
        derived(paper, DERIVED.replace('"BFC", ', '"Homa", '))


def test_a_cycle_is_named(paper):
    folder = paper / "demo" / "fig1"
    (folder / "experiment.toml").write_text('like = "../derived"\n')
    with pytest.raises(UsageError, match="leads back to itself: derived -> fig1 -> derived"):
        derived(paper)
    (folder / "experiment.toml").write_text('like = "../fig1"\n')
    with pytest.raises(UsageError, match=r"fig1/experiment\.toml.*: fig1 -> fig1"):
        load_experiment(folder, "demo/fig1", "quick")
