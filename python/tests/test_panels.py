"""Panels show every number that there is, and say where there is none."""

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from xoff import panels, plots
from xoff.plot import Theory
from xoff.result import Result

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
