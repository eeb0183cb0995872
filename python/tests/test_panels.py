"""Panels show every number that there is, and say where there is none."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from xoff import panels, plots
from xoff.plot import Theory
from xoff.result import Result
from xoff.sampling import Sample
from xoff.sweeps import picture
from xoff.sweeps.grid import Axis, Combination, Grid, Measure
from xoff.sweeps.table import Row

DROPS = {"path": "drops_packets"}


def runs(value):
    return [Result({"drops_packets": value}, "", "", None, {})]


def new_axes():
    figure, (ax,) = plots.new_figure(1)
    return figure, ax


def test_a_curve_has_a_gap_where_a_number_is_missing_or_infinite():
    _, ax = new_axes()
    curves = {"A": {0.5: runs(1), 0.6: runs(math.inf), 0.7: runs(None), 0.8: runs(3)}}
    panels.curve_axes(ax, curves, DROPS, "load", "drops", whiskers=True)
    line, *_ = ax.get_lines()
    assert list(line.get_xdata()) == [0.5, 0.6, 0.7, 0.8]
    assert np.array_equal(line.get_ydata(), [1, math.nan, math.nan, 3], equal_nan=True)


def test_a_missing_or_infinite_bar_of_a_group_is_written():
    _, ax = new_axes()
    curves = {"A": {1: runs(5), 2: runs(math.inf)}, "B": {1: runs(None)}}
    panels.grouped_bars_axes(ax, curves, DROPS)
    assert [text.get_text() for text in ax.texts] == ["inf", "none"]


def test_names_that_begin_with_an_underscore_are_in_the_legend():
    _, ax = new_axes()
    panels.curve_axes(ax, {"_A": {1: runs(5)}, "B": {1: runs(4)}}, DROPS, "load", "drops")
    plots.legends([ax])
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == ["_A", "B"]


def test_a_closed_form_is_drawn_over_whole_numbers():
    _, ax = new_axes()
    panels.curve_axes(ax, {"A": {2: runs(5), 4: runs(6)}}, DROPS, "x", "y")
    panels.theory_axes(ax, Theory("bfc.active_flows", "load", {}))
    assert ax.get_lines()[-1].get_label() == "closed form"


def test_dollars_in_names_are_text(tmp_path):
    figure, ax = new_axes()
    panels.curve_axes(ax, {"A": {r"a$\x$": runs(5), "b$": runs(4)}}, DROPS, "x", "y")
    figure.legend(ax.get_lines(), [r"link a$\x$"])
    (svg, png) = plots.save(figure, tmp_path / "figure")
    assert png.exists()
    assert svg.exists()


def test_many_curves_without_markers_differ():
    looks = [panels.line_style(index) for index in range(56)]
    assert len({(look["color"], str(look["linestyle"])) for look in looks}) == 56


def paused(**by_link):
    shares = {"pfc": {"pause_time_share": 0.5, "pause_time_share_by_link": by_link}}
    return [Result(shares if by_link else {}, "", "", None, {})]


def test_a_run_without_pfc_has_no_bar_and_adds_no_group():
    _, ax = new_axes()
    panels.pause_axes(ax, {"BFC": paused(), "PFC": paused(up=0.1, down=0.2), "up": paused(up=0.3)})
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["up", "down"]
    heights = [[bar.get_height() for bar in group] for group in ax.containers]
    expected = [[math.nan, math.nan], [10, 20], [30, math.nan]]
    assert np.allclose(heights, expected, equal_nan=True)
    plots.legends([ax])
    assert len(ax.get_legend().get_texts()) == 3


def test_shares_of_all_links_are_one_group_where_no_run_has_more():
    _, ax = new_axes()
    old = [Result({"pfc": {"pause_time_share": 0.5}}, "", "", None, {})]
    panels.pause_axes(ax, {"A": old})
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["all"]
    assert ax.containers[0][0].get_height() == 50


@pytest.mark.parametrize(
    ("term", "relation", "label"),
    [
        ({"path": "buffer.p99_bytes", "scale": 1e-6}, None, "buffer.p99_bytes (MB)"),
        ({"path": "buffer.p99_bytes", "scale": 0.5}, None, "buffer.p99_bytes * 0.5"),
        ({"path": "drops_packets"}, None, "drops_packets"),
        ({"path": "buffer.p99_bytes"}, "ratio", "buffer.p99_bytes, ratio to DCTCP"),
        ({"path": "buffer.p99_bytes"}, "difference", "buffer.p99_bytes, difference to DCTCP (B)"),
        ({}, None, "FCT slowdown, p99, all flows"),
    ],
)
def test_axes_of_numbers_have_their_unit(term, relation, label):
    base = relation and "DCTCP"
    assert panels.number_label(term, relation or "ratio", base) == label


def test_bounds_of_a_sweep_are_open_markers_off_the_curve():
    axis = Axis(("load",), ((0.5,), (0.6,), (0.7,)))
    measure = Measure("delay", {"path": "buffer.p99_bytes"})
    grid = Grid(Path("g"), "t", Path("s"), (), (axis,), (), (measure,))
    samples = [Sample(1, 1), Sample(2, 2), Sample(1.5, math.inf)]
    found = [
        Row(Combination({"load": x}), 1, {"delay": sample})
        for (x,), sample in zip(axis.values, samples, strict=True)
    ]
    _, ax = new_axes()
    picture.draw(ax, grid, found, "load", measure)
    curve, bound, note = ax.get_lines()
    assert np.array_equal(curve.get_ydata(), [1, 2, math.nan], equal_nan=True)
    assert (list(bound.get_xdata()), list(bound.get_ydata())) == ([0.7], [1.5])
    assert bound.get_markerfacecolor() == "none"
    assert note.get_label() == "at least: some flows did not end"
    assert [text.arrow_patch is not None for text in ax.texts] == [True]
    assert ax.get_ylabel() == "delay (B)"
    # A name may have its unit.
    named = Row(Combination({"load": 0.1}), 1, {"delay, mean (kB)": samples[0]})
    _, ax = new_axes()
    picture.draw(ax, grid, [named], "load", replace(measure, name="delay, mean (kB)"))
    assert ax.get_ylabel() == "delay, mean (kB)"
    _, ax = new_axes()
    picture.draw(ax, grid, found[:2], "load", measure)
    assert len(ax.get_lines()) == 1
